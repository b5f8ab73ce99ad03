#pragma once
// The checks of a picture that a kernel writes, and of the textures that it reads.
#include <texton/texture.h>
#include <texton/view.h>

#include "core/backend.h"

namespace texton::detail {

/// Where a kernel of the device writes. Errors name `object`: bad_argument (no texels, pageable memory, a block-compressed or
/// planar format), overflow, released, wrong_device, not_registered.
[[nodiscard]] Place written_picture(const char* object, const View& picture, const Backend& device);

/// Error{released} if what the texture reads is gone.
void check_source(const char* object, const Texture& texture);

/// Error{overlap} if the picture shares bytes with memory, or a texel with an array, that the texture reads.
void check_apart(const char* object, const Texture& texture, const Place& picture);

}  // namespace texton::detail
