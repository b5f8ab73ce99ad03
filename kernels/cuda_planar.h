#pragma once
// Planes and pictures of 8 bits on a CUDA device, for code that nvcc compiles. Fetches would take most of the time: texels are
// read as they are stored instead, four in a row by each thread, of two rows.
#include <cmath>

#include <texton/cuda_store.h>
#include <texton/cuda_stored_texels.h>

#include "kernels/planar_functors.h"

namespace texton::detail {

// --- to RGB ----------------------------------------------------------------------------------------------------------
//
// Chroma between its samples is what the texture unit makes of it: its weights are fourths along an axis, which leave
// nothing to round but the sum.

/// Where chroma's rows lie: one for each of luma, between two of luma, or on every second one.
enum class ChromaRows { own, between, on_luma };

struct BytesToRgba {
    PixelTarget picture;
    PixelTarget luma;
    PixelTarget chroma;
    std::uint32_t spread;  ///< of the bytes of a chroma sample: first Cb, then Cr
    ToRgb to_rgb;
};

/// whole / 65535, as divided, but for 0, of which nothing is left beside a shift. The quotient's bits are the number's over
/// and over again: two of these, and a little more, are rounded as all of them.
__device__ inline float share_of_short(std::uint32_t whole) {
    return fmaf(static_cast<float>(whole), 0x1.0001p-16f, 0x1p-60f);
}

__device__ inline std::uint32_t opaque_pixel(const Float4& color) {
    const std::uint32_t red_green = __byte_perm(unorm8_bits_of(color.x), unorm8_bits_of(color.y), 0x0051);
    return __byte_perm(red_green, unorm8_bits_of(color.z), 0x0510) | 0xff000000u;
}

/// Two samples beside each other of a chroma row, and one on either side, where they count; their channels in the halves of
/// a word.
template <StoredIn in, bool on_column>
struct ChromaSamples {
    std::uint32_t of[4];

    ChromaSamples() = default;
    /// Called by all threads of a warp together, which read pairs one after the other; those past the last one read it.
    /// `spread` selects the bytes of a sample.
    __device__ ChromaSamples(const PixelTarget& chroma, std::uint32_t pair, std::uint32_t last, std::uint32_t row,
                             std::uint32_t spread) {
        const std::uint32_t both = stored<in, std::uint32_t>(chroma, pair * 4, row);
        std::uint32_t after = __shfl_down_sync(0xffffffffu, both, 1);
        if (threadIdx.x == 31 && pair != last) after = stored<in, std::uint16_t>(chroma, pair * 4 + 4, row);
        if (pair == last) after = both >> 16;
        of[1] = __byte_perm(both, 0, spread);
        of[2] = __byte_perm(both, 0, spread + 0x0202u);
        of[3] = __byte_perm(after, 0, spread);
        if constexpr (!on_column) {
            std::uint32_t before = __shfl_up_sync(0xffffffffu, both, 1);
            if (threadIdx.x == 0 && pair != 0) before = stored<in, std::uint32_t>(chroma, pair * 4 - 4, row);
            if (pair == 0) before = both << 16;
            of[0] = __byte_perm(before, 0, spread + 0x0202u);
        }
    }

    /// Fourths: of this row a share, of the other the rest.
    __device__ std::uint32_t fourths(int i, const ChromaSamples& other, std::uint32_t share) const {
        return share == 4 ? of[i] * 4 : of[i] * share + other.of[i] * (4 - share);
    }
};

template <StoredIn in, bool on_column, ChromaRows rows>
__global__ void __launch_bounds__(256) bytes_to_rgba(const __grid_constant__ BytesToRgba job) {
    const std::uint32_t last = job.picture.width / 4 - 1;
    const std::uint32_t across = last / 32 + 1;
    const std::uint32_t x = blockIdx.x % across * 32 + threadIdx.x;
    const std::uint32_t y = (blockIdx.x / across * 8 + threadIdx.y) * 2;
    if (y >= job.picture.height) return;
    const std::uint32_t inside = x < last ? x : last;
    using Samples = ChromaSamples<in, on_column>;
    const auto samples = [&](std::uint32_t row) { return Samples(job.chroma, inside, last, row, job.spread); };
    const std::uint32_t luma[2] = {stored<in, std::uint32_t>(job.luma, inside * 4, y),
                                   stored<in, std::uint32_t>(job.luma, inside * 4, y + 1)};
    const std::uint32_t middle = rows == ChromaRows::own ? y : y / 2;
    const std::uint32_t bottom = job.chroma.height - 1;
    const Samples here = samples(middle);
    const Samples below = samples(middle < bottom ? middle + 1 : bottom);
    Samples above;
    if constexpr (rows == ChromaRows::between) above = samples(middle != 0 ? middle - 1 : 0);
    if (x > last) return;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
        std::uint32_t blended[4];
#pragma unroll
        for (int i = on_column ? 1 : 0; i < 4; ++i) {
            switch (rows) {
                case ChromaRows::own: blended[i] = (row == 0 ? here : below).fourths(i, here, 4); break;
                case ChromaRows::between: blended[i] = here.fourths(i, row == 0 ? above : below, 3); break;
                case ChromaRows::on_luma: blended[i] = here.fourths(i, below, row == 0 ? 4 : 2); break;
            }
        }
        std::uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int nearest = 1 + i / 2;
            std::uint32_t sum;  // sixteenths
            if constexpr (on_column)
                sum = i % 2 == 0 ? blended[nearest] * 4 : (blended[nearest] + blended[nearest + 1]) * 2;
            else
                sum = blended[nearest] * 3 + blended[i % 2 == 0 ? nearest - 1 : nearest + 1];
            // Sixteenths of codes, then of 65535ths, of which a code has 257.
            const std::uint32_t whole = sum * 16 + ((sum + 0x00080008u) >> 4 & 0x00ff00ffu);
            words[i] = opaque_pixel(job.to_rgb.color(share_of_byte(luma[row], i), share_of_short(whole & 0xffffu),
                                                     share_of_short(whole >> 16)));
        }
        std::byte* to = job.picture.address + std::size_t{y + static_cast<unsigned>(row)} * job.picture.pitch;
        *reinterpret_cast<uint4*>(to + std::size_t{x} * 16) = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

template <StoredIn in, bool on_column>
const void* bytes_to_rgba_kernel(ChromaRows rows) {
    switch (rows) {
        case ChromaRows::own: return reinterpret_cast<const void*>(&bytes_to_rgba<in, on_column, ChromaRows::own>);
        case ChromaRows::between:
            return reinterpret_cast<const void*>(&bytes_to_rgba<in, on_column, ChromaRows::between>);
        case ChromaRows::on_luma:
            return reinterpret_cast<const void*>(&bytes_to_rgba<in, on_column, ChromaRows::on_luma>);
    }
    return nullptr;
}

template <StoredIn in>
const void* bytes_to_rgba_kernel(bool on_column, ChromaRows rows) {
    return on_column ? bytes_to_rgba_kernel<in, true>(rows) : bytes_to_rgba_kernel<in, false>(rows);
}

// --- from RGB --------------------------------------------------------------------------------------------------------
//
// Both planes at once.

struct RgbaToBytes {
    PixelTarget picture;
    PixelTarget luma;
    PixelTarget chroma;
    Coded luma_of;  ///< of shares, as are the others
    Coded low;      ///< the channels of chroma
    Coded high;
};

inline Coded of_shares(Coded coded) {
    coded.of_red *= kOfShare;
    coded.of_green *= kOfShare;
    coded.of_blue *= kOfShare;
    return coded;
}

/// Four pixels of a row, and the one before them, in shares.
template <StoredIn in>
struct PixelRow {
    Float4 of[5];

    /// Called by all threads of a warp together, which read pieces one after the other; those past the last one read it.
    __device__ PixelRow(const PixelTarget& picture, std::uint32_t piece, std::uint32_t row) {
        const uint4 pixels = stored<in, uint4>(picture, piece * 16, row);
        std::uint32_t before = __shfl_up_sync(0xffffffffu, pixels.w, 1);
        if (threadIdx.x == 0) before = piece != 0 ? stored<in, std::uint32_t>(picture, piece * 16 - 4, row) : pixels.x;
        const std::uint32_t words[5] = {before, pixels.x, pixels.y, pixels.z, pixels.w};
        for (int i = 0; i < 5; ++i)
            of[i] = {share_of_byte(words[i], 0), share_of_byte(words[i], 1), share_of_byte(words[i], 2), 0};
    }
};

/// Coded::code() and half a one in the bits from 8 to 15. Codes of 8 bits are never below 0; and none is 0.5 - 2^-25, the only
/// one to which half a one is not added exactly: chroma's are shifted by 128 last, and luma's were all tried.
__device__ inline std::uint32_t code_bits_of(const Coded& coded, const Float4& color) {
    const float code = coded.of_red * color.x + coded.of_green * color.y + coded.of_blue * color.z + coded.shift;
    return code_bits_of(fminf(code, 255.0f));
}

template <class Word>
__device__ void store_word(const PixelTarget& plane, std::uint32_t x, std::uint32_t row, Word word) {
    *reinterpret_cast<Word*>(plane.address + row * plane.pitch + std::size_t{x} * sizeof(Word)) = word;
}

/// As ChromaPlane, of rows from `first` on. Its weights are powers of 2: products are exact, and a fused sum is the same.
template <int columns, int rows, StoredIn in>
__device__ std::uint32_t chroma_pair(const Coded& low, const Coded& high, const PixelRow<in>* first) {
    constexpr ChromaTaps kAcross{2, columns == 3};
    constexpr ChromaTaps kDown{rows == 1 ? 1 : 2, rows == 3};
    std::uint32_t samples[2];
#pragma unroll
    for (int sample = 0; sample < 2; ++sample) {
        Float4 sum{};
#pragma unroll
        for (int j = 0; j < rows; ++j) {
#pragma unroll
            for (int i = 0; i < columns; ++i) {
                const Float4& texel = first[j].of[2 * sample + i + (columns == 3 ? 0 : 1)];
                const float weight = kAcross.weight(i) * kDown.weight(j);
                sum = {fmaf(texel.x, weight, sum.x), fmaf(texel.y, weight, sum.y), fmaf(texel.z, weight, sum.z), 0};
            }
        }
        samples[sample] = __byte_perm(code_bits_of(low, sum), code_bits_of(high, sum), 0x0051);
    }
    return __byte_perm(samples[0], samples[1], 0x5410);
}

/// `rows` is what a chroma sample averages: 1 where chroma is as high as luma.
template <StoredIn in, int columns, int rows>
__global__ void __launch_bounds__(256) rgba_to_bytes(const __grid_constant__ RgbaToBytes job) {
    const std::uint32_t last = job.picture.width / 4 - 1;
    const std::uint32_t across = last / 32 + 1;
    const std::uint32_t x = blockIdx.x % across * 32 + threadIdx.x;
    const std::uint32_t y = (blockIdx.x / across * 8 + threadIdx.y) * 2;
    if (y >= job.picture.height) return;
    const std::uint32_t inside = x < last ? x : last;
    const PixelRow<in> row[3] = {
        {job.picture, inside, rows == 3 && y != 0 ? y - 1 : y}, {job.picture, inside, y}, {job.picture, inside, y + 1}};
    if (x > last) return;
#pragma unroll
    for (std::uint32_t i = 0; i < 2; ++i) {
        const auto code = [&](int pixel) { return code_bits_of(job.luma_of, row[1 + i].of[1 + pixel]); };
        store_word(job.luma, x, y + i,
                   __byte_perm(__byte_perm(code(0), code(1), 0x0051), __byte_perm(code(2), code(3), 0x0051), 0x5410));
    }
    if constexpr (rows == 1) {
        for (std::uint32_t i = 0; i < 2; ++i)
            store_word(job.chroma, x, y + i, chroma_pair<columns, rows>(job.low, job.high, row + 1 + i));
    } else {
        store_word(job.chroma, x, y / 2, chroma_pair<columns, rows>(job.low, job.high, row + (rows == 3 ? 0 : 1)));
    }
}

template <StoredIn in>
const void* rgba_to_bytes_kernel(const ChromaPlane& plane) {
    const bool wide = plane.x.count() == 3;
    switch (plane.y.count()) {
        case 1: return reinterpret_cast<const void*>(wide ? &rgba_to_bytes<in, 3, 1> : &rgba_to_bytes<in, 2, 1>);
        case 2: return reinterpret_cast<const void*>(wide ? &rgba_to_bytes<in, 3, 2> : &rgba_to_bytes<in, 2, 2>);
        default: return reinterpret_cast<const void*>(wide ? &rgba_to_bytes<in, 3, 3> : &rgba_to_bytes<in, 2, 3>);
    }
}

}  // namespace texton::detail
