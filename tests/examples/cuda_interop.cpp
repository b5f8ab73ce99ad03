#include <texton/cuda_interop.h>

#include <iostream>

#include <texton/fill.h>
#include <texton/linear.h>

void cuda_interop_example() {
    const texton::Device device = texton::Device::cuda();
    cudaSetDevice(texton::ordinal(device));
    cudaStream_t own = nullptr;
    cudaStreamCreate(&own);
    {
        const texton::Stream stream = texton::adopt_stream(device, own);
        const texton::Linear memory(device, 1024);
        texton::fill(memory.view(), 42, stream);  // Texton's work on your stream
        unsigned char last = 0;
        cudaMemcpyAsync(&last, memory.data() + 1023, 1, cudaMemcpyDeviceToHost, texton::native(stream));
        cudaStreamSynchronize(own);
        std::cout << int{last} << '\n';
    }
    cudaStreamDestroy(own);  // after the last copy of the Stream
}

// Prints:
// 42
