#include "kernels/launch/registry.h"

#include <algorithm>
#include <utility>

namespace texton {

ImageShape detail::shape_like(const Texture& texture) {
    Extent extent = texture.extent();
    if (is_layered(texture.kind())) extent.depth = texture.layers();
    const Format format = texture.format();
    if (info(format).layout != FormatLayout::block) return {extent, format};
    const bool floats = info(format).kind == FormatKind::floating;
    return {extent, floats ? Format::rgba16_float : Format::rgba8_unorm};
}

namespace {

std::vector<Kernel> by_group_and_name(std::vector<Kernel> kernels) {
    std::ranges::sort(kernels, {}, [](const Kernel& kernel) { return std::pair(kernel.info.group, kernel.info.name); });
    return kernels;
}

}  // namespace

std::span<const Kernel> kernels() {
#define TEXTON_MAKE_KERNEL(name) detail::name##_kernel(),
    static const std::vector<Kernel> all = by_group_and_name({TEXTON_FOR_EACH_KERNEL(TEXTON_MAKE_KERNEL)});
#undef TEXTON_MAKE_KERNEL
    return all;
}

}  // namespace texton
