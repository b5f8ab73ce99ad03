// Functions with a C interface that tests/core/exchange/numpy_exchange.py calls: Python loads them as a shared library.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <dlpack/dlpack.h>

#include <texton/copy.h>
#include <texton/dlpack.h>
#include <texton/pitched.h>

using namespace texton;

/// Returns a tensor of an image of 5 x 3 texels with two channels of 16 bits, which count from 0. Null after an error.
extern "C" DLManagedTensor* exchange_export() {
    try {
        const Pitched2D image(Device::cpu(), Format::rg16_uint, {5, 3});
        std::vector<std::uint16_t> numbers(30);
        std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
        copy(image.view(), host_view(static_cast<const void*>(numbers.data()), Format::rg16_uint, {5, 3}));
        return to_dlpack(image.view());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return nullptr;
    }
}

/// Takes a tensor of 32-bit floats with the axes [height][width][4], adds 1 to each number, and returns the sum of the
/// numbers before. -1 after an error; the caller then still owns the tensor.
extern "C" double exchange_import(DLManagedTensor* tensor) {
    try {
        const View view = from_dlpack(tensor, Format::rgba32_float);
        std::vector<float> numbers(view.extent().width * view.extent().height * 4);
        const View packed = host_view(static_cast<void*>(numbers.data()), Format::rgba32_float, view.extent());
        copy(packed, view);
        const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
        for (float& number : numbers) number += 1;
        copy(view, packed);
        return sum;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return -1;
    }
}

/// Returns the bytes of the CPU device that are free.
extern "C" std::uint64_t exchange_free_bytes() { return Device::cpu().memory().free; }
