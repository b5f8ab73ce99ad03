// In place of kernels/cuda/ where CUDA was not built: there is no such device.
#include "kernels/launch/dispatch.h"

namespace texton::detail {

const DeviceKernels& cuda_kernels() {
    struct None final : DeviceKernels {};
    static const None kNone;
    return kNone;
}

}  // namespace texton::detail
