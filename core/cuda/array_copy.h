#pragma once
// Copies and fills that run Texton's own CUDA kernels, mostly through surfaces. All of them enqueue and return without
// waiting.
#include "core/cuda/device.h"

namespace texton::detail {

/// Enqueues a copy between an array and device memory, or between two arrays, of the backend's device. Returns false
/// and enqueues nothing if the request is another one or if the kernels cannot access the memory. The caller must then
/// use the driver's copy.
bool copy_by_kernel(const CudaBackend& backend, const CopyRequest& request, cudaStream_t stream);

/// Enqueues the fill of an array. Returns false and enqueues nothing if the array has no surfaces.
bool fill_array_by_kernel(const CudaBackend& backend, const FillRequest& request, cudaStream_t stream);

/// Enqueues the fill of memory that the device can write. The address and the pitches must be multiples of the
/// pattern's size.
void fill_memory_by_kernel(const CudaBackend& backend, const FillRequest& request, cudaStream_t stream);

/// Loads the kernels. Call it early: CUDA would otherwise load each kernel at its first launch, which may wait for the
/// device.
void load_move_kernels();

}  // namespace texton::detail
