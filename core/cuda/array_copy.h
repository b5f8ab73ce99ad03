#pragma once
// Copies and fills by kernels of Texton's own, through surfaces.
#include "core/cuda/device.h"

namespace texton::detail {

/// Copies between device memory and an array, or two arrays, of the backend's device. False, with nothing done, if that is
/// not what was asked for or no kernel can: then the driver must.
bool copy_by_kernel(const CudaBackend& backend, const CopyRequest& request, cudaStream_t stream);

/// Fills an array. False, with nothing done, if it has no surfaces.
bool fill_array_by_kernel(const CudaBackend& backend, const FillRequest& request, cudaStream_t stream);

/// Fills memory that the device can write to. Address and pitches must be multiples of the pattern.
void fill_memory_by_kernel(const CudaBackend& backend, const FillRequest& request, cudaStream_t stream);

/// Loads the kernels. Doing that waits for the device where they are first used: so not there.
void load_move_kernels();

}  // namespace texton::detail
