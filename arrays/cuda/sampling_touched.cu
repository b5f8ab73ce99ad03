// CUDA kernels for grids of bilinear fetches whose texels come from device memory, as in large images.
//
// The texture unit processes fetches in order: a fetch that waits for its texels blocks the fetches behind it, and only
// a few bilinear fetches can be in flight. Therefore, a block first touches each sector of memory that its tile reads.
// It does so with a fetch at the center of one texel in the sector, which takes little space in the texture unit. When
// these fetches are done, the fetches of the tile find all their texels in the L1 cache.
//
// On an H200, with 8192 x 8192 texels, rgba32_float reaches 0.80 to 0.82 of a copy's speed instead of 0.72, and
// rgba8_unorm reaches 0.78 instead of 0.74. There is no gain for texels in the L2 cache, and rgba16_float becomes a
// tenth slower.
#include <texton/cuda_fetch.h>
#include <texton/cuda_store.h>

#include "arrays/cuda/sampling.h"
#include "arrays/unit/affine_map.h"

namespace texton::detail {
namespace {

/// How a block of threads computes its tile of the image.
struct Tile {
    unsigned width;    ///< pixels
    unsigned rows;     ///< rows of threads
    unsigned pixels;   ///< pixels per thread that are fetched before the first one is stored
    unsigned batches;  ///< number of times that each thread does this
    unsigned band;     ///< vertically adjacent tiles that are computed before the tiles to their right
    unsigned touched;  ///< number of pixels per touching fetch

    TEXTON_HD constexpr unsigned height() const { return rows * pixels * batches; }
    TEXTON_HD constexpr unsigned threads() const { return width * rows; }
};

TEXTON_HD constexpr Tile tile_of(TouchedTexels texels) {
    if (texels == TouchedTexels::float32_x4)
        return {.width = 16, .rows = 16, .pixels = 2, .batches = 1, .band = 32, .touched = 2};
    return {.width = 32, .rows = 8, .pixels = 4, .batches = 2, .band = 1, .touched = 8};
}

constexpr unsigned kNoTexel = 0x7f800001;  // differs from the only NaN that fetches return

template <ArrayKind kind>
__device__ uint4 fetch_at(cudaTextureObject_t texture, const Coordinates& at) {
    const FetchPoint point{.x = at.x, .y = at.y, .layer = at.layer};  // the texture has only one level
    return fetch_words<FetchOperation::lod, kind>(texture, point, 0);
}

template <TouchedTexels texels>
__device__ void store(std::byte* to, const uint4& texel, const PixelFormat& format) {
    if constexpr (texels == TouchedTexels::unorm8_x4) {
        store_aligned(to, encode_pixel_as<Encoding::unorm, 8>(texel, format), 4);
    } else {
        store_aligned(to, encode_pixel_as<Encoding::floating, 32>(texel, format),
                      texels == TouchedTexels::float32_x1 ? 4 : 16);
    }
}

template <ArrayKind kind, TouchedTexels texels>
__global__ void __launch_bounds__(tile_of(texels).threads())
    sample_touched(cudaTextureObject_t texture, const AffineMap map, const __grid_constant__ PixelTarget image,
                   const Touches touches) {
    constexpr Tile tile = tile_of(texels);
    const unsigned left = blockIdx.x / tile.band * tile.width;
    const unsigned top = (blockIdx.y * tile.band + blockIdx.x % tile.band) * tile.height();
    constexpr unsigned kTouches = tile.width * tile.height() / tile.touched;
    // Base-2 logarithm of the touching fetches per row.
    const unsigned shift = (31 - __clz(tile.width)) - touches.shift_x;
    bool impossible = false;
#pragma unroll
    for (unsigned position = threadIdx.x; position < kTouches; position += tile.threads()) {
        const unsigned i = left + ((position & ((1u << shift) - 1)) << touches.shift_x);
        const unsigned j = top + (position >> shift << touches.shift_y);
        if (i >= image.width || j >= image.height) continue;
        Coordinates at = position_of_pixel(map, i, j);
        at.x = (floorf(at.x * touches.texels_x) + 0.5f) * touches.unit_x;
        at.y = (floorf(at.y * touches.texels_y) + 0.5f) * touches.unit_y;
        impossible |= fetch_at<kind>(texture, at).x == kNoTexel;
    }
    // Waits for the touching fetches. The result is always 0, but the compiler does not know this, so it cannot move
    // other fetches before the barrier.
    const unsigned touched = static_cast<unsigned>(__syncthreads_or(impossible ? 1 : 0));

    const unsigned i = left + threadIdx.x % tile.width + touched;
    if (i >= image.width) return;
#pragma unroll
    for (unsigned batch = 0; batch < tile.batches; ++batch) {
        const unsigned j = top + threadIdx.x / tile.width + batch * tile.pixels * tile.rows;
        uint4 fetched[tile.pixels];
#pragma unroll
        for (unsigned pixel = 0; pixel < tile.pixels; ++pixel)
            fetched[pixel] = fetch_at<kind>(texture, position_of_pixel(map, i, j + pixel * tile.rows));
        // The addresses depend on all fetches. Otherwise, the assembler moves fetches after the first store, which waits
        // for its texel: rgba32_float takes 11 % more time.
        unsigned impossible_texels = 0;
#pragma unroll
        for (const uint4& texel : fetched) impossible_texels |= texel.x == kNoTexel ? 1 : 0;
        constexpr unsigned kBytes = texels == TouchedTexels::float32_x4 ? 16 : 4;
        std::byte* to = image.address + j * image.pitch + std::size_t{i + impossible_texels} * kBytes;
#pragma unroll
        for (unsigned pixel = 0; pixel < tile.pixels; ++pixel) {
            if (j + pixel * tile.rows < image.height) store<texels>(to, fetched[pixel], image.format);
            to += tile.rows * image.pitch;
        }
    }
}

template <ArrayKind kind>
const void* kernel_of(TouchedTexels texels) noexcept {
    switch (texels) {
        case TouchedTexels::unorm8_x4: break;
        case TouchedTexels::float32_x1:
            return reinterpret_cast<const void*>(&sample_touched<kind, TouchedTexels::float32_x1>);
        case TouchedTexels::float32_x4:
            return reinterpret_cast<const void*>(&sample_touched<kind, TouchedTexels::float32_x4>);
    }
    return reinterpret_cast<const void*>(&sample_touched<kind, TouchedTexels::unorm8_x4>);
}

}  // namespace

TouchedKernel touched_kernel(ArrayKind kind, TouchedTexels texels) noexcept {
    const Tile tile = tile_of(texels);
    return {kind == ArrayKind::layered_2d ? kernel_of<ArrayKind::layered_2d>(texels)
                                          : kernel_of<ArrayKind::array_2d>(texels),
            tile.width, tile.height(), tile.band, tile.threads()};
}

}  // namespace texton::detail
