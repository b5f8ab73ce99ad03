#pragma once
#include <string>

#include <texton/image_file.h>

#include "viewer/verify/pattern.h"

namespace texton::verify {

/// Returns a 2D image whose texels are drawn when they are read, so that it can be larger than memory. Throws
/// Error{unsupported} for formats that draw_part() refuses, and Error{overflow} if the size is 0 or too large for an
/// image.
[[nodiscard]] ImageFile pattern_image(const Pattern& pattern, Format format, Extent extent);
/// Returns the image of a text such as "smooth:20000x20000", or "noise:512x512:7" with a seed. Throws
/// Error{bad_argument} for any other text, and the errors of the function above.
[[nodiscard]] ImageFile pattern_image(const std::string& text, Format format);

}  // namespace texton::verify
