// Levels of half the sides on the CPU device, by the box filter: whole rows of means of two by two texels.
#include <vector>

#include <texton/launch.h>

#include "kernels/cpu/halves.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/line_vector.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/launch/dispatch.h"

namespace texton::detail {
namespace {

void halve_tile(const CpuJob& job, const PixelPlace& corner, std::size_t width, std::size_t height) {
    const TexelRows texels(job.textures[0], job.shapes[0], corner.z);
    const TexelFormat& format = job.textures[0].format;
    const bool codes = are_alike_codes_of_8_bits(format, job.picture.format().stored) && texels.are_stored();
    LineVector<Float4> room[2]{LineVector<Float4>(2 * width), LineVector<Float4>(2 * width)};
    LineVector<Float4> pixels(width);
    const std::int32_t x = 2 * corner.x;
    for (PixelPlace at = corner; at.y < corner.y + static_cast<std::int32_t>(height); ++at.y) {
        const std::int32_t y = 2 * at.y;
        if (codes) {
            halve_codes(texels.stored(x, y), texels.stored(x, y + 1), static_cast<std::size_t>(format.channels), width,
                        reinterpret_cast<unsigned char*>(job.picture.address(at)));
            continue;
        }
        const float* top = texels.middles_in_place(x, y, 2 * width, room[0].data());
        const float* bottom = texels.middles_in_place(x, y + 1, 2 * width, room[1].data());
        job.picture.make_row(at, pixels,
                             [&](float* means) { halve_floats(top, bottom, width, HalfSum::of_rows, means); });
    }
}

}  // namespace

bool halve_on_cpu(const char* object, const Stream& stream, const View& picture, const Texture& texture) {
    Launch launch(object, stream, picture, {&texture, 1}, false);
    if (!launch.on_cpu()) return false;
    launch.run_job([](const CpuJob& job) {
        constexpr std::size_t kColumns = 1024;
        constexpr std::size_t kRows = 32;
        for_each_tile(job.extent, kColumns, kRows,
                      [&](const PixelPlace& corner, std::size_t width, std::size_t height) {
                          halve_tile(job, corner, width, height);
                      });
    });
    return true;
}

}  // namespace texton::detail
