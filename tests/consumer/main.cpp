// Uploads an image to pitched memory of the best device, downloads it, writes it to a file, reads it in this process and
// in a separate one, and prints an Error.
#include <texton/copy.h>
#include <texton/device.h>
#include <texton/error.h>
#include <texton/image.h>
#include <texton/pitched.h>

#include <cstddef>
#include <iostream>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: consumer OUT.png\n";
        return 2;
    }
    try {
        const texton::Format format = texton::Format::rgba8_unorm;
        const texton::Extent extent{37, 23};
        std::vector<std::byte> texels(texton::packed_bytes(format, extent));
        for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::byte>(i * 7);

        const texton::Device device = texton::Device::best();
        const texton::Pitched2D block(device, format, extent);
        texton::copy(block.view(), texton::host_view(texels.data(), format, extent));
        std::vector<std::byte> back(texels.size());
        texton::copy(texton::host_view(back.data(), format, extent), block.view());
        texton::write_image(argv[1], format, extent, back);
        const bool same = back == texels && texton::read_image(argv[1]).texels == texels &&
                          texton::read_image(argv[1], {.isolated = true}).texels == texels;
        std::cout << device.name() << ": " << to_string(extent) << " texels, rows " << block.pitch() << " bytes apart, "
                  << (same ? "round trip equal" : "round trip differs") << '\n';
        if (!same) return 1;

        texton::Pitched2D(device, format, {0, 23});
        std::cerr << "a width of 0 was accepted\n";
    } catch (const texton::Error& error) {
        std::cout << error.what() << '\n';
        return error.code() == texton::ErrorCode::bad_argument ? 0 : 1;
    }
    return 1;
}
