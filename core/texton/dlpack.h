#pragma once
// Exchange of texels with other libraries (PyTorch, CuPy, NumPy, JAX) by DLPack, without a copy. Works with every
// version of dlpack/dlpack.h that has DLManagedTensor. Libraries pass one of two kinds of tensors, in Python capsules
// with different names: DLManagedTensor ("dltensor"), and DLManagedTensorVersioned ("dltensor_versioned") since DLPack
// 1.0. <texton/dlpack_versioned.h> declares the second one if dlpack/dlpack.h does not.
#include <optional>

#include <texton/view.h>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace texton {

/// Returns a tensor of the view's texels. It keeps the owner of the memory alive until its deleter is called. The
/// memory of host_view() and borrowed_view() has no owner: the caller must keep it.
///
/// Call the deleter once, or pass the tensor to a library that does.
///
/// The shape is [width], [height][width] or [depth][height][width]. `dimensions` (1, 2 or 3) is the number of these
/// axes; 0 means as many as the extent needs. A format with several channels adds the axis [channels]. So does a shape
/// [depth][height][1], whose last axis would otherwise be read as the channels. Padding is expressed by the strides. Channels of unorm, snorm and sRGB formats are the stored integers. The device is kDLCUDA
/// or kDLCUDAManaged with the device's index, kDLCUDAHost for pinned and registered memory, and kDLCPU for other host
/// memory and for the CPU device.
///
/// The caller must order pending writes to the texels before the library's work.
///
/// Throws
/// - Error{unsupported} for arrays, and for packed, block-compressed and planar formats,
/// - Error{bad_argument} if a pitch or the address of the first texel is not a multiple of a channel's bytes, or if the
///   extent needs more than `dimensions` axes,
/// - Error{released} if the memory was freed or unmapped.
[[nodiscard]] DLManagedTensor* to_dlpack(const View& view, int dimensions = 0);

/// Returns a view of the tensor's texels and takes ownership of the tensor. The deleter of the tensor is called when
/// the last copy of the view is destroyed or, if that thread records a graph then, after the recording. If this
/// function throws, the caller still owns the tensor.
///
/// The caller must order the library's pending work before work on the view, and must wait for work on the view before
/// its last copy is destroyed.
///
/// Without `format`, the axes are [width], [height][width], [height][width][channels] or
/// [depth][height][width][channels], and the texels are uint, sint or float like the tensor's type. With `format`, the
/// stored type of its channels must be the tensor's type. The last axis is then the channels if the format has several
/// channels, if there are four axes, or if the last of three axes has length 1. Examples: with r8_unorm,
/// [depth][height][width] is a volume; with rgba8_unorm, [width][4] is a row of texels. A texel has 1, 2 or 4 channels.
/// Only rows and slices may have gaps between them.
///
/// kDLCPU is memory of the CPU device if the device knows the memory, and host memory otherwise. kDLCUDA, kDLCUDAHost
/// and kDLCUDAManaged need the CUDA device with the tensor's index.
///
/// Throws Error{wrong_device} if there is no such CUDA device, Error{not_registered} if it does not know the memory,
/// and Error{bad_argument}, Error{unsupported} or Error{overflow} if the tensor cannot be viewed.
[[nodiscard]] View from_dlpack(DLManagedTensor* tensor, std::optional<Format> format = std::nullopt);

/// Returns a tensor of version 1.0, which is not marked as a copy. Otherwise like to_dlpack().
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(const View& view, int dimensions = 0);
/// Returns a tensor that is marked as read-only. Otherwise like the overload for View.
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(const ConstView& view, int dimensions = 0);

/// Returns a view of the tensor's texels and takes ownership of the tensor, also if it throws: the deleter of a refused
/// tensor has been called, as the standard requires of tensors of another version. Otherwise like from_dlpack().
///
/// Also throws Error{unsupported} if the major version of the tensor is not 1, and Error{not_permitted} if the tensor
/// is read-only: use const_from_dlpack_versioned().
[[nodiscard]] View from_dlpack_versioned(DLManagedTensorVersioned* tensor, std::optional<Format> format = std::nullopt);
/// Returns a read-only view, and also accepts read-only tensors. Otherwise like from_dlpack_versioned().
[[nodiscard]] ConstView const_from_dlpack_versioned(DLManagedTensorVersioned* tensor,
                                                    std::optional<Format> format = std::nullopt);

}  // namespace texton
