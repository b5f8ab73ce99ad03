#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace texton::verify {

/// Chooses combinations such that every pair of values of two axes occurs in at least one of them, which needs far
/// fewer than all combinations if there are three axes or more. `sizes` are the numbers of values of the axes, each at
/// least 1.
///
/// Returns for each combination whether it is chosen. The last axis changes fastest. The choice is always the same.
[[nodiscard]] std::vector<bool> covering_combinations(std::span<const std::size_t> sizes);

}  // namespace texton::verify
