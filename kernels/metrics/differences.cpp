// Computes counts, sums and the worst texels of images in host memory, segment by segment.
#include <bit>
#include <cmath>

#include "kernels/metrics/byte_distances.h"
#include "kernels/metrics/code_rows.h"
#include "kernels/metrics/difference_sums.h"
#include "kernels/metrics/parts.h"

namespace texton::detail {
namespace {

constexpr std::size_t kPartSegments = 128;

// The sums of a segment in lanes. The channels of a lane follow each other.
struct Lanes {
    std::array<double, 4 * kSegmentLanes> differences{};
    std::array<double, 4 * kSegmentLanes> squares{};
    bool is_clear = true;

    RoundedSums take(std::size_t channels) {
        RoundedSums sums;
        if (is_clear) return sums;
        fold(differences, channels, sums.differences);
        fold(squares, channels, sums.squares);
        *this = Lanes();
        return sums;
    }

private:
    static void fold(std::array<double, 4 * kSegmentLanes>& lanes, std::size_t channels, double (&sums)[4]) {
        for (std::size_t n = kSegmentLanes / 2 * channels; n >= channels; n /= 2) {
            for (std::size_t i = 0; i < n; ++i) lanes[i] += lanes[i + n];
        }
        std::copy_n(lanes.begin(), channels, sums);
    }
};

struct Sums : DifferenceSums {
    CodeDistances codes;      // of short codes, in place of the sums and counts that it contains
    FloatDifferences floats;  // of finite floats, in addition to them
};

using Codes = std::array<std::vector<std::uint32_t>, 2>;

class Pass {
public:
    Pass(const TexelReader& a, const TexelReader& b, std::size_t channels, std::size_t worst)
        : a_(a), b_(b), channels_(channels), worst_(worst) {}

    /// Adds `width` texels of a row, which are part of a segment.
    void add_row(Offset at, std::size_t width, Codes& codes, Lanes& lanes, Sums& sums) const {
        const bool same = std::memcmp(a_.bytes(at), b_.bytes(at), width * a_.texel_bytes()) == 0;
        if (same && !a_.is_float()) return;
        const bool has_bytes = a_.has_short_codes() && a_.bits() == 8 && !a_.is_packed();
        if (has_bytes && !may_be_worst(add_bytes(at, width, sums), sums)) return;
        for (auto& each : codes) each.resize(width * a_.channels());
        a_.read(at, width, codes[0].data());
        b_.read(at, width, codes[1].data());
        const bool is_finite = a_.is_float() && !count_specials(codes, sums);
        if (same) return;
        if (has_bytes) return keep_worst_of(width, at, codes[0].data(), codes[1].data(), sums);
        if (a_.has_short_codes()) return add_codes(at, width, codes, sums);
        const Extent extent = a_.extent();
        const std::size_t first = (at.z * extent.height + at.y) * extent.width + at.x, channels = a_.channels();
        const bool has_vectors = is_finite && std::has_single_bit(channels);
        for (std::size_t x = 0; x < width;) {
            const std::uint32_t *const a = codes[0].data() + x * channels, *const b = codes[1].data() + x * channels;
            const Offset texel{at.x + x, at.y, at.z};
            const std::size_t lane = (first + x) % kSegmentLanes;
            if (has_vectors && lane == 0 && width - x >= kSegmentLanes) {
                const std::size_t count = std::min(kMaxDistances, (width - x) / kSegmentLanes * kSegmentLanes);
                add_floats(texel, count, a, b, lanes, sums);
                x += count;
                continue;
            }
            if (!std::equal(a, a + channels_, b)) add_texel(texel, a, b, lane, lanes, sums);
            ++x;
        }
    }

private:
    std::uint32_t add_bytes(Offset at, std::size_t width, Sums& sums) const {
        return add_byte_distances(a_.kind(), a_.bytes(at), b_.bytes(at), width, a_.channels(), channels_, sums.codes);
    }

    void add_codes(Offset at, std::size_t width, const Codes& codes, Sums& sums) const {
        const std::size_t channels = a_.channels();
        std::array<std::uint32_t, 4 * kMaxDistances> distances;
        for (std::size_t x = 0; x < width; x += kMaxDistances) {
            const std::size_t count = std::min(kMaxDistances, width - x);
            const std::uint32_t* a = codes[0].data() + x * channels;
            const std::uint32_t* b = codes[1].data() + x * channels;
            const std::uint32_t largest = add_distances(a, b, count, channels, channels_, sums.codes, distances.data());
            if (may_be_worst(largest, sums)) keep_worst_of(count, {at.x + x, at.y, at.z}, a, b, sums);
        }
    }

    // Adds texels of a row, of which the first has lane 0.
    void add_floats(Offset at, std::size_t count, const std::uint32_t* a, const std::uint32_t* b, Lanes& lanes,
                    Sums& sums) const {
        std::array<std::uint32_t, 4 * kMaxDistances> distances;
        const LargestDifference largest =
            add_differences(a, b, count, a_.bits(), a_.channels(), channels_, sums.floats, lanes.differences.data(),
                            lanes.squares.data(), distances.data());
        if (largest.ulp == 0) return;
        lanes.is_clear = false;
        if (may_be_worst(largest.ulp, sums) && !is_least(largest, sums)) keep_worst_of(count, at, a, b, sums);
    }

    // Adds texels of a row to the worst ones so far if they belong to them.
    void keep_worst_of(std::size_t count, Offset at, const std::uint32_t* a, const std::uint32_t* b, Sums& sums) const {
        const std::size_t channels = a_.channels();
        for (std::size_t i = 0; i < count; ++i, a += channels, b += channels) {
            WorstTexel texel{.at = {at.x + i, at.y, at.z}};
            for (std::size_t c = 0; c < channels_; ++c) texel.ulp = std::max(texel.ulp, a_.distance(a[c], b[c]));
            if (texel.ulp == 0 || !may_be_worst(texel.ulp, sums)) continue;
            for (std::size_t c = 0; c < channels_; ++c) {
                const double difference = a_.difference(a[c], b[c], c, a_.distance(a[c], b[c]));
                texel.difference = std::max(texel.difference, difference / a_.divisor(c));
            }
            keep(texel, a, b, sums);
        }
    }

    // Returns true if a texel with this ulp distance may be among the worst ones so far.
    bool may_be_worst(std::uint32_t ulp, const Sums& sums) const {
        return worst_ != 0 && (sums.worst.size() < worst_ || ulp >= min_ulp(sums.worst.front()));
    }

    // Returns true if a texel with these differences is not worse than the least bad of the worst ones, which precedes it.
    bool is_least(const LargestDifference& largest, const Sums& sums) const {
        if (sums.worst.size() < worst_) return false;
        const WorstTexel& least = sums.worst.front();
        return largest.ulp == least.ulp && largest.difference <= least.difference;
    }

    // Adds a texel to the worst ones so far if it belongs to them.
    void keep(WorstTexel& texel, const std::uint32_t* a, const std::uint32_t* b, Sums& sums) const {
        if (sums.worst.size() == worst_ && !worse(texel, sums.worst.front())) return;
        for (std::size_t c = 0; c < channels_; ++c) {
            texel.a[c] = a_.value(a[c], c);
            texel.b[c] = a_.value(b[c], c);
        }
        keep_worst(sums.worst, worst_, texel);
    }

    // Counts NaNs and infinities. Returns true if there are any.
    bool count_specials(const Codes& codes, Sums& sums) const {
        bool any = false;
        for (std::size_t image = 0; image < 2; ++image) {
            if (are_finite(codes[image].data(), codes[image].size(), a_.bits())) continue;
            any = true;
            for (std::size_t i = 0; i < codes[image].size(); ++i) {
                const std::uint32_t code = codes[image][i];
                if (a_.is_finite(code) || i % a_.channels() >= channels_) continue;
                ChannelSums& channel = sums.channels[i % a_.channels()];
                ++(code == kNanCode ? channel.nans : channel.infinities)[image];
            }
        }
        return any;
    }

    // Returns the minimum ulp distance that a texel needs to be worse than `last`, which precedes it. If all channels
    // are codes of the same size, equal distances are equal differences, and so the texel needs a larger distance.
    std::uint32_t min_ulp(const WorstTexel& last) const {
        const bool one_size = !a_.is_float() && a_.divisor(0) == a_.divisor(channels_ - 1);
        return one_size && last.ulp != kFarthest ? last.ulp + 1 : last.ulp;
    }

    void add_texel(Offset at, const std::uint32_t* a, const std::uint32_t* b, std::size_t lane, Lanes& lanes,
                   Sums& sums) const {
        lanes.is_clear = false;
        ++sums.differing;
        WorstTexel texel{.at = at};
        std::array<double, 4> differences{};
        for (std::size_t c = 0; c < channels_; ++c) {
            if (a[c] == b[c]) continue;
            const std::uint32_t ulp = a_.distance(a[c], b[c]);
            const double apart = a_.difference(a[c], b[c], c, ulp);
            differences[c] = apart;
            ChannelSums& channel = sums.channels[c];
            channel.differing += ulp != 0 ? 1 : 0;
            channel.max_ulp = std::max(channel.max_ulp, ulp);
            channel.max = std::max(channel.max, apart);
            lanes.differences[lane * a_.channels() + c] += apart;
            lanes.squares[lane * a_.channels() + c] += apart * apart;
            ++sums.histogram[static_cast<std::size_t>(std::bit_width(ulp))];
            texel.ulp = std::max(texel.ulp, ulp);
        }
        if (!may_be_worst(texel.ulp, sums)) return;
        for (std::size_t c = 0; c < channels_; ++c)
            texel.difference = std::max(texel.difference, differences[c] / a_.divisor(c));
        keep(texel, a, b, sums);
    }

    const TexelReader& a_;
    const TexelReader& b_;
    std::size_t channels_;
    std::size_t worst_;
};

// Adds the sums of short codes and of finite floats to the other sums.
void add_vectors(Sums& sums) {
    const CodeDistances& codes = sums.codes;
    sums.differing += codes.texels;
    for (std::size_t c = 0; c < sums.channels.size(); ++c) {
        ChannelSums& channel = sums.channels[c];
        channel.differing += codes.differing[c];
        channel.max_ulp = std::max(channel.max_ulp, codes.largest[c]);
        channel.differences.add(codes.sum[c]);
        channel.squares.add(codes.squares[c]);
    }
    for (std::size_t bit = 0; bit < codes.at_least.size(); ++bit) {
        const std::uint64_t above = bit + 1 < codes.at_least.size() ? codes.at_least[bit + 1] : 0;
        sums.histogram[bit + 1] += codes.at_least[bit] - above;
    }
    const FloatDifferences& floats = sums.floats;
    sums.differing += floats.texels;
    for (std::size_t c = 0; c < sums.channels.size(); ++c) {
        ChannelSums& channel = sums.channels[c];
        channel.differing += floats.differing[c];
        channel.max_ulp = std::max(channel.max_ulp, floats.largest[c]);
        channel.max = std::max(channel.max, floats.max[c]);
    }
    for (std::size_t bits = 0; bits < floats.histogram.size(); ++bits) sums.histogram[bits] += floats.histogram[bits];
}

struct Scratch {
    Codes codes;
    Lanes lanes;
};

}  // namespace

void measure_differences(const TexelReader& a, const TexelReader& b, std::size_t worst, Progress& progress,
                         Comparison& result) {
    const Extent extent = a.extent();
    const Pass pass(a, b, result.channels.size(), worst);
    const std::size_t texels = extent.width * extent.height * extent.depth, part = kPartSegments * kSegment;
    std::vector<Sums> parts((texels + part - 1) / part);
    std::vector<RoundedSums> rounded(a.has_short_codes() ? 0 : (texels + kSegment - 1) / kSegment);
    for_each_piece<Scratch>(parts.size(), progress, kDifferenceWork, [&](Scratch& scratch, std::size_t i) {
        for (std::size_t segment = i * part; segment < std::min((i + 1) * part, texels); segment += kSegment) {
            const std::size_t end = std::min(segment + kSegment, texels);
            for (std::size_t at = segment; at < end;) {
                const std::size_t x = at % extent.width, row = at / extent.width;
                const std::size_t count = std::min(extent.width - x, end - at);
                pass.add_row({x, row % extent.height, row / extent.height}, count, scratch.codes, scratch.lanes,
                             parts[i]);
                at += count;
            }
            if (!rounded.empty()) rounded[segment / kSegment] = scratch.lanes.take(a.channels());
        }
        add_vectors(parts[i]);
    });
    DifferenceSums total;
    for (const Sums& each : parts) {
        total.add(each);
        for (const WorstTexel& texel : each.worst) keep_worst(total.worst, worst, texel);
    }
    for (const RoundedSums& each : rounded) total.rounded.add(each);
    finish_differences(total, a, texels, result);
}

}  // namespace texton::detail
