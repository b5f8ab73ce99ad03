#include <texton/pixel.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/launch.h>
#include <texton/linear.h>

namespace {

/// Computes four pixels of a row at once. What they share is computed once.
struct Stripes {
    template <class... Sources>
    TEXTON_HD texton::PixelRun<4> operator()(texton::RunPosition at, const Sources&...) const {
        const float row = static_cast<float>(at.y);
        texton::PixelRun<4> pixels{};
        for (int i = 0; i < 4; ++i) pixels[i].x = row + static_cast<float>((at.x + i) % 2) / 2;
        return pixels;
    }
};

}  // namespace

void pixel_example() {
    const texton::Device device = texton::Device::cpu();  // nvcc compiles functors for GPUs, too
    const texton::Linear memory(device, 8 * 2 * sizeof(float));
    const texton::Stream stream(device);
    texton::launch(stream, memory.view(texton::Format::r32_float, {8, 2}), Stripes{});
    stream.synchronize();
    float values[16] = {};
    texton::copy(texton::host_view(std::span(values)), memory.view());
    for (std::size_t i = 0; i < 16; ++i) std::cout << values[i] << (i % 8 == 7 ? "\n" : " ");
}

// Prints:
// 0 0.5 0 0.5 0 0.5 0 0.5
// 1 1.5 1 1.5 1 1.5 1 1.5
