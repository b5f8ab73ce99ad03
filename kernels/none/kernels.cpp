// Replaces kernels/cuda/ in a build without CUDA, where no CUDA device exists.
#include "kernels/launch/dispatch.h"

namespace texton::detail {

const DeviceKernels& cuda_kernels() {
    struct None final : DeviceKernels {};
    static const None kNone;
    return kNone;
}

}  // namespace texton::detail
