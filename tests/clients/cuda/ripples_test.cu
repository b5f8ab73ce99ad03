// Compares the ripples of the processor and of the GPU with one approved image. On the GPU they are checked where they
// are: in memory of the program with padded rows, in an array, and in a level of an array.
#include "ripples.h"

#include <iostream>
#include <string>

#include <texton/array.h>
#include <texton/check_image.h>
#include <texton/copy.h>
#include <texton/error.h>
#if defined(__CUDACC__)
#include <texton/cuda_arrays.h>
#endif

namespace {

constexpr texton::Format kFormat = texton::Format::rgba8_unorm;
constexpr texton::Extent kExtent{kWidth, kHeight};

/// Prints the result of a check, and returns true if it passed.
bool report(const std::string& what, const texton::ImageCheck& check) {
    std::cout << what << ": " << (check.passed ? "passed" : check.message) << '\n';
    return check.passed;
}

bool host_passes() {
    std::vector<Pixel> pixels = ripples_on_the_host();
    return report("processor", check_image(texton::host_view(pixels.data(), kFormat, kExtent), "ripples"));
}

/// A pixel differs, in a rectangle that is not compared.
bool mask_passes() {
    std::vector<Pixel> pixels = ripples_on_the_host();
    pixels[3 * kWidth + 5].green ^= 16;
    const texton::ConstView view = texton::host_view(pixels.data(), kFormat, kExtent);
    return report("other pixels", check_image(view, "ripples", {.mask = {{5, 3, 1, 1}}}));
}

#if defined(__CUDACC__)
bool gpu_passes() {
    const texton::Device device = texton::Device::cuda();
    void* rows = nullptr;
    std::size_t pitch = 0;
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
    cudaError_t failed = cudaMallocPitch(&rows, &pitch, kWidth * sizeof(Pixel), kHeight);
    if (failed == cudaSuccess) failed = ripples_on_the_gpu(static_cast<unsigned char*>(rows), pitch);
    if (failed == cudaSuccess) failed = cudaMallocArray(&array, &channels, kWidth, kHeight);
    if (failed == cudaSuccess)
        failed =
            cudaMemcpy2DToArray(array, 0, 0, rows, pitch, kWidth * sizeof(Pixel), kHeight, cudaMemcpyDeviceToDevice);
    bool passed = failed == cudaSuccess;
    if (!passed) std::cout << "CUDA: " << cudaGetErrorString(failed) << '\n';
    if (passed) {
        const texton::View memory = texton::borrowed_view(device, rows, kFormat, kExtent, pitch);
        const texton::Array levels(device, {.format = kFormat, .extent = kExtent, .levels = 2});
        copy(levels.view(), memory);
        passed = report("memory of the GPU", check_image(memory, "ripples"));
        passed &= report("array of the GPU", check_image(adopt_array(device, array, kFormat), "ripples"));
        passed &= report("level of an array", check_image(levels.view({.level = 0}), "ripples"));
    }
    cudaFreeArray(array);
    cudaFree(rows);
    return passed;
}
#else
bool gpu_passes() { return true; }
#endif

}  // namespace

int main() {
    try {
        bool passed = host_passes();
        passed &= mask_passes();
        if (has_gpu()) {
            passed &= gpu_passes();
        } else {
            std::cout << "no GPU: only the part of the processor was tested\n";
        }
        return passed ? 0 : 1;
    } catch (const texton::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
