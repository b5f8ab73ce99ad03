#include <texton/cuda_fetch.h>

#include <iostream>

#include <texton/copy.h>
#include <texton/cuda_arrays.h>
#include <texton/cuda_interop.h>
#include <texton/fill.h>
#include <texton/linear.h>

// A kernel of your own. One line fetches from a texture of any kind: here with a level of detail.
__global__ static void fetch_one(cudaTextureObject_t texture, texton::FetchPoint at, uint4* words) {
    constexpr auto kOperation = texton::FetchOperation::lod;
    *words = texton::fetch_words<kOperation, texton::ArrayKind::array_2d>(texture, at, 0);
}

void cuda_fetch_example() {
    const texton::Device device = texton::Device::cuda();
    const texton::Array array(device, {.format = texton::Format::r8_uint, .extent = {16, 16}, .levels = 2});
    texton::fill(array.view({.level = 1}), 42);
    const texton::Texture texture(array, {.normalized_coordinates = true});
    const texton::Linear result(device, sizeof(uint4));
    const texton::Stream stream(device);
    cudaSetDevice(texton::ordinal(device));
    const texton::FetchPoint at{.x = 0.5f, .y = 0.5f, .lod = 1};
    fetch_one<<<1, 1, 0, texton::native(stream)>>>(texton::native(texture), at,
                                                   reinterpret_cast<uint4*>(result.data()));
    stream.synchronize();
    uint4 words{};
    texton::copy(texton::host_view(std::span(&words, 1)), result.view());
    std::cout << words.x << '\n';
}

// Prints:
// 42
