#pragma once
#include <optional>
#include <vector>

#include <texton/pitched.h>

#include "viewer/model/document.h"

namespace texton::viewer {

/// Copy of a box of texels of a document's array, as a 2D texture with point filtering on the same device. If the box
/// starts or ends inside a block of a block-compressed format, the texels are decoded to floats.
///
/// Owns the copy, so the document may be destroyed. Functions block until the device has finished. Several threads may
/// call const member functions at once.
class BoxTexture {
public:
    /// The box must be inside the level. `as` is a format with the same bytes per texel or block, to reinterpret the
    /// texels. Throws the errors of Array, copy() and sample().
    BoxTexture(const Document& document, const SubresourceIndex& subresource, const TexelBox& box,
               std::optional<Format> as = {});

    /// Returns a texture of the copy. Do not use it after this object is destroyed.
    Texture texture() const;
    /// Returns four floats per texel, as textures return them: sRGB as linear light. Throws Error{bad_argument} for
    /// integer formats.
    std::vector<float> values() const;

private:
    Array texels_;
    Pitched2D floats_;
};

}  // namespace texton::viewer
