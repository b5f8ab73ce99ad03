#pragma once
// The state behind the handles of textures and surfaces of a CUDA device, and the CUDA kernels for sampling, as code
// compiled by the host compiler launches them. The kernels of batches accept any launch size, since their threads loop
// over the points.
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

/// Texels that can be touched before they are fetched. The pixels must be stored in the same format. See
/// sampling_touched.cu.
enum class TouchedTexels : std::uint8_t { unorm8_x4, float32_x1, float32_x4 };

/// A texture whose texels may be touched before they are fetched.
struct TouchedTexture {
    TouchedTexels texels;
    Format format;
    std::size_t bytes;   ///< bytes of a slice
    float texels_x = 1;  ///< factor from coordinates to texels
    float texels_y = 1;
};

/// How a texture object is created.
struct TextureDescription {
    cudaResourceDesc resource{};
    cudaTextureDesc how{};
    std::optional<cudaResourceViewDesc> view{};
};

/// The state behind a TextureHandle. It is fixed after creation. It does not keep alive what the texture reads.
struct NativeTexture {
    cudaTextureObject_t value = 0;
    ArrayKind kind = ArrayKind::array_2d;  // array_1d for linear memory
    bool owned = true;                     // false for an adopted texture
    std::optional<TouchedTexture> touched{};
    TextureDescription description{};  // unused for an adopted texture
};

/// The state behind a SurfaceHandle. The surface object belongs to the array, which must outlive it.
struct NativeSurface {
    cudaSurfaceObject_t value = 0;
    ArrayKind kind = ArrayKind::array_2d;
    int texel_bytes = 0;
    SurfaceSize size{};
};

/// Convert address modes to CUDA's and back from the driver's. They are the only functions that do this.
cudaTextureAddressMode cuda_address_mode(AddressMode mode) noexcept;
AddressMode address_mode_of(CUaddress_mode mode) noexcept;

/// Creates a texture of the current device.
std::unique_ptr<NativeTexture> make_cuda_texture(const TextureRequest& request);
/// Creates a texture of the current device with the same texels and the point filter.
std::unique_ptr<NativeTexture> make_cuda_point_texture(const NativeTexture& texture);

/// Returns the format that CUDA uses for views. Formats that differ only in their kind have the same one. Returns
/// cudaResViewFormatNone for formats without a view format: a view then has the format of the array.
cudaResourceViewFormat view_format(Format format) noexcept;

/// Returns the CUDA kernel for a batch of fetches, or null for a fetch that CUDA does not have. Its arguments are
/// cudaTextureObject_t texture, const FetchPoint* points, uint4* texels, std::uint8_t* resident, unsigned count and int
/// component. `resident` is written only if `residency` is true.
const void* fetch_kernel(FetchOperation operation, ArrayKind kind, bool residency) noexcept;

/// Returns the image as a CUDA kernel of the device accesses it. Throws Error{wrong_device} for host memory that the
/// device cannot access and Error{unsupported} for an array without surfaces.
PixelTarget cuda_pixel_target(const MemoryLocation& image);

/// Width and height in pixels of the tile that a block computes, and rows of threads in a block.
inline constexpr unsigned kGridTile = 32;
inline constexpr unsigned kGridRows = 8;
/// Returns the CUDA kernel for a grid. Its arguments are cudaTextureObject_t texture, AffineMap map and PixelTarget
/// picture. Launch one block per tile, row by row.
const void* grid_kernel(ArrayKind kind) noexcept;

/// The pixels of a tile whose fetches touch memory for their neighbors: one of 2^shift pixels along each axis.
struct Touches {
    unsigned shift_x = 0;
    unsigned shift_y = 0;
    float texels_x = 1;  ///< factor from coordinates to texels
    float texels_y = 1;
    float unit_x = 1;  ///< factor from texels to coordinates
    float unit_y = 1;
};

/// A CUDA kernel that touches texels first, and its launch parameters.
struct TouchedKernel {
    const void* function;
    unsigned width;  ///< of the tile that a block computes
    unsigned height;
    unsigned band;  ///< number of vertically adjacent tiles; the grid has one block in x for each
    unsigned threads;
};
/// Returns the CUDA kernel that touches texels first. Its arguments are cudaTextureObject_t texture, AffineMap map,
/// PixelTarget image, which must be aligned memory, and Touches touches.
TouchedKernel touched_kernel(ArrayKind kind, TouchedTexels texels) noexcept;

/// Returns the CUDA kernel that reads a batch of points. Its arguments are cudaSurfaceObject_t surface, const
/// SurfacePoint* points, T* texels, unsigned count, SurfaceSize size and Boundary boundary. T has the size of a texel:
/// 1, 2, 4, 8 or 16 bytes.
const void* surface_read_kernel(ArrayKind kind, int texel_bytes) noexcept;
/// Returns the CUDA kernel that writes a batch of points. Its arguments are the same, with const T*.
const void* surface_write_kernel(ArrayKind kind, int texel_bytes) noexcept;

}  // namespace texton::detail
