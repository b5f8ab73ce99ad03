#pragma once
// Shared parts of pointwise functors, which read only the texel at the position of the pixel.
#include <texton/pixel.h>
#include <texton/source.h>
#include <texton/texture.h>
#include <texton/view.h>

#include "kernels/launch/checks.h"

namespace texton::detail {

/// Returns true if fetches of the format return an alpha. Block-compressed formats without alpha return 1.
inline bool has_alpha(Format format) { return info(format).channels > 2; }

struct PointwiseTexel {
    bool layered;
    bool has_alpha;  ///< whether the texture's format has alpha

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return layered ? source.layer_at_texel(at.z, at.center_x(), at.center_y())
                       : source.at_texel(at.center_x(), at.center_y());
    }
    /// Returns the texel, with alpha 1 if the format has no alpha.
    template <class Source>
    TEXTON_HD Float4 with_alpha(PixelPosition at, const Source& source) const {
        Float4 color = (*this)(at, source);
        if (!has_alpha) color.w = 1;
        return color;
    }
};

/// Throws Error{bad_argument} unless the texture is 2D or layered, its fetches return floats, and the image has its
/// size and one slice per layer.
inline PointwiseTexel pointwise_texel(const char* object, const View& image, const char* name, const Texture& texture) {
    check_kind(object, name, texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    check_floats(object, name, texture);
    check_same_size(object, image, name, texture);
    check_slices(object, image, texture);
    return {texture.kind() == ArrayKind::layered_2d, has_alpha(texture.format())};
}

}  // namespace texton::detail
