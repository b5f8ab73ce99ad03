// Large images: the values are counted by the upper halves of their keys, and then by the lower halves for each upper
// half in which a percentile lies. Small images on the CPU device: the values are sorted, because the tables of counts
// would cost more than the texels.
#include <texton/percentiles.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/sample.h>

#include "arrays/texture_state.h"
#include "kernels/key_totals.h"
#include "kernels/launch/checks.h"
#include "kernels/launch/dispatch.h"

namespace texton {
namespace {

using detail::KeyCounts;
using detail::KeyHalf;
using detail::KeyTotals;

constexpr const char* kPercentiles = "texton::percentiles";

/// Counts halves of the keys of a texture's values.
class KeyCounter {
public:
    KeyCounter(const Stream& stream, const Texture& texture)
        : stream_(stream), texels_(detail::by_points(texture)), memory_(Linear::async(sizeof(KeyCounts), stream)) {}

    void count(const KeyHalf& half, KeyCounts& counts) const {
        const View bytes = memory_.view();
        detail::Launch launch(kPercentiles, stream_, bytes, std::span(&texels_, 1), detail::Overlap::refused);
        fill(bytes, std::uint32_t{0}, stream_);
        const detail::StatisticsSource source{launch.shape(0), texels_.kind() == ArrayKind::layered_2d,
                                              info(texels_.format()).channels};
        if (!detail::device_kernels(launch).count_keys(launch, source, half)) launch.refuse_cuda();
        copy(host_view(static_cast<void*>(&counts), Format::r8_uint, {sizeof counts}), bytes, stream_);
        stream_.synchronize();
    }

private:
    const Stream& stream_;
    Texture texels_;
    Linear memory_;
};

/// A value by its place in the ascending order of all values, counted from 0.
struct Place {
    std::uint32_t upper = 0;   ///< upper half of its key
    std::uint64_t within = 0;  ///< its place among the values with this half
};

/// Returns the half of the value at a place.
Place place_in(const std::uint64_t (&counts)[KeyCounts::kHalves], std::uint64_t place) {
    std::uint32_t half = 0;
    for (; half + 1 < KeyCounts::kHalves && place >= counts[half]; ++half) place -= counts[half];
    return {half, place};
}

std::uint64_t sum(const std::uint64_t (&counts)[KeyCounts::kHalves]) {
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts) total += count;
    return total;
}

std::uint64_t place_of_share(double share, std::uint64_t values) {
    const auto count = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(values)));
    return std::clamp<std::uint64_t>(count, 1, values) - 1;
}

/// Returns true if the host sorts the values of an image in less time than the device counts them.
bool is_small(const Texture& texture, DeviceKind device) {
    const std::size_t most = std::size_t{1} << (device == DeviceKind::cpu ? 16 : 14);
    constexpr std::size_t kMaxLayers = 16;  // each is a launch
    const Extent& extent = texture.extent();
    const std::size_t layers = texture.kind() == ArrayKind::layered_2d ? texture.layers() : 1;
    return layers <= kMaxLayers && extent.width * extent.height * layers <= most;
}

/// The keys of the finite values of each channel.
using Keys = std::array<std::vector<std::uint32_t>, 4>;

Keys keys_of(const Stream& stream, const Texture& texture) {
    const Texture texels = detail::by_points(texture);
    const bool layered = texture.kind() == ArrayKind::layered_2d;
    const FormatInfo& format = info(texture.format());
    const Extent extent{texture.extent().width, texture.extent().height};
    const Format words = format.kind == FormatKind::uint   ? Format::rgba32_uint
                         : format.kind == FormatKind::sint ? Format::rgba32_sint
                                                           : Format::rgba32_float;
    const Linear memory = Linear::async(packed_bytes(words, extent), stream);
    const View image = memory.view(words, extent);
    std::vector<Texel> layer(extent.width * extent.height);
    Keys keys;
    for (std::size_t i = 0; i < (layered ? texture.layers() : 1); ++i) {
        const detail::Launch launch(kPercentiles, stream, image, std::span(&texels, 1), detail::Overlap::refused);
        const SourceShape shape = launch.shape(0);
        launch.sample_grid({.xx = shape.x_unit, .yy = shape.y_unit, .layer = static_cast<std::int32_t>(i)});
        copy(host_view(static_cast<void*>(layer.data()), words, extent), image, stream);
        stream.synchronize();
        for (int c = 0; c < format.channels; ++c) {
            std::vector<std::uint32_t>& of_channel = keys[static_cast<std::size_t>(c)];
            of_channel.reserve(layer.size());
            for (const Texel& texel : layer) {
                const std::uint32_t word = texel.channel[c];
                float value = texel.as_float(c);
                if (shape.integers)
                    value = shape.is_signed ? static_cast<float>(static_cast<std::int32_t>(word))
                                            : static_cast<float>(word);
                if (detail::is_finite(value)) of_channel.push_back(detail::key_of(value));
            }
        }
    }
    return keys;
}

/// Sorts by one byte after the other, from the lowest on.
void sort_keys(std::vector<std::uint32_t>& keys) {
    std::vector<std::uint32_t> sorted(keys.size());
    std::size_t first[4][256] = {};
    for (const std::uint32_t key : keys) {
        for (std::uint32_t byte = 0; byte < 4; ++byte) ++first[byte][key >> 8 * byte & 255];
    }
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
        std::size_t sum = 0;
        for (std::size_t& count : first[byte]) sum += std::exchange(count, sum);
        for (const std::uint32_t key : keys) sorted[first[byte][key >> 8 * byte & 255]++] = key;
        keys.swap(sorted);
    }
}

std::vector<std::array<float, 4>> sorted_percentiles(Keys keys, std::span<const double> shares) {
    std::array<float, 4> nothing;
    nothing.fill(std::numeric_limits<float>::quiet_NaN());
    std::vector<std::array<float, 4>> values(shares.size(), nothing);
    for (std::size_t c = 0; c < keys.size(); ++c) {
        if (keys[c].empty()) continue;
        sort_keys(keys[c]);
        for (std::size_t i = 0; i < shares.size(); ++i)
            values[i][c] = detail::value_of_key(keys[c][place_of_share(shares[i], keys[c].size())]);
    }
    return values;
}

void check(const Texture& texture) {
    detail::check_kind(kPercentiles, "texture", texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    detail::check_texel_count(kPercentiles, texture);
}

void check(std::span<const double> shares) {
    for (const double share : shares) {
        if (share >= 0 && share <= 1) continue;
        detail::refuse_argument(kPercentiles, fmt::format("a share is {}", share), "Use shares from 0 to 1.");
    }
}

}  // namespace

void detail::KeyTotals::add(const Stream& stream, const TextureParts& parts, const KeyHalf& half) {
    const auto part_counts = std::make_unique<KeyCounts>();
    parts([&](const Texture& part) {
        check(part);
        KeyCounter(stream, part).count(half, *part_counts);
        for (int c = 0; c < 4; ++c) {
            for (std::uint32_t i = 0; i < kHalves; ++i) of[c][i] += part_counts->of[c][i];
        }
    });
}

std::vector<std::array<float, 4>> detail::percentiles_of(const CountKeys& count, std::span<const double> shares) {
    check(shares);
    auto counts = std::make_unique<KeyTotals>();
    count({}, *counts);

    std::array<float, 4> nothing;
    nothing.fill(std::numeric_limits<float>::quiet_NaN());
    std::vector<std::array<float, 4>> values(shares.size(), nothing);
    std::vector<std::array<Place, 4>> places(shares.size());
    std::uint64_t finite[4];
    std::set<std::uint32_t> halves[4];  // whose lower halves must be counted
    for (int c = 0; c < 4; ++c) {
        finite[c] = sum(counts->of[c]);
        if (finite[c] == 0) continue;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            places[i][static_cast<std::size_t>(c)] = place_in(counts->of[c], place_of_share(shares[i], finite[c]));
            halves[c].insert(places[i][static_cast<std::size_t>(c)].upper);
        }
    }
    // Each pass counts the lower halves for one upper half of each channel.
    while (std::ranges::any_of(halves, [](const auto& left) { return !left.empty(); })) {
        KeyHalf half{.lower = true, .upper = {}};
        for (int c = 0; c < 4; ++c) {
            // No key of a finite value has these upper bits.
            half.upper[c] = halves[c].empty() ? 0 : halves[c].extract(halves[c].begin()).value();
        }
        std::fill_n(&counts->of[0][0], 4 * KeyTotals::kHalves, std::uint64_t{0});
        count(half, *counts);
        for (std::size_t i = 0; i < shares.size(); ++i) {
            for (std::size_t c = 0; c < 4; ++c) {
                if (finite[c] == 0 || places[i][c].upper != half.upper[c]) continue;
                const std::uint32_t lower = place_in(counts->of[c], places[i][c].within).upper;
                values[i][c] = detail::value_of_key(half.upper[c] << 16 | lower);
            }
        }
    }
    return values;
}

std::vector<std::array<float, 4>> percentiles(const Stream& stream, const Texture& texture,
                                              std::span<const double> shares) try {
    check(texture);
    check(shares);
    if (is_small(texture, stream.device().kind())) return sorted_percentiles(keys_of(stream, texture), shares);
    const TextureParts parts = [&](const auto& count) { count(texture); };
    return detail::percentiles_of([&](const KeyHalf& half, KeyTotals& totals) { totals.add(stream, parts, half); },
                                  shares);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::percentiles");
}

std::vector<std::array<float, 4>> percentiles(const Stream& stream, const TextureParts& parts,
                                              std::span<const double> shares) try {
    return detail::percentiles_of([&](const KeyHalf& half, KeyTotals& totals) { totals.add(stream, parts, half); },
                                  shares);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::percentiles");
}

}  // namespace texton
