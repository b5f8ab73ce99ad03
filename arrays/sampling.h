#pragma once
// The interface that a device implements for textures and surfaces. core/backend.h is the interface for memory.
// Arguments have been checked by the caller.
#include <memory>
#include <span>

#include <texton/fetch.h>
#include <texton/sample.h>
#include <texton/sampler.h>
#include <texton/surface.h>
#include <texton/texture.h>

#include "arrays/array_block.h"
#include "core/backend.h"

namespace texton::detail {

struct NativeTexture;
struct NativeSurface;
using TextureHandle = NativeTexture*;
using SurfaceHandle = NativeSurface*;

/// Description of a texture. Either `array` or `memory` is set.
struct TextureRequest {
    const ArrayBlock* array = nullptr;
    const MemoryLocation* memory = nullptr;
    Format format = Format::r8_uint;  ///< format in which the texels are read
    TextureRange range{};             ///< with the actual numbers of levels and layers
    Sampler sampler{};
};

/// A grid of plain fetches, one for each pixel of an image in memory that the device can access.
struct GridRequest {
    const MemoryLocation* image = nullptr;
    AffineMap map{};
    bool from_signed = false;  ///< integers only: the texture returns signed integers
};

/// Returns the sampler with the point filter. A plain fetch then reads a single texel of the first level.
[[nodiscard]] inline Sampler with_point_filter(Sampler sampler) noexcept {
    sampler.filter = Filter::point;
    sampler.mip_filter = Filter::point;
    sampler.max_anisotropy = 1;
    return sampler;
}

/// Textures, surfaces and fetches of a device. Implementations are thread-safe.
class Sampling {
public:
    virtual ~Sampling() = default;

    virtual TextureHandle create_texture(const TextureRequest& request) = 0;
    /// Creates a texture of the same texels with the point filter. Possible while the calling thread records a graph.
    /// Returns null for an adopted texture, whose sampler is not known completely.
    virtual TextureHandle create_point_texture(TextureHandle texture) = 0;
    virtual void destroy_texture(TextureHandle texture) noexcept = 0;
    /// Waits until no enqueued work uses a texture, on devices whose work needs the texture until it has run.
    virtual void wait_for_uses() noexcept {}
    /// Returns the handle for kernels.
    virtual std::uint64_t texture_number(TextureHandle texture) const noexcept = 0;
    /// Fetches all points and returns when the results are complete. `resident` is empty unless the options request it.
    virtual void sample(TextureHandle texture, std::span<const FetchPoint> points, const SampleOptions& options,
                        std::span<Texel> texels, std::span<std::uint8_t> resident) = 0;
    /// Enqueues the fetches on `*stream`. If `stream` is null, returns when the image is complete.
    virtual void sample_grid(TextureHandle texture, const GridRequest& request, const StreamHandle* stream) = 0;

    virtual SurfaceHandle create_surface(const ArrayBlock& array, int level) = 0;
    virtual void destroy_surface(SurfaceHandle surface) noexcept = 0;
    /// Returns the handle for kernels.
    virtual std::uint64_t surface_number(SurfaceHandle surface) const noexcept = 0;
    /// Reads all points and returns when the result is complete. `boundary` is clamp or zero; for trap the caller has
    /// checked the points. arrays/unit/surface_point.h defines which points are outside.
    virtual void read(SurfaceHandle surface, std::span<const SurfacePoint> points, Boundary boundary,
                      std::span<std::byte> texels) = 0;
    /// Writes all points and returns when they are stored. `boundary` as in read().
    virtual void write(SurfaceHandle surface, std::span<const SurfacePoint> points, Boundary boundary,
                       std::span<const std::byte> texels) = 0;
};

/// Returns the implementation of a device. It is created at the first call and lives as long as the process.
/// Thread-safe.
[[nodiscard]] Sampling& sampling(Backend& backend);

/// Creates the implementation of the CPU device.
[[nodiscard]] std::unique_ptr<Sampling> make_cpu_sampling(Backend& backend);
/// Creates the implementation of a CUDA device. Returns null if Texton was built without CUDA.
[[nodiscard]] std::unique_ptr<Sampling> make_cuda_sampling(Backend& backend);

}  // namespace texton::detail
