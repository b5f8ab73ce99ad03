#pragma once
// Rows of texels in memory or in an array, read and written as they are stored. For code that nvcc compiles.
#include <cstdint>
#include <optional>

#include <cuda_runtime.h>

#include <texton/cuda_stored_texels.h>
#include <texton/float_division.h>
#include <texton/pixel_target.h>

#include "kernels/functors/mip_chain.h"

namespace texton::mip {

using detail::PixelTarget;
using detail::StoredIn;

/// Rows of texels in memory, or in an array of planes or layers.
struct StoredRows {
    PixelTarget texels;
    StoredIn in;
    unsigned row_bytes;
    unsigned alignment;  ///< the starts of rows are multiples of this; at most 16
};

/// Returns nothing for arrays that are neither 2D nor layered 2D, and for texels that are not aligned.
[[nodiscard]] std::optional<StoredRows> stored_rows(const PixelTarget& texels);

/// Returns the rows of the level above, if they can be read as they are stored.
[[nodiscard]] std::optional<StoredRows> rows_above(const Step& step);

/// Returns sum / weight, where `weight` is the total weight of the texels of a pixel.
__device__ inline float quick_quotient(float sum, float weight) {
    const float magnitude = ::fabsf(sum);
    const bool is_near = sum == 0 || (magnitude >= 0x1p-60f && magnitude <= 0x1p60f);
    return is_near ? detail::quotient(sum, weight) : sum / weight;
}

template <class T>
__device__ void write(const StoredRows& rows, unsigned byte, unsigned y, unsigned z, const T& value) {
    const PixelTarget& texels = rows.texels;
    if (rows.in == StoredIn::memory) {
        *reinterpret_cast<T*>(texels.address + z * texels.slice_pitch + y * texels.pitch + byte) = value;
        return;
    }
    const auto surface = static_cast<cudaSurfaceObject_t>(texels.surface);
    const int x = texels.offset[0] * texels.format.stored.bytes + static_cast<int>(byte);
    const int row = texels.offset[1] + static_cast<int>(y);
    if (rows.in == StoredIn::plane)
        surf2Dwrite(value, surface, x, row);
    else
        surf2DLayeredwrite(value, surface, x, row, texels.offset[2] + static_cast<int>(z));
}

/// The type with half as many bytes.
template <class T>
struct HalfOf;
template <>
struct HalfOf<uint4> {
    using Type = uint2;
};
template <>
struct HalfOf<uint2> {
    using Type = std::uint32_t;
};
template <>
struct HalfOf<std::uint32_t> {
    using Type = std::uint16_t;
};
template <>
struct HalfOf<std::uint16_t> {
    using Type = std::uint8_t;
};

__device__ inline bool has(const StoredRows& rows, unsigned byte, unsigned bytes) {
    return rows.alignment >= bytes && byte + bytes <= rows.row_bytes;
}

/// Writes the words that are inside the level. If the row ends within the words or is not aligned, writes halves of
/// them, down to single texels.
template <class Texel, class T>
__device__ void write_words(const StoredRows& rows, unsigned byte, unsigned y, unsigned z, const T& words) {
    if (byte >= rows.row_bytes || y >= rows.texels.height) return;
    if constexpr (sizeof(T) > sizeof(Texel)) {
        using Half = typename HalfOf<T>::Type;
        if (!has(rows, byte, sizeof(T))) {
            Half halves[2];
            __builtin_memcpy(halves, &words, sizeof words);
            write_words<Texel>(rows, byte, y, z, halves[0]);
            write_words<Texel>(rows, byte + sizeof(Half), y, z, halves[1]);
            return;
        }
    }
    write(rows, byte, y, z, words);
}

}  // namespace texton::mip
