#pragma once
// The CUDA kernel of a pointwise functor whose texels and pixels are rgba8_unorm. A thread loads four stored texels at
// once, so the texture unit is free for other fetches.
#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

#include <texton/cuda_pixels.h>
#include <texton/cuda_store.h>
#include <texton/cuda_stored_texels.h>
#include <texton/pixel.h>
#include <texton/pixel_target.h>
#include <texton/source.h>

namespace texton::detail {

inline constexpr unsigned kTexelsPerPiece = 4;  ///< texels of a row that a thread loads at once
inline constexpr unsigned kPointwiseRows = 4;   ///< rows of a thread

/// The source of a texture whose texel at the position of the pixel is known.
class KnownTexelSource : public Fetches<KnownTexelSource> {
public:
    __device__ KnownTexelSource(const HardwareSource& source, const Float4& texel)
        : Fetches(source), source_(source), texel_(texel) {}

    using Fetches::at_texel;
    TEXTON_HD Float4 at_texel(float, float) const { return texel_; }
    TEXTON_HD Float4 layer_at_texel(int, float, float) const { return texel_; }

    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words(const FetchPoint& at, int component = 0) const {
        return source_.template words<operation, kind>(at, component);
    }

private:
    HardwareSource source_;
    Float4 texel_;
};

/// Four adjacent texels of a row.
struct PointwiseTexels {
    uint4 words;

    __device__ Float4 of_pixel(int i) const {
        const unsigned word = i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
        return {share_of_byte(word, 0) * kOfShare, share_of_byte(word, 1) * kOfShare, share_of_byte(word, 2) * kOfShare,
                share_of_byte(word, 3) * kOfShare};
    }
};

__device__ inline PointwiseTexels pointwise_texels(const PixelTarget& texels, unsigned piece, unsigned y, unsigned z) {
    switch (stored_in(texels)) {
        case StoredIn::memory: return {stored<StoredIn::memory, uint4>(texels, piece * 16, y, z)};
        case StoredIn::plane: return {stored<StoredIn::plane, uint4>(texels, piece * 16, y)};
        case StoredIn::layers: return {stored<StoredIn::layers, uint4>(texels, piece * 16, y, z)};
    }
    return {};
}

template <class Functor, std::size_t count>
struct PointwiseJob {
    PixelTarget target;
    Functor functor;
    HardwareSource sources[count];
    PixelTarget texels[count];  ///< the stored texels; the width is 0 if the texture unit fetches from this texture

    /// Computes the pixels of a piece of 16 bytes in several rows. All texels are loaded before the first pixel is
    /// stored.
    __device__ void make(unsigned piece, unsigned first, unsigned z) const {
        PointwiseTexels own[kPointwiseRows][count];
#pragma unroll
        for (unsigned row = 0; row < kPointwiseRows; ++row) {
#pragma unroll
            for (std::size_t i = 0; i < count; ++i) {
                const unsigned y = first + row * kTileThreadRows;
                if (texels[i].width == 0 || y >= target.height) continue;
                own[row][i] = pointwise_texels(texels[i], piece, y, texels[i].depth > 1 ? z : 0);
            }
        }
#pragma unroll
        for (unsigned row = 0; row < kPointwiseRows; ++row) {
            const unsigned y = first + row * kTileThreadRows;
            if (y < target.height) make_row(own[row], piece, y, z);
        }
    }

    /// Computes the pixels after the last whole piece in several rows. The texture unit fetches their texels.
    __device__ void make_rest(unsigned first, unsigned z) const {
        for (unsigned y = first; y < target.height && y < first + kPointwiseRows * kTileThreadRows;
             y += kTileThreadRows) {
            auto* const pixels =
                reinterpret_cast<unsigned*>(target.address + z * target.slice_pitch + y * target.pitch);
#pragma unroll 1
            for (unsigned x = target.width / kTexelsPerPiece * kTexelsPerPiece; x < target.width; ++x) {
                const PixelPosition at{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y),
                                       static_cast<std::int32_t>(z)};
                pixels[x] = stored(fetched(at, std::make_index_sequence<count>{}));
            }
        }
    }

private:
    __device__ void make_row(const PointwiseTexels (&own)[count], unsigned piece, unsigned y, unsigned z) const {
        unsigned pixels[kTexelsPerPiece];
#pragma unroll
        for (int i = 0; i < static_cast<int>(kTexelsPerPiece); ++i) {
            const PixelPosition at{static_cast<std::int32_t>(piece * kTexelsPerPiece) + i, static_cast<std::int32_t>(y),
                                   static_cast<std::int32_t>(z)};
            pixels[i] = stored(call(at, own, i, std::make_index_sequence<count>{}));
        }
        std::byte* row = target.address + z * target.slice_pitch + y * target.pitch;
        reinterpret_cast<uint4*>(row)[piece] = make_uint4(pixels[0], pixels[1], pixels[2], pixels[3]);
    }
    template <std::size_t... index>
    __device__ Float4 call(PixelPosition at, const PointwiseTexels (&own)[count], int i,
                           std::index_sequence<index...>) const {
        return functor(at, KnownTexelSource(sources[index], own[index].of_pixel(i))...);
    }
    template <std::size_t... index>
    __device__ Float4 fetched(PixelPosition at, std::index_sequence<index...>) const {
        return functor(at, sources[index]...);
    }
    __device__ unsigned stored(const Float4& color) const {
        const uint4 channels = make_uint4(bits_of(color.x), bits_of(color.y), bits_of(color.z), bits_of(color.w));
        return encode_pixel_as<Encoding::unorm, 8>(channels, target.format).word[0];
    }
};

/// The grid has one block per tile in x and y, starting at a row of tiles, and slices in z.
template <class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_pointwise_pixel(const __grid_constant__ Job job, unsigned first_row) {
    const unsigned piece = blockIdx.x * kTileWidth + threadIdx.x;
    const unsigned y = (first_row + blockIdx.y) * (kTileThreadRows * kPointwiseRows) + threadIdx.y;
    if (piece < job.target.width / kTexelsPerPiece && y < job.target.height) job.make(piece, y, blockIdx.z);
    if (piece == job.target.width / kTexelsPerPiece) job.make_rest(y, blockIdx.z);
}

inline constexpr BlockTile kPointwiseTile{kTileWidth * kTexelsPerPiece, kTileThreadRows* kPointwiseRows, 1};

}  // namespace texton::detail
