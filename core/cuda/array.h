#pragma once
// What stands behind an ArrayHandle of a CUDA device.
#include <optional>
#include <vector>

#include <texton/array_info.h>

#include "core/cuda/device.h"

namespace texton::detail {

struct CudaArray {
    CudaArray() = default;
    ~CudaArray();  // with its device current
    CudaArray(const CudaArray&) = delete;
    CudaArray& operator=(const CudaArray&) = delete;

    ArrayInfo info;
    ArrayBacking backing = ArrayBacking::own;
    cudaArray_t plain = nullptr;  // one of the two is set
    cudaMipmappedArray_t mipmapped = nullptr;
    std::vector<cudaArray_t> parts;  // levels, or planes; a plain array is its own only part
    bool owned = true;               // false: adopted
    bool has_surfaces = false;       // made with cudaArraySurfaceLoadStore, asked for or not
    std::vector<cudaSurfaceObject_t>
        surfaces;  // of the parts, if it has them; none can be made while a graph is recorded

    void make_surfaces();
};

inline CudaArray& cuda_array(ArrayHandle handle) noexcept { return *reinterpret_cast<CudaArray*>(handle); }

/// The surface of a part; it lives as long as the array.
inline cudaSurfaceObject_t surface_of(const CudaArray& array, int part) {
    return array.surfaces[static_cast<std::size_t>(part)];
}

cudaChannelFormatDesc channel_descriptor(Format format) noexcept;

/// Takes a foreign array, which is neither freed here nor kept alive. Its kind, extent, levels and usage are asked of the
/// driver; `format` names what its channels leave open (unorm, srgb, ...): Error{bad_argument} if the bits differ.
/// Error{unsupported} for what no view could be made of safely: planar arrays as a whole, and deferred ones.
ArrayHandle adopt_array(CudaBackend& backend, cudaArray_t array, std::optional<Format> format);
ArrayHandle adopt_mipmapped_array(CudaBackend& backend, cudaMipmappedArray_t array, std::optional<Format> format);

}  // namespace texton::detail
