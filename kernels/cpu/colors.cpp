// Pointwise changes of colors on the CPU device. Works on rows of four floats per pixel, which are read from the
// texture and written to the image directly if their formats are four floats.
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

using ChangeRow = std::function<void(const float* texels, std::size_t count, float* pixels, bool past_caches)>;

void change_tile(const CpuJob& job, const ChangeRow& change, PixelPosition at, std::size_t width, std::size_t height) {
    const TexelRows rows(job.textures[0], job.shapes[0], at.z);
    const bool past_caches = job.goes_past_caches();
    Float4 texels[kPart];
    Float4 pixels[kPart];
    for (std::size_t y = 0; y < height; ++y, ++at.y) {
        for (std::size_t x = 0; x < width; x += kPart) {
            const std::size_t length = std::min(kPart, width - x);
            at.x = static_cast<std::int32_t>(x);
            const float* read = rows.centers_in_place(at.x, at.y, length, texels);
            job.image.make_row(at, {pixels, length}, [&](float* made) { change(read, length, made, past_caches); });
        }
    }
}

bool change_colors(Launch& launch, ChangeRow change) {
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
    return change_colors(launch, [matrix](const float* texels, std::size_t count, float* pixels, bool past_caches) {
        apply_matrix(matrix.row, texels, count, pixels, past_caches);
    });
}

bool CpuKernels::scale_colors(Launch& launch, float by) const {
    return change_colors(launch, [by](const float* texels, std::size_t count, float* pixels, bool past_caches) {
        scale_color_rows(by, texels, count, pixels, past_caches);
    });
}

}  // namespace texton::detail
