// CUDA kernels for grids of fetches, which produce images: one for each kind of texture.
//
// A block of 32 x 8 threads computes 32 x 32 pixels. Each thread fetches four pixels of a column before it stores the
// first one. On an H200, bilinear fetches of 8192 x 8192 texels then read and write 3790 GB/s of rgba16_float, where a
// copy reaches 4180 GB/s. With one pixel at a time, rgba8_unorm reaches 1720 GB/s. More rows, other tile sizes and
// wider stores are not faster. For large images of some formats, sampling_touched.cu is used instead.
#include <texton/cuda_fetch.h>
#include <texton/cuda_store.h>

#include "arrays/cuda/sampling.h"
#include "arrays/unit/affine_map.h"

namespace texton::detail {
namespace {

constexpr unsigned kRows = kGridTile / kGridRows;  // pixels per thread

/// Not inlined, since it is long and rarely used.
__device__ __noinline__ void store_texel_anywhere(const PixelTarget& image, unsigned x, unsigned y, uint4 texel) {
    store_pixel_anywhere(image, x, y, 0, texel);
}

template <ArrayKind kind>
__global__ void __launch_bounds__(kGridTile* kGridRows)
    sample_grid(cudaTextureObject_t texture, const AffineMap map, const __grid_constant__ PixelTarget image) {
    const unsigned i = blockIdx.x * kGridTile + threadIdx.x;
    const unsigned j = (blockIdx.z * gridDim.y + blockIdx.y) * kGridTile + threadIdx.y;
    if (i >= image.width) return;
    uint4 texels[kRows];
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
        const Coordinates at = position_of_pixel(map, i, j + row * kGridRows);
        const FetchPoint point{.x = at.x, .y = at.y, .layer = at.layer};
        texels[row] = fetch_words<FetchOperation::plain, kind>(texture, point, 0);
    }
    if (has_aligned_pixels(image)) {
        const PixelsInMemory run = pixels_of_column(image, i, j, 0, kGridRows, kRows);
        if (has_linear_runs(image.format.stored)) return store_linear_run(image.format, run, texels);
        if (has_srgb_runs(image.format.stored)) return store_run_as<Encoding::srgb, 8>(image.format, run, texels);
    }
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
        if (j + row * kGridRows < image.height) store_texel_anywhere(image, i, j + row * kGridRows, texels[row]);
    }
}

}  // namespace

const void* grid_kernel(ArrayKind kind) noexcept {
    return kind == ArrayKind::layered_2d ? reinterpret_cast<const void*>(&sample_grid<ArrayKind::layered_2d>)
                                         : reinterpret_cast<const void*>(&sample_grid<ArrayKind::array_2d>);
}

}  // namespace texton::detail
