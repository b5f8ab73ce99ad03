#pragma once
// Checks of the image that a kernel writes and of the textures that it reads.
#include <texton/texture.h>
#include <texton/view.h>

#include "core/backend.h"

namespace texton::detail {

/// Returns the memory location of an image that a kernel of the device writes. Pageable memory that is registered is
/// returned as registered memory.
///
/// Errors contain `object`. Throws Error{bad_argument} for pageable memory or a block-compressed or planar format,
/// Error{overflow} if width or height is too large, Error{released} if the memory was freed, Error{wrong_device} if it
/// belongs to another device, and Error{not_registered} if the memory is only partly registered.
[[nodiscard]] MemoryLocation written_image(const char* object, const View& image, const Backend& device);

/// Throws Error{released} if the memory that the texture reads was freed.
void check_source(const char* object, const Texture& texture);

/// Returns true if two images share bytes of memory or texels of an array.
[[nodiscard]] bool images_meet(const MemoryLocation& a, const MemoryLocation& b);

/// Returns true if the image shares bytes with the memory, or a level with the array, that the texture reads.
[[nodiscard]] bool meets_source(const Texture& texture, const MemoryLocation& image);

/// Throws Error{overlap} if meets_source() returns true. If `same_allowed` is true, the image may be identical to the
/// first level that the texture reads, with each pixel at the position of a texel.
void check_apart(const char* object, const Texture& texture, const MemoryLocation& image, bool same_allowed = false);

}  // namespace texton::detail
