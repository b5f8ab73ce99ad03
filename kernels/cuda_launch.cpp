#include "arrays/cuda_sampling.h"
#include "core/block.h"
#include "core/cuda_backend.h"
#include "core/cuda_call.h"
#include "kernels/launch_state.h"

namespace texton::detail {

PixelTarget target_on_cuda(const Place& picture) { return cuda_pixel_target(picture); }

void launch_on_cuda(const LaunchState& launch, const void* kernel, void** arguments, const LaunchGrid& grid) {
    const DeviceScope scope(static_cast<CudaBackend*>(launch.backend)->ordinal());
    call<cudaLaunchKernel>(kernel, dim3{grid.tiles, grid.jobs, grid.slices}, dim3{kTileSide, kTileThreadRows, 1},
                           arguments, std::size_t{0}, native(launch.stream.state()->handle));
}

}  // namespace texton::detail
