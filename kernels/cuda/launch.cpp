#include <algorithm>
#include <cstdint>

#include "arrays/cuda/sampling.h"
#include "core/block.h"
#include "core/cuda/call.h"
#include "core/cuda/device.h"
#include "kernels/cuda/stored_texels.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

bool in_pieces_of_16(const PixelTarget& pixels) {
    const TexelFormat& stored = pixels.format.stored;
    if (stored.encoding != Encoding::unorm || stored.packing != Packing::plain || stored.bytes != 4 ||
        stored.channels != 4 || pixels.width % 4 != 0)
        return false;
    return pixels.address == nullptr ||
           (reinterpret_cast<std::uintptr_t>(pixels.address) | pixels.pitch | pixels.slice_pitch) % 16 == 0;
}

}  // namespace

PixelTarget target_on_cuda(const Place& picture) { return cuda_pixel_target(picture); }

void launch_on_cuda(const LaunchState& launch, const void* kernel, void* job, const LaunchGrid& grid) {
    constexpr unsigned kMost = 65535;  // blocks in y
    const DeviceScope scope(static_cast<CudaBackend*>(launch.backend)->ordinal());
    for (unsigned first = 0; first < grid.down; first += kMost) {
        void* arguments[] = {job, &first};
        call<cudaLaunchKernel>(kernel, dim3{grid.across, std::min(grid.down - first, kMost), grid.slices},
                               dim3{kTileSide, kTileThreadRows, 1}, arguments, std::size_t{0},
                               native(launch.stream.state()->handle));
    }
}

bool Launch::own_texels_as_stored(std::span<PixelTarget> texels) const {
    const PixelTarget& picture = state_->target;
    if (picture.address == nullptr || !in_pieces_of_16(picture)) return false;
    for (std::size_t i = 0; i < texels.size(); ++i) {
        const Texture& texture = state_->textures[i];
        if (texture.kind() != ArrayKind::array_2d && texture.kind() != ArrayKind::layered_2d) continue;
        const auto stored = stored_texels(texture);
        if (!stored || !in_pieces_of_16(*stored) || (stored->address == nullptr && is_cube(stored->kind)) ||
            stored->width != picture.width || stored->height != picture.height ||
            (stored->depth != 1 && stored->depth < picture.depth))
            return false;
        texels[i] = *stored;
    }
    return true;
}

}  // namespace texton::detail
