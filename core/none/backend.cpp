#include "core/backend.h"
#include "core/gpu_driver.h"

namespace texton::detail {

CudaDevices make_cuda_devices(const std::vector<int>&) { return {{}, "Texton was built without CUDA"}; }

bool may_have_cuda_device() noexcept { return false; }

}  // namespace texton::detail
