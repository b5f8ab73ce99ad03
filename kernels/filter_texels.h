#pragma once
// What the filters have in common: texels around a pixel by their numbers.
#include <cstdint>

#include <texton/source.h>

#include "kernels/checks.h"
#include "kernels/registry.h"

namespace texton::detail {

/// The texels of a 2D texture, or of a layer; those beyond the edges are as the sampler says.
struct NumberedTexels {
    bool layered;

    template <class Source>
    TEXTON_HD Float4 operator()(const Source& source, std::int32_t layer, std::int32_t x, std::int32_t y) const {
        const float middle_x = static_cast<float>(x) + 0.5f;
        const float middle_y = static_cast<float>(y) + 0.5f;
        return layered ? source.layer_at_texel(layer, middle_x, middle_y) : source.at_texel(middle_x, middle_y);
    }
};

/// Those of a texture that a filter reads; the picture must be as large. Errors: bad_argument.
inline NumberedTexels texels_of(const char* object, const View& picture, const Texture& texture) {
    check_kind(object, "texture", texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    check_same_size(object, picture, "texture", texture);
    check_slices(object, picture, texture);
    return {texture.kind() == ArrayKind::layered_2d};
}

inline std::vector<PictureShape> shapes_like_input(const Arguments&, std::span<const Texture> inputs) {
    return {shape_like(inputs[0])};
}

}  // namespace texton::detail
