#include "core/backend.h"

namespace texton::detail {

CudaDevices make_cuda_devices() { return {{}, "Texton was built without CUDA"}; }

}  // namespace texton::detail
