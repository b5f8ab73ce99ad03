#pragma once
// How a thread of a CUDA kernel reads texels as they are stored, for code that nvcc compiles.
#include <cuda_runtime.h>

#include <texton/pixel_target.h>

namespace texton::detail {

/// whole / largest, as divided: for 255 and 65535.
template <std::uint32_t largest>
__device__ float share_of(std::uint32_t whole) {
    constexpr float kInverse = static_cast<float>(1.0 / largest);
    constexpr float kRest = static_cast<float>(1.0 / largest - kInverse);
    const auto value = static_cast<float>(whole);
    return fmaf(value, kInverse, value * kRest);
}

enum class StoredIn { memory, plane, layers };

__host__ __device__ inline StoredIn stored_in(const PixelTarget& texels) {
    if (texels.address != nullptr) return StoredIn::memory;
    return texels.kind == ArrayKind::array_2d ? StoredIn::plane : StoredIn::layers;
}

/// What lies `byte` bytes from the beginning of a row: a multiple of T's size, of which the row holds all.
template <StoredIn in, class T>
__device__ T stored(const PixelTarget& texels, unsigned byte, unsigned y, unsigned z = 0) {
    if constexpr (in == StoredIn::memory) {
        return *reinterpret_cast<const T*>(texels.address + z * texels.slice_pitch + y * texels.pitch + byte);
    } else {
        const auto surface = static_cast<cudaSurfaceObject_t>(texels.surface);
        const int x = texels.offset[0] * texels.format.stored.bytes + static_cast<int>(byte);
        const int row = texels.offset[1] + static_cast<int>(y);
        if constexpr (in == StoredIn::plane) return surf2Dread<T>(surface, x, row);
        return surf2DLayeredread<T>(surface, x, row, texels.offset[2] + static_cast<int>(z));
    }
}

}  // namespace texton::detail
