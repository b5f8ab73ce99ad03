// Neighborhood filters on the CPU device, tile by tile. A row of texels is decoded and kept as long as rows of the
// image read it.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <texton/launch.h>

#include "core/line_vector.h"
#include "kernels/cpu/bilateral_rows.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/line_sums.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/cpu/window_rows.h"
#include "kernels/functors/filter_functors.h"
#include "kernels/functors/median_functors.h"

namespace texton::detail {
namespace {

/// Enqueues Tile(job, corner, width, given...).make(height) for the tiles of an image that shares no byte with the
/// texture.
template <class Tile, class... Given>
bool enqueue_tiles(Launch& launch, std::size_t columns, std::size_t rows, const Given&... given) {
    launch.run_job([=](const CpuJob& job) {
        for_each_tile(job, columns, rows, [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
            Tile(job, corner, width, given...).make(height);
        });
    });
    return true;
}

/// Ring of the 2 * reach + 1 most recent rows of texels of a tile. The rows include `reach` texels on both sides.
class Window {
public:
    Window(const CpuJob& job, const PixelPosition& corner, std::size_t width, std::size_t reach)
        : texels_(job.textures[0], job.shapes[0], corner.z),
          left_(corner.x - static_cast<std::int32_t>(reach)),
          across_(width + 2 * reach),
          apart_((across_ + kAligned - 1) / kAligned * kAligned),
          rows_(2 * reach + 1),
          room_(rows_ * texels_.channels() * apart_ + kLineRest) {}

    std::size_t rows() const { return rows_; }
    std::size_t channels() const { return texels_.channels(); }
    /// Reads row `y` of the texture in place of the oldest row.
    PlaneRow read(std::size_t number, std::int32_t y) {
        float* const row = room_of(number);
        texels_.centers(left_, y, across_, row, {apart_, 1});
        PlaneRow planes{};
        for (std::size_t c = 0; c < channels(); ++c) planes.channel[c] = row + c * apart_;
        return planes;
    }
    /// Reads row `y` with all channels of one texel after another.
    const float* read_values(std::size_t number, std::int32_t y) {
        float* const row = room_of(number);
        texels_.centers(left_, y, across_, row, {1, channels()});
        return row;
    }

private:
    static constexpr std::size_t kAligned = 16;  // floats

    float* room_of(std::size_t number) { return &room_[number % rows_ * channels() * apart_]; }

    TexelRows texels_;
    std::int32_t left_;
    std::size_t across_;  // number of texels of a row
    std::size_t apart_;   // floats from a channel to the next
    std::size_t rows_;
    LineVector<float> room_;
};

/// Calls store(rows, at) for each row of pixels of a tile. `rows` are the rows of texels that read(number, y) returned
/// last, as many as a pixel reads.
template <class Row, class Read, class Store>
void for_each_window(const PixelPosition& corner, std::size_t height, std::size_t side, const Read& read,
                     const Store& store) {
    std::vector<Row> rows(side);
    const std::int32_t first = corner.y - static_cast<std::int32_t>(side / 2);
    for (std::size_t i = 0; i < height + side - 1; ++i) {
        std::shift_left(rows.begin(), rows.end(), 1);
        rows.back() = read(i, first + static_cast<std::int32_t>(i));
        if (i + 1 < side) continue;
        store(rows.data(), PixelPosition{corner.x, corner.y + static_cast<std::int32_t>(i + 1 - side), corner.z});
    }
}

// --- the median ------------------------------------------------------------------------------------------------------

class MedianTile {
public:
    MedianTile(const CpuJob& job, const PixelPosition& corner, std::size_t width, std::size_t side)
        : job_(job), corner_(corner), width_(width), side_(side), texels_(job.textures[0], job.shapes[0], corner.z) {}

    void make(std::size_t height) {
        const TexelFormat& format = job_.textures[0].format;
        const TexelFormat& image = job_.image.format().stored;
        if (texels_.are_stored() && texels_.clamps()) {
            const bool is_srgb =
                format == image && format.packing == Packing::plain && format.encoding == Encoding::srgb;
            if (is_srgb || are_alike_codes(format, image, 8)) return make_stored<std::uint8_t>(height);
            if (are_alike_codes(format, image, 16)) return make_stored<std::uint16_t>(height);
            if (has_floats(format) && has_floats(image) && format.channels == image.channels)
                return make_stored<float>(height);
        }
        if (job_.image.takes_values(texels_.channels())) return make_values(height);
        Window window(job_, corner_, width_, side_ / 2);
        const std::size_t across = width_ + side_ - 1;
        LineVector<float> pixels(4 * width_);
        for_each_window<PlaneRow>(
            corner_, height, side_, [&](std::size_t number, std::int32_t y) { return window.read(number, y); },
            [&](const PlaneRow* rows, PixelPosition at) {
                for (std::size_t c = 0; c < window.channels(); ++c) {
                    const float* of_channel[kMaxSide];
                    for (std::size_t i = 0; i < side_; ++i) of_channel[i] = rows[i].channel[c];
                    median_of_rows<float>({of_channel, side_, 1, 0, across}, {&pixels[c * width_], width_}, false);
                }
                job_.image.store(at, pixels.data(), width_, width_);
            });
    }

private:
    static constexpr std::size_t kMaxSide = 5;

    void make_values(std::size_t height) {
        const std::size_t channels = texels_.channels();
        const bool past_caches = job_.exceeds_caches();
        Window window(job_, corner_, width_, side_ / 2);
        LineVector<float> pixels(channels * width_);
        for_each_window<const float*>(
            corner_, height, side_, [&](std::size_t number, std::int32_t y) { return window.read_values(number, y); },
            [&](const float* const* rows, PixelPosition at) {
                median_of_rows<float>({rows, side_, channels, 0, width_ + side_ - 1}, pixels, false);
                job_.image.store_values(at, pixels.data(), width_, past_caches);
            });
    }

    // Finds medians of the values that the texture stores. Its sampler must clamp.
    template <class Value>
    void make_stored(std::size_t height) {
        const SourceShape& shape = job_.shapes[0];
        const std::size_t channels = texels_.channels();
        const bool past_caches = job_.exceeds_caches();
        const std::int32_t left = corner_.x - static_cast<std::int32_t>(side_ / 2);
        const std::int32_t first = std::clamp(left, 0, shape.width - 1);
        const auto before = static_cast<std::size_t>(std::max(-left, 0));
        const std::size_t inside = std::min(width_ + side_ - 1 - before, static_cast<std::size_t>(shape.width - first));
        for_each_window<const Value*>(
            corner_, height, side_,
            [&](std::size_t, std::int32_t y) {
                return reinterpret_cast<const Value*>(texels_.stored(first, std::clamp(y, 0, shape.height - 1)));
            },
            [&](const Value* const* rows, const PixelPosition& at) {
                auto* const pixels = reinterpret_cast<Value*>(job_.image.address(at));
                median_of_rows<Value>({rows, side_, channels, before, inside}, {pixels, channels * width_},
                                      past_caches);
            });
    }

    const CpuJob& job_;
    PixelPosition corner_;
    std::size_t width_;
    std::size_t side_;
    TexelRows texels_;
};

// --- the bilateral filter --------------------------------------------------------------------------------------------

BilateralExponents exponents_of(const filters::Bilateral& filter) {
    BilateralExponents exponents{static_cast<std::size_t>(filter.radius), filter.range, filters::kLowestExponent, {}};
    for (std::int32_t j = -filter.radius; j <= filter.radius; ++j) {
        for (std::int32_t i = -filter.radius; i <= filter.radius; ++i)
            exponents.distances.push_back(static_cast<float>(i * i + j * j) * filter.space);
    }
    return exponents;
}

class BilateralTile {
public:
    BilateralTile(const CpuJob& job, const PixelPosition& corner, std::size_t width,
                  const BilateralExponents& exponents)
        : job_(job),
          corner_(corner),
          width_(width),
          exponents_(exponents),
          window_(job, corner, width, exponents.radius),
          apart_(whole_line_blocks(width) + kLineRest),
          pixels_(4 * apart_) {
        if (exponents.radius <= PairWeights::kMaxRadius) pairs_.emplace(exponents.radius, width);
    }

    void make(std::size_t height) {
        for_each_window<PlaneRow>(
            corner_, height, window_.rows(),
            [&](std::size_t number, std::int32_t y) { return window_.read(number, y); },
            [&](const PlaneRow* rows, PixelPosition at) {
                filter(rows, static_cast<std::size_t>(at.y - corner_.y));
                job_.image.store(at, pixels_.data(), apart_, width_);
            });
    }

private:
    // Computes a row of pixels of the tile.
    void filter(const PlaneRow* rows, std::size_t y) {
        float* const planes[4] = {&pixels_[0], &pixels_[apart_], &pixels_[2 * apart_], &pixels_[3 * apart_]};
        const std::size_t channels = window_.channels(), radius = exponents_.radius;
        if (!pairs_) return bilateral_of_rows(rows, channels, exponents_, width_, planes);
        const std::size_t row = y + radius;  // the first row of texels has number 0
        for (std::size_t above = y == 0 ? radius : 0; above > 0; --above)
            weigh_pairs(rows + radius - above, channels, exponents_, width_, row - above, above, *pairs_);
        weigh_pairs(rows + radius, channels, exponents_, width_, row, 0, *pairs_);
        bilateral_of_pairs(rows, channels, radius, width_, row, *pairs_, planes);
    }

    const CpuJob& job_;
    PixelPosition corner_;
    std::size_t width_;
    const BilateralExponents& exponents_;
    Window window_;
    std::size_t apart_;
    LineVector<float> pixels_;
    std::optional<PairWeights> pairs_;
};

}  // namespace

bool CpuKernels::median(Launch& launch, const filters::Median<3>&) const {
    return enqueue_tiles<MedianTile>(launch, 2048, 64, std::size_t{3});
}

bool CpuKernels::median(Launch& launch, const filters::Median<5>&) const {
    return enqueue_tiles<MedianTile>(launch, 2048, 64, std::size_t{5});
}

bool CpuKernels::bilateral(Launch& launch, const filters::Bilateral& filter) const {
    if (line_sums() == nullptr) return false;
    launch.run_job([exponents = exponents_of(filter)](const CpuJob& job) {
        constexpr std::size_t kColumns = 512;
        constexpr std::size_t kLeastRows = 16;  // weights of pairs with texels above a tile are computed twice
        for_each_tile(job, kColumns, rows_of_tiles(job, kColumns, kLeastRows),
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          BilateralTile(job, corner, width, exponents).make(height);
                      });
    });
    return true;
}

}  // namespace texton::detail
