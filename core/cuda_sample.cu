#include "core/cuda_sample.h"

namespace texton::detail {
namespace {

__device__ float4 to_floats(float4 texel) { return texel; }
template <class Integers>
__device__ float4 to_floats(Integers texel) {
    return make_float4(static_cast<float>(texel.x), static_cast<float>(texel.y), static_cast<float>(texel.z),
                       static_cast<float>(texel.w));
}

template <class Texel>
__global__ void sample_points(cudaTextureObject_t texture, const float2* coordinates, float4* results,
                              unsigned long long count, int channels) {
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const float2 at = coordinates[i];
        float4 texel = to_floats(tex2D<Texel>(texture, at.x, at.y));
        if (channels < 2) texel.y = 0;
        if (channels < 3) texel.z = 0;
        if (channels < 4) texel.w = 1;
        results[i] = texel;
    }
}

}  // namespace

const void* sample_kernel(Reading reading) noexcept {
    switch (reading) {
        case Reading::floating: return reinterpret_cast<const void*>(&sample_points<float4>);
        case Reading::unsigned_integer: return reinterpret_cast<const void*>(&sample_points<uint4>);
        case Reading::signed_integer: return reinterpret_cast<const void*>(&sample_points<int4>);
    }
    return nullptr;
}

}  // namespace texton::detail
