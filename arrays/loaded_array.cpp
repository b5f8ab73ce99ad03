#include "arrays/loaded_array.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/array_block.h"
#include "core/request.h"

namespace texton::detail {
namespace {

constexpr const char* kLoaded = "texton::loaded_array";

}  // namespace

Array loaded_array(const Device& device, const ArrayInfo& info, std::shared_ptr<LoadedTexels> texels) {
    const Extent& extent = info.extent;
    if (std::max({extent.width, extent.height, extent.depth}) > kMaxLoadedSide)
        throw Error({.code = ErrorCode::overflow,
                     .object = kLoaded,
                     .problem = fmt::format("the image has {} texels", to_string(extent)),
                     .remedy = fmt::format("Use a part of at most {} texels in width and height.", kMaxLoadedSide),
                     .numbers = {{"width", extent.width}, {"height", extent.height}}});
    if (device.kind() != DeviceKind::cpu || texton::info(info.format).layout == FormatLayout::planar)
        throw Error({.code = ErrorCode::unsupported,
                     .object = kLoaded,
                     .problem = fmt::format("an array of {} was requested on {}", name(info.format), device.name()),
                     .remedy = "Use the CPU device and a format that is not planar."});
    return request(&device.backend(), kLoaded, {}, [&] {
        auto block = std::make_shared<ArrayBlock>(device.backend(), info, 0);
        block->handle = make_loaded_array(info, std::move(texels));
        return Array(std::move(block));
    });
}

}  // namespace texton::detail
