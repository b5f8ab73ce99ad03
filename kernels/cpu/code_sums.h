#pragma once
// Sums of products of floats as codes of 8 bits, on vectors. Each product and each sum is rounded by itself, in the
// order of the plain loops.
#include <cstddef>
#include <cstdint>

namespace texton::detail {

/// Codes of ((0 + rows[0][k] * weights[0]) + rows[1][k] * weights[1]) + ..., as pictures store them: `count` of them,
/// at least kLeastCodeSums.
using SumRowsAsCodes = void (*)(const float* const* rows, const float* weights, std::size_t row_count,
                                std::size_t count, unsigned char* codes);

inline constexpr std::size_t kLeastCodeSums = 64;

/// Null without vectors.
[[nodiscard]] SumRowsAsCodes row_sums_as_codes();

/// Sums of codes of 8 bits, by products that are fused with them: quicker than those that are rounded one by one, and
/// hardly ever further from them than the next whole number.
struct FusedSums {
    static constexpr std::size_t kBlock = 64;  ///< values

    /// Codes as floats.
    void (*widen)(const unsigned char* codes, std::size_t count, float* values);
    /// sums[k] = rows[0][k] * weights[0] + rows[1][k] * weights[1] + ..., of whole blocks.
    void (*down)(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count, float* sums);
    /// The whole numbers next to sums[k] * weights[0] + sums[k + 4] * weights[1] + ..., of sums in 65536ths, which are from
    /// 0 to 255. At least a block of them; the last one is of the last 64. A bit of each that is as near to a half as
    /// `doubt` 65536ths is set in the number of its block.
    void (*across)(const float* sums, const float* weights, std::size_t taps, std::size_t count, std::uint16_t doubt,
                   unsigned char* codes, std::uint64_t* doubtful);
};

/// Null without vectors.
[[nodiscard]] const FusedSums* fused_sums();

}  // namespace texton::detail
