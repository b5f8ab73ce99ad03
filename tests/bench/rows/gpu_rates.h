#pragma once
// Rates of a GPU's units, measured, for the bounds of kernels. For code that nvcc compiles.
#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace texton::bench {

/// What the definition of a kernel needs for a value of the image, and for a pixel.
struct Work {
    double sums = 0;         ///< fused multiplications and additions of a value: one for each tap and axis
    double comparisons = 0;  ///< minima and maxima of a value: two for each exchange of a network
    double fetches = 0;      ///< of a pixel, at coordinates that are no texel's center
};

/// Operations of the whole GPU in a second.
struct GpuRates {
    double sums;
    double float_comparisons;
    double code_comparisons;  ///< two codes of up to 16 bits with one instruction count twice
};

namespace rates {

constexpr int kChains = 16;  // independent operations of a thread
constexpr int kLoops = 256;
constexpr int kThreads = 256;
constexpr int kBlocks = 8;    // of a multiprocessor
constexpr int kFetches = 64;  // of a thread
constexpr int kTexels = 128;  // side of the texture, which stays in the first cache

struct Sum {
    __device__ static unsigned apply(unsigned a, unsigned b) {
        return __float_as_uint(__fmaf_rn(__uint_as_float(a), __uint_as_float(b), 1.5f));
    }
};
struct FloatMinimum {
    __device__ static unsigned apply(unsigned a, unsigned b) {
        return __float_as_uint(fminf(__uint_as_float(a), __uint_as_float(b)));
    }
};
struct CodeMinima {
    __device__ static unsigned apply(unsigned a, unsigned b) { return __vminu2(a, b); }
};

template <class Operation>
__global__ void operate(unsigned* results) {
    unsigned values[kChains];
    for (int i = 0; i < kChains; ++i) values[i] = threadIdx.x * 7919u + static_cast<unsigned>(i) * 104729u;
#pragma unroll 4
    for (int loop = 0; loop < kLoops; ++loop) {
#pragma unroll
        for (int i = 0; i < kChains; ++i) values[i] = Operation::apply(values[i], values[(i + 1) % kChains]);
    }
    unsigned together = 0;
    for (const unsigned value : values) together ^= value;
    results[blockIdx.x * blockDim.x + threadIdx.x] = together;
}

__global__ inline void fetch(cudaTextureObject_t texture, float* results) {
    const float x = static_cast<float>(threadIdx.x % 32) + 0.75f, y = static_cast<float>(threadIdx.x / 32) + 0.75f;
    float sum = 0;
#pragma unroll 8
    for (int i = 0; i < kFetches; ++i) {
        const auto texel = tex2D<float4>(texture, x + static_cast<float>(i % 8) * 8, y + static_cast<float>(i / 8) * 8);
        sum += texel.x + texel.y + texel.z + texel.w;
    }
    results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

}  // namespace rates

/// Measures with `seconds`, which returns the time of a launch. `memory` has space for rates::kThreads floats of each
/// block.
class RateMeter {
public:
    using Seconds = std::function<double(const std::function<void()>& launch)>;

    RateMeter(int multiprocessors, cudaStream_t stream, void* memory, Seconds seconds)
        : blocks_(multiprocessors * rates::kBlocks), stream_(stream), memory_(memory), seconds_(std::move(seconds)) {}

    [[nodiscard]] GpuRates rates() const {
        return {rate<rates::Sum>(), rate<rates::FloatMinimum>(), 2 * rate<rates::CodeMinima>()};
    }
    /// Returns the rate of fetches of a 2D texture with rates::kTexels texels along each side.
    [[nodiscard]] double fetches(cudaTextureObject_t texture) const {
        return threads() * rates::kFetches / seconds_([&] {
                   rates::fetch<<<blocks_, rates::kThreads, 0, stream_>>>(texture, static_cast<float*>(memory_));
               });
    }

private:
    [[nodiscard]] double threads() const { return static_cast<double>(blocks_) * rates::kThreads; }
    template <class Operation>
    [[nodiscard]] double rate() const {
        return threads() * rates::kChains * rates::kLoops / seconds_([&] {
                   rates::operate<Operation><<<blocks_, rates::kThreads, 0, stream_>>>(static_cast<unsigned*>(memory_));
               });
    }

    int blocks_;
    cudaStream_t stream_;
    void* memory_;
    Seconds seconds_;
};

}  // namespace texton::bench
