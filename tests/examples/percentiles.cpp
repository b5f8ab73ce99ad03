#include <texton/percentiles.h>

#include <iostream>

#include <texton/image_load.h>

// An exposure that ignores the darkest and the brightest percent of an image.
void percentiles_example() {
    const texton::Device device = texton::Device::best();
    const texton::Array sky = texton::load(device, texton::open_image("sky.exr"));
    const texton::Stream stream(device);
    const double shares[] = {0.01, 0.5, 0.99};
    const auto values = texton::percentiles(stream, texton::Texture(sky), shares);
    for (std::size_t i = 0; i < values.size(); ++i)
        std::cout << 100 * shares[i] << "% of red values are at most " << values[i][0] << '\n';
}

// Prints:
// 1% of red values are at most 0.125488
// 50% of red values are at most 0.432373
// 99% of red values are at most 16.1719
