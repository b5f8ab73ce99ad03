#include <texton/planar_array.h>

#include <iostream>
#include <vector>

#include <texton/texture.h>

void planar_array_example() {
    const texton::Extent extent{64, 36};
    std::vector<std::byte> frame(texton::packed_bytes(texton::Format::nv12, extent));  // as a decoder returns it
    const texton::PlanarArray array(texton::Device::best(), texton::Format::nv12, extent);
    texton::copy(array.frame(), texton::host_frame(frame.data(), texton::Format::nv12, extent));
    for (int plane = 0; plane < 2; ++plane) {
        const texton::Texture texture(array.plane(plane), {.filter = texton::Filter::linear});
        std::cout << to_string(texture.extent()) << " of " << name(texture.format()) << '\n';
    }
}

// Prints:
// 64 x 36 of r8_unorm
// 32 x 18 of rg8_unorm
