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

/// True if the picture shares bytes with memory, or a level with an array, that the texture reads.
[[nodiscard]] bool meets_source(const Texture& texture, const Place& picture);

/// Error{overlap} if the picture shares bytes with memory, or a level with an array, that the texture reads; unless it is all of
/// it, texel by texel, where `same_allowed`.
void check_apart(const char* object, const Texture& texture, const Place& picture, bool same_allowed = false);

}  // namespace texton::detail
