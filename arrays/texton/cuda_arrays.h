#pragma once
// Conversions between Texton's arrays, textures and surfaces and CUDA's handles. Available if Texton was built with
// CUDA.
#include <optional>

#include <cuda_runtime_api.h>

#include <texton/array.h>
#include <texton/surface.h>
#include <texton/texture.h>

namespace texton {

// native() returns a non-owning handle. Do not destroy it. It is valid while the object or a copy of it exists. The
// functions throw Error{wrong_device} for an object of a CPU device and Error{released} for an empty object.

/// Returns the handle of one level of the array. The driver's CUarray is the same pointer. For the array of a
/// SparseArray or DeferredArray, order your work after the stream on which the mapping was enqueued, because this
/// function does not wait for the mapping, and call used_on() after enqueuing the work. Throws Error{out_of_bounds} if
/// the level does not exist.
[[nodiscard]] cudaArray_t native(const Array& array, int level = 0);
/// Returns the handle of all levels. Throws Error{bad_argument} if the array has only one level, because CUDA has no
/// mipmapped array for it.
[[nodiscard]] cudaMipmappedArray_t native_mipmapped(const Array& array);
/// Returns the handle of a texture. Throws Error{not_mapped} if it reads a deferred array without memory.
[[nodiscard]] cudaTextureObject_t native(const Texture& texture);
/// Returns the handle of a surface. Throws Error{not_mapped} if it belongs to a deferred array without memory.
[[nodiscard]] cudaSurfaceObject_t native(const Surface& surface);

// adopt_*() return non-owning objects for handles of other libraries. The handle must belong to the device. Its owner
// may destroy it when the last copy of the returned object and its views, textures and surfaces are gone.
//
// The functions throw
// - Error{wrong_device} for a CPU device,
// - Error{bad_argument} if the handle is null,
// - Error{unsupported} if no Format describes the texels, if the array is planar (adopt its planes instead), or if it
//   is deferred, because CUDA does not report whether it has memory,
// - the error of the driver if the driver does not know the handle.

/// Returns an Array for a CUDA array of one level. CUDA reports the kind, the extent, the usage and the channels. If
/// CUDA reports integer channels, `format` may specify that they hold unorm, snorm or srgb values. Throws
/// Error{bad_argument} if the channels of `format` do not match.
[[nodiscard]] Array adopt_array(const Device& device, cudaArray_t array, std::optional<Format> format = {});
/// Returns an Array for a CUDA array with levels. Otherwise the same as adopt_array().
[[nodiscard]] Array adopt_mipmapped_array(const Device& device, cudaMipmappedArray_t array,
                                          std::optional<Format> format = {});
/// Returns a Texture for a CUDA texture object. The memory, the format and the sampler are queried from CUDA. CUDA does
/// not report the border color, so sampler().border is 0. handle() returns the same texture object, and sample()
/// fetches through it. Kernels that read whole texels read them with the filter of the texture. The memory that the
/// texture reads must live as long as the Texture.
[[nodiscard]] Texture adopt_texture(const Device& device, cudaTextureObject_t texture);

}  // namespace texton
