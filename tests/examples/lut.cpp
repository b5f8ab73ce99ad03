#include <texton/lut.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>

void lut_example() {
    const texton::Device device = texton::Device::best();
    const texton::CurvePoint points[] = {{0, 0}, {0.5f, 0.8f}, {1, 1}};  // brightens the middle
    const texton::Texture curve(texton::curve_array(device, points), {.filter = texton::Filter::linear});
    const texton::Array gray(device, {.format = texton::Format::r32_float, .extent = {8, 8}});
    const float middle = 0.5f;
    texton::fill(gray.view(), std::as_bytes(std::span(&middle, 1)));

    const texton::Linear memory(device, 8 * 8 * sizeof(float));
    const texton::Stream stream(device);
    texton::lut_1d(stream, memory.view(texton::Format::r32_float, {8, 8}), texton::Texture(gray), curve,
                   {.channels = texton::LutChannels::shared});
    stream.synchronize();
    float value = 0;
    texton::copy(texton::host_view(std::span(&value, 1)), memory.view().region({{}, {sizeof value}}));
    // Not 0.8 exactly: the texture unit interpolates with weights of 8 bits. LutFilter::exact does not.
    std::cout << "0.5 becomes " << value << '\n';
}

// Prints:
// 0.5 becomes 0.799707
