// Warps without minification on the CPU device. The coordinates of a part of a row are computed first, and then fetched
// together, on vectors.
#include <algorithm>
#include <memory>

#include <texton/launch.h>

#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/texel_rows.h"

namespace texton::detail {
namespace {

constexpr std::size_t kRows = 64;  // of a tile

// The rows of a texture that a thread fetches from. The texture and the shape must outlive the object.
class FetchedRows {
public:
    FetchedRows(const CpuTexture& texture, const SourceShape& shape, std::int32_t layer)
        : shape_(shape), reader_(texture), rows_(reader_.rows(layer)) {}

    // Fetches at coordinates in texels, which are converted to those of the sampler.
    void fetch(float* x, float* y, std::size_t count, Float4* texels) const {
        scale(x, y, count);
        Texel words[Warp::Row::kMax];
        rows_.fetch(x, y, count, words);
        std::transform(words, words + count, texels, [&](const Texel& texel) { return floats_of(shape_, texel); });
    }
    // Does the same and stores the results as pixels of an image.
    void fetch(float* x, float* y, std::size_t count, const PixelFormat& image, std::byte* pixels) const {
        scale(x, y, count);
        rows_.fetch(x, y, count, image, pixels);
    }

private:
    void scale(float* x, float* y, std::size_t count) const {
        if (shape_.x_unit == 1 && shape_.y_unit == 1) return;
        for (std::size_t i = 0; i < count; ++i) x[i] *= shape_.x_unit;
        for (std::size_t i = 0; i < count; ++i) y[i] *= shape_.y_unit;
    }

    const SourceShape& shape_;
    TextureReader reader_;
    RowSampler rows_;
};

// The fetches of the second texture.
class FetchedMap {
public:
    FetchedMap(const CpuJob& job, const Warp& warp, std::int32_t layer)
        : warp_(warp),
          fetched_(job.textures[1], job.shapes[1], layer),
          texels_(job.textures[1], job.shapes[1], layer),
          fits_(warp.map_x == 1 && warp.map_y == 1) {}

    // Returns the fetches of pixels. They are valid until the next call.
    Warp::MapRow read(PixelPosition at, std::size_t count) {
        float* const x = planes_.channel[0];
        float* const y = planes_.channel[1];
        // A map of the image's size is read by points.
        if (fits_) {
            texels_.centers(at.x, at.y, count, x, {TexelPlanes::kMax, 1});
            return {x, y};
        }
        for (std::size_t i = 0; i < count; ++i, ++at.x) {
            x[i] = at.center_x() * warp_.map_x;
            y[i] = at.center_y() * warp_.map_y;
        }
        Float4 texels[Warp::Row::kMax];
        fetched_.fetch(x, y, count, texels);
        for (std::size_t i = 0; i < count; ++i) {
            x[i] = texels[i].x;
            y[i] = texels[i].y;
        }
        return {x, y};
    }

private:
    static_assert(Warp::Row::kMax <= TexelPlanes::kMax && Warp::Row::kMax % Warp::Row::kStep == 0);
    const Warp& warp_;
    FetchedRows fetched_;
    TexelRows texels_;
    bool fits_;
    TexelPlanes planes_{};  // pixels beyond the last one are computed, too
};

class WarpedTile {
public:
    WarpedTile(const CpuJob& job, const Warp& warp, std::int32_t layer)
        : job_(job), warp_(warp), texture_(job.textures[0], job.shapes[0], layer) {
        if (job.textures.size() > 1) map_ = std::make_unique<FetchedMap>(job, warp, layer);
    }

    // Computes at most Warp::Row::kMax pixels.
    void make(PixelPosition at, std::size_t count) {
        Warp::MapRow fetched;
        if (map_ != nullptr) fetched = map_->read(at, count);
        const bool all_exist = warp_.coordinates(at, count, fetched, row_);
        if (job_.stores_fetches()) {
            texture_.fetch(row_.x, row_.y, count, job_.image.format(), job_.image.address(at));
        } else {
            Float4 pixels[Warp::Row::kMax];
            texture_.fetch(row_.x, row_.y, count, pixels);
            job_.image.store(at, {pixels, count});
        }
        if (all_exist) return;
        for (std::size_t i = 0; i < count; ++i, ++at.x) {
            if (row_.exists[i] == 0) job_.image.store(at, {&warp_.border, 1});
        }
    }

private:
    const CpuJob& job_;
    const Warp& warp_;
    FetchedRows texture_;
    std::unique_ptr<FetchedMap> map_;  // destroyed before the other rows, since both restore the thread's modes
    Warp::Row row_;
};

}  // namespace

bool CpuKernels::warp(Launch& launch, const std::function<Warp()>& make) const {
    launch.run_job([warp = make()](const CpuJob& job) {
        // Tiles are narrow, so that the rows of a tile read the same texels even if they are rotated.
        for_each_tile(job, Warp::Row::kMax, kRows,
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          WarpedTile tile(job, warp, corner.z);
                          PixelPosition at = corner;
                          for (std::size_t y = 0; y < height; ++y, ++at.y) tile.make(at, width);
                      });
    });
    return true;
}

}  // namespace texton::detail
