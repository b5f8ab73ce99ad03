// Structural similarity, after Wang, Bovik, Sheikh and Simoncelli, 2004.
//
// The rows of a tile are filtered down the columns, a few rows at a time, then the results are filtered along the row. Values
// are divided by the peak, and the value at the tile's center is subtracted from them: otherwise variances would be small
// differences of large numbers. If both images are equal, all moments are equal and SSIM is exactly 1, so such tiles and
// channels are skipped.
#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>

#include "core/line_vector.h"
#include "kernels/metrics/filter.h"
#include "kernels/metrics/parts.h"
#include "kernels/metrics/similarity.h"

namespace texton::detail {
namespace {

constexpr std::size_t kLuma = kSsimLuma, kPlanes = kSsimPlanes;

constexpr std::size_t kPrefetched = 6;  // rows between the one that is read and the one that is prefetched

void prefetch(const std::byte* from, std::size_t bytes) {
    constexpr std::size_t kLine = 64;
    for (std::size_t i = 0; i < bytes; i += kLine) hwy::Prefetch(from + i);
}

constexpr std::size_t kMaxHeight = kSsimTileHeight + kSsimWindow - 1;
constexpr std::size_t kSlots = kSsimRows + kSsimWindow - 1;  // rows that are needed at a time
constexpr std::size_t kMoments = kSsimMoments * kSsimStride;

using Plane = LineVector<float>;  // rows of kSsimStride values

struct Scratch {
    std::array<std::array<Plane, kPlanes>, 2> planes;
    LineVector<float> products = LineVector<float>(kSlots * kMoments);  // of row y in slot y % kSlots
    LineVector<float> moments = LineVector<float>(kSsimRows * kMoments);

    Scratch() {
        for (auto& image : planes) image.fill(Plane(kMaxHeight * kSsimStride));
    }
};

bool is_equal(const Plane& a, const Plane& b, const Tile& texels) {
    for (std::size_t y = 0; y < texels.height; ++y) {
        const float *const row = a.data() + y * kSsimStride, *const other = b.data() + y * kSsimStride;
        if (!std::equal(row, row + texels.width, other)) return false;
    }
    return true;
}

class Pass {
public:
    Pass(const TexelReader& a, const TexelReader& b, std::size_t channels, double peak)
        : a_(a),
          b_(b),
          channels_(channels),
          scale_(1 / peak),
          across_(ssim_window(a.extent().width)),
          down_(ssim_window(a.extent().height)) {}

    bool has_luma() const { return channels_ >= 3; }
    /// Returns the number of windows that fit into the image along each axis.
    Extent windows() const {
        const Extent extent = a_.extent();
        return {extent.width - across_.size() + 1, extent.height - down_.size() + 1, extent.depth};
    }

    /// Returns the sums of SSIM over the windows of the tile, for each channel and for luma, in units of 2^-30.
    std::array<std::int64_t, kPlanes> operator()(Scratch& scratch, const Tile& windows) const {
        const Tile texels{windows.at, windows.width + across_.size() - 1, windows.height + down_.size() - 1};
        const auto all = static_cast<std::int64_t>(windows.width * windows.height) << 30;
        std::array<std::int64_t, kPlanes> sums{all, all, all, all, all};
        if (same_bytes(a_, b_, texels)) return sums;
        load(scratch, texels);
        for (std::size_t plane = 0; plane < kPlanes; ++plane) {
            const bool is_needed = plane == kLuma ? has_luma() : plane < channels_;
            const Plane &a = scratch.planes[0][plane], &b = scratch.planes[1][plane];
            if (is_needed && !is_equal(a, b, texels)) sums[plane] = similarity(scratch, a, b, windows, texels);
        }
        return sums;
    }

private:
    void load(Scratch& scratch, const Tile& texels) const {
        const std::size_t row_bytes = texels.width * a_.texel_bytes();
        for (std::size_t image = 0; image < 2; ++image) {
            for (std::size_t y = 0; y < texels.height; ++y) {
                std::array<float*, kPlanes> rows;
                for (std::size_t plane = 0; plane < kPlanes; ++plane)
                    rows[plane] = scratch.planes[image][plane].data() + y * kSsimStride;
                const TexelReader& reader = image == 0 ? a_ : b_;
                // The rows of a tile are short and far from each other, so the processor does not prefetch them.
                if (y + kPrefetched < texels.height)
                    prefetch(reader.bytes({texels.at.x, texels.at.y + y + kPrefetched, texels.at.z}), row_bytes);
                reader.read_finite({texels.at.x, texels.at.y + y, texels.at.z}, texels.width, scale_,
                                   std::span(rows).first(channels_));
                if (has_luma()) luma(rows[0], rows[1], rows[2], texels.width, rows[kLuma]);
            }
        }
    }

    std::int64_t similarity(Scratch& scratch, const Plane& a, const Plane& b, const Tile& windows,
                            const Tile& texels) const {
        const std::size_t middle = texels.width * texels.height / 2;
        const std::size_t at = middle / texels.width * kSsimStride + middle % texels.width;
        const float center = (a[at] + b[at]) / 2;
        const auto slot = [&](std::size_t y) { return scratch.products.data() + y % kSlots * kMoments; };
        std::int64_t sum = 0;
        for (std::size_t y = 0, filled = 0; y < windows.height;) {
            const std::size_t rows = windows.height - y < kSsimRows ? 1 : kSsimRows;
            std::array<const float*, kSlots> products;
            const std::size_t needed = rows + down_.size() - 1;
            for (; filled < y + needed; ++filled)
                moment_products(a.data() + filled * kSsimStride, b.data() + filled * kSsimStride, center, slot(filled));
            for (std::size_t k = 0; k < needed; ++k) products[k] = slot(y + k);
            filter_columns(std::span(products).first(needed), down_, rows, scratch.moments.data());
            for (std::size_t row = 0; row < rows; ++row)
                sum += sum_of_windows(scratch.moments.data() + row * kMoments, across_, center, windows.width);
            y += rows;
        }
        return sum;
    }

    const TexelReader& a_;
    const TexelReader& b_;
    std::size_t channels_;
    double scale_;
    std::vector<float> across_;
    std::vector<float> down_;
};

}  // namespace

std::vector<float> ssim_window(std::size_t side) {
    constexpr double kSigma = 1.5;
    std::vector<double> weights(std::min(side, kSsimWindow));
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double from_center = static_cast<double>(i) - static_cast<double>(weights.size() - 1) / 2;
        weights[i] = std::exp(-from_center * from_center / (2 * kSigma * kSigma));
        sum += weights[i];
    }
    std::vector<float> taps;
    for (const double weight : weights) taps.push_back(static_cast<float>(weight / sum));
    return taps;
}

void finish_ssim(const std::array<std::int64_t, kPlanes>& sums, Extent windows, Comparison& result) {
    const std::size_t channels = result.channels.size();
    const double unit = static_cast<double>(windows.width * windows.height * windows.depth) * double{kSsimUnit};
    double mean = 0;
    for (std::size_t c = 0; c < channels; ++c) {
        result.channels[c].ssim = static_cast<double>(sums[c]) / unit;
        mean += *result.channels[c].ssim / static_cast<double>(channels);
    }
    result.all.ssim = channels >= 3 ? static_cast<double>(sums[kLuma]) / unit : mean;
}

void measure_ssim(const TexelReader& a, const TexelReader& b, Progress& progress, Comparison& result) {
    const std::size_t channels = result.channels.size();
    const Pass pass(a, b, channels, result.peak);
    const Extent windows = pass.windows();
    const std::vector<Tile> tiles = tiles_of(windows, kSsimTileWidth, kSsimTileHeight);
    std::vector<std::array<std::int64_t, kPlanes>> sums(tiles.size());
    for_each_piece<Scratch>(tiles.size(), progress, kSsimWork,
                            [&](Scratch& scratch, std::size_t i) { sums[i] = pass(scratch, tiles[i]); });
    std::array<std::int64_t, kPlanes> total{};
    for (const auto& part : sums) {
        for (std::size_t plane = 0; plane < kPlanes; ++plane) total[plane] += part[plane];
    }
    finish_ssim(total, windows, result);
}

}  // namespace texton::detail
