#include <texton/image_file.h>

#include <iostream>
#include <vector>

void image_file_example() {
    const texton::ImageFile image = texton::open_image("levels.exr");  // reads the header only
    std::cout << image.metadata().file_kind << ": " << to_string(image.info().extent) << " of "
              << name(image.info().format) << ", " << image.info().levels << " levels\n";

    const texton::Extent box{8, 4};  // a part of level 1; no other part is decoded, if the file has tiles
    std::vector<std::byte> texels(texton::packed_bytes(image.info().format, box));
    image.read({.level = 1, .region = texton::Region{{4, 4}, box}}, texels);
    std::cout << texels.size() << " bytes\n";
}

// Prints:
// openexr: 128 x 64 of rgba16_float, 8 levels
// 256 bytes
