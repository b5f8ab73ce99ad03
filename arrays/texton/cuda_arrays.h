#pragma once
// CUDA's own handles of Texton's arrays, textures and surfaces, and Texton's objects of CUDA's handles. Only where Texton was
// built with CUDA.
#include <optional>

#include <cuda_runtime_api.h>

#include <texton/array.h>
#include <texton/surface.h>
#include <texton/texture.h>

namespace texton {

// The handle stays the object's: it lives as long as the object, and is destroyed by it alone. Each throws
// Error{wrong_device} for an object of a CPU device, Error{released} for an empty one.

/// A level of the array, or all of it where it has but one; the driver's CUarray is the same pointer. Tell a SparseArray or
/// a DeferredArray of what you enqueue on it: used_on(). Error{out_of_bounds} for a level that is not there.
[[nodiscard]] cudaArray_t native(const Array& array, int level = 0);
/// All levels. Error{bad_argument} for an array that has but one: it is no mipmapped array to CUDA.
[[nodiscard]] cudaMipmappedArray_t native_mipmapped(const Array& array);
/// Error{not_mapped} for those of an array without memory.
[[nodiscard]] cudaTextureObject_t native(const Texture& texture);
[[nodiscard]] cudaSurfaceObject_t native(const Surface& surface);

// What somebody else made and destroys, after the last copy of what is returned, and its views, textures and surfaces, are
// gone. It must be of that device. Each throws Error{wrong_device} for a CPU device, Error{bad_argument} for null,
// Error{unsupported} for what no Format names, for a planar array (but not its planes) and for a deferred one, of which nobody
// can tell whether it has memory; and what the driver says of a handle that it does not know.

/// Kind, extent and usage are the array's. CUDA knows of its texels how many bits their channels have, and whether these are
/// floats: `format` says what they mean (unorm, srgb, ...), else integers do. Error{bad_argument} if it has other bits.
[[nodiscard]] Array adopt_array(const Device& device, cudaArray_t array, std::optional<Format> format = {});
[[nodiscard]] Array adopt_mipmapped_array(const Device& device, cudaMipmappedArray_t array,
                                          std::optional<Format> format = {});
/// As it is: what it reads and how is asked of CUDA, which does not tell the border colour: sampler().border is 0. handle()
/// returns it, sample() fetches through it. What it reads must stay as long.
[[nodiscard]] Texture adopt_texture(const Device& device, cudaTextureObject_t texture);

}  // namespace texton
