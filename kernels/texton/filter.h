#pragma once
// Filters of the texels around each: pixel (i, j) of the picture is made of those around texel (i, j). The texture is
// 2D or layered, the picture as large, with a slice for each layer. What lies beyond the edges is as the sampler says;
// either filter will do, as texels are fetched at their middles.
//
// Errors of all: bad_argument (a texture of another kind, or of integers; a picture of another size; a parameter out of
// its range), and those of launch().
#include <optional>
#include <span>
#include <vector>

#include <texton/pool.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Weights that convolve() takes along an axis, at most.
inline constexpr int kMostWeights = 255;

/// Enqueues the sum of texels by their weights: across.size() of them in a row, the middle one by across.size() / 2, of
/// down.size() rows. Both are odd, from 1 to kMostWeights; weights are finite and need not sum up to 1. The first
/// weight is that of the texel to the left, or above.
///
/// It goes in two passes, through floats in scratch memory, 16 bytes for each pixel, and for each of down.size() - 1 more
/// rows: from the pool, or without one from the current pool of the stream's device. So the picture may lie in memory that
/// the texture reads. Where it lies apart, the same bits are made in one pass, without that memory.
void convolve(const Stream& stream, const View& picture, const Texture& texture, std::span<const float> across,
              std::span<const float> down, const std::optional<Pool>& scratch = {});

/// Of a bell curve of standard deviation `sigma`, in texels: 2 * radius + 1, of sum 1. Radius 0: three sigmas, rounded
/// up. Error{bad_argument} if the radius is not from 0 to 127, or is 0 and comes out above.
[[nodiscard]] std::vector<float> gaussian_weights(float sigma, int radius = 0);

struct GaussianOptions {
    float sigma = 1;  ///< texels
    int radius = 0;   ///< of the texels that count, up to 127; 0: three sigmas, rounded up
    std::optional<Pool> scratch{};
};

/// convolve() with gaussian_weights(), across and down.
void gaussian(const Stream& stream, const View& picture, const Texture& texture, const GaussianOptions& options = {});

struct UnsharpOptions {
    float amount = 1;     ///< how much of what a blur takes away is added; below 0 it is taken away
    float sigma = 1;      ///< of the blur, in texels
    float threshold = 0;  ///< channels that the blur changes by less stay as they are
    std::optional<Pool> scratch{};
};

/// Sharpens by what gaussian() would take away. Scratch memory as for convolve(); the picture must lie apart from what
/// the texture reads.
void unsharp(const Stream& stream, const View& picture, const Texture& texture, const UnsharpOptions& options = {});

struct BilateralOptions {
    float sigma_space = 2;     ///< texels
    float sigma_range = 0.1f;  ///< difference of values, the four channels taken as a place in space
    int radius = 0;            ///< of the square of texels that count, up to 64; 0: two sigmas, rounded up
};

/// The mean of texels, each counted by a bell curve of how far away it is, and by another of how much it differs: it
/// smooths, but keeps edges. Texels with a channel that is not finite count nothing, and become NaN.
void bilateral(const Stream& stream, const View& picture, const Texture& texture, const BilateralOptions& options = {});

enum class MedianSize : std::uint8_t { three, five };  ///< texels a side

/// The middle one of the values around, in each channel by itself. Textures of integers will do, as far as floats hold
/// them (24 bits). Where some values are NaN it is one of them all.
void median(const Stream& stream, const View& picture, const Texture& texture, MedianSize size = MedianSize::three);

}  // namespace texton
