#pragma once
// The second seam: what a device must do with texels, as core/backend.h is for bytes. Arguments have been checked.
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

/// What a texture reads, and how. Either `array` or `memory` is set.
struct TextureRequest {
    const ArrayBlock* array = nullptr;
    const Place* memory = nullptr;
    Format format = Format::r8_uint;  ///< as it is read
    TextureRange range{};             ///< with the counts filled in
    Sampler sampler{};
};

/// A grid of plain fetches: one for each pixel of a picture, which is memory that the device reaches.
struct GridRequest {
    const Place* picture = nullptr;
    AffineMap map{};
    bool from_signed = false;  ///< of integers: those that the texture returns have a sign
};

class Sampling {
public:
    virtual ~Sampling() = default;

    virtual TextureHandle create_texture(const TextureRequest& request) = 0;
    virtual void destroy_texture(TextureHandle texture) noexcept = 0;
    virtual std::uint64_t texture_number(TextureHandle texture) const noexcept = 0;
    /// Done at return. `resident` is empty unless residency was asked for.
    virtual void sample(TextureHandle texture, std::span<const FetchPoint> points, const SampleOptions& options,
                        std::span<Texel> texels, std::span<std::uint8_t> resident) = 0;
    /// Done at return where `stream` is null, else enqueued on *stream.
    virtual void sample_grid(TextureHandle texture, const GridRequest& request, const StreamHandle* stream) = 0;

    virtual SurfaceHandle create_surface(const ArrayBlock& array, int level) = 0;
    virtual void destroy_surface(SurfaceHandle surface) noexcept = 0;
    virtual std::uint64_t surface_number(SurfaceHandle surface) const noexcept = 0;
    /// Done at return. `boundary` is clamp or zero: with trap the points have been checked. arrays/unit/surface_point.h says what lies
    /// outside.
    virtual void read(SurfaceHandle surface, std::span<const SurfacePoint> points, Boundary boundary,
                      std::span<std::byte> texels) = 0;
    virtual void write(SurfaceHandle surface, std::span<const SurfacePoint> points, Boundary boundary,
                       std::span<const std::byte> texels) = 0;
};

/// The device's own, which lives as long as the process.
[[nodiscard]] Sampling& sampling(Backend& backend);

/// One for each kind of device; null where Texton was built without CUDA.
[[nodiscard]] std::unique_ptr<Sampling> make_cpu_sampling(Backend& backend);
[[nodiscard]] std::unique_ptr<Sampling> make_cuda_sampling(Backend& backend);

}  // namespace texton::detail
