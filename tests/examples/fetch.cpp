#include <texton/fetch.h>

#include <iostream>

#include <texton/fill.h>
#include <texton/sample.h>

void fetch_example() {
    const texton::Device device = texton::Device::best();
    const texton::Array array(device, {.format = texton::Format::r8_unorm, .extent = {64, 64}, .levels = 3});
    for (int level = 0; level < 3; ++level) texton::fill(array.view({.level = level}), 100 * level);
    const texton::Texture texture(array, {.mip_filter = texton::Filter::linear, .normalized_coordinates = true});

    // A level of detail, and gradients: the footprint of the last point is 4 x 4 texels, which level 2 stands for.
    const texton::FetchPoint levels[] = {{.x = 0.5f, .y = 0.5f, .lod = 1}, {.x = 0.5f, .y = 0.5f, .lod = 1.5f}};
    const texton::FetchPoint wide[] = {{.x = 0.5f, .y = 0.5f, .dx = {4.0f / 64, 0}, .dy = {0, 4.0f / 64}}};
    for (const texton::Texel& texel : sample(texture, levels, {.operation = texton::FetchOperation::lod}).texels)
        std::cout << 255 * texel.as_float(0) << '\n';
    for (const texton::Texel& texel : sample(texture, wide, {.operation = texton::FetchOperation::gradients}).texels)
        std::cout << 255 * texel.as_float(0) << '\n';
}

// Prints:
// 100
// 150
// 200
