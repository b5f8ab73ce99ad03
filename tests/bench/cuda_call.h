#pragma once
// Calls of the CUDA runtime by the peers of benchmarks.
#include <stdexcept>

#include <cuda_runtime_api.h>

namespace texton::bench {

/// Throws the name of the error unless a call succeeded.
inline void must(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorName(status));
}

/// A stream of the peer's own, so that neither side waits for the other.
class RawStream {
public:
    RawStream() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~RawStream() { cudaStreamDestroy(stream_); }
    RawStream(const RawStream&) = delete;
    RawStream& operator=(const RawStream&) = delete;
    cudaStream_t get() const { return stream_; }
    void synchronize() const { must(cudaStreamSynchronize(stream_)); }

private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace texton::bench
