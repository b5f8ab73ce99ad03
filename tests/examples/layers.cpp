#include <texton/layers.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>

void layers_example() {
    const texton::Device device = texton::Device::best();
    const texton::ArrayInfo info{.format = texton::Format::rgba8_unorm, .extent = {8, 8}};
    const texton::Array bottom(device, info), top(device, info);
    texton::fill(bottom.view(), std::uint32_t{0xff0000ff});  // red
    texton::fill(top.view(), std::uint32_t{0x80008000});     // half of green; colors are multiplied by alpha

    const texton::Linear memory(device, 8 * 8 * 4);
    const texton::Stream stream(device);
    texton::blend(stream, memory.view(info.format, info.extent), texton::Texture(bottom), texton::Texture(top),
                  {.mode = texton::BlendMode::over});
    stream.synchronize();
    std::uint8_t texel[4] = {};
    texton::copy(texton::host_view(std::span(texel)), memory.view().region({{}, {4}}));
    std::cout << int{texel[0]} << ' ' << int{texel[1]} << ' ' << int{texel[2]} << ' ' << int{texel[3]} << '\n';
}

// Prints:
// 127 128 0 255
