// Kernels of grids of fetches, which make pictures: one for each kind of texture.
//
// A block of 32 x 8 threads makes 32 x 32 pixels, each thread four of a column, which it fetches before it stores the
// first. On an H200 bilinear fetches of 8192 x 8192 texels then read and write 2970 GB/s of rgba8_unorm and 3010 of
// rgba32_float, where a copy has 4150 and 4220; one pixel at a time 1720 and 3010. What is left is latency: the texture
// unit takes no more fetches at a time (point fetches of rgba32_float reach 4080). More rows, other tiles, wider
// stores, and touching a tile before it is fetched gain nothing.
#include <texton/cuda_fetch.h>

#include "arrays/affine_map.h"
#include "arrays/cuda_sampling.h"

namespace texton::detail {
namespace {

constexpr unsigned kRows = kGridTile / kGridRows;  // pixels of a thread

__device__ void store_pixel(std::byte* to, const Pixel& pixel, int bytes, bool aligned) {
    switch (aligned ? bytes : 0) {
        case 1: *reinterpret_cast<std::uint8_t*>(to) = static_cast<std::uint8_t>(pixel.word[0]); break;
        case 2: *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(pixel.word[0]); break;
        case 4: *reinterpret_cast<std::uint32_t*>(to) = pixel.word[0]; break;
        case 8: *reinterpret_cast<uint2*>(to) = make_uint2(pixel.word[0], pixel.word[1]); break;
        case 16:
            *reinterpret_cast<uint4*>(to) = make_uint4(pixel.word[0], pixel.word[1], pixel.word[2], pixel.word[3]);
            break;
        default:
            for (int byte = 0; byte < 16; ++byte) {
                if (byte < bytes) to[byte] = static_cast<std::byte>(pixel.word[byte / 4] >> byte % 4 * 8);
            }
    }
}

/// The pixels (i, j), (i, j + kGridRows), ... The encoding is a constant here: encode_pixel() shrinks to what it takes.
template <Encoding encoding, int bits, Packing packing = Packing::plain>
__device__ void store_pixels(const GridPicture& picture, unsigned i, unsigned j, const uint4 (&texels)[kRows]) {
    PixelFormat format = picture.format;
    format.stored.encoding = encoding;
    format.stored.bits = bits;
    format.stored.packing = packing;
    const int bytes = format.stored.bytes;
    std::byte* to = picture.address + j * picture.pitch + std::size_t{i} * static_cast<unsigned>(bytes);
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
        if (j + row * kGridRows >= picture.height) return;
        const uint4 texel = texels[row];
        store_pixel(to, encode_pixel({{texel.x, texel.y, texel.z, texel.w}}, format), bytes, picture.aligned);
        to += kGridRows * picture.pitch;
    }
}

template <ArrayKind kind>
__global__ void __launch_bounds__(kGridTile* kGridRows)
    sample_grid(cudaTextureObject_t texture, const AffineMap map, const GridPicture picture) {
    const unsigned across = (picture.width + kGridTile - 1) / kGridTile;
    const unsigned i = blockIdx.x % across * kGridTile + threadIdx.x;
    const unsigned j = blockIdx.x / across * kGridTile + threadIdx.y;
    if (i >= picture.width) return;
    uint4 texels[kRows];
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
        const Coordinates at = place_of_pixel(map, i, j + row * kGridRows);
        const FetchPoint point{.x = at.x, .y = at.y, .layer = at.layer};
        texels[row] = fetch_words<FetchOperation::plain, kind>(texture, point, 0);
    }
    const TexelFormat& stored = picture.format.stored;
    switch (stored.encoding) {
        case Encoding::uint:
            if (stored.bits == 8) return store_pixels<Encoding::uint, 8>(picture, i, j, texels);
            if (stored.bits == 16) return store_pixels<Encoding::uint, 16>(picture, i, j, texels);
            return store_pixels<Encoding::uint, 32>(picture, i, j, texels);
        case Encoding::sint:
            if (stored.bits == 8) return store_pixels<Encoding::sint, 8>(picture, i, j, texels);
            if (stored.bits == 16) return store_pixels<Encoding::sint, 16>(picture, i, j, texels);
            return store_pixels<Encoding::sint, 32>(picture, i, j, texels);
        case Encoding::floating:
            if (stored.bits == 16) return store_pixels<Encoding::floating, 16>(picture, i, j, texels);
            return store_pixels<Encoding::floating, 32>(picture, i, j, texels);
        case Encoding::unorm:
            if (stored.bits == 8) return store_pixels<Encoding::unorm, 8>(picture, i, j, texels);
            if (stored.bits == 16) return store_pixels<Encoding::unorm, 16>(picture, i, j, texels);
            return store_pixels<Encoding::unorm, 10, Packing::rgb10a2>(picture, i, j, texels);
        case Encoding::snorm:
            if (stored.bits == 8) return store_pixels<Encoding::snorm, 8>(picture, i, j, texels);
            return store_pixels<Encoding::snorm, 16>(picture, i, j, texels);
        case Encoding::srgb: return store_pixels<Encoding::srgb, 8>(picture, i, j, texels);
    }
}

}  // namespace

const void* grid_kernel(ArrayKind kind) noexcept {
    return kind == ArrayKind::layered_2d ? reinterpret_cast<const void*>(&sample_grid<ArrayKind::layered_2d>)
                                         : reinterpret_cast<const void*>(&sample_grid<ArrayKind::array_2d>);
}

}  // namespace texton::detail
