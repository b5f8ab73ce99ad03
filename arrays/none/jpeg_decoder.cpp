#include "arrays/jpeg_decoder.h"

#include <texton/error.h>

namespace texton::detail {

std::unique_ptr<JpegDecoder> make_cuda_jpeg_decoder(const Device& /*device*/, const char* object) {
    throw Error({.code = ErrorCode::unsupported,
                 .object = object,
                 .problem = "JPEG files cannot be decoded by a GPU, because Texton was built without CUDA",
                 .remedy = "Build Texton with TEXTON_CUDA=ON, or let the CPU decode JPEG files (--jpeg full)."});
}

}  // namespace texton::detail
