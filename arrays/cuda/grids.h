#pragma once
// Grids of plain fetches on a CUDA device: one fetch for each pixel of an image.
#include <mutex>
#include <optional>

#include <cuda_runtime_api.h>

#include <texton/pixel_target.h>

#include "arrays/cuda/sampling.h"
#include "arrays/sampling.h"

namespace texton::detail {

/// Returns the properties for touching the texels first, or nothing if this is never faster for the texture.
std::optional<TouchedTexture> touched_texture(const TextureRequest& request) noexcept;

/// Enqueues grids of fetches on one device, which must be current in all calls. Thread-safe.
class CudaGrids {
public:
    explicit CudaGrids(int ordinal) noexcept : ordinal_(ordinal) {}

    /// Loads the CUDA kernels. Loading waits for the device, so call it when the first texture is created.
    void load();
    /// Enqueues the grid without waiting. The image must be memory that the device can access, or an array with
    /// surfaces. Throws Error{wrong_device} or Error{unsupported} otherwise.
    void enqueue(const NativeTexture& texture, const GridRequest& request, cudaStream_t on);

private:
    // Enqueues the grid with a kernel that touches the texels first. Returns false and enqueues nothing if this is not
    // faster or not possible: if the texels fit in the L2 cache, if the map skips texels, or if the image has another
    // format or is not aligned.
    bool sample_touched(const NativeTexture& texture, const GridRequest& request, PixelTarget image, cudaStream_t on);
    double cache_bytes();  // size of the L2 cache

    int ordinal_;
    std::once_flag loaded_;
    std::once_flag cache_asked_;
    double cache_bytes_ = 0;
};

}  // namespace texton::detail
