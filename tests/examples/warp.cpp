#include <texton/warp.h>

#include <iostream>

#include <texton/image_load.h>
#include <texton/image_save.h>

void warp_example() {
    const texton::Device device = texton::Device::best();
    const texton::Array card = texton::load(device, texton::open_image("card.png"));
    const texton::Texture texture(card, {.filter = texton::Filter::linear});
    const texton::ArrayInfo info{.format = card.info().format, .extent = {300, 300}, .usage = {.surface = true}};
    const texton::Array image(device, info);
    const texton::Stream stream(device);
    // The map gives the position in the texture for a pixel: here a third of its size, from the position (60, 20) on.
    texton::warp_affine(stream, image.view(), texture, {.xx = 1.0f / 3, .x0 = 60, .yy = 1.0f / 3, .y0 = 20});
    stream.synchronize();
    texton::save("enlarged.png", image);
    std::cout << "100 x 100 texels on " << to_string(info.extent) << " pixels\n";
}

// Prints:
// 100 x 100 texels on 300 x 300 pixels
