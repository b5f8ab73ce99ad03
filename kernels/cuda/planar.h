#pragma once
// Conversions between 8-bit planes and 8-bit RGBA images on a CUDA device. Only nvcc can compile this file. Fetches
// would take most of the time, so texels are read as they are stored: each thread reads four adjacent texels in each of
// four rows.
#include <cmath>

#include <texton/cuda_store.h>
#include <texton/cuda_stored_texels.h>

#include "kernels/functors/planar_functors.h"

namespace texton::detail {

// --- to RGB ----------------------------------------------------------------------------------------------------------
//
// Chroma between samples is interpolated as the texture unit does. The weights are multiples of 1/4 along each axis, so
// only the sum is rounded.

/// Location of the rows of chroma: one for each row of luma, between two rows of luma, or on every second row of luma.
enum class ChromaRows { own, between, on_luma };

struct BytesToRgba {
    PixelTarget image;
    PixelTarget luma;
    PixelTarget chroma;
    std::uint32_t cb;  ///< byte of a chroma sample that is Cb
    std::uint32_t cr;
    ToRgb to_rgb;
};

/// Number of rows that a thread computes.
inline constexpr std::uint32_t kPlanarRows = 4;

/// Converts a weighted sum of chroma samples, each sample offset by kMoved, to the value of the interpolated chroma.
///
/// `sum` * `sixteenths` is the sum with weights that add up to 16. It is converted to a 16-bit code, rounded to an
/// integer and divided by 65535. The small addend in kCode rounds halves up and makes no other number a half. The bits
/// of the quotient repeat the bits of the code: two repetitions and a small addend are rounded like the exact quotient.
/// Only the result for the code 0 differs, by 2^-60, which is lost when the chroma's shift is added.
constexpr float kMoved = 32768;
__device__ inline float share_of_chroma(float sum, float sixteenths) {
    constexpr float kCode = 257.0f / 16 + 0x1p-17f;
    const float whole = fmaf(sum, sixteenths * kCode, 0x1p23f - 16 * kMoved * kCode) - 0x1p23f;
    return fmaf(whole, 0x1.0001p-16f, 0x1p-60f);
}

/// Returns an opaque pixel of 8-bit codes as unorm_code_of() computes them. Here the product and the sum are fused and
/// rounded once, which changes the code of no float.
__device__ inline std::uint32_t opaque_pixel(const Float4& color) {
    const auto code = [](float value, float above) {
        return bits_of(__fadd_rd(fmaf(__saturatef(value), 255.0f, 0.5f), 0x1p23f + above));
    };
    return __byte_perm(__byte_perm(code(color.x, 0), code(color.y, 0), 0x0040), code(color.z, 0xff00), 0x5410);
}

/// Codes of chroma, or weighted sums of codes.
struct Chroma {
    float cb;
    float cr;
};
__device__ inline Chroma added(const Chroma& a, const Chroma& b) { return {a.cb + b.cb, a.cr + b.cr}; }
__device__ inline Chroma three_and_one(const Chroma& three, const Chroma& one) {
    return {fmaf(3, three.cb, one.cb), fmaf(3, three.cr, one.cr)};
}

/// Two adjacent samples of a chroma row and the neighbors on both sides that are used. Samples beyond the
/// end of the row repeat its last sample.
template <StoredIn in, bool on_column>
struct ChromaSamples {
    static constexpr int kFirst = on_column ? 1 : 0;  ///< index of the first sample that is used
    Chroma of[4];

    ChromaSamples() = default;
    __device__ ChromaSamples(const BytesToRgba& job, std::uint32_t pair, std::uint32_t row) {
        const PixelTarget& chroma = job.chroma;
        const std::uint32_t both = stored<in, std::uint32_t>(chroma, pair * 4, row);
        of[1] = sample(job, both, 0);
        of[2] = sample(job, both, 2);
        of[3] = sample(job, stored<in, std::uint16_t>(chroma, ::min(pair * 4 + 4, chroma.width * 2 - 2), row), 0);
        if constexpr (!on_column)
            of[0] = sample(job, stored<in, std::uint16_t>(chroma, ::max(pair * 4, 2u) - 2, row), 0);
    }

private:
    /// Returns kMoved + code, by writing the code to bits 8 to 15 of kMoved.
    __device__ static Chroma sample(const BytesToRgba& job, std::uint32_t bytes, std::uint32_t first) {
        const auto code = [&](std::uint32_t byte) {
            return float_of(__byte_perm(bytes, bits_of(kMoved), 0x7404u + (byte + first) * 16));
        };
        return {code(job.cb), code(job.cr)};
    }
};

template <StoredIn in, bool on_column, ChromaRows rows>
__global__ void __launch_bounds__(256) bytes_to_rgba(const __grid_constant__ BytesToRgba job, std::uint32_t first_row) {
    const std::uint32_t pieces = job.image.width / 4;
    const std::uint32_t x = blockIdx.x * 32 + threadIdx.x;
    const std::uint32_t y = ((first_row + blockIdx.y) * 8 + threadIdx.y) * kPlanarRows;
    if (x >= pieces || y >= job.image.height) return;
    std::uint32_t luma[kPlanarRows];
#pragma unroll
    for (std::uint32_t row = 0; row < kPlanarRows; ++row)
        luma[row] = stored<in, std::uint32_t>(job.luma, x * 4, ::min(y + row, job.image.height - 1));
    // If rows of chroma are located between rows of luma, the first row of chroma is above the first row of luma.
    constexpr std::uint32_t kAbove = rows == ChromaRows::between ? 1 : 0;
    constexpr std::uint32_t kChroma = rows == ChromaRows::own ? kPlanarRows : kPlanarRows / 2 + 1 + kAbove;
    ChromaSamples<in, on_column> chroma[kChroma];
#pragma unroll
    for (std::uint32_t i = 0; i < kChroma; ++i) {
        const std::uint32_t from_above = (rows == ChromaRows::own ? y : y / 2) + i;
        chroma[i] = {job, x, ::min(::max(from_above, kAbove) - kAbove, job.chroma.height - 1)};
    }
#pragma unroll
    for (std::uint32_t row = 0; row < kPlanarRows; ++row) {
        if (y + row >= job.image.height) return;
        const std::uint32_t nearest = rows == ChromaRows::own ? row : row / 2 + kAbove;
        ChromaSamples<in, on_column> down = chroma[nearest];
        float parts = 4;  // four divided by the sum of the weights of the rows in `down`
#pragma unroll
        for (int i = chroma[nearest].kFirst; i < 4; ++i) {
            if (rows == ChromaRows::between) {
                parts = 1;
                down.of[i] = three_and_one(down.of[i], chroma[row % 2 == 0 ? nearest - 1 : nearest + 1].of[i]);
            } else if (rows == ChromaRows::on_luma && row % 2 != 0) {
                parts = 2;
                down.of[i] = added(down.of[i], chroma[nearest + 1].of[i]);
            }
        }
        std::uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            Chroma sum = down.of[1 + i / 2];
            float sixteenths = parts * 4;
            if (!on_column) {
                sum = three_and_one(sum, down.of[i % 2 == 0 ? i / 2 : 2 + i / 2]);
                sixteenths = parts;
            } else if (i % 2 != 0) {
                sum = added(sum, down.of[2 + i / 2]);
                sixteenths = parts * 2;
            }
            words[i] = opaque_pixel(job.to_rgb.color(share_of_byte(luma[row], i), share_of_chroma(sum.cb, sixteenths),
                                                     share_of_chroma(sum.cr, sixteenths)));
        }
        std::byte* to = job.image.address + (y + row) * job.image.pitch;
        reinterpret_cast<uint4*>(to)[x] = make_uint4(words[0], words[1], words[2], words[3]);
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
// One CUDA kernel computes both planes.

struct RgbaToBytes {
    PixelTarget image;
    PixelTarget luma;
    PixelTarget chroma;
    Coded luma_of;  ///< these three convert shares (see of_shares())
    Coded low;      ///< first channel of chroma
    Coded high;     ///< second channel of chroma
};

inline Coded of_shares(Coded coded) {
    coded.of_red *= kOfShare;
    coded.of_green *= kOfShare;
    coded.of_blue *= kOfShare;
    return coded;
}

/// Four adjacent pixels in each of several rows, and the pixel to the left of them. To the left of a row's first pixel,
/// the first pixel is repeated.
template <std::uint32_t kRows>
struct PixelPieces {
    uint4 four[kRows];
    std::uint32_t before[kRows];

    /// Returns pixel i of a row in shares; pixel 0 is the pixel to the left.
    __device__ Float4 pixel(std::uint32_t row, int i) const {
        const uint4& words = four[row];
        const std::uint32_t word = i == 0   ? before[row]
                                   : i == 1 ? words.x
                                   : i == 2 ? words.y
                                   : i == 3 ? words.z
                                            : words.w;
        return {share_of_byte(word, 0), share_of_byte(word, 1), share_of_byte(word, 2), 0};
    }
};

/// Reads four pixels of kRows rows from row `first` on. All threads of a warp must call this together, with consecutive
/// pieces: every thread except the first gets the pixel to the left from the previous thread. Rows above and below the
/// image are replaced by the row at the edge.
template <StoredIn in, std::uint32_t kRows, bool with_before>
__device__ PixelPieces<kRows> pixel_pieces(const PixelTarget& image, std::uint32_t piece, std::int32_t first) {
    PixelPieces<kRows> pieces;
    const auto row = [&](std::uint32_t i) {
        return static_cast<std::uint32_t>(
            ::min(::max(first + static_cast<std::int32_t>(i), 0), static_cast<std::int32_t>(image.height) - 1));
    };
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) pieces.four[i] = stored<in, uint4>(image, piece * 16, row(i));
    if constexpr (!with_before) return pieces;
    if (threadIdx.x == 0) {
#pragma unroll
        for (std::uint32_t i = 0; i < kRows; ++i)
            pieces.before[i] = stored<in, std::uint32_t>(image, ::max(piece * 16, 4u) - 4, row(i));
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) {
        const std::uint32_t last = __shfl_up_sync(0xffffffffu, pieces.four[i].w, 1);
        if (threadIdx.x != 0) pieces.before[i] = last;
    }
    return pieces;
}

/// Returns Coded::code() without the clamp. For 8-bit texels it is never below 0, and for luma never above 255. It is
/// never 0.5 - 2^-25, the only number to which code_bits_of() does not add a half exactly: for chroma the last
/// operation adds 128, and for luma all inputs were tested.
__device__ inline float unclamped_code(const Coded& coded, const Float4& color) {
    return coded.of_red * color.x + coded.of_green * color.y + coded.of_blue * color.z + coded.shift;
}

template <class Word>
__device__ void store_word(const PixelTarget& plane, std::uint32_t x, std::uint32_t row, Word word) {
    *reinterpret_cast<Word*>(plane.address + row * plane.pitch + std::size_t{x} * sizeof(Word)) = word;
}

/// `columns` and `rows` are the numbers of columns and rows that a chroma sample averages. `rows` is 1 if chroma has as
/// many rows as luma.
template <StoredIn in, int columns, int rows>
__global__ void __launch_bounds__(256) rgba_to_bytes(const __grid_constant__ RgbaToBytes job, std::uint32_t first_row) {
    const std::uint32_t last = job.image.width / 4 - 1;
    const std::uint32_t x = blockIdx.x * 32 + threadIdx.x;
    const std::uint32_t y = ((first_row + blockIdx.y) * 8 + threadIdx.y) * kPlanarRows;
    if (y >= job.image.height) return;
    constexpr int kAbove = rows == 3 ? 1 : 0;
    const auto pieces = pixel_pieces<in, kPlanarRows + kAbove, columns == 3>(job.image, ::min(x, last),
                                                                             static_cast<std::int32_t>(y) - kAbove);
    if (x > last) return;
    // Same results as LumaPlane and ChromaPlane. Weights are powers of 2, so products are exact and fused sums are
    // equal.
    constexpr ChromaTaps kAcross{2, columns == 3};
    constexpr ChromaTaps kDown{rows == 1 ? 1 : 2, rows == 3};
    constexpr int kSamples = static_cast<int>(kPlanarRows) / kDown.divide;
    Float4 sums[kSamples][2]{};
#pragma unroll
    for (int row = -kAbove; row < static_cast<int>(kPlanarRows); ++row) {
        Float4 pixels[5];
#pragma unroll
        for (int i = columns == 3 ? 0 : 1; i < 5; ++i) pixels[i] = pieces.pixel(row + kAbove, i);
        if (row >= 0 && y + row < job.image.height) {
            const auto code = [&](int pixel) { return code_bits_of(unclamped_code(job.luma_of, pixels[1 + pixel])); };
            store_word(
                job.luma, x, y + row,
                __byte_perm(__byte_perm(code(0), code(1), 0x0051), __byte_perm(code(2), code(3), 0x0051), 0x5410));
        }
#pragma unroll
        for (int sample = 0; sample < kSamples; ++sample) {
            const int tap = row - sample * kDown.divide + kAbove;
            if (tap < 0 || tap >= rows) continue;
#pragma unroll
            for (int beside = 0; beside < 2; ++beside) {
#pragma unroll
                for (int i = 0; i < columns; ++i) {
                    const Float4& texel = pixels[2 * beside + i + (columns == 3 ? 0 : 1)];
                    const float weight = kAcross.weight(i) * kDown.weight(tap);
                    Float4& sum = sums[sample][beside];
                    sum = {fmaf(texel.x, weight, sum.x), fmaf(texel.y, weight, sum.y), fmaf(texel.z, weight, sum.z), 0};
                }
            }
        }
    }
#pragma unroll
    for (int sample = 0; sample < kSamples; ++sample) {
        const std::uint32_t to = y / kDown.divide + sample;
        if (to >= job.chroma.height) return;
        const auto code = [](const Coded& coded, const Float4& sum) {
            return code_bits_of(fminf(unclamped_code(coded, sum), 255.0f));
        };
        const auto both = [&](const Float4& sum) {
            return __byte_perm(code(job.low, sum), code(job.high, sum), 0x0051);
        };
        store_word(job.chroma, x, to, __byte_perm(both(sums[sample][0]), both(sums[sample][1]), 0x5410));
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
