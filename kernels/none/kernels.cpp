// Replaces kernels/cuda/ in a build without CUDA, where no CUDA device exists.
#include "kernels/launch/row_kernels.h"

namespace texton::detail {

const DeviceKernels& cuda_kernels() {
    struct None final : DeviceKernels {};
    static const None kNone;
    return kNone;
}

const DeviceKernels& cuda_row_kernels() { return cuda_kernels(); }

}  // namespace texton::detail
