#pragma once
// What stands behind the handles of textures and surfaces of a CUDA device, and the kernels that run their batches, for the
// host compiler to launch. Any launch shape covers all points of a batch.
#include <cstdint>

#include <cuda_runtime_api.h>

#include <texton/array_info.h>
#include <texton/fetch.h>

#include <texton/pixel_target.h>
#include "arrays/surface_point.h"
#include "core/backend.h"

namespace texton::detail {

struct NativeTexture {
    cudaTextureObject_t value = 0;
    ArrayKind kind = ArrayKind::array_2d;  // linear memory: array_1d
    bool owned = true;                     // false: adopted
};

struct NativeSurface {
    cudaSurfaceObject_t value = 0;
    ArrayKind kind = ArrayKind::array_2d;
    int texel_bytes = 0;
    SurfaceSize size{};
};

/// How a view of an array names the format: alike for formats that differ in their kind alone. None for those that have no name
/// there, which are viewed as what the array is.
cudaResourceViewFormat view_format(Format format) noexcept;

/// Arguments: cudaTextureObject_t texture, const FetchPoint* points, uint4* texels, std::uint8_t* resident, unsigned count,
/// int component. `resident` is written with `residency` alone. Null for a fetch that CUDA does not have.
const void* fetch_kernel(FetchOperation operation, ArrayKind kind, bool residency) noexcept;

/// The picture as a kernel of the device reaches it. Error{wrong_device} for host memory that it does not see,
/// Error{unsupported} for an array without surfaces.
PixelTarget cuda_pixel_target(const Place& picture);

/// A block makes a tile of so many pixels a side, with so many rows of threads.
inline constexpr unsigned kGridTile = 32;
inline constexpr unsigned kGridRows = 8;
/// Arguments: cudaTextureObject_t texture, AffineMap map, PixelTarget picture. One block a tile, row by row.
const void* grid_kernel(ArrayKind kind) noexcept;

/// Arguments: cudaSurfaceObject_t surface, const SurfacePoint* points, T* texels, unsigned count, SurfaceSize size,
/// Boundary boundary, where T is as long as a texel: 1, 2, 4, 8 or 16 bytes.
const void* surface_read_kernel(ArrayKind kind, int texel_bytes) noexcept;
/// The same with const T*.
const void* surface_write_kernel(ArrayKind kind, int texel_bytes) noexcept;

}  // namespace texton::detail
