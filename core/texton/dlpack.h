#pragma once
// Texels that other libraries (PyTorch, CuPy, NumPy, JAX) view or own, without a copy, by DLPack. Works with every version of
// dlpack/dlpack.h that has DLManagedTensor.
#include <optional>

#include <texton/view.h>

struct DLManagedTensor;

namespace texton {

/// A tensor over the texels of the view, whose owner lives until the tensor's deleter is called; what host_view() and
/// borrowed_view() point at is the caller's to keep. Call the deleter once, or hand the tensor to a library that does.
///
/// The shape is [width], [height][width] or [depth][height][width], with as many axes as the extent needs, or as
/// `dimensions` (1, 2, 3) says; then [channels], if there are more than one. Padding shows in the strides. unorm, snorm and
/// sRGB channels are the integers that they are stored as. The device is kDLCUDA or kDLCUDAManaged with its index,
/// kDLCUDAHost for pinned and registered memory, and kDLCPU for other host memory and the CPU device.
///
/// Work that still writes the texels is the caller's to order before the library's.
///
/// Error{unsupported} for arrays, and for packed, block-compressed and planar formats; Error{bad_argument} if a pitch or
/// the first texel's address is no multiple of a channel's bytes, or the extent needs more dimensions.
[[nodiscard]] DLManagedTensor* to_dlpack(const View& view, int dimensions = 0);

/// The tensor's texels, which the view then owns: the deleter runs when the last copy of it is gone. If this throws, the
/// tensor stays the caller's. Work of the library that is still going on, and work on the view when its last copy goes, is
/// the caller's to order.
///
/// Without a format the axes are [width], [height][width], [height][width][channels] or [depth][height][width][channels], and
/// the texels uint, sint or float as the tensor's type. With one, which must be stored as that type, the last axis is the
/// channels only if it has more than one; so [depth][height][width] is a volume, and [width][4] a row of four channels.
/// Channels are 1, 2 or 4. Only rows and slices may have gaps.
///
/// kDLCUDA, kDLCUDAHost and kDLCUDAManaged need that CUDA device: Error{wrong_device}, and Error{not_registered} if it does
/// not know the memory. kDLCPU is memory of the CPU device where that knows it, else host memory.
[[nodiscard]] View from_dlpack(DLManagedTensor* tensor, std::optional<Format> format = std::nullopt);

}  // namespace texton
