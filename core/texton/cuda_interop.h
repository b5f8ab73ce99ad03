#pragma once
// CUDA's own handles of Texton's objects, and Texton's objects of CUDA's handles. Only where Texton was built with
// CUDA.
#include <cuda_runtime_api.h>

#include <texton/graph.h>
#include <texton/pool.h>
#include <texton/stream.h>

namespace texton {

// The handle stays the object's: it lives as long as the object, and is destroyed by it alone. Each throws
// Error{wrong_device} for an object of a CPU device.

/// The number by which the CUDA runtime knows the device.
[[nodiscard]] int ordinal(const Device& device);
/// Null for the default stream, whose device must be current when it is used.
[[nodiscard]] cudaStream_t native(const Stream& stream);
[[nodiscard]] cudaEvent_t native(const Event& event);
[[nodiscard]] cudaMemPool_t native(const Pool& pool);
[[nodiscard]] cudaGraphExec_t native(const Graph& graph);

/// A stream that somebody else made and destroys, after the last copy of what is returned and the last memory that is
/// freed on it are gone. It must be of that device: Error{wrong_device}. Null and cudaStreamLegacy are the default
/// stream; cudaStreamPerThread, which is another stream on each thread, is Error{bad_argument}.
[[nodiscard]] Stream adopt_stream(const Device& device, cudaStream_t stream);

}  // namespace texton
