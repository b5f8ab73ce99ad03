#pragma once
// Weighted sums of texels along lines, on vectors. A line has one channel, or all channels of one texel after another.
//
// Sums start at 0. Each texel is added with a fused multiply-add, in the order of the texels. Texels whose weight is 0
// do not count, even if they are infinite or NaN.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/line_vector.h"

namespace texton::detail {

/// Pixels are computed in whole blocks, whatever vectors the CPU has. Pixels after the last one have undefined values.
inline constexpr std::size_t kLineBlock = 16;
/// Texels that may be read after the last one of a line.
inline constexpr std::size_t kLineRest = 4 * kLineBlock;

[[nodiscard]] constexpr std::size_t whole_line_blocks(std::size_t pixels) {
    return (pixels + kLineBlock - 1) / kLineBlock * kLineBlock;
}

/// The texels along an axis that each pixel sums, and their weights. Pixels are in groups of kLineBlock, so that the
/// weights of a tap are vectors.
struct SumAxis {
    struct Taps {
        std::int32_t first;
        std::size_t count;
        const float* weights;
        std::size_t apart;  ///< floats from a weight to the next

        float operator[](std::size_t tap) const { return weights[tap * apart]; }
    };

    // The last pixel is repeated until its group is full.
    std::vector<std::int32_t> first;
    std::vector<std::int32_t> count;  ///< number of taps of each pixel
    /// Index of the first weight of each group. Consecutive groups may have the same weights.
    std::vector<std::uint32_t> groups;
    /// The weights of the first taps of the pixels of a group, then of the second ones, and so on. Pixels with fewer taps
    /// than others of their group have zeros there.
    LineVector<float> weights;
    bool slides = false;  ///< all pixels have these weights, and the first texel advances with the pixel

    /// Starts a group of pixels with at most so many taps. Returns its weights, which are 0.
    float* add_group(std::size_t taps) {
        groups.push_back(static_cast<std::uint32_t>(weights.size()));
        weights.resize(weights.size() + taps * kLineBlock);
        return weights.data() + groups.back();
    }
    /// Starts a group with the weights of the one before it.
    void repeat_group() { groups.push_back(groups.back()); }
    /// Returns whether the pixel's group has the weights of the one before it.
    bool repeats(std::size_t pixel) const {
        const std::size_t group = pixel / kLineBlock;
        return group > 0 && groups[group] == groups[group - 1];
    }
    Taps taps(std::size_t pixel) const {
        if (slides) return {first[0] + static_cast<std::int32_t>(pixel), weights.size(), weights.data(), 1};
        const float* const of_pixel = weights.data() + groups[pixel / kLineBlock] + pixel % kLineBlock;
        return {first[pixel], static_cast<std::size_t>(count[pixel]), of_pixel, kLineBlock};
    }
};

/// Values that texels can have. `codes` are finite and not negative, so with the weight 0 they add 0 to a sum.
enum class LineValues : std::uint8_t { any, codes };

/// The texels that the pixels of a line sum, prepared for vectors.
struct LineTaps {
    /// How the texels of a block are loaded.
    enum class Kind : std::uint8_t {
        one,   ///< the texels of each tap are within a vector of texels
        two,   ///< the texels of each tap are within two adjacent vectors
        four,  ///< the texels of each tap are within four adjacent vectors
        apart  ///< pixel by pixel, four floats at a time
    };
    struct Block {
        Kind kind;
        bool all_count;         ///< no weight is 0, or texels with the weight 0 add 0
        std::uint8_t shared;    ///< 1 to 4 consecutive taps whose texels are within the vectors of the first one
        std::uint32_t taps;     ///< maximum of the pixels
        std::int32_t first;     ///< first texel
        std::uint32_t loaded;   ///< number of texels that are loaded from the first one on
        std::uint32_t offsets;  ///< index of the first value's offset
        const float* weights;   ///< of the first tap, in the axis or in `weights`
    };

    std::int32_t first_texel = 0;       ///< the line starts with this texel
    std::size_t texels = 0;             ///< length of the line
    std::size_t step = 1;               ///< number of channels of a line
    std::size_t values = 0;             ///< channels of all pixels: a multiple of kLineBlock
    std::vector<Block> blocks;          ///< one for each vector of values
    std::vector<std::int32_t> offsets;  ///< of each value: its float of the first tap, counted from those of its block
    LineVector<float> weights;          ///< of the values of a tap, if lines have several channels
    std::size_t weights_apart = 0;      ///< floats from the weights of a tap to those of the next
};

/// Consecutive blocks of a line, and the texels that they load, counted from the first one of the line.
struct LinePart {
    std::span<const LineTaps::Block> blocks;
    std::int32_t begin;
    std::size_t texels;
};

/// Divides blocks into parts that load at most so many texels, or else consist of a single block. `taps` must outlive
/// the result.
[[nodiscard]] std::vector<LinePart> parts_of_line(const LineTaps& taps, std::span<const LineTaps::Block> blocks,
                                                  std::size_t texels);

/// The weights of rows in the sums of two rows of pixels, none of them 0. The upper sum starts with the first row, and
/// the lower one after `skipped` rows, with a row of the upper one.
struct RowPair {
    std::span<const float> upper;
    std::span<const float> lower;
    std::size_t skipped;
};

/// What sums of rows are stored as. Each NaN of `pixels` is the canonical one of images.
enum class RowSumsAs : std::uint8_t { sums, pixels };

struct LineSums {
    /// Prepares the pixels [begin, begin + count) of an axis that does not slide, for lines of `step` channels. The axis
    /// must outlive the result. `begin` must be a multiple of kLineBlock, and also the end, unless it is that of the axis.
    LineTaps (*prepare)(const SumAxis& axis, std::size_t begin, std::size_t count, std::size_t step, LineValues values);
    /// Writes the sums of consecutive blocks of lines, which start so many floats apart. Weights and offsets of texels
    /// are loaded once for four lines. The texels that the blocks load must be readable: at most kLineRest after the
    /// last one of a line.
    void (*along)(const LineTaps& taps, std::span<const LineTaps::Block> blocks, std::size_t lines, const float* texels,
                  std::size_t texels_apart, float* sums, std::size_t sums_apart);
    /// Writes sums[k] = values[k] * weights[0] + values[k + step] * weights[1] + ... The count must be a multiple of
    /// kLineBlock. `step` is the number of channels of a line.
    void (*slide)(std::span<const float> weights, std::size_t step, const float* values, std::size_t count,
                  float* sums);
    /// Writes sums[k] = rows[0][first + k] * weights[0] + rows[1][first + k] * weights[1] + ... The count must be a
    /// multiple of kLineBlock, and no weight may be 0. `sums` need not be aligned.
    void (*down)(const float* const* rows, const float* weights, std::size_t row_count, std::size_t first,
                 std::size_t count, float* sums, RowSumsAs as);
    /// Writes the sums of two rows of pixels, as two calls of down() do.
    void (*down_two)(const float* const* rows, const RowPair& pair, std::size_t first, std::size_t count, float* upper,
                     float* lower, RowSumsAs as);
    /// Adds row[k] * weight to sums[k].
    void (*add)(const float* row, float weight, std::size_t count, float* sums);
    /// Divides values by a number.
    void (*divide)(float* values, std::size_t count, float by);

    std::size_t lanes;  ///< of a vector
    std::size_t reach;  ///< texels in which an instruction looks up those of a vector
};

/// Returns the functions for the best instruction set of this CPU, or null if it has no vectors with fused
/// multiply-adds.
[[nodiscard]] const LineSums* line_sums();

}  // namespace texton::detail
