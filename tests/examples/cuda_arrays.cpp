#include <texton/cuda_arrays.h>

#include <array>
#include <iostream>

#include <texton/fill.h>
#include <texton/sample.h>

void cuda_arrays_example() {
    const texton::Device device = texton::Device::cuda();
    cudaArray_t own = nullptr;
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    cudaMallocArray(&own, &channels, 64, 32);
    {
        const texton::Array array = texton::adopt_array(device, own, texton::Format::r8_unorm);
        texton::fill(array.view(), 255);
        const texton::Texture texture(array);
        const texton::Point2 points[] = {{10.5f, 10.5f}};
        std::cout << to_string(array.info().extent) << ": " << texton::sample(texture, points)[0][0] << '\n'
                  << (texton::native(array) == own ? "the same array\n" : "");
        const cudaTextureObject_t handle = texton::native(texture);  // for a kernel of your own
        std::cout << (handle != 0 ? "a texture object\n" : "");
    }
    cudaFreeArray(own);  // after the last copy of the Array and its textures
}

// Prints:
// 64 x 32: 1
// the same array
// a texture object
