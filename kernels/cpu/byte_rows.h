#pragma once
// The texture unit's linear filter of 8-bit texels in integer arithmetic, for rows of pixels that all read the same
// columns.
//
// A texel is a 32-bit word of up to four codes. Pixels are processed in whole blocks of 16, whatever vectors the CPU
// has.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace texton::detail {

inline constexpr std::size_t kByteBlock = 16;

/// How the texels of a vector of pixels are loaded.
struct ByteWindow {
    enum class Kind : std::uint8_t {
        scattered,     ///< texels are loaded one by one
        pairs,         ///< pairs of consecutive texels are loaded one by one
        one,           ///< all texels are within a range of as many texels as there are pixels
        two,           ///< all texels are within a range of twice as many texels
        every_second,  ///< consecutive pairs of texels
        halves         ///< consecutive pairs of texels, and each pixel is the mean of its pair
    };
    Kind kind = Kind::scattered;
    std::int32_t first = 0;  ///< first texel of the window
};

/// The texels that the pixels of a row read. Pixels after the last one, up to a whole block, read the same as the last
/// one.
struct ByteColumns {
    std::vector<std::int32_t> left;      ///< negative: the border
    std::vector<std::int32_t> right;     ///< any texel if its weight is 0
    std::vector<std::uint32_t> shares;   ///< weights of the right texels in 256ths, in both halves of the word
    std::vector<ByteWindow> windows;     ///< one for each vector of the CPU's length
    std::vector<std::uint32_t> offsets;  ///< of the left texels, counted from the first texel of the window
};

/// A row of texels of the texture.
struct ByteRow {
    const unsigned char* texels;  ///< null: the border
    std::size_t channels;         ///< bytes of a texel: 1, 2 or 4
    std::uint32_t border;
};

/// A range of columns; both numbers are multiples of a block.
struct ByteSpan {
    std::size_t first;
    std::size_t count;
};

/// Pairs of texels of two rows. A pixel of four channels has two words. Pixels of one or two channels have 16 bits per
/// channel, as much as two codes.
struct BytePairs {
    const std::uint32_t* top;
    const std::uint32_t* bottom;
};

/// The weights of the texels of two rows for each pixel: a word, or 16 bits if a pixel has one channel.
struct ByteWeights {
    const std::uint32_t* top;
    const std::uint32_t* bottom;
};

/// Pixels as they are stored.
struct BytePixels {
    unsigned char* stored;
    std::size_t count;
    std::size_t channels;  ///< bytes of a pixel: 1, 2 or 4
    bool past_caches;      ///< use streaming stores, for images that are far larger than the caches
};

struct ByteKernels {
    /// Adds the windows. `width` is the number of texels of a row.
    void (*find_windows)(ByteColumns& columns, std::int32_t width);
    /// Stores both texels of each pixel next to each other.
    void (*pair)(const ByteColumns& columns, const ByteSpan& span, const ByteRow& row, std::uint32_t* pairs);
    /// Computes the weights of the texels of two rows for pixels of this number of channels. `share` is the weight of
    /// the lower row in 256ths. If it is 0, the lower row must be the upper row: a weight of 256 does not fit into a
    /// byte and is divided between both.
    void (*weigh)(const ByteColumns& columns, const ByteSpan& span, std::uint32_t share, std::size_t channels,
                  std::uint32_t* top, std::uint32_t* bottom);
    /// Stores the fetches as pixels.
    void (*blend)(const BytePairs& rows, const ByteWeights& weights, const BytePixels& pixels);
    /// Same as blend(), for rows that no other row of pixels reads, without prepared pairs. Pixels must have four
    /// channels. Neither row may be the border. `share` is the share that the weights were computed from.
    void (*blend_rows)(const ByteColumns& columns, const ByteSpan& span, const ByteRow (&rows)[2], std::uint32_t share,
                       const ByteWeights& weights, const BytePixels& pixels);
    /// Copies the left texels unchanged. They must have 1, 2 or 4 bytes and be inside the row.
    void (*copy)(const ByteColumns& columns, const ByteSpan& span, const unsigned char* texels,
                 const BytePixels& pixels);
};

/// Returns the functions for the best instruction set of this CPU, or null if it has no vectors.
[[nodiscard]] const ByteKernels* byte_kernels();

}  // namespace texton::detail
