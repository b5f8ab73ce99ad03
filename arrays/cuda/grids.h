#pragma once
// Grids of plain fetches on a CUDA device: one for each pixel of a picture.
#include <mutex>
#include <optional>

#include <cuda_runtime_api.h>

#include <texton/pixel_target.h>

#include "arrays/cuda/sampling.h"
#include "arrays/sampling.h"

namespace texton::detail {

/// None where touching its texels first never pays.
std::optional<TouchedTexture> touched_texture(const TextureRequest& request) noexcept;

/// Of one device, which is the current one whenever it is called.
class CudaGrids {
public:
    explicit CudaGrids(int ordinal) noexcept : ordinal_(ordinal) {}

    /// Doing that waits for the device where they are first used: so with the first texture.
    void load();
    /// Its picture is memory that the device reaches, or an array.
    void enqueue(const NativeTexture& texture, const GridRequest& request, cudaStream_t on);

private:
    // False where that gains nothing: of texels that the second cache holds, or that pixels have not all in common.
    bool sample_touched(const NativeTexture& texture, const GridRequest& request, PixelTarget picture, cudaStream_t on);
    double cache_bytes();  // of the second cache

    int ordinal_;
    std::once_flag loaded_;
    std::once_flag cache_asked_;
    double cache_bytes_ = 0;
};

}  // namespace texton::detail
