#include "viewer/inspect/region_texture.h"

#include <algorithm>

#include <texton/copy.h>
#include <texton/sample.h>

namespace texton::viewer {

BoxTexture::BoxTexture(const Document& document, const SubresourceIndex& subresource, const TexelBox& box,
                       std::optional<Format> as) {
    const SubresourceIndex at = document.clamped(subresource);
    const ArrayInfo& array = document.info(at.plane);
    const std::size_t side = block_side(array.format);
    const Extent whole = document.extent(at);
    const std::size_t x = box.x / side * side;
    const std::size_t y = box.y / side * side;
    const auto to_blocks = [side](std::size_t end, std::size_t limit) {
        return std::min((end + side - 1) / side * side, limit);
    };
    const Extent extent{to_blocks(box.x + box.width, whole.width) - x, to_blocks(box.y + box.height, whole.height) - y};
    Subresource part = document.part(at);
    part.region = Region{{x, y, at.slice}, extent};
    texels_ = Array(document.device(), {.format = as.value_or(array.format), .extent = extent});
    copy(texels_.view(), document.array(at.plane).view(part));
    if (extent.width == box.width && extent.height == box.height) return;
    floats_ = Pitched2D(document.device(), Format::rgba32_float, {box.width, box.height});
    const AffineMap map{.x0 = static_cast<float>(box.x - x), .y0 = static_cast<float>(box.y - y)};
    sample(Texture(texels_), map, floats_.view());
}

Texture BoxTexture::texture() const { return floats_.data() != nullptr ? Texture(floats_.view()) : Texture(texels_); }

std::vector<float> BoxTexture::values() const {
    const Extent extent = texture().extent();
    std::vector<float> out(extent.width * extent.height * 4);
    const View host = host_view(out.data(), Format::rgba32_float, extent);
    if (floats_.data() != nullptr) {
        copy(host, floats_.view());
        return out;
    }
    const Pitched2D floats(texels_.device(), Format::rgba32_float, extent);
    sample(texture(), AffineMap{}, floats.view());
    copy(host, floats.view());
    return out;
}

}  // namespace texton::viewer
