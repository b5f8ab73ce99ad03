#pragma once
// Sums of products of floats, stored as 8-bit codes, on vectors. Each product and each sum is rounded, in the order of
// the plain loops, except in FusedSums.
#include <cstddef>
#include <cstdint>

namespace texton::detail {

/// Writes the codes of ((0 + rows[0][k] * weights[0]) + rows[1][k] * weights[1]) + ..., as images store them. `count`
/// is the number of codes, at least kMinCodeSums.
using SumRowsAsCodes = void (*)(const float* const* rows, const float* weights, std::size_t row_count,
                                std::size_t count, unsigned char* codes);

inline constexpr std::size_t kMinCodeSums = 64;

/// Returns null if the CPU has no vectors.
[[nodiscard]] SumRowsAsCodes row_sums_as_codes();

/// Sums of 8-bit codes with fused multiply-adds. They are faster than sums of rounded products, and the resulting code
/// is almost always the same.
struct FusedSums {
    static constexpr std::size_t kBlock = 64;  ///< values

    /// Converts codes to floats.
    void (*widen)(const unsigned char* codes, std::size_t count, float* values);
    /// Writes sums[k] = rows[0][k] * weights[0] + rows[1][k] * weights[1] + ... for whole blocks.
    void (*down)(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count, float* sums);
    /// Writes the integers nearest to sums[k] * weights[0] + sums[k + 4] * weights[1] + ..., where `sums` are in
    /// 65536ths. The results must be from 0 to 255. `count` must be at least kBlock; the last block consists of the
    /// last kBlock values. If a result is within `doubt` 65536ths of a half, its bit in the block's element of
    /// `doubtful` is set.
    void (*across)(const float* sums, const float* weights, std::size_t taps, std::size_t count, std::uint16_t doubt,
                   unsigned char* codes, std::uint64_t* doubtful);
};

/// Returns null if the CPU has no vectors.
[[nodiscard]] const FusedSums* fused_sums();

}  // namespace texton::detail
