#include "kernels/registry.h"

namespace texton {

PictureShape detail::shape_like(const Texture& texture) {
    Extent extent = texture.extent();
    if (is_layered(texture.kind())) extent.depth = texture.layers();
    const Format format = texture.format();
    if (info(format).layout != FormatLayout::block) return {extent, format};
    const bool floats = info(format).kind == FormatKind::floating;
    return {extent, floats ? Format::rgba16_float : Format::rgba8_unorm};
}

std::span<const Kernel> kernels() {
    static const std::vector<Kernel> all{
        detail::mips_kernel(),
        detail::resample_kernel(),
    };
    return all;
}

}  // namespace texton
