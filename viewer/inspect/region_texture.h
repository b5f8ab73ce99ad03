#pragma once
#include <optional>
#include <vector>

#include <texton/pitched.h>

#include "viewer/model/document.h"

namespace texton::viewer {

/// Texels of a place of a document's array as a 2D texture of their own, read by points, on its device. Of block-compressed formats those whose
/// blocks the box cuts are undone into floats first.
class BoxTexture {
public:
    /// The box lies in the place. `as` is another format of the same bytes to read them as. Throws what Array, copy() and sample()
    /// throw.
    BoxTexture(const Document& document, const Place& place, const TexelBox& box, std::optional<Format> as = {});

    Texture texture() const;
    /// Four floats a texel, as textures return them: sRGB as linear light. Error{bad_argument} for integers.
    std::vector<float> values() const;

private:
    Array texels_;
    Pitched2D floats_;
};

}  // namespace texton::viewer
