#include <texton/mips.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/image_load.h>

void mips_example() {
    const texton::Device device = texton::Device::best();
    const texton::ImageFile file = texton::open_image("zone_plate.png");
    texton::ArrayInfo info = file.info();
    info.levels = texton::full_levels(info);
    info.usage.surface = true;
    const texton::Array array(device, info);
    std::vector<std::byte> texels(texton::packed_bytes(info.format, info.extent));
    file.read({}, texels);
    texton::copy(array.view({.level = 0}), texton::host_view(texels.data(), info.format, info.extent));

    const texton::Stream stream(device);
    texton::make_mips(stream, array, {.filter = texton::MipFilter::kaiser});  // level 0 is read, others are written
    stream.synchronize();
    std::cout << to_string(info.extent) << ": " << info.levels << " levels\n";
}

// Prints:
// 255 x 255: 8 levels
