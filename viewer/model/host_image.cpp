#include "viewer/model/host_image.h"

#include <fmt/format.h>

#include <texton/copy.h>

#include "viewer/model/sha256.h"

namespace texton::verify {

HostImage::HostImage(Format format, Extent extent)
    : format(format), extent(extent), texels(packed_bytes(format, extent)) {}

std::string HostImage::text() const { return fmt::format("{} of {}", to_string(extent), name(format)); }

HostArray::HostArray(const ArrayInfo& info) : info(info) {
    for (int level = 0; level < info.levels; ++level) {
        Extent extent = level_extent(info, level);
        extent.depth = slice_count(info, level);
        levels.emplace_back(info.format, extent);
    }
}

std::string HostArray::sha256() const {
    Sha256 hash;
    const std::string text = fmt::format("{} {} {} {} {}", name(info.kind), name(info.format), to_string(info.extent),
                                         info.layers, info.levels);
    hash.add(std::as_bytes(std::span(text)));
    for (const HostImage& level : levels) hash.add(level.texels);
    return hash.finish();
}

ArrayUsage usage_for_kernels(const Device& device, const ArrayInfo& array) {
    const auto& [width, height] = device.limits().gather;
    const bool flat = array.kind == ArrayKind::array_2d && array.levels == 1 && array.extent.width <= width &&
                      array.extent.height <= height;
    return {.gather = flat && info(array.format).layout != FormatLayout::packed};
}

HostArray read_array(const ImageFile& image) {
    HostArray array(image.info());
    for (std::size_t level = 0; level < array.levels.size(); ++level)
        image.read({.level = static_cast<int>(level)}, array.levels[level].texels);
    return array;
}

HostArray read_array(const Array& array) {
    HostArray read(array.info());
    for (std::size_t level = 0; level < read.levels.size(); ++level)
        copy(read.levels[level].view(), array.view({.level = static_cast<int>(level)}));
    return read;
}

Array upload(const Device& device, const HostArray& array) {
    ArrayInfo info = array.info;
    info.usage = usage_for_kernels(device, info);
    Array made(device, info);
    for (std::size_t level = 0; level < array.levels.size(); ++level)
        copy(made.view({.level = static_cast<int>(level)}), array.levels[level].view());
    return made;
}

}  // namespace texton::verify
