#include "viewer/model/host_image.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/device.h>
#include <texton/error.h>

#include "viewer/model/sha256.h"

namespace texton::verify {
namespace {

// Returns the size of the texels. Refuses a size that exceeds the free memory: the system would end the process when the
// texels are written.
std::size_t possible_bytes(Format format, const Extent& extent) {
    constexpr std::size_t kLarge = std::size_t{64}
                                   << 20;  // asking the system takes less time than writing so many bytes
    const std::size_t bytes = packed_bytes(format, extent);
    if (bytes < kLarge) return bytes;
    const std::size_t free = Device::cpu().memory().free;
    if (bytes <= free) return bytes;
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = "texton::verify",
                 .problem = fmt::format("an image of {} and {} has {} bytes, but {} bytes of memory are free",
                                        to_string(extent), name(format), bytes, free),
                 .remedy = "Use a smaller image, or free memory.",
                 .numbers = {{"bytes", bytes}, {"free", free}}});
}

}  // namespace

HostImage::HostImage(Format format, Extent extent)
    : format(format), extent(extent), texels(possible_bytes(format, extent)) {}

std::string HostImage::text() const {
    const std::string out = fmt::format("{} of {}", to_string(extent), texton::name(format));
    return file_channels == 0 ? out : out + fmt::format(", {} channels", file_channels);
}

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

std::vector<std::byte> read_texels(const ImageFile& image, const Subresource& part, const Extent& extent) {
    constexpr std::size_t kBandBytes = std::size_t{16} << 20;
    const Format format = image.info().format;
    const auto bytes = [&](std::size_t height, std::size_t depth) {
        return packed_bytes(format, {extent.width, height, depth});
    };
    // Bands of whole granules, whose texels follow each other.
    const Extent granule = image.access(part.level).granule;
    std::size_t height = std::min(granule.height, extent.height), depth = std::min(granule.depth, extent.depth);
    if (depth > 1) height = extent.height;
    height = std::min(extent.height, height * std::max<std::size_t>(1, kBandBytes / bytes(height, depth)));
    if (height == extent.height) depth *= std::max<std::size_t>(1, kBandBytes / bytes(height, depth));
    std::vector<std::byte> texels;
    Subresource band = part;
    for (std::size_t z = 0; z < extent.depth; z += depth) {
        for (std::size_t y = 0; y < extent.height; y += height) {
            band.region = Region{
                {0, y, z}, {extent.width, std::min(height, extent.height - y), std::min(depth, extent.depth - z)}};
            const std::size_t first = texels.size();
            if (first != 0) texels.reserve(bytes(extent.height, extent.depth));  // the first band was read
            texels.resize(first + packed_bytes(format, band.region->extent));
            image.read(band, std::span(texels).subspan(first));
        }
    }
    return texels;
}

HostArray read_array(const ImageFile& image) {
    HostArray array;
    array.info = image.info();
    for (int level = 0; level < array.info.levels; ++level) {
        Extent extent = level_extent(array.info, level);
        extent.depth = slice_count(array.info, level);
        HostImage& read = array.levels.emplace_back();
        read.format = array.info.format;
        read.extent = extent;
        read.texels = read_texels(image, {.level = level}, extent);
    }
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
