#pragma once
// The texture unit's linear filter of 8-bit texels on whole numbers, for rows of pixels that all read the same columns.
//
// A texel is a word of four bytes. Pixels are counted in whole blocks of 16, whatever vectors the CPU has.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace texton::detail {

inline constexpr std::size_t kByteBlock = 16;

/// How the pixels of a vector find their texels.
struct ByteWindow {
    enum class Kind : std::uint8_t {
        scattered,     ///< one by one
        one,           ///< within as many texels as there are pixels
        two,           ///< within twice as many
        every_second,  ///< pairs that follow each other
        halves         ///< the same, and pixels are halfway between them
    };
    Kind kind = Kind::scattered;
    std::int32_t first = 0;  ///< texel of a window
};

/// Which texels the pixels of a row read. Those behind the last one read as it does.
struct ByteColumns {
    std::vector<std::int32_t> left;      ///< negative: the border
    std::vector<std::int32_t> right;     ///< where it does not count: any
    std::vector<std::uint32_t> shares;   ///< of the right texel in 256ths, in both halves of the word
    std::vector<ByteWindow> windows;     ///< of vectors of the CPU's length
    std::vector<std::uint32_t> offsets;  ///< of the left texels, from the window's first
};

/// A row of the texture.
struct ByteRow {
    const unsigned char* texels;  ///< null: the border
    std::size_t channels;         ///< bytes of a texel: 1, 2 or 4
    std::uint32_t border;
};

/// A part of the columns; both are whole blocks.
struct ByteSpan {
    std::size_t first;
    std::size_t count;
};

/// Two rows of pairs.
struct BytePairs {
    const std::uint32_t* top;
    const std::uint32_t* bottom;
};

/// What the texels of two rows count for each pixel.
struct ByteWeights {
    const std::uint32_t* top;
    const std::uint32_t* bottom;
};

/// What a pixel adds of a fetch.
struct ByteTap {
    BytePairs rows;
    ByteWeights row_weights;
    const float* weights;  ///< of the pixels
};

/// A row of widened texels, and what it counts.
struct ByteBoxRow {
    const float* texels;
    float weight;
};

/// Floats from a channel of widened texels to the next, and from the texels of a tap to those of the next.
struct ByteBoxSteps {
    std::size_t channel;
    std::size_t tap;
};

/// Pixels as they are stored.
struct BytePixels {
    unsigned char* stored;
    std::size_t count;
    std::size_t channels;  ///< bytes of a pixel: 1, 2 or 4
    bool past_caches;      ///< are written to memory, as of pictures that are far larger than caches
};

struct ByteKernels {
    /// Adds the windows, in rows of so many texels of so many bytes.
    void (*find_windows)(ByteColumns& columns, std::int32_t width, std::size_t channels);
    /// Both texels of each pixel, side by side: two words of `pairs` a pixel.
    void (*pair)(const ByteColumns& columns, const ByteSpan& span, const ByteRow& row, std::uint32_t* pairs);
    /// What the texels of two rows count for the pixels, where the lower row's share is so many 256ths: a word a pixel.
    /// Where it is 0, the lower row has to be the upper one: none counts 256, which is more than a byte.
    void (*weigh)(const ByteColumns& columns, const ByteSpan& span, std::uint32_t share, std::uint32_t* top,
                  std::uint32_t* bottom);
    /// The fetches as they are.
    void (*blend)(const BytePairs& rows, const ByteWeights& weights, const BytePixels& pixels);
    /// The same of rows that nothing else reads, neither of them the border. The lower row's share, in 256ths, is what
    /// the weights were made from.
    void (*blend_rows)(const ByteColumns& columns, const ByteSpan& span, const ByteRow (&rows)[2], std::uint32_t share,
                       const ByteWeights& weights, const BytePixels& pixels);
    /// sums = ((0 + fetch 0 * weight 0) + fetch 1 * weight 1) + ..., with the channels apart: four floats a pixel.
    void (*sum)(std::span<const ByteTap> taps, std::size_t count, float* sums);
    /// ((0 + sums 0 * weight 0) + sums 1 * weight 1) + ...
    void (*store_sums)(std::span<const float* const> sums, const float* weights, const BytePixels& pixels);
    /// The left texels, of four bytes and within the row, as they are.
    void (*copy)(const ByteColumns& columns, const ByteSpan& span, const unsigned char* texels,
                 const BytePixels& pixels);
};

/// Weights of pixels whose sum is less are so small that products of them lose bits.
inline constexpr float kLeastByteTotal = 0x1p-40f;

/// Pixels that weigh a rectangle of texels each.
struct ByteBoxKernels {
    /// The left texels as fractions, with the channels so far apart.
    void (*widen)(const ByteColumns& columns, const ByteSpan& span, const ByteRow& row, std::size_t apart,
                  float* texels);
    /// The sum of texel * (weight of the column * weight of the row), row after row, over the sum of these products,
    /// which is at least kLeastByteTotal. `columns` has a row of weights for each tap.
    void (*store_boxes)(std::span<const ByteBoxRow> rows, std::span<const float* const> columns,
                        const ByteBoxSteps& steps, const BytePixels& pixels);
};

/// Those of the best instruction set of this CPU; null if it has no vectors.
[[nodiscard]] const ByteKernels* byte_kernels();
[[nodiscard]] const ByteBoxKernels* byte_box_kernels();

}  // namespace texton::detail
