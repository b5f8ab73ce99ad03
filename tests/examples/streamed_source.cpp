#include <texton/streamed_source.h>

#include <iostream>

#include <texton/linear.h>
#include <texton/streamed_feedback.h>

namespace {

/// Shows a part of the texture from level 0, and requests the tiles that it lacks.
struct Part {
    float size;  ///< of the whole texture, in pixels of the image
    template <class Source>
    TEXTON_HD texton::Float4 operator()(texton::PixelPosition at, const Source& texture) const {
        return texture.fetch_or_request(at.center_x() / size, at.center_y() / size, 0).value;
    }
};

}  // namespace

void streamed_source_example() {
    texton::ArrayInfo info{.format = texton::Format::r8_unorm, .extent = {4096, 4096}};
    info.levels = texton::full_levels(info);
    const auto read = [](const texton::PyramidBox&, std::span<std::byte> texels, const std::stop_token&) {
        std::ranges::fill(texels, std::byte{255});
    };
    const texton::Device device = texton::Device::cpu();  // nvcc compiles functors for GPUs, too
    const texton::Sampler sampler{.filter = texton::Filter::linear, .normalized_coordinates = true};
    texton::StreamedTexture texture(device, {info, read}, {.sampler = sampler, .budget = 4 << 20});

    const texton::Extent extent{150, 100};
    const texton::Linear memory(device, 150 * 100);
    const texton::Stream stream(device);
    for (int frame = 0; frame < 6; ++frame) {  // each one is a level finer
        texton::launch(stream, memory.view(texton::Format::r8_unorm, extent), Part{1024}, texture);
        // A window shows a frame after each update. This program waits for the tiles that the frame lacked.
        while (!texture.update(stream).settled()) texture.wait_for_reads(std::chrono::milliseconds(10));
        std::cout << texture.statistics().resident_tiles << " tiles\n";
    }
}

// Prints:
// 1 tiles
// 2 tiles
// 3 tiles
// 5 tiles
// 11 tiles
// 11 tiles
