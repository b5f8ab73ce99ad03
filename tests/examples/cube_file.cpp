#include <texton/cube_file.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/lut.h>

void cube_file_example() {
    texton::CubeLut negative{.title = "negative", .dimensions = 3, .size = 2};
    for (const float blue : {1.0f, 0.0f})
        for (const float green : {1.0f, 0.0f})
            for (const float red : {1.0f, 0.0f}) negative.entries.insert(negative.entries.end(), {red, green, blue});
    texton::write_cube_file("negative.cube", negative);

    const texton::Device device = texton::Device::best();
    const texton::Array table = texton::cube_array(device, texton::read_cube_file("negative.cube"));
    const texton::Texture lookup(table, {.filter = texton::Filter::linear});
    const texton::ArrayInfo info{.format = texton::Format::rgba8_unorm, .extent = {16, 16}, .usage = {.surface = true}};
    const texton::Array image(device, info), result(device, info);
    texton::fill(image.view(), std::uint32_t{0xff0000ff});  // red
    const texton::Stream stream(device);
    texton::lut_3d(stream, result.view(), texton::Texture(image), lookup);
    stream.synchronize();
    std::uint8_t texel[4] = {};
    texton::copy(texton::host_view(texel, info.format, {1}), result.view({.region = texton::Region{{}, {1}}}));
    std::cout << "red becomes " << int{texel[0]} << ' ' << int{texel[1]} << ' ' << int{texel[2]} << '\n';
}

// Prints:
// red becomes 0 255 255
