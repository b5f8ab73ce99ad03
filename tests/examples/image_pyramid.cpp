#include <texton/image_pyramid.h>

#include <iostream>

void image_pyramid_example() {
    const texton::Device device = texton::Device::best();
    const texton::Stream stream(device);
    const texton::Sampler sampler{.filter = texton::Filter::linear, .normalized_coordinates = true};
    texton::StreamedTexture texture(device, texton::open_pyramid("levels.dds"), {.sampler = sampler});

    const texton::StreamedView all[] = {{.level = 0}};
    texture.request(all);
    while (!texture.update(stream).settled()) texture.wait_for_reads(std::chrono::milliseconds(10));
    const texton::FetchPoint middle[] = {{.x = 0.5f, .y = 0.5f, .lod = 0}};
    const texton::StreamedSamples found = texture.sample(middle);
    std::cout << to_string(texture.array().array().info().extent) << ", read with clamp " << int{found.clamps[0]}
              << '\n';
}

// Prints:
// 128 x 64, read with clamp 0
