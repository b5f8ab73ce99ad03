#include <texton/gather.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>

// The range of depths in each block of an image, for example to skip empty parts of it.
void gather_example() {
    const texton::Device device = texton::Device::best();
    const texton::ArrayInfo info{.format = texton::Format::r32_float, .extent = {64, 64}, .usage = {.gather = true}};
    const texton::Array depths(device, info);
    const float far = 0.5f, near = 0.125f;
    texton::fill(depths.view(), std::as_bytes(std::span(&far, 1)));
    texton::fill(depths.view({.region = texton::Region{{40, 8}, {1, 1}}}), std::as_bytes(std::span(&near, 1)));

    const texton::Texture texture(depths);
    std::vector<texton::Linear> memory;
    std::vector<texton::View> levels;
    for (const texton::Extent extent : texton::min_max_extents(texture)) {
        memory.emplace_back(device, extent.width * extent.height * 2 * sizeof(float));
        levels.push_back(memory.back().view(texton::Format::rg32_float, extent));
    }
    const texton::Stream stream(device);
    texton::min_max_pyramid(stream, levels, texture);
    stream.synchronize();
    float range[2] = {};
    texton::copy(texton::host_view(range, texton::Format::rg32_float, {1}), levels.back());
    std::cout << levels.size() << " levels, depths from " << range[0] << " to " << range[1] << '\n';
}

// Prints:
// 6 levels, depths from 0.125 to 0.5
