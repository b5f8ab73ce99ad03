// Weighted means of rectangles of texels for 8-bit normalized formats, on the CPU device.
//
// The mean of four texels, added in either order, is stored as the nearest code, with halves rounded up. This is the
// result of the texture unit's filter halfway between the texels. The same holds for means of two texels and of one.
// All combinations of codes were tested.
//
// Otherwise texels are converted to floats once for all rows of pixels that read them: the first tap of all pixels,
// then the second, and so on. All pixels get the maximum number of taps, some of them with the weight 0. If the second
// of two taps is the first tap of the next pixel, it is read from there.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "arrays/unit/texture_address.h"
#include "kernels/cpu/byte_axes.h"
#include "kernels/cpu/byte_lattice.h"
#include "kernels/cpu/kept_rows.h"

namespace texton::detail {
namespace {

constexpr std::size_t kMaxTaps = 8;
constexpr std::size_t kMaxRows = 16;

std::size_t taps_of(const BoxAxis& axis, std::size_t pixel) { return axis.begin[pixel + 1] - axis.begin[pixel]; }

float min_total(const BoxAxis& axis) {
    float minimum = std::numeric_limits<float>::max();
    for (std::size_t i = 0; i < axis.first.size(); ++i) {
        float total = 0;
        for (std::uint32_t tap = axis.begin[i]; tap < axis.begin[i + 1]; ++tap) total += axis.weights[tap];
        minimum = std::min(minimum, total);
    }
    return minimum;
}

std::size_t max_taps(const BoxAxis& axis) {
    std::size_t maximum = 0;
    for (std::size_t i = 0; i < axis.first.size(); ++i) maximum = std::max(maximum, taps_of(axis, i));
    return maximum;
}

// --- texels by their positions ---------------------------------------------------------------------------------------

// The positions that boxes cover along an axis, with the sampler's address mode applied.
struct BoxTexels {
    std::int32_t first;
    std::vector<std::int32_t> texels;

    std::int32_t at(std::int32_t number) const { return texels[static_cast<std::size_t>(number - first)]; }
};

// Returns nothing if a fetch at the center of a texel may return something other than that texel, or if there are too
// many texels.
std::optional<BoxTexels> texels_along(const CpuJob& job, const TextureView& view, int axis, const BoxAxis& boxes) {
    constexpr std::int64_t kMaxTexels = 1 << 20;
    constexpr std::int64_t kExact = 1 << 22;  // centers are exact up to here, so that fetches read their texels
    const auto [minimum, maximum] = std::ranges::minmax(boxes.first);
    const std::int64_t count = std::int64_t{maximum} - minimum + static_cast<std::int64_t>(kMaxRows);
    if (count > kMaxTexels) return std::nullopt;
    BoxTexels numbered{minimum, {}};
    numbered.texels.reserve(static_cast<std::size_t>(count));
    const Sampler& sampler = job.textures[0].sampler;
    if (!sampler.normalized_coordinates && std::max(std::abs(std::int64_t{minimum}), minimum + count) <= kExact) {
        const std::int32_t size = axis == 0 ? view.levels[0].width : view.levels[0].height;
        for (std::int64_t i = 0; i < count; ++i)
            numbered.texels.push_back(address_texel(minimum + i, size, sampler.address[axis]));
        return numbered;
    }
    const float unit = axis == 0 ? job.shapes[0].x_unit : job.shapes[0].y_unit;
    std::vector<float> positions(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
        positions[static_cast<std::size_t>(i)] = (static_cast<float>(minimum + i) + 0.5f) * unit;
    for (const AxisTaps& taps : taps_along(job.textures[0], view, axis, positions)) {
        if (taps.weight != 0) return std::nullopt;
        numbered.texels.push_back(taps.texel[0]);
    }
    return numbered;
}

// --- means -----------------------------------------------------------------------------------------------------------

bool has_means(const BoxAxis& axis) {
    if (std::ranges::any_of(axis.weights, [](float weight) { return weight != 1; })) return false;
    const std::size_t taps = taps_of(axis, 0);
    if (taps != 1 && taps != 2) return false;
    for (std::size_t i = 0; i < axis.first.size(); ++i)
        if (taps_of(axis, i) != taps) return false;
    return true;
}

std::vector<AxisTaps> halfway(const BoxAxis& axis, const BoxTexels& texels) {
    const std::int32_t share = taps_of(axis, 0) == 2 ? 128 : 0;
    std::vector<AxisTaps> taps;
    taps.reserve(axis.first.size());
    for (const std::int32_t first : axis.first) taps.push_back({{texels.at(first), texels.at(first + 1)}, share});
    return taps;
}

// --- arbitrary weights -----------------------------------------------------------------------------------------------

struct ByteBoxes {
    const ByteBoxKernels& kernels;
    // For each tap; or for the first of two taps only, if the second tap is the first tap of the next pixel.
    std::vector<ByteColumns> columns;
    std::vector<std::vector<float>> weights;  // for each tap
    const BoxAxis& y;
    const BoxTexels& rows;
    std::size_t max_rows;
};

class ByteBoxTile {
public:
    ByteBoxTile(const CpuJob& job, const ByteBoxes& boxes, const PixelPosition& corner, std::size_t width)
        : job_(job),
          boxes_(boxes),
          corner_(corner),
          width_(width),
          span_{static_cast<std::size_t>(corner.x), whole_blocks(width)},
          reader_(job.textures[0]),
          modes_(reader_.rows(corner.z)),
          border_(border_word(job.textures[0])),
          past_caches_(job.exceeds_caches()),
          steps_{span_.count + kByteBlock,
                 boxes.columns.size() < boxes.weights.size() ? 1 : 4 * (span_.count + kByteBlock)},
          texels_(boxes.max_rows + 1, boxes.columns.size() * 4 * steps_.channel) {
        for (const std::vector<float>& weights : boxes.weights) weights_.push_back(&weights[span_.first]);
    }

    void make(std::size_t height) {
        const std::size_t bytes = job_.image.format().stored.bytes;
        for (std::size_t i = 0; i < height; ++i, ++corner_.y) {
            const auto row = static_cast<std::size_t>(corner_.y);
            ByteBoxRow rows[kMaxRows];
            std::size_t count = 0;
            for (std::size_t tap = 0; tap < taps_of(boxes_.y, row); ++tap) {
                const float weight = boxes_.y.weights[boxes_.y.begin[row] + tap];
                if (weight == 0) continue;
                rows[count++] = {row_of(boxes_.rows.at(boxes_.y.first[row] + static_cast<std::int32_t>(tap))), weight};
            }
            auto* const stored = reinterpret_cast<unsigned char*>(job_.image.address(corner_));
            boxes_.kernels.store_boxes({rows, count}, weights_, steps_, {stored, width_, bytes, past_caches_});
        }
    }

private:
    // Returns a row of widened texels, including the first texels after the tile.
    const float* row_of(std::int32_t y) {
        const std::size_t behind = whole_blocks(job_.extent.width) - span_.first;
        const ByteSpan read{span_.first, std::min(steps_.channel, behind)};
        return texels_.row(y, [&](float* texels) {
            const unsigned char* stored = y == kBorderTexel ? nullptr : texels_of_row(reader_.view(), corner_.z, y);
            for (const ByteColumns& columns : boxes_.columns) {
                boxes_.kernels.widen(columns, read, {stored, job_.textures[0].format.bytes, border_}, steps_.channel,
                                     texels);
                texels += steps_.tap;
            }
        });
    }

    const CpuJob& job_;
    const ByteBoxes& boxes_;
    PixelPosition corner_;  // first pixel of the current row
    std::size_t width_;
    ByteSpan span_;
    TextureReader reader_;
    RowSampler modes_;  // sets the thread's floating-point modes while it exists
    std::uint32_t border_;
    bool past_caches_;
    std::vector<const float*> weights_;
    ByteBoxSteps steps_;
    KeptRows<std::int32_t, float> texels_;  // the key is the row of texels
};

// Returns true if the second texel of each pixel is the first texel of the next pixel, unless its weight is 0. This is
// common when images are enlarged.
bool share_texels(const ByteColumns& first, const ByteColumns& second, std::span<const float> weights) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const bool is_shared = i + 1 < weights.size() && second.left[i] == first.left[i + 1];
        if (weights[i] != 0 && !is_shared) return false;
    }
    return true;
}

ByteBoxes boxes_of(const CpuJob& job, const TextureView& view, const BoxAxis& x, const BoxAxis& y,
                   const BoxTexels& across, const BoxTexels& down) {
    ByteBoxes boxes{*byte_box_kernels(), {}, {}, y, down, max_taps(y)};
    const std::size_t taps = max_taps(x);
    std::vector<AxisTaps> texels(x.first.size());
    for (std::size_t tap = 0; tap < taps; ++tap) {
        std::vector<float> weights(whole_blocks(texels.size()));
        for (std::size_t i = 0; i < texels.size(); ++i) {
            const std::int32_t texel = across.at(x.first[i] + static_cast<std::int32_t>(tap));
            texels[i] = {{texel, texel}, 0};
            if (tap < taps_of(x, i)) weights[i] = x.weights[x.begin[i] + tap];
        }
        boxes.columns.push_back(columns_of(texels));
        boxes.weights.push_back(std::move(weights));
    }
    if (taps == 2 && share_texels(boxes.columns[0], boxes.columns[1], boxes.weights[1])) boxes.columns.pop_back();
    for (ByteColumns& columns : boxes.columns)
        byte_kernels()->find_windows(columns, view.levels[0].width, job.textures[0].format.bytes);
    return boxes;
}

}  // namespace

bool sum_byte_boxes(const CpuJob& job, const BoxAxis& x, const BoxAxis& y, BoxSum kind, float total) {
    if (!has_byte_pixels(job) || max_taps(x) > kMaxTaps || max_taps(y) > kMaxRows) return false;
    const Sampler& sampler = job.textures[0].sampler;
    if (sampler.filter == Filter::point &&
        (sampler.max_anisotropy > 1 || (sampler.mip_filter == Filter::linear && job.textures[0].levels > 1)))
        return false;
    const TextureReader reader(job.textures[0]);
    const std::optional<BoxTexels> across = texels_along(job, reader.view(), 0, x);
    const std::optional<BoxTexels> down = texels_along(job, reader.view(), 1, y);
    if (!across || !down) return false;
    if (has_means(x) && has_means(y) &&
        (kind == BoxSum::of_products || total == static_cast<float>(taps_of(x, 0) * taps_of(y, 0)))) {
        blend_byte_texels(job, halfway(x, *across), halfway(y, *down));
        return true;
    }
    // Rounding errors of these sums change a total by far less than half of it.
    constexpr float kMin = 2 * kMinByteTotal;
    const float minimum[] = {min_total(x), min_total(y)};
    if (kind != BoxSum::of_products || !(minimum[0] > 0 && minimum[1] > 0 && minimum[0] * minimum[1] > kMin))
        return false;
    constexpr std::size_t kColumns = 1024;  // maximum of a tile
    constexpr std::size_t kRows = 64;
    const ByteBoxes boxes = boxes_of(job, reader.view(), x, y, *across, *down);
    for_each_tile(job.extent, kColumns, kRows, [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
        ByteBoxTile(job, boxes, corner, width).make(height);
    });
    return true;
}

}  // namespace texton::detail
