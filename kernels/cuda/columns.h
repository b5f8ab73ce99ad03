#pragma once
// Pixels below each other that a thread of a CUDA kernel computes from top to bottom. For code that nvcc compiles.
#include <cuda_runtime.h>

#include <texton/float4.h>

namespace texton::detail {

/// Sums of the channels of a pixel that are needed.
template <int channels>
struct alignas(4 * channels) ChannelSums {
    float of[channels] = {};

    __device__ static ChannelSums of_texel(const Float4& texel) {
        const float all[] = {texel.x, texel.y, texel.z, texel.w};
        ChannelSums result;
#pragma unroll
        for (int c = 0; c < channels; ++c) result.of[c] = all[c];
        return result;
    }
    /// Adds values times a weight. Values whose weight is 0 do not count.
    __device__ void add(const ChannelSums& values, float weight) {
#pragma unroll
        for (int c = 0; c < channels; ++c) {
            const float sum = ::fmaf(values.of[c], weight, of[c]);
            if (weight != 0) of[c] = sum;
        }
    }
    __device__ Float4 pixel() const {
        float all[4] = {};
#pragma unroll
        for (int c = 0; c < channels; ++c) all[c] = of[c];
        return {all[0], all[1], all[2], all[3]};
    }
};

constexpr int kColumnPixels = 4;  // that are stored at the same time

}  // namespace texton::detail
