// Computes counts, sums and the worst texels, row by row. Each block of rows has its own sums, which are added in the
// order of the blocks. Differences of codes are added as integers, so that sums are exact except for 32-bit formats.
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "kernels/metrics/code_rows.h"
#include "kernels/metrics/parts.h"

namespace texton::detail {
namespace {

constexpr std::size_t kBlockTexels = std::size_t{1} << 17;

struct ChannelSums {
    std::size_t differing = 0;
    std::uint32_t max_ulp = 0;
    double max = 0;  // like the sums in codes, unless the format is a float format
    double sum = 0;
    double squares = 0;
    std::array<std::size_t, 2> nans{};
    std::array<std::size_t, 2> infinities{};
};

struct Sums {
    std::array<ChannelSums, 4> channels{};
    CodeDistances codes;  // of formats with codes of at most 16 bits, in place of the other sums
    std::size_t differing = 0;
    std::array<std::size_t, 33> histogram{};  // of the channels of texels that differ
    std::vector<WorstTexel> worst;
};

bool worse(const WorstTexel& one, const WorstTexel& other) {
    if (one.ulp != other.ulp) return one.ulp > other.ulp;
    if (one.difference != other.difference) return one.difference > other.difference;
    return std::tie(one.at.z, one.at.y, one.at.x) < std::tie(other.at.z, other.at.y, other.at.x);
}

// Adds a texel to the worst ones so far if it belongs to them. `worst` is a heap whose first element is the least bad.
void keep_worst(std::vector<WorstTexel>& worst, std::size_t count, const WorstTexel& texel) {
    if (worst.size() == count) {
        if (!worse(texel, worst.front())) return;
        std::pop_heap(worst.begin(), worst.end(), worse);
        worst.back() = texel;
    } else {
        worst.push_back(texel);
    }
    std::push_heap(worst.begin(), worst.end(), worse);
}

using Codes = std::array<std::vector<std::uint32_t>, 2>;

class Pass {
public:
    Pass(const TexelReader& a, const TexelReader& b, std::size_t channels, std::size_t worst)
        : a_(a), b_(b), channels_(channels), worst_(worst) {
        has_short_codes_ = !a.is_float();
        for (std::size_t c = 0; c < a.channels(); ++c) has_short_codes_ &= a.largest(c) <= 0xffff;
    }

    void add_row(Offset at, Codes& codes, Sums& sums) const {
        const std::size_t width = a_.extent().width;
        const bool same = std::memcmp(a_.bytes(at), b_.bytes(at), width * a_.texel_bytes()) == 0;
        if (same && !a_.is_float()) return;
        for (auto& each : codes) each.resize(width * a_.channels());
        a_.read(at, width, codes[0].data());
        b_.read(at, width, codes[1].data());
        if (a_.is_float()) count_specials(codes, sums);
        if (same) return;
        if (has_short_codes_) return add_codes(at, codes, sums);
        for (std::size_t x = 0; x < width; ++x) {
            const std::uint32_t* a = codes[0].data() + x * a_.channels();
            const std::uint32_t* b = codes[1].data() + x * a_.channels();
            std::uint32_t unlike = 0;
            for (std::size_t c = 0; c < channels_; ++c) unlike |= a[c] ^ b[c];
            if (unlike != 0) add_texel({at.x + x, at.y, at.z}, a, b, sums);
        }
    }

private:
    void add_codes(Offset at, const Codes& codes, Sums& sums) const {
        const std::size_t width = a_.extent().width, channels = a_.channels();
        std::array<std::uint32_t, 4 * kMaxDistances> distances;
        for (std::size_t x = 0; x < width; x += kMaxDistances) {
            const std::size_t count = std::min(kMaxDistances, width - x);
            const std::uint32_t* a = codes[0].data() + x * channels;
            const std::uint32_t* b = codes[1].data() + x * channels;
            const std::uint32_t largest = add_distances(a, b, count, channels, channels_, sums.codes, distances.data());
            if (!may_be_worst(largest, sums)) continue;
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint32_t* each = distances.data() + i * channels;
                const std::uint32_t ulp = *std::max_element(each, each + channels_);
                if (ulp == 0 || !may_be_worst(ulp, sums)) continue;
                WorstTexel texel{.at = {at.x + x + i, at.y, at.z}, .ulp = ulp};
                for (std::size_t c = 0; c < channels_; ++c)
                    texel.difference = std::max(texel.difference, each[c] / a_.divisor(c));
                keep(texel, a + i * channels, b + i * channels, sums);
            }
        }
    }

    // Returns true if a texel with this ulp distance may be among the worst ones so far.
    bool may_be_worst(std::uint32_t ulp, const Sums& sums) const {
        return worst_ != 0 && (sums.worst.size() < worst_ || ulp >= min_ulp(sums.worst.front()));
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

    void count_specials(const Codes& codes, Sums& sums) const {
        for (std::size_t image = 0; image < 2; ++image) {
            for (std::size_t i = 0; i < codes[image].size(); ++i) {
                const std::uint32_t code = codes[image][i];
                if (a_.is_finite(code) || i % a_.channels() >= channels_) continue;
                ChannelSums& channel = sums.channels[i % a_.channels()];
                ++(code == kNanCode ? channel.nans : channel.infinities)[image];
            }
        }
    }

    // Returns the minimum ulp distance that a texel needs to be worse than `last`, which precedes it. If all channels
    // are codes of the same size, equal distances are equal differences, and so the texel needs a larger distance.
    std::uint32_t min_ulp(const WorstTexel& last) const {
        const bool one_size = !a_.is_float() && a_.divisor(0) == a_.divisor(channels_ - 1);
        return one_size && last.ulp != kFarthest ? last.ulp + 1 : last.ulp;
    }

    // Returns the difference of two values, in codes unless the format is a float format.
    double difference(std::uint32_t a, std::uint32_t b, std::size_t channel, std::uint32_t ulp) const {
        if (!a_.is_float()) return ulp;
        if (ulp == 0) return 0;
        if (!a_.is_finite(a) || !a_.is_finite(b)) return std::numeric_limits<double>::infinity();
        return std::abs(a_.value(a, channel) - a_.value(b, channel));
    }

    void add_texel(Offset at, const std::uint32_t* a, const std::uint32_t* b, Sums& sums) const {
        ++sums.differing;
        WorstTexel texel{.at = at};
        std::array<double, 4> differences;
        for (std::size_t c = 0; c < channels_; ++c) {
            const std::uint32_t ulp = a_.distance(a[c], b[c]);
            const double apart = difference(a[c], b[c], c, ulp);
            differences[c] = apart;
            ChannelSums& channel = sums.channels[c];
            channel.differing += ulp != 0 ? 1 : 0;
            channel.max_ulp = std::max(channel.max_ulp, ulp);
            channel.max = std::max(channel.max, apart);
            channel.sum += apart;
            channel.squares += apart * apart;
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
    bool has_short_codes_ = false;
};

// Adds sums of codes to the other sums.
void add_codes(Sums& sums) {
    const CodeDistances& codes = sums.codes;
    sums.differing += codes.texels;
    for (std::size_t c = 0; c < sums.channels.size(); ++c) {
        ChannelSums& channel = sums.channels[c];
        channel.differing += codes.differing[c];
        channel.max_ulp = std::max(channel.max_ulp, codes.largest[c]);
        channel.max = std::max(channel.max, static_cast<double>(codes.largest[c]));
        channel.sum += static_cast<double>(codes.sum[c]);
        channel.squares += static_cast<double>(codes.squares[c]);
    }
    for (std::size_t bit = 0; bit < codes.at_least.size(); ++bit) {
        const std::uint64_t above = bit + 1 < codes.at_least.size() ? codes.at_least[bit + 1] : 0;
        sums.histogram[bit + 1] += codes.at_least[bit] - above;
    }
}

void add(Sums& total, const Sums& part, std::size_t worst) {
    total.differing += part.differing;
    for (std::size_t c = 0; c < total.channels.size(); ++c) {
        ChannelSums& to = total.channels[c];
        const ChannelSums& from = part.channels[c];
        to.differing += from.differing;
        to.max_ulp = std::max(to.max_ulp, from.max_ulp);
        to.max = std::max(to.max, from.max);
        to.sum += from.sum;
        to.squares += from.squares;
        for (std::size_t image = 0; image < 2; ++image) {
            to.nans[image] += from.nans[image];
            to.infinities[image] += from.infinities[image];
        }
    }
    for (std::size_t i = 0; i < total.histogram.size(); ++i) total.histogram[i] += part.histogram[i];
    for (const WorstTexel& texel : part.worst) keep_worst(total.worst, worst, texel);
}

void finish(Difference& difference, double peak) {
    difference.rmse = std::sqrt(difference.mse);
    difference.psnr = 10 * std::log10(peak * peak / difference.mse);
}

}  // namespace

void measure_differences(const TexelReader& a, const TexelReader& b, std::size_t worst, Progress& progress,
                         Comparison& result) {
    const Extent extent = a.extent();
    const std::size_t channels = result.channels.size();
    const Pass pass(a, b, channels, worst);
    const std::size_t rows = extent.height * extent.depth;
    const std::size_t block = std::max<std::size_t>(kBlockTexels / extent.width, 1);
    std::vector<Sums> parts((rows + block - 1) / block);
    for_each_piece<Codes>(parts.size(), progress, kDifferenceWork, [&](Codes& codes, std::size_t i) {
        for (std::size_t row = i * block; row < std::min((i + 1) * block, rows); ++row)
            pass.add_row({0, row % extent.height, row / extent.height}, codes, parts[i]);
        add_codes(parts[i]);
    });
    Sums total;
    for (const Sums& part : parts) add(total, part, worst);

    const auto texels = static_cast<double>(extent.width * rows);
    Difference& all = result.all;
    all.differing = total.differing;
    for (std::size_t c = 0; c < channels; ++c) {
        const ChannelSums& sums = total.channels[c];
        const double divisor = a.divisor(c);
        Difference& channel = result.channels[c];
        channel.differing = sums.differing;
        channel.max_ulp = sums.max_ulp;
        channel.max = sums.max / divisor;
        channel.mean = sums.sum / divisor / texels;
        channel.mse = sums.squares / (divisor * divisor) / texels;
        channel.nans = sums.nans;
        channel.infinities = sums.infinities;
        finish(channel, result.peak);
        all.max_ulp = std::max(all.max_ulp, channel.max_ulp);
        all.max = std::max(all.max, channel.max);
        all.mean += channel.mean / static_cast<double>(channels);
        all.mse += channel.mse / static_cast<double>(channels);
        for (std::size_t image = 0; image < 2; ++image) {
            all.nans[image] += channel.nans[image];
            all.infinities[image] += channel.infinities[image];
        }
    }
    finish(all, result.peak);
    std::sort(total.worst.begin(), total.worst.end(), worse);
    result.worst = std::move(total.worst);
    result.ulp_histogram = total.histogram;
    const std::size_t unequal = std::accumulate(total.histogram.begin() + 1, total.histogram.end(), std::size_t{0});
    result.ulp_histogram[0] = extent.width * rows * channels - unequal;
}

}  // namespace texton::detail
