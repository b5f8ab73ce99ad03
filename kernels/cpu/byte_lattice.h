#pragma once
#include <span>
#include <vector>

#include "arrays/unit/texture_address.h"
#include "kernels/cpu/job.h"
#include "kernels/launch/dispatch.h"

namespace texton::detail {

// Parts of CpuKernels::fetch_lattice(), called on the threads that run a job. The axes' positions are in the sampler's
// coordinates. Each function returns false and does nothing if it does not apply.

/// Resamples an 8-bit normalized format with the linear filter.
[[nodiscard]] bool fetch_byte_lattice(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y);
/// Copies texels as they are stored.
[[nodiscard]] bool copy_texels_on_cpu(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y);

/// Returns true if texels and pixels have 8-bit normalized formats with the same number of channels, and this CPU has
/// vectors for them.
[[nodiscard]] bool has_byte_pixels(const CpuJob& job);
/// Computes pixels that are each blended from two columns and two rows of texels, as the linear filter does. Expects
/// has_byte_pixels().
void blend_byte_texels(const CpuJob& job, std::span<const AxisTaps> columns, std::vector<AxisTaps> rows);

/// Part of CpuKernels::sum_boxes(). Returns false and does nothing if it does not apply.
[[nodiscard]] bool sum_byte_boxes(const CpuJob& job, const BoxAxis& x, const BoxAxis& y, BoxSum kind, float total);

}  // namespace texton::detail
