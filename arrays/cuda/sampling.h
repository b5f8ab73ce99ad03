#pragma once
// What stands behind the handles of textures and surfaces of a CUDA device, and the kernels that run their batches, for the
// host compiler to launch. Any launch shape covers all points of a batch.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <texton/array_info.h>
#include <texton/fetch.h>

#include <texton/pixel_target.h>
#include "arrays/sampling.h"
#include "arrays/unit/surface_point.h"
#include "core/backend.h"

namespace texton::detail {

/// Texels of an array, and pixels that are stored alike, for which touching pays.
enum class TouchedTexels : std::uint8_t { unorm8_x4, float32_x1, float32_x4 };

/// A texture whose texels are touched before they are fetched, where that pays.
struct TouchedTexture {
    TouchedTexels texels;
    Format format;
    std::size_t bytes;   ///< of a slice
    float texels_x = 1;  ///< its coordinates times so much are in texels
    float texels_y = 1;
};

struct NativeTexture {
    cudaTextureObject_t value = 0;
    ArrayKind kind = ArrayKind::array_2d;  // linear memory: array_1d
    bool owned = true;                     // false: adopted
    std::optional<TouchedTexture> touched{};
};

struct NativeSurface {
    cudaSurfaceObject_t value = 0;
    ArrayKind kind = ArrayKind::array_2d;
    int texel_bytes = 0;
    SurfaceSize size{};
};

/// The one place that translates address modes; back from what the driver says of a texture.
cudaTextureAddressMode cuda_address_mode(AddressMode mode) noexcept;
AddressMode address_mode_of(CUaddress_mode mode) noexcept;

/// Of the current device.
std::unique_ptr<NativeTexture> make_cuda_texture(const TextureRequest& request);

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

/// Which pixels of a tile stand for the others: one of so many, a power of two, along each axis.
struct Touches {
    unsigned shift_x = 0;
    unsigned shift_y = 0;
    float texels_x = 1;  ///< coordinates of the texture times so much are in texels
    float texels_y = 1;
    float unit_x = 1;  ///< and back
    float unit_y = 1;
};

struct TouchedKernel {
    const void* function;
    unsigned width;  ///< of the tile that a block makes
    unsigned height;
    unsigned band;  ///< tiles below one another, for which the grid has blocks in x
    unsigned threads;
};
/// Arguments: cudaTextureObject_t texture, AffineMap map, PixelTarget picture, which is aligned memory, Touches touches.
TouchedKernel touched_kernel(ArrayKind kind, TouchedTexels texels) noexcept;

/// Arguments: cudaSurfaceObject_t surface, const SurfacePoint* points, T* texels, unsigned count, SurfaceSize size,
/// Boundary boundary, where T is as long as a texel: 1, 2, 4, 8 or 16 bytes.
const void* surface_read_kernel(ArrayKind kind, int texel_bytes) noexcept;
/// The same with const T*.
const void* surface_write_kernel(ArrayKind kind, int texel_bytes) noexcept;

}  // namespace texton::detail
