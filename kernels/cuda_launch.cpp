#include "arrays/cuda_sampling.h"
#include "core/block.h"
#include "core/cuda_backend.h"
#include "core/cuda_call.h"
#include "kernels/launch_state.h"

namespace texton::detail {

PixelTarget target_on_cuda(const Place& picture) { return cuda_pixel_target(picture); }

void launch_on_cuda(const LaunchState& launch, const void* kernel, void** arguments, unsigned rows) {
    constexpr unsigned kWidth = 32, kThreadRows = 8;  // texton/cuda_pixels.h
    const auto tiles = [](unsigned side, unsigned tile) { return (side + tile - 1) / tile; };
    const PixelTarget& target = launch.target;
    const DeviceScope scope(static_cast<CudaBackend*>(launch.backend)->ordinal());
    call<cudaLaunchKernel>(
        kernel, dim3{tiles(target.width, kWidth) * tiles(target.height, kThreadRows * rows), 1, target.depth},
        dim3{kWidth, kThreadRows, 1}, arguments, std::size_t{0}, native(launch.stream.state()->handle));
}

}  // namespace texton::detail
