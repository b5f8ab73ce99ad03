#pragma once
// The image that the program draws, by a CUDA kernel or by the processor. Both use integers only, so they draw the same.
#include <cstddef>
#include <vector>

#if defined(__CUDACC__)
#define RIPPLES_HD __host__ __device__
#else
#define RIPPLES_HD
#endif

constexpr unsigned kWidth = 80, kHeight = 60;

/// Four bytes: red, green, blue and alpha.
struct Pixel {
    unsigned char red, green, blue, alpha;
};

/// Returns a pixel of the ripples around two centers.
RIPPLES_HD inline Pixel ripple(unsigned x, unsigned y) {
    const unsigned near = (x - 20) * (x - 20) + (y - 30) * (y - 30);
    const unsigned far = (x - 60) * (x - 60) + (y - 15) * (y - 15);
    return {static_cast<unsigned char>(near / 4), static_cast<unsigned char>(far / 4),
            static_cast<unsigned char>((near ^ far) / 8), 255};
}

/// Returns the rows of the image, computed by the processor.
inline std::vector<Pixel> ripples_on_the_host() {
    std::vector<Pixel> pixels;
    for (unsigned y = 0; y < kHeight; ++y)
        for (unsigned x = 0; x < kWidth; ++x) pixels.push_back(ripple(x, y));
    return pixels;
}

/// Returns true if the program was built by nvcc and there is a GPU.
inline bool has_gpu() {
#if defined(__CUDACC__)
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
#else
    return false;
#endif
}

#if defined(__CUDACC__)
__global__ void draw_ripples(unsigned char* rows, std::size_t pitch) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < kWidth && y < kHeight) reinterpret_cast<Pixel*>(rows + y * pitch)[x] = ripple(x, y);
}

/// Draws the image to memory of the GPU, and waits. The rows are `pitch` bytes apart.
inline cudaError_t ripples_on_the_gpu(unsigned char* rows, std::size_t pitch) {
    draw_ripples<<<dim3((kWidth + 15) / 16, (kHeight + 15) / 16), dim3(16, 16)>>>(rows, pitch);
    const cudaError_t failed = cudaGetLastError();
    return failed != cudaSuccess ? failed : cudaDeviceSynchronize();
}
#endif
