// Draws ripples on the GPU, or without one on the processor, and writes them as a PPM file: ripples OUT.ppm
#include "ripples.h"

#include <fstream>
#include <iostream>

namespace {

/// Returns the rows of the image; empty, after a message, if a call of CUDA fails.
std::vector<Pixel> drawn() {
    if (!has_gpu()) return ripples_on_the_host();
    std::vector<Pixel> pixels;
#if defined(__CUDACC__)
    pixels.resize(kWidth * kHeight);
    unsigned char* rows = nullptr;
    const std::size_t bytes = kWidth * sizeof(Pixel);
    cudaError_t failed = cudaMalloc(reinterpret_cast<void**>(&rows), bytes * kHeight);
    if (failed == cudaSuccess) failed = ripples_on_the_gpu(rows, bytes);
    if (failed == cudaSuccess) failed = cudaMemcpy(pixels.data(), rows, bytes * kHeight, cudaMemcpyDeviceToHost);
    cudaFree(rows);
    if (failed != cudaSuccess) {
        std::cerr << "ripples: " << cudaGetErrorString(failed) << '\n';
        pixels.clear();
    }
#endif
    return pixels;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: ripples OUT.ppm\n";
        return 2;
    }
    const std::vector<Pixel> pixels = drawn();
    std::ofstream file(argv[1], std::ios::binary);
    file << "P6 " << kWidth << ' ' << kHeight << " 255\n";
    for (const Pixel& pixel : pixels)
        for (const unsigned char code : {pixel.red, pixel.green, pixel.blue}) file.put(static_cast<char>(code));
    file.close();
    if (!file) std::cerr << "ripples: " << argv[1] << " could not be written\n";
    return file && !pixels.empty() ? 0 : 1;
}
