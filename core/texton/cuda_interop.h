#pragma once
// Conversion between Texton's objects and CUDA's handles. Available only if Texton was built with CUDA.
//
// A returned handle belongs to the object: it is valid while the object lives, and the caller must not destroy it. Each
// function throws Error{wrong_device} if the object belongs to a CPU device.
#include <cuda_runtime_api.h>

#include <texton/graph.h>
#include <texton/pool.h>
#include <texton/stream.h>

namespace texton {

/// Returns the device number of the CUDA runtime.
[[nodiscard]] int ordinal(const Device& device);
/// Returns the CUDA stream. It is null for the default stream, which belongs to the device that is current at its use.
[[nodiscard]] cudaStream_t native(const Stream& stream);
/// Returns the CUDA event.
[[nodiscard]] cudaEvent_t native(const Event& event);
/// Returns the CUDA memory pool.
[[nodiscard]] cudaMemPool_t native(const Pool& pool);
/// Returns the executable CUDA graph.
[[nodiscard]] cudaGraphExec_t native(const Graph& graph);

/// Returns a non-owning Stream for a CUDA stream. Null and cudaStreamLegacy give the default stream of the device.
///
/// The caller must not destroy the CUDA stream before all copies of the result are destroyed and all memory that was
/// allocated on the stream is freed.
///
/// Throws Error{wrong_device} if the stream belongs to another device, and Error{bad_argument} for cudaStreamPerThread,
/// which is a different stream on each thread.
[[nodiscard]] Stream adopt_stream(const Device& device, cudaStream_t stream);

}  // namespace texton
