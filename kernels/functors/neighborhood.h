#pragma once
// Shared parts of the filters: access to the texels around a pixel by integer positions.
#include <cstdint>

#include <texton/source.h>

#include "kernels/launch/checks.h"
#include "kernels/launch/registry.h"

namespace texton::detail {

/// Reads texels of a 2D texture, or of a layer, by position. The sampler's address modes define the texels beyond the
/// edges. A source with a function numbered() is a tile of the layer that only has texels by position.
struct NumberedTexels {
    bool layered;

    template <class Source>
    TEXTON_HD Float4 operator()(const Source& source, std::int32_t layer, std::int32_t x, std::int32_t y) const {
        if constexpr (requires { source.numbered(x, y); }) {
            return source.numbered(x, y);
        } else {
            const float center_x = static_cast<float>(x) + 0.5f;
            const float center_y = static_cast<float>(y) + 0.5f;
            return layered ? source.layer_at_texel(layer, center_x, center_y) : source.at_texel(center_x, center_y);
        }
    }
};

/// Returns access to the texels of a texture that a filter reads. Throws Error{bad_argument} unless the texture is 2D
/// or layered and the image has its size and one slice per layer.
inline NumberedTexels texels_of(const char* object, const View& image, const Texture& texture) {
    check_kind(object, "texture", texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    check_same_size(object, image, "texture", texture);
    check_slices(object, image, texture);
    return {texture.kind() == ArrayKind::layered_2d};
}

/// Returns the number of channels in which a fetch may return something other than 0. This is 4 for block-compressed
/// formats, since formats without alpha read an alpha of 1.
inline int channels_read(const Texture& texture) {
    const FormatInfo& format = info(texture.format());
    return format.layout == FormatLayout::plain && format.channels < 3 ? format.channels : 4;
}

inline std::vector<ImageShape> shapes_like_input(const Arguments&, std::span<const Texture> inputs) {
    return {shape_like(inputs[0])};
}

}  // namespace texton::detail
