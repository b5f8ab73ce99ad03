#include <texton/source.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/float_math.h>
#include <texton/functor_traits.h>
#include <texton/host_device.h>
#include <texton/launch.h>
#include <texton/linear.h>

namespace {

/// Returns the length of the gradient, from the texels on both sides of a pixel.
struct GradientLength {
    static constexpr bool kMayBeCalledWithZeros = true;  // so the CPU device fetches for many pixels at once

    template <class Source>
    TEXTON_HD texton::Float4 operator()(texton::PixelPosition at, const Source& image) const {
        const float x = at.center_x(), y = at.center_y();
        const texton::Float4 across = image.at_texel(x + 1, y) - image.at_texel(x - 1, y);
        const texton::Float4 down = image.at_texel(x, y + 1) - image.at_texel(x, y - 1);
        return texton::Float4::all(sqrtf(across.x * across.x + down.x * down.x) / 2);
    }
};

}  // namespace

void source_example() {
    const texton::Device device = texton::Device::cpu();  // nvcc compiles functors for GPUs, too
    const texton::Array array(device, {.format = texton::Format::r32_float, .extent = {4, 4}});
    float slope[16] = {};  // rises by 3 to the right, and by 4 to the bottom
    for (int i = 0; i < 16; ++i) slope[i] = static_cast<float>(3 * (i % 4) + 4 * (i / 4));
    texton::copy(array.view(), texton::host_view(slope, texton::Format::r32_float, {4, 4}));

    const texton::Linear memory(device, sizeof slope);
    const texton::Stream stream(device);
    texton::launch(stream, memory.view(texton::Format::r32_float, {4, 4}), GradientLength{}, texton::Texture(array));
    stream.synchronize();
    texton::copy(texton::host_view(std::span(slope)), memory.view());
    std::cout << slope[5] << " inside, " << slope[0] << " in the corner\n";  // coordinates are clamped
}

// Prints:
// 5 inside, 2.5 in the corner
