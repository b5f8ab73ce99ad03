// A functor of the application on every available device. nvcc compiles it for both kinds of device, other compilers
// for the CPU device.
#include <texton/array.h>
#include <texton/copy.h>
#include <texton/error.h>
#include <texton/float_math.h>
#include <texton/launch.h>
#include <texton/linear.h>

#include <cstddef>
#include <iostream>
#include <vector>

struct Wave {
    float height;
    template <class Source>
    TEXTON_HD texton::Float4 operator()(texton::PixelPosition at, const Source& image) const {
        return image.at_texel(at.center_x(), at.center_y() + height * texton::sine_cosine_of(at.center_x() / 16).sine);
    }
};

namespace {

constexpr texton::Format kFormat = texton::Format::rgba8_unorm;
constexpr texton::Extent kExtent{64, 48};

std::vector<std::byte> waves(const texton::Device& device) {
    std::vector<std::byte> texels(texton::packed_bytes(kFormat, kExtent));
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::byte>(i * i / 7);
    const texton::Array array(device, {kFormat, kExtent});
    texton::copy(array.view(), texton::host_view(texels.data(), kFormat, kExtent));
    const texton::Texture texture(array, {.filter = texton::Filter::linear});
    const texton::Linear memory(device, kFormat, kExtent);
    const texton::Stream stream(device);
    texton::launch(stream, memory.view(kFormat, kExtent), Wave{5}, texture);
    stream.synchronize();
    texton::copy(texton::host_view(texels.data(), kFormat, kExtent), memory.view(kFormat, kExtent));
    return texels;
}

}  // namespace

int main() {
    try {
        const std::vector<std::byte> expected = waves(texton::Device::cpu());
        std::cout << "CPU: done\n";
#if defined(__CUDACC__)
        const texton::Device best = texton::Device::best();
        const bool same = waves(best) == expected;
        std::cout << best.name() << ": " << (same ? "equal" : "different") << '\n';
        return same ? 0 : 1;
#endif
    } catch (const texton::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
