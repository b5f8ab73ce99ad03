#pragma once
// The state behind an ArrayHandle of a CUDA device.
#include <optional>
#include <vector>

#include <texton/array_info.h>

#include "core/cuda/device.h"

namespace texton::detail {

/// A CUDA array, its levels or planes, and their surfaces. It is fixed once it is created, so threads may share it
/// afterwards. The destructor waits for the device if there are surfaces.
struct CudaArray {
    CudaArray() = default;
    ~CudaArray();  // the array's device must be current
    CudaArray(const CudaArray&) = delete;
    CudaArray& operator=(const CudaArray&) = delete;

    ArrayInfo info;
    ArrayBacking backing = ArrayBacking::own;
    cudaArray_t plain = nullptr;  // exactly one of plain and mipmapped is set
    cudaMipmappedArray_t mipmapped = nullptr;
    std::vector<cudaArray_t> parts;  // levels or planes; a plain array is its own only part
    bool owned = true;               // false for an adopted array
    bool has_surfaces = false;  // true if created with cudaArraySurfaceLoadStore, even if the caller did not request it
    // One per part if has_surfaces. They are created with the array, because none can be created during a graph
    // capture.
    std::vector<cudaSurfaceObject_t> surfaces;

    /// Creates the surfaces of all parts. The array's device must be current.
    void make_surfaces();
    /// Makes the destructor call no function of CUDA. The array and its surfaces are never freed.
    void disown() noexcept;
};

inline CudaArray& cuda_array(ArrayHandle handle) noexcept { return *reinterpret_cast<CudaArray*>(handle); }

/// Returns the surface of a part. The surface lives as long as the array.
inline cudaSurfaceObject_t surface_of(const CudaArray& array, int part) {
    return array.surfaces[static_cast<std::size_t>(part)];
}

/// Returns the channels that CUDA's arrays of the format have.
cudaChannelFormatDesc channel_descriptor(Format format) noexcept;

/// Wraps an array that the caller owns: it is neither freed nor kept alive. Kind, extent, levels and usage are queried
/// from the driver. `format` says how to interpret the channels (unorm, srgb, ...). Without a format, the first format
/// in formats() that matches the channels is used.
///
/// Throws Error{bad_argument} if the channels of `format` have other bits than the array. Throws Error{unsupported} if
/// no Format matches, and for planar and deferred-mapping arrays.
ArrayHandle adopt_array(CudaBackend& backend, cudaArray_t array, std::optional<Format> format);
ArrayHandle adopt_mipmapped_array(CudaBackend& backend, cudaMipmappedArray_t array, std::optional<Format> format);

}  // namespace texton::detail
