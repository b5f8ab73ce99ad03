#pragma once
// For functors that fetch the texel of a pixel's own place.
#include <texton/pixel.h>
#include <texton/source.h>
#include <texton/texture.h>
#include <texton/view.h>

#include "kernels/launch/checks.h"

namespace texton::detail {

inline bool has_alpha(Format format) { return info(format).channels > 2; }  // block-compressed ones read 1 without it

struct OwnTexel {
    bool layered;
    bool has_alpha;  ///< of the format

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPlace at, const Source& source) const {
        return layered ? source.layer_at_texel(at.z, at.middle_x(), at.middle_y())
                       : source.at_texel(at.middle_x(), at.middle_y());
    }
    /// The same, with alpha 1 if the format has none.
    template <class Source>
    TEXTON_HD Float4 with_alpha(PixelPlace at, const Source& source) const {
        Float4 color = (*this)(at, source);
        if (!has_alpha) color.w = 1;
        return color;
    }
};

/// Error{bad_argument} unless the texture is 2D or layered, of floats and of the picture's size and slices.
inline OwnTexel own_texel(const char* object, const View& picture, const char* name, const Texture& texture) {
    check_kind(object, name, texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    check_floats(object, name, texture);
    check_same_size(object, picture, name, texture);
    check_slices(object, picture, texture);
    return {texture.kind() == ArrayKind::layered_2d, has_alpha(texture.format())};
}

}  // namespace texton::detail
