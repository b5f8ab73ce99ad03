#include <texton/sampler.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/sample.h>

void sampler_example() {
    const texton::Array array(texton::Device::best(), {.format = texton::Format::r32_float, .extent = {4}});
    const float texels[] = {0, 1, 2, 3};
    texton::copy(array.view(), texton::host_view(texels, array.info().format, {4}));
    const texton::Point2 beyond[] = {{1.125f, 0}};  // half a texel to the right of the right edge
    for (const auto mode : {texton::AddressMode::wrap, texton::AddressMode::mirror, texton::AddressMode::clamp,
                            texton::AddressMode::border}) {
        const texton::Sampler sampler{
            .address = {mode, mode, mode}, .normalized_coordinates = true, .border = {9, 9, 9, 9}};
        std::cout << texton::sample(texton::Texture(array, sampler), beyond)[0][0] << '\n';
    }
}

// Prints:
// 0
// 3
// 3
// 9
