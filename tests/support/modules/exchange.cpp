// Functions with a C interface that the scripts in tests/core/exchange call: Python loads them as a shared library.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <dlpack/dlpack.h>

#include <texton/copy.h>
#include <texton/dlpack.h>
#include <texton/pitched.h>

using namespace texton;

namespace {

// Calls the function. Prints the text of an exception and returns `failed`.
template <class Result, class Function>
Result reported(Result failed, Function&& function) {
    try {
        return function();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return failed;
    }
}

// Returns an image of 5 x 3 texels, whose channels count from 0.
template <class Number>
Pitched2D counted(const Device& device, Format format) {
    const Pitched2D image(device, format, {5, 3});
    std::vector<Number> numbers(15 * static_cast<std::size_t>(info(format).channels));
    std::iota(numbers.begin(), numbers.end(), Number{0});
    copy(image.view(), host_view(static_cast<const void*>(numbers.data()), format, {5, 3}));
    return image;
}

Device device_of(int cuda) { return cuda != 0 ? Device::cuda() : Device::cpu(); }

// Adds 1 to each number of the view, and returns the sum of the numbers before.
double sum_and_increase(const View& view) {
    std::vector<float> numbers(view.extent().width * view.extent().height * 4);
    const View packed = host_view(static_cast<void*>(numbers.data()), Format::rgba32_float, view.extent());
    copy(packed, view);
    const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
    for (float& number : numbers) number += 1;
    copy(view, packed);
    return sum;
}

}  // namespace

/// Returns a tensor of an image of 5 x 3 texels with two channels of 16 bits, which count from 0. Null after an error.
extern "C" DLManagedTensor* exchange_export() {
    return reported<DLManagedTensor*>(
        nullptr, [] { return to_dlpack(counted<std::uint16_t>(Device::cpu(), Format::rg16_uint).view()); });
}

/// Returns a tensor of an image of 5 x 3 texels with four 32-bit floats, which count from 0. Null after an error.
extern "C" DLManagedTensor* exchange_export_floats(int cuda) {
    return reported<DLManagedTensor*>(
        nullptr, [&] { return to_dlpack(counted<float>(device_of(cuda), Format::rgba32_float).view()); });
}
/// The same as a versioned tensor.
extern "C" DLManagedTensorVersioned* exchange_export_versioned(int cuda, int read_only) {
    return reported<DLManagedTensorVersioned*>(nullptr, [&] {
        const Pitched2D image = counted<float>(device_of(cuda), Format::rgba32_float);
        return read_only != 0 ? to_dlpack_versioned(ConstView(image.view())) : to_dlpack_versioned(image.view());
    });
}

/// Takes a tensor of 32-bit floats with the axes [height][width][4], adds 1 to each number, and returns the sum of the
/// numbers before. -1 after an error; the caller then still owns the tensor.
extern "C" double exchange_import(DLManagedTensor* tensor) {
    return reported(-1.0, [&] { return sum_and_increase(from_dlpack(tensor, Format::rgba32_float)); });
}
/// The same for a versioned tensor, which the function takes in any case.
extern "C" double exchange_import_versioned(DLManagedTensorVersioned* tensor) {
    return reported(-1.0, [&] { return sum_and_increase(from_dlpack_versioned(tensor, Format::rgba32_float)); });
}

/// Returns the bytes of the device that are free.
extern "C" std::uint64_t exchange_free_bytes(int cuda) { return device_of(cuda).memory().free; }
