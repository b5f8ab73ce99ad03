// Structural similarity, after Wang, Bovik, Sheikh and Simoncelli, 2004.
//
// Each row of a tile is filtered along the row, then the last kSsimWindow rows are filtered down the columns. Values are
// divided by the peak, and the value at the tile's center is subtracted from them: otherwise variances would be small
// differences of large numbers. If both images are equal, all moments are equal and SSIM is exactly 1, so such tiles and
// channels are skipped.
#include <hwy/cache_control.h>

#include <cmath>

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

struct Scratch {
    std::array<std::array<std::vector<float>, kPlanes>, 2> planes;
    std::vector<float> row;
    std::vector<float> moments;
    std::vector<float> filtered;
};

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
            if (is_needed && scratch.planes[0][plane] != scratch.planes[1][plane])
                sums[plane] = similarity(scratch, scratch.planes[0][plane], scratch.planes[1][plane], windows, texels);
        }
        return sums;
    }

private:
    void load(Scratch& scratch, const Tile& texels) const {
        const std::size_t size = texels.width * texels.height, row_bytes = texels.width * a_.texel_bytes();
        for (std::size_t image = 0; image < 2; ++image) {
            auto& planes = scratch.planes[image];
            for (auto& plane : planes) plane.resize(size);
            for (std::size_t y = 0; y < texels.height; ++y) {
                std::array<float*, kPlanes> rows;
                for (std::size_t plane = 0; plane < kPlanes; ++plane)
                    rows[plane] = planes[plane].data() + y * texels.width;
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

    std::int64_t similarity(Scratch& scratch, const std::vector<float>& a, const std::vector<float>& b,
                            const Tile& windows, const Tile& texels) const {
        const float center = (a[a.size() / 2] + b[b.size() / 2]) / 2;
        // The filtered rows of the last windows. Each row has the four moments, one after the other.
        const std::size_t stride = windows.width, rows = down_.size();
        scratch.moments.resize(4 * stride * rows);
        scratch.filtered.resize(4 * stride);
        scratch.row.resize(4 * texels.width);
        const auto row_of = [&](std::size_t y) { return scratch.moments.data() + y % rows * 4 * stride; };
        std::int64_t sum = 0;
        for (std::size_t y = 0; y < texels.height; ++y) {
            moment_products(a.data() + y * texels.width, b.data() + y * texels.width, center, texels.width,
                            scratch.row.data());
            for (std::size_t i = 0; i < 4; ++i)
                filter(scratch.row.data() + i * texels.width, 1, across_, stride, row_of(y) + i * stride);
            if (y + 1 < rows) continue;
            if (rows == kSsimWindow) {
                std::array<const float*, kSsimWindow> window;
                for (std::size_t k = 0; k < rows; ++k) window[k] = row_of(y + 1 + k);
                sum += sum_of_windows(window, down_, stride, center, stride);
            } else {  // a window as high as the image
                filter(scratch.moments.data(), 4 * stride, down_, 4 * stride, scratch.filtered.data());
                sum += sum_of_similarities(scratch.filtered.data(), stride, center, stride);
            }
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
