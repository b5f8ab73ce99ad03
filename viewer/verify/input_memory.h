#pragma once
// Device memory of the inputs of a kernel.
#include <texton/texture.h>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// Device memory that contains the texels of an input.
enum class InputMemory : std::uint8_t {
    array,    ///< an array
    rows,     ///< pitched memory; of images without levels, layers and slices
    sparse,   ///< a sparse array in which every third tile has no memory, so that its texels are 0
    deferred  ///< a deferred-mapping array
};

/// Creates a texture of texels that are copied to new memory of the device. The texture keeps the memory alive.
///
/// Throws the errors of Texture, copy() and the memory; for example Error{unsupported} if the kind of array or the
/// format cannot be in this memory.
[[nodiscard]] Texture upload(const Device& device, const HostArray& texels, InputMemory memory, const Sampler& sampler,
                             const TextureRange& range);

}  // namespace texton::verify
