// A Python module of Texton's Gaussian filter, for tensors of NumPy, PyTorch, CuPy and every other library with DLPack.
// gaussian.py loads it with ctypes.
#include <string>

#include <dlpack/dlpack.h>

#include <texton/copy.h>
#include <texton/dlpack.h>
#include <texton/error.h>
#include <texton/filter.h>
#include <texton/pitched.h>

static std::string failure;

/// Returns why the last call of gaussian() returned null.
extern "C" const char* gaussian_failure() { return failure.c_str(); }

/// Takes a tensor with the axes [height][width] or [height][width][channels], and returns a filtered one of the same
/// device, which the caller owns. Null after an error.
extern "C" DLManagedTensor* gaussian(DLManagedTensor* tensor, float sigma) {
    texton::View image;
    try {
        image = texton::from_dlpack(tensor);  // owns the tensor from now on
    } catch (const texton::Error& error) {
        if (tensor->deleter != nullptr) tensor->deleter(tensor);
        failure = error.what();
        return nullptr;
    }
    try {
        const texton::Device device = image.device().value_or(texton::Device::cpu());
        const texton::Stream stream = texton::Stream::default_of(device);  // the one for which gaussian.py asks
        const texton::Array array(device, {.format = image.format(), .extent = image.extent()});
        texton::copy(array.view(), image, stream);
        const texton::Pitched2D result(device, image.format(), image.extent());
        texton::gaussian(stream, result.view(), texton::Texture(array), {.sigma = sigma});
        stream.synchronize();  // so that any stream of the other library can use the result
        return texton::to_dlpack(result.view());
    } catch (const texton::Error& error) {
        failure = error.what();
        return nullptr;
    }
}
