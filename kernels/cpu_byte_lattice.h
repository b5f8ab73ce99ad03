#pragma once
#include "kernels/cpu_job.h"
#include "kernels/cpu_ways.h"

namespace texton::detail {

/// Ways of fetch_lattice_on_cpu(), on the threads that run a job; places are in the sampler's coordinates. False, and nothing
/// is done, where they do not apply.

/// Pixels of 8-bit fractions through the filter.
[[nodiscard]] bool fetch_byte_lattice(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y);
/// Pixels that are texels as they are stored.
[[nodiscard]] bool copy_texels_on_cpu(const CpuJob& job, const LatticeAxis& x, const LatticeAxis& y);

}  // namespace texton::detail
