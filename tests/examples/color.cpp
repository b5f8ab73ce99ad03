#include <texton/color.h>

#include <iostream>

#include <texton/image_load.h>
#include <texton/image_save.h>

void color_example() {
    const texton::Device device = texton::Device::best();
    const texton::Array card = texton::load(device, texton::open_image("card.png"), {.usage = {.surface = true}});
    const texton::Texture texture(card);
    const texton::Stream stream(device);
    // Each pixel depends on the texel at its own position, so the result can replace the image.
    texton::exposure(stream, card.view(), texture, 2);
    texton::grade(stream, card.view(), texture, {.contrast = 1.2f, .saturation = 0.5f});
    texton::tone_curve(stream, card.view(), texture, texton::ToneCurve::filmic, 4);
    texton::swizzle(stream, card.view(), texture, "bgra");
    stream.synchronize();
    texton::save("graded.png", card);
    std::cout << "graded.png: " << to_string(card.info().extent) << '\n';
}

// Prints:
// graded.png: 481 x 321
