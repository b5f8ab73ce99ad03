// Pointwise changes of colors on the CPU device. Images of four floats per pixel are written directly, from rows of four
// floats that are read from the texture directly if it has them, too. Other images are computed channel by channel.
#include <algorithm>
#include <functional>
#include <utility>

#include <texton/color.h>
#include <texton/launch.h>

#include "kernels/cpu/color_rows.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/texel_rows.h"

namespace texton::detail {
namespace {

constexpr std::size_t kPart = 512;         // pixels of a row at a time, which stay in the L1 cache
constexpr std::size_t kMinTile = 1 << 14;  // pixels, in whole rows

struct Change {
    std::function<void(const float* texels, std::size_t count, float* pixels, bool past_caches)> pixels;
    /// Changes the first `colors` separate channels in place.
    std::function<void(std::size_t colors, std::size_t count, TexelPlanes& pixels)> planes;
};

// Calls make(position, count) for the parts of the rows of a tile.
template <std::size_t part, class Make>
void for_each_part(PixelPosition at, std::size_t width, std::size_t height, const Make& make) {
    for (std::size_t y = 0; y < height; ++y, ++at.y) {
        for (std::size_t x = 0; x < width; x += part) {
            at.x = static_cast<std::int32_t>(x);
            make(at, std::min(part, width - x));
        }
    }
}

void change_tile(const CpuJob& job, const Change& change, const PixelPosition& corner, std::size_t width,
                 std::size_t height) {
    const TexelRows rows(job.textures[0], job.shapes[0], corner.z);
    const TexelFormat& stored = job.image.format().stored;
    if (!is_four_floats(stored)) {
        const std::size_t colors = std::min<std::size_t>(channels_of(stored), 3);
        TexelPlanes planes = {};
        return for_each_part<TexelPlanes::kMax>(corner, width, height, [&](const PixelPosition& at, std::size_t count) {
            rows.centers(at.x, at.y, count, planes);
            change.planes(colors, count, planes);
            job.image.store(at, planes, count);
        });
    }
    const bool past_caches = job.goes_past_caches();
    Float4 texels[kPart];
    Float4 pixels[kPart];
    for_each_part<kPart>(corner, width, height, [&](const PixelPosition& at, std::size_t count) {
        const float* read = rows.centers_in_place(at.x, at.y, count, texels);
        job.image.make_row(at, {pixels, count}, [&](float* made) { change.pixels(read, count, made, past_caches); });
    });
}

bool change_colors(Launch& launch, Change change) {
    launch.run_job([change = std::move(change)](const CpuJob& job) {
        const std::size_t minimum = std::max<std::size_t>(1, kMinTile / job.extent.width);
        const std::size_t rows = rows_of_tiles(job, job.extent.width, minimum);
        for_each_tile(job, job.extent.width, rows,
                      [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
                          change_tile(job, change, corner, width, height);
                      });
    });
    return true;
}

}  // namespace

bool CpuKernels::color_matrix(Launch& launch, const ColorMatrix& matrix) const {
    return change_colors(launch, {[matrix](const float* texels, std::size_t count, float* pixels, bool past_caches) {
                                      apply_matrix(matrix.row, texels, count, pixels, past_caches);
                                  },
                                  [matrix](std::size_t colors, std::size_t count, TexelPlanes& pixels) {
                                      apply_matrix(matrix.row, colors, count, pixels);
                                  }});
}

bool CpuKernels::scale_colors(Launch& launch, float by) const {
    return change_colors(launch, {[by](const float* texels, std::size_t count, float* pixels, bool past_caches) {
                                      scale_color_rows(by, texels, count, pixels, past_caches);
                                  },
                                  [by](std::size_t colors, std::size_t count, TexelPlanes& pixels) {
                                      scale_color_planes(by, colors, count, pixels);
                                  }});
}

}  // namespace texton::detail
