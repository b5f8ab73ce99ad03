#include <texton/planar.h>

#include <iostream>

#include <texton/image_load.h>
#include <texton/image_save.h>

// A frame of video as colors.
void planar_example() {
    const texton::Device device = texton::Device::best();
    const texton::ImageFile file =
        texton::open_image("nv12_128x72.yuv", {.raw = texton::RawFrames{.extent = {128, 72}}});
    const texton::PlanarArray frame = texton::load_planar(device, file);
    const texton::Sampler linear{.filter = texton::Filter::linear};
    const texton::Texture luma(frame.plane(0), linear), chroma(frame.plane(1), linear);
    const texton::ArrayInfo info{
        .format = texton::Format::rgba8_unorm, .extent = {128, 72}, .usage = {.surface = true}};
    const texton::Array image(device, info);
    const texton::Stream stream(device);
    texton::to_rgb(stream, image.view(), luma, chroma, {.standard = texton::LumaStandard::bt709});
    stream.synchronize();
    texton::save("frame.png", image);
    std::cout << name(frame.format()) << " to " << name(info.format) << ": " << to_string(info.extent) << '\n';
}

// Prints:
// nv12 to rgba8_unorm: 128 x 72
