#pragma once
#include <span>
#include <vector>

#include "arrays/unit/texture_address.h"
#include "kernels/cpu/job.h"
#include "kernels/launch/dispatch.h"

namespace texton::detail {

/// Parts of CpuKernels::fetch_lattice(), on the threads that run a job; places are in the sampler's coordinates. False, and
/// nothing is done, where they do not apply.

/// Pixels of 8-bit fractions through the filter.
[[nodiscard]] bool fetch_byte_lattice(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y);
/// Pixels that are texels as they are stored.
[[nodiscard]] bool copy_texels_on_cpu(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y);

/// True if texels and pixels are 8-bit fractions of as many channels, and this CPU has vectors for them.
[[nodiscard]] bool has_byte_pixels(const CpuJob& job);
/// Pixels between two columns and two rows of texels each, as the filter blends them, where the job has_byte_pixels().
void blend_byte_texels(const CpuJob& job, std::span<const AxisTaps> columns, std::vector<AxisTaps> rows);

/// A part of CpuKernels::sum_boxes().
[[nodiscard]] bool sum_byte_boxes(const CpuJob& job, const BoxAxis& x, const BoxAxis& y, BoxSum kind, float total);

}  // namespace texton::detail
