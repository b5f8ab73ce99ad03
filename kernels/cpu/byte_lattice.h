#pragma once
#include "kernels/cpu/byte_order.h"
#include "kernels/cpu/job.h"
#include "kernels/launch/dispatch.h"

namespace texton::detail {

// Parts of CpuKernels::fetch_lattice(), called on the threads that run a job. The coordinates are those of the sampler.
// Each function returns false and does nothing if it does not apply.

/// Resamples an 8-bit normalized format with the linear filter.
[[nodiscard]] bool fetch_byte_lattice(const CpuJob& job, const Lattice& lattice);
/// Copies texels as they are stored, or as the linear filter returns them, if each pixel reads a single one.
/// `positive_zeros`: zeros of floats become positive.
[[nodiscard]] bool copy_texels_on_cpu(const CpuJob& job, const Lattice& lattice, bool positive_zeros = false);

}  // namespace texton::detail
