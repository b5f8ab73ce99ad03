#pragma once
// Sums of products of floats as codes of 8 bits, on vectors. Each product and each sum is rounded by itself, in the
// order of the plain loops.
#include <cstddef>

namespace texton::detail {

/// Codes of ((0 + rows[0][k] * weights[0]) + rows[1][k] * weights[1]) + ..., as pictures store them: `count` of them,
/// at least kLeastCodeSums.
using SumRowsAsCodes = void (*)(const float* const* rows, const float* weights, std::size_t row_count,
                                std::size_t count, unsigned char* codes);

inline constexpr std::size_t kLeastCodeSums = 64;

/// Null without vectors.
[[nodiscard]] SumRowsAsCodes row_sums_as_codes();

}  // namespace texton::detail
