#include "core/backend.h"

namespace texton::detail {

CudaDevices make_cuda_devices(const std::vector<int>&) { return {{}, "Texton was built without CUDA"}; }

}  // namespace texton::detail
