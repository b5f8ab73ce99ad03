#include "arrays/jpeg_decoder.h"

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {

std::unique_ptr<JpegDecoder> make_jpeg_decoder(const Device& device, const char* object) {
    if (device.kind() == DeviceKind::cuda) return make_cuda_jpeg_decoder(device, object);
    throw Error(
        {.code = ErrorCode::unsupported,
         .object = object,
         .problem = fmt::format("JPEG files cannot be decoded by a GPU, because the device is {}", device.name()),
         .remedy = "Use a CUDA device, or let the CPU decode JPEG files (--jpeg full)."});
}

}  // namespace texton::detail
