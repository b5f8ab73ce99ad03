// Neighborhood filters on the CPU device, tile by tile. A row of texels is decoded and kept as long as rows of the
// image read it.
#include <algorithm>
#include <cstring>
#include <vector>

#include <texton/launch.h>

#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/line_vector.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/cpu/window_rows.h"
#include "kernels/functors/filter_functors.h"

namespace texton::detail {
namespace {

/// Enqueues Tile(job, corner, width, given...).make(height) for the tiles of an image that shares no byte with the
/// texture.
template <class Tile, class... Given>
bool enqueue_tiles(Launch& launch, std::size_t rows, const Given&... given) {
    launch.run_job([=](const CpuJob& job) {
        constexpr std::size_t kColumns = 512;
        for_each_tile(job.extent, kColumns, rows,
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          Tile(job, corner, width, given...).make(height);
                      });
    });
    return true;
}

/// Ring of the 2 * reach + 1 most recent rows of a tile, with `values` values each. The rows include `reach` texels on
/// both sides.
template <class T>
class Window {
public:
    Window(std::size_t reach, std::size_t values) : rows_(2 * reach + 1), room_(rows_ * values), values_(values) {}

    std::size_t rows() const { return rows_; }
    T* room(std::size_t row) { return &room_[row % rows_ * values_]; }

private:
    std::size_t rows_;
    LineVector<T> room_;
    std::size_t values_;
};

// --- the median ------------------------------------------------------------------------------------------------------

class MedianTile {
public:
    MedianTile(const CpuJob& job, const PixelPosition& corner, std::size_t width, std::size_t side)
        : job_(job), corner_(corner), width_(width), side_(side), texels_(job.textures[0], job.shapes[0], corner.z) {}

    void make(std::size_t height) {
        const TexelFormat& format = job_.textures[0].format;
        if (texels_.are_stored() && texels_.clamps() && are_alike_codes_of_8_bits(format, job_.image.format().stored)) {
            const std::size_t channels = format.channels;
            Window<unsigned char> window(side_ / 2, channels * (width_ + side_ - 1));
            return make_rows<unsigned char>(
                height, [&](std::size_t i, std::int32_t y) { return codes(y, channels, window.room(i)); },
                [&](const unsigned char* const* rows, PixelPosition at) {
                    median_of_rows(rows, side_, channels, channels * width_,
                                   reinterpret_cast<unsigned char*>(job_.image.address(at)));
                });
        }
        Window<Float4> window(side_ / 2, width_ + side_ - 1);
        LineVector<Float4> pixels(width_);
        make_rows<float>(
            height,
            [&](std::size_t i, std::int32_t y) {
                return texels_.centers_in_place(left(), y, width_ + side_ - 1, window.room(i));
            },
            [&](const float* const* rows, PixelPosition at) {
                median_of_rows(rows, side_, 4, 4 * width_, &pixels[0].x);
                job_.image.store(at, pixels);
            });
    }

private:
    std::int32_t left() const { return corner_.x - static_cast<std::int32_t>(side_ / 2); }

    template <class T, class Fetch, class Store>
    void make_rows(std::size_t height, const Fetch& fetch, const Store& store) {
        std::vector<const T*> rows(side_);
        const std::int32_t first = corner_.y - static_cast<std::int32_t>(side_ / 2);
        for (std::size_t i = 0; i < height + side_ - 1; ++i) {
            std::shift_left(rows.begin(), rows.end(), 1);
            rows.back() = fetch(i, first + static_cast<std::int32_t>(i));
            if (i + 1 < side_) continue;
            store(rows.data(), {corner_.x, corner_.y + static_cast<std::int32_t>(i + 1 - side_), corner_.z});
        }
    }

    // Returns a row of codes of a texture whose sampler clamps, directly from the texture or copied to `room`.
    const unsigned char* codes(std::int32_t y, std::size_t channels, unsigned char* room) const {
        const SourceShape& shape = job_.shapes[0];
        const std::int32_t row = std::clamp(y, 0, shape.height - 1);
        const auto count = static_cast<std::int32_t>(width_ + side_ - 1);
        const std::int32_t before = std::clamp(-left(), 0, count);
        const std::int32_t inside = std::clamp(shape.width - (left() + before), 0, count - before);
        if (inside == count) return texels_.stored(left(), row);
        unsigned char* next = room;
        const auto put = [&](std::int32_t x, std::int32_t texels) {
            const std::size_t bytes = static_cast<std::size_t>(texels) * channels;
            std::memcpy(next, texels_.stored(x, row), bytes);
            next += bytes;
        };
        for (std::int32_t i = 0; i < before; ++i) put(0, 1);
        if (inside > 0) put(left() + before, inside);
        for (std::int32_t i = before + inside; i < count; ++i) put(shape.width - 1, 1);
        return room;
    }

    const CpuJob& job_;
    PixelPosition corner_;
    std::size_t width_;
    std::size_t side_;
    TexelRows texels_;
};

// --- the bilateral filter --------------------------------------------------------------------------------------------

struct BilateralNumbers {
    std::size_t radius;
    float space;
    float range;
};

class BilateralTile {
public:
    BilateralTile(const CpuJob& job, const PixelPosition& corner, std::size_t width, const BilateralNumbers& numbers)
        : job_(job),
          corner_(corner),
          width_(width),
          numbers_(numbers),
          texels_(job.textures[0], job.shapes[0], corner.z),
          across_(width + 2 * numbers.radius),
          window_(numbers.radius, 4 * across_),
          row_(across_),
          planes_(4 * width),
          pixels_(width) {}

    void make(std::size_t height) {
        const std::size_t side = window_.rows();
        const std::int32_t first = corner_.y - static_cast<std::int32_t>(numbers_.radius);
        std::vector<PlaneRow> rows(side);
        for (std::size_t i = 0; i < height + side - 1; ++i) {
            std::shift_left(rows.begin(), rows.end(), 1);
            rows.back() = fetch(first + static_cast<std::int32_t>(i), window_.room(i));
            if (i + 1 < side) continue;
            store(rows.data(), {corner_.x, corner_.y + static_cast<std::int32_t>(i + 1 - side), corner_.z});
        }
    }

private:
    PlaneRow fetch(std::int32_t y, float* room) {
        const std::int32_t left = corner_.x - static_cast<std::int32_t>(numbers_.radius);
        const float* texels = texels_.centers_in_place(left, y, across_, row_.data());
        for (std::size_t i = 0; i < across_; ++i) {
            for (std::size_t c = 0; c < 4; ++c) room[c * across_ + i] = texels[4 * i + c];
        }
        return {{room, room + across_, room + 2 * across_, room + 3 * across_}};
    }

    void store(const PlaneRow* rows, PixelPosition at) {
        float* const planes[4] = {&planes_[0], &planes_[width_], &planes_[2 * width_], &planes_[3 * width_]};
        bilateral_of_rows(rows, numbers_.radius, numbers_.space, numbers_.range, width_, planes);
        for (std::size_t i = 0; i < width_; ++i) pixels_[i] = {planes[0][i], planes[1][i], planes[2][i], planes[3][i]};
        job_.image.store(at, pixels_);
    }

    const CpuJob& job_;
    PixelPosition corner_;
    std::size_t width_;
    BilateralNumbers numbers_;
    TexelRows texels_;
    std::size_t across_;  // number of texels of a row
    Window<float> window_;
    LineVector<Float4> row_;
    LineVector<float> planes_;
    LineVector<Float4> pixels_;
};

}  // namespace

bool CpuKernels::median(Launch& launch, const filters::Median<3>&) const {
    return enqueue_tiles<MedianTile>(launch, 64, std::size_t{3});
}

bool CpuKernels::median(Launch& launch, const filters::Median<5>&) const {
    return enqueue_tiles<MedianTile>(launch, 64, std::size_t{5});
}

bool CpuKernels::bilateral(Launch& launch, const filters::Bilateral& filter) const {
    const BilateralNumbers numbers{static_cast<std::size_t>(filter.radius), filter.space, filter.range};
    return enqueue_tiles<BilateralTile>(launch, 16, numbers);
}

}  // namespace texton::detail
