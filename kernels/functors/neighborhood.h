#pragma once
// What the filters have in common: texels around a pixel by their numbers.
#include <cstdint>

#include <texton/source.h>

#include "kernels/launch/checks.h"
#include "kernels/launch/registry.h"

namespace texton::detail {

/// The texels of a 2D texture, or of a layer; those beyond the edges are as the sampler says. A source that has numbered()
/// has texels by their numbers alone: a tile of the layer.
struct NumberedTexels {
    bool layered;

    template <class Source>
    TEXTON_HD Float4 operator()(const Source& source, std::int32_t layer, std::int32_t x, std::int32_t y) const {
        if constexpr (requires { source.numbered(x, y); }) {
            return source.numbered(x, y);
        } else {
            const float middle_x = static_cast<float>(x) + 0.5f;
            const float middle_y = static_cast<float>(y) + 0.5f;
            return layered ? source.layer_at_texel(layer, middle_x, middle_y) : source.at_texel(middle_x, middle_y);
        }
    }
};

/// Those of a texture that a filter reads; the picture must be as large. Errors: bad_argument.
inline NumberedTexels texels_of(const char* object, const View& picture, const Texture& texture) {
    check_kind(object, "texture", texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    check_same_size(object, picture, "texture", texture);
    check_slices(object, picture, texture);
    return {texture.kind() == ArrayKind::layered_2d};
}

/// Channels that a fetch may return anything but 0 in. Block-compressed formats have an alpha of 1 where they have none.
inline int channels_read(const Texture& texture) {
    const FormatInfo& format = info(texture.format());
    return format.layout == FormatLayout::plain && format.channels < 3 ? format.channels : 4;
}

inline std::vector<PictureShape> shapes_like_input(const Arguments&, std::span<const Texture> inputs) {
    return {shape_like(inputs[0])};
}

}  // namespace texton::detail
