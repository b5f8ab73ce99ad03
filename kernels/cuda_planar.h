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

/// Fourths of the chroma sample before, for an even luma sample, and of the one after, for an odd one.
struct ChromaBlend {
    std::uint32_t before;
    std::uint32_t after;
};

inline ChromaBlend chroma_blend(bool on_sample) { return on_sample ? ChromaBlend{0, 2} : ChromaBlend{1, 1}; }

struct BytesToRgba {
    PixelTarget picture;
    PixelTarget luma;
    PixelTarget chroma;
    std::uint32_t spread;  ///< of the bytes of a chroma sample: first Cb, then Cr
    ToRgb to_rgb;
    ChromaBlend across;
    ChromaBlend down;
    std::uint32_t rows_of_chroma;  ///< a pair of luma's
};

/// Two samples beside each other of a chroma row, and one on either side; their channels in the halves of a word.
template <StoredIn in>
struct ChromaSamples {
    std::uint32_t of[4];

    /// Called by all threads of a warp together, which read pairs one after the other; those past the last one read it.
    /// `spread` selects the bytes of a sample.
    __device__ ChromaSamples(const PixelTarget& chroma, std::uint32_t pair, std::uint32_t last, std::uint32_t row,
                             std::uint32_t spread) {
        const std::uint32_t both = stored<in, std::uint32_t>(chroma, pair * 4, row);
        std::uint32_t before = __shfl_up_sync(0xffffffffu, both, 1) >> 16;
        std::uint32_t after = __shfl_down_sync(0xffffffffu, both, 1);
        if (threadIdx.x == 0 && pair != 0) before = stored<in, std::uint16_t>(chroma, pair * 4 - 2, row);
        if (threadIdx.x == 31 && pair != last) after = stored<in, std::uint16_t>(chroma, pair * 4 + 4, row);
        if (pair == 0) before = both;
        if (pair == last) after = both >> 16;
        of[0] = __byte_perm(before, 0, spread);
        of[1] = __byte_perm(both, 0, spread);
        of[2] = __byte_perm(both >> 16, 0, spread);
        of[3] = __byte_perm(after, 0, spread);
    }
};

template <StoredIn in>
__global__ void __launch_bounds__(256) bytes_to_rgba(const __grid_constant__ BytesToRgba job) {
    const std::uint32_t last = job.picture.width / 4 - 1;
    const std::uint32_t across = last / 32 + 1;
    const std::uint32_t x = blockIdx.x % across * 32 + threadIdx.x;
    const std::uint32_t y = (blockIdx.x / across * 8 + threadIdx.y) * 2;
    if (y >= job.picture.height) return;
    const std::uint32_t inside = x < last ? x : last;
    const auto chroma_row = [&](std::uint32_t next) {
        const auto row = static_cast<std::int32_t>(y / 2 * job.rows_of_chroma + next) - 1;
        const auto bottom = static_cast<std::int32_t>(job.chroma.height) - 1;
        return static_cast<std::uint32_t>(row < 0 ? 0 : row < bottom ? row : bottom);
    };
    const std::uint32_t luma[2] = {stored<in, std::uint32_t>(job.luma, inside * 4, y),
                                   stored<in, std::uint32_t>(job.luma, inside * 4, y + 1)};
    const ChromaSamples<in> chroma[3] = {{job.chroma, inside, last, chroma_row(0), job.spread},
                                         {job.chroma, inside, last, chroma_row(1), job.spread},
                                         {job.chroma, inside, last, chroma_row(2), job.spread}};
    if (x > last) return;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
        const std::uint32_t upper = row == 0 ? job.down.before : 4 - job.down.after;
        std::uint32_t blended[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) blended[i] = chroma[row].of[i] * upper + chroma[row + 1].of[i] * (4 - upper);
        std::uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const std::uint32_t left = i % 2 == 0 ? job.across.before : 4 - job.across.after;
            const int first = (i + 1) / 2;
            // Sixteenths of codes, then of 65535ths, of which a code has 257.
            const std::uint32_t sum = blended[first] * left + blended[first + 1] * (4 - left);
            const std::uint32_t whole = sum * 16 + ((sum + 0x00080008u) >> 4 & 0x00ff00ffu);
            const Float4 color = job.to_rgb.color(share_of<255>(luma[row] >> (8 * i) & 0xffu),
                                                  share_of<65535>(whole & 0xffffu), share_of<65535>(whole >> 16));
            const uint4 channels = make_uint4(bits_of(color.x), bits_of(color.y), bits_of(color.z), bits_of(color.w));
            words[i] = encode_pixel_as<Encoding::unorm, 8, Packing::plain>(channels, job.picture.format).word[0];
        }
        std::byte* to = job.picture.address + std::size_t{y + static_cast<unsigned>(row)} * job.picture.pitch;
        *reinterpret_cast<uint4*>(to + std::size_t{x} * 16) = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

// --- from RGB --------------------------------------------------------------------------------------------------------
//
// Both planes at once.

struct RgbaToBytes {
    PixelTarget picture;
    PixelTarget luma;
    PixelTarget chroma;
    LumaPlane of_luma;
    ChromaPlane of_chroma;
};

/// Four pixels of a row, and the one before them.
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
            of[i] = {share_of<255>(words[i] & 0xffu), share_of<255>(words[i] >> 8 & 0xffu),
                     share_of<255>(words[i] >> 16 & 0xffu), 0};
    }
};

/// A code in the lowest bits.
__device__ inline std::uint32_t rounded(float code) { return bits_of(__fadd_rz(code + 0.5f, 8388608.0f)) & 0xffu; }

template <class Word>
__device__ void store_word(const PixelTarget& plane, std::uint32_t x, std::uint32_t row, Word word) {
    *reinterpret_cast<Word*>(plane.address + row * plane.pitch + std::size_t{x} * sizeof(Word)) = word;
}

/// As ChromaPlane, of rows from `first` on.
template <int columns, int rows, StoredIn in>
__device__ std::uint32_t chroma_pair(const ChromaPlane& plane, const PixelRow<in>* first) {
    std::uint32_t pair = 0;
#pragma unroll
    for (int sample = 0; sample < 2; ++sample) {
        Float4 sum{};
#pragma unroll
        for (int j = 0; j < rows; ++j) {
#pragma unroll
            for (int i = 0; i < columns; ++i)
                sum += first[j].of[2 * sample + i + (columns == 3 ? 0 : 1)] * (plane.x.weight(i) * plane.y.weight(j));
        }
        const std::uint32_t cb = rounded(plane.cb.code(sum));
        const std::uint32_t cr = rounded(plane.cr.code(sum));
        pair |= (plane.swapped ? cr | cb << 8 : cb | cr << 8) << (16 * sample);
    }
    return pair;
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
        std::uint32_t codes = 0;
#pragma unroll
        for (int pixel = 0; pixel < 4; ++pixel)
            codes |= rounded(job.of_luma.luma.code(row[1 + i].of[1 + pixel])) << (8 * pixel);
        store_word(job.luma, x, y + i, codes);
    }
    if constexpr (rows == 1) {
        for (std::uint32_t i = 0; i < 2; ++i)
            store_word(job.chroma, x, y + i, chroma_pair<columns, rows>(job.of_chroma, row + 1 + i));
    } else {
        store_word(job.chroma, x, y / 2, chroma_pair<columns, rows>(job.of_chroma, row + (rows == 3 ? 0 : 1)));
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
