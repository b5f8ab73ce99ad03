#pragma once
#include <cstddef>
#include <optional>

#include "kernels/cpu/job.h"
#include "kernels/cpu/separable.h"

namespace texton::detail {

/// Returns the margin for code_sums() of an image, or nothing if sum_codes() does not apply or is not faster: it is for
/// 8-bit normalized formats, and for images that are not larger than the texture.
[[nodiscard]] std::optional<float> margin_of_codes(const CpuJob& job, const SeparableSums& sums);

/// Computes rows of a tile with code_sums(). Returns their number. It is smaller than `height` if so many pixels must
/// be computed twice that the other rows take less time by the definition.
[[nodiscard]] std::size_t sum_codes(const CpuJob& job, const SeparableSums& sums, float margin, PixelPosition corner,
                                    std::size_t width, std::size_t height);

}  // namespace texton::detail
