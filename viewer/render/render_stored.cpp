// Values of pixels from stored texels. If the image is enlarged, a pixel is the texel at its center. If it is reduced,
// each row of texels is first summed along the pixels of a row, and then added to the rows of pixels that it overlaps.
// Texels are read once, in order.
#include <algorithm>
#include <cmath>

#include "viewer/render/render_parts.h"

namespace texton::viewer::detail {
namespace {

constexpr std::size_t kTexelsAtOnce = std::size_t{1} << 16;

// Reads the rows of a box of texels, several at a time.
class RowWindow {
public:
    RowWindow(const TexelRows& rows, const Axis& across, const Axis& down, bool all_rows)
        : rows_(rows),
          x_(across.first_texel()),
          width_(across.end_texel() - across.first_texel()),
          end_(down.end_texel()) {
        at_once_ = all_rows ? std::max<std::size_t>(1, kTexelsAtOnce / width_) : 1;
    }

    std::span<const Color> row(std::size_t y) {
        if (y < first_ || y >= first_ + count_) {
            first_ = y;
            count_ = std::min(at_once_, end_ - y);
            texels_.resize(count_ * width_);
            rows_.read({x_, y, width_, count_}, texels_);
        }
        return std::span<const Color>(texels_).subspan((y - first_) * width_, width_);
    }

private:
    const TexelRows& rows_;
    std::size_t x_, width_, end_;
    std::size_t at_once_ = 1;
    std::size_t first_ = 0, count_ = 0;
    std::vector<Color> texels_;
};

float share_of(const Footprint& pixel, std::size_t index) {
    return index == 0 ? pixel.first_share : index + 1 == pixel.count ? pixel.last_share : 1.0f;
}

void add(Color& sum, const Color& value, float share) {
    for (std::size_t c = 0; c < 4; ++c) sum[c] += value[c] * share;
}

void raise(Color& maximum, const Color& value) {
    for (std::size_t c = 0; c < 4; ++c) maximum[c] = std::max(maximum[c], value[c]);
}

// Sums a row of texels along the pixels of a row, weighted by the covered fractions.
void add_row(std::span<const Color> texels, const Axis& across, bool largest, std::span<Color> pixels) {
    const std::size_t left = across.first_texel();
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const Footprint& pixel = across.pixels[i];
        const Color* const first = texels.data() + (pixel.first - left);
        Color sum{};
        if (largest) {
            for (std::size_t k = 0; k < pixel.count; ++k) raise(sum, first[k]);
        } else {
            add(sum, first[0], pixel.first_share);
            for (std::size_t k = 1; k + 1 < pixel.count; ++k) add(sum, first[k], 1);
            if (pixel.count > 1) add(sum, first[pixel.count - 1], pixel.last_share);
        }
        pixels[i] = sum;
    }
}

}  // namespace

Axis axis_of(const PlaneSide& side, Quality quality) {
    Axis out;
    out.scale = side.texels_a_unit / side.zoom;
    const auto end = static_cast<double>(side.texels);
    for (int pixel = side.begin; pixel < side.begin + side.size; ++pixel) {
        const double center = ((pixel + 0.5) / side.zoom - side.part_at) * side.texels_a_unit;
        if (center < 0 || center >= end) continue;
        if (out.pixels.empty()) out.begin = pixel;
        Footprint seen{.first = static_cast<std::size_t>(center)};
        if (out.scale > 1 && quality == Quality::full) {
            const double from = std::max(0.0, center - out.scale / 2);
            const double to = std::min(end, center + out.scale / 2);
            seen.first = static_cast<std::size_t>(from);
            seen.count = static_cast<std::size_t>(std::ceil(to)) - seen.first;
            const double last = static_cast<double>(seen.first + seen.count - 1);
            seen.first_share = static_cast<float>(std::min(to, static_cast<double>(seen.first) + 1) - from);
            seen.last_share = static_cast<float>(to - last);
        }
        out.pixels.push_back(seen);
    }
    return out;
}

void reduce_rows(const TexelRows& rows, const Axis& across, const Axis& down, bool largest, Values& out) {
    if (across.pixels.empty() || down.pixels.empty()) return;
    const bool quick = out.quality == Quality::quick;
    RowWindow window(rows, across, down, !quick || down.scale <= 1);
    const auto columns = across.pixels.size();
    const auto width = static_cast<std::size_t>(out.part.width);
    const bool sums = !quick && (across.scale > 1 || down.scale > 1);
    std::vector<Color> row(columns);
    std::size_t row_of = SIZE_MAX;  // the row of texels that `row` was computed from
    for (std::size_t j = 0; j < down.pixels.size(); ++j) {
        const Footprint& high = down.pixels[j];
        const std::size_t at = (static_cast<std::size_t>(down.begin - out.part.y) + j) * width +
                               static_cast<std::size_t>(across.begin - out.part.x);
        const std::span<Color> pixels(out.values.data() + at, columns);
        std::fill_n(out.seen.begin() + static_cast<long>(at), columns, std::uint8_t{1});
        if (!sums) {
            if (row_of != high.first) {
                const std::span<const Color> texels = window.row(high.first);
                for (std::size_t i = 0; i < columns; ++i)
                    row[i] = texels[across.pixels[i].first - across.first_texel()];
                row_of = high.first;
            }
            std::copy(row.begin(), row.end(), pixels.begin());
            continue;
        }
        for (std::size_t k = 0; k < high.count; ++k) {
            if (row_of != high.first + k) add_row(window.row(high.first + k), across, largest, row);
            row_of = high.first + k;
            for (std::size_t i = 0; i < columns; ++i) {
                if (largest) {
                    raise(pixels[i], row[i]);
                } else {
                    add(pixels[i], row[i], share_of(high, k));
                }
            }
        }
        if (largest) continue;
        float shares = 0;
        for (std::size_t k = 0; k < high.count; ++k) shares += share_of(high, k);
        for (std::size_t i = 0; i < columns; ++i) {
            const Footprint& wide = across.pixels[i];
            const float sum = wide.count == 1 ? wide.first_share
                                              : wide.first_share + wide.last_share + static_cast<float>(wide.count - 2);
            for (float& channel : pixels[i]) channel /= sum * shares;
        }
    }
}

}  // namespace texton::viewer::detail
