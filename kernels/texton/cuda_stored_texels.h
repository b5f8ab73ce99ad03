#pragma once
// How a thread of a CUDA kernel reads texels as they are stored, for code that nvcc compiles.
#include <cuda_runtime.h>

#include <texton/pixel_target.h>

namespace texton::detail {

/// 2^32 times byte / 255, as divided: the quotient's bits are the byte over and over again. What a float cannot hold of them
/// begins with the byte's first 1, which is half a unit and more.
__device__ inline float share_of_byte(std::uint32_t word, int byte) {
    return __uint2float_ru(__byte_perm(word, 0, 0x1111u * static_cast<unsigned>(byte)));
}
constexpr float kOfShare = 0x1p-32f;

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
