#pragma once
// A texture as a functor fetches it: from the texture unit in a CUDA kernel, from its model on the CPU device.
#include <cstddef>
#include <cstdint>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/float4.h>
#include <texton/host_device.h>
#if defined(__CUDACC__)
#include <texton/cuda_fetch.h>
#endif

namespace texton {

/// What a texture reads, at the first level that it reads.
struct SourceShape {
    std::int32_t width = 1;
    std::int32_t height = 1;
    std::int32_t depth = 1;   ///< slices of a 3D array
    std::int32_t layers = 1;  ///< of a layered array; cubes of a cubemap_layered one
    std::int32_t levels = 1;
    float x_unit = 1;  ///< a texel in the sampler's coordinates: 1, or one over the width
    float y_unit = 1;
    float z_unit = 1;
    bool integers = false;   ///< texels are integers that are not read as fractions
    bool is_signed = false;  ///< ... and may be negative
};

namespace detail {

/// What a functor sees of a fetch.
TEXTON_HD inline Float4 floats_of(const SourceShape& shape, const Texel& texel) {
    if (shape.integers) [[unlikely]] {  // one branch a texel: chosen by channel, both ways would be computed
        const auto value = [&](std::uint32_t word) {
            return shape.is_signed ? static_cast<float>(static_cast<std::int32_t>(word)) : static_cast<float>(word);
        };
        return {value(texel.channel[0]), value(texel.channel[1]), value(texel.channel[2]), value(texel.channel[3])};
    }
    Float4 value;
    __builtin_memcpy(&value.x, &texel.channel[0], sizeof value.x);
    __builtin_memcpy(&value.y, &texel.channel[1], sizeof value.y);
    __builtin_memcpy(&value.z, &texel.channel[2], sizeof value.z);
    __builtin_memcpy(&value.w, &texel.channel[3], sizeof value.w);
    return value;
}

}  // namespace detail

/// The fetches that every source has. A functor uses those of its texture's kind; what others return is not defined.
///
/// They return what a kernel's fetches do, 0 in channels that the format lacks; integers as floats, as words() returns
/// them as they are. `Source` has Texel words<FetchOperation, ArrayKind>(const FetchPoint&, int component).
template <class Source>
class Fetches : public SourceShape {
public:
    TEXTON_HD explicit Fetches(const SourceShape& shape) : SourceShape(shape) {}

    /// Coordinates as the sampler takes them.
    TEXTON_HD Float4 fetch(float x) const { return get<ArrayKind::array_1d>({.x = x}); }
    TEXTON_HD Float4 fetch(float x, float y) const { return get<ArrayKind::array_2d>({.x = x, .y = y}); }
    TEXTON_HD Float4 fetch(float x, float y, float z) const {
        return get<ArrayKind::array_3d>({.x = x, .y = y, .z = z});
    }
    TEXTON_HD Float4 fetch_layer(int layer, float x) const {
        return get<ArrayKind::layered_1d>({.x = x, .layer = layer});
    }
    TEXTON_HD Float4 fetch_layer(int layer, float x, float y) const {
        return get<ArrayKind::layered_2d>({.x = x, .y = y, .layer = layer});
    }
    /// A direction, of any length.
    TEXTON_HD Float4 fetch_cube(float x, float y, float z) const {
        return get<ArrayKind::cubemap>({.x = x, .y = y, .z = z});
    }
    TEXTON_HD Float4 fetch_cube_layer(int cube, float x, float y, float z) const {
        return get<ArrayKind::cubemap_layered>({.x = x, .y = y, .z = z, .layer = cube});
    }
    TEXTON_HD Float4 fetch_lod(float x, float y, float lod) const {
        return get<ArrayKind::array_2d, FetchOperation::lod>({.x = x, .y = y, .lod = lod});
    }
    /// One component of the four texels around, in the order of tex2Dgather.
    TEXTON_HD Float4 gather(float x, float y, int component) const {
        return get<ArrayKind::array_2d, FetchOperation::gather>({.x = x, .y = y}, component);
    }
    /// Any fetch: with a level of detail or gradients, where the FetchPoint says so.
    template <ArrayKind kind, FetchOperation operation = FetchOperation::plain>
    TEXTON_HD Float4 get(const FetchPoint& at, int component = 0) const {
        return detail::floats_of(*this,
                                 static_cast<const Source&>(*this).template words<operation, kind>(at, component));
    }

    /// The same at a place in texels, whichever coordinates the sampler takes.
    TEXTON_HD Float4 at_texel(float x) const { return fetch(x * x_unit); }
    TEXTON_HD Float4 at_texel(float x, float y) const { return fetch(x * x_unit, y * y_unit); }
    TEXTON_HD Float4 at_texel(float x, float y, float z) const { return fetch(x * x_unit, y * y_unit, z * z_unit); }
    TEXTON_HD Float4 layer_at_texel(int layer, float x, float y) const {
        return fetch_layer(layer, x * x_unit, y * y_unit);
    }
};

namespace detail {
class CpuFetches;  // those of a block of pixels
/// What follows is fetched for that pixel of the block. False: all that it fetches is known, and the pixel computed.
bool begin_pixel(CpuFetches& fetches, std::size_t pixel);
Texel fetch_on_cpu(CpuFetches& fetches, std::size_t texture, FetchOperation operation, const FetchPoint& at,
                   int component);

class TexelRows;  // of a texture of the CPU device
Texel fetch_on_cpu(const TexelRows& rows, FetchOperation operation, const FetchPoint& at, int component);
}  // namespace detail

/// A texture of the CPU device.
class CpuSource : public Fetches<CpuSource> {
public:
    CpuSource(const SourceShape& shape, detail::CpuFetches& fetches, std::size_t texture)
        : Fetches(shape), fetches_(&fetches), texture_(texture) {}

    template <FetchOperation operation, ArrayKind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
#if defined(__CUDA_ARCH__)  // nvcc makes a functor's code for both sources; the device's runs with the other alone
        return {};
#else
        return detail::fetch_on_cpu(*fetches_, texture_, operation, at, component);
#endif
    }

private:
    detail::CpuFetches* fetches_;
    std::size_t texture_;
};

namespace detail {

/// Texels or pixels of a row, channel by channel, so that compilers make vectors of a loop over them.
struct alignas(64) TexelPlanes {
    static constexpr std::size_t kMost = 256;
    float channel[4][kMost];

    TEXTON_HD Float4 get(std::size_t i) const { return {channel[0][i], channel[1][i], channel[2][i], channel[3][i]}; }
    void set(std::size_t i, const Float4& texel) {
        channel[0][i] = texel.x;
        channel[1][i] = texel.y;
        channel[2][i] = texel.z;
        channel[3][i] = texel.w;
    }
};

}  // namespace detail

/// The same for a functor that fetches the texel of its own place, which is known already.
class OwnTexelSource : public Fetches<OwnTexelSource> {
public:
    OwnTexelSource(const SourceShape& shape, const detail::TexelRows& rows, const detail::TexelPlanes& texels)
        : Fetches(shape), rows_(&rows), texels_(&texels) {}

    OwnTexelSource of_pixel(std::size_t pixel) const {
        OwnTexelSource source = *this;
        source.pixel_ = pixel;
        return source;
    }
    const detail::TexelPlanes& texels() const { return *texels_; }

    using Fetches::at_texel;
    TEXTON_HD Float4 at_texel(float, float) const { return texels_->get(pixel_); }
    TEXTON_HD Float4 layer_at_texel(int, float, float) const { return texels_->get(pixel_); }

    template <FetchOperation operation, ArrayKind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
#if defined(__CUDA_ARCH__)
        return {};
#else
        return detail::fetch_on_cpu(*rows_, operation, at, component);
#endif
    }

private:
    const detail::TexelRows* rows_;
    const detail::TexelPlanes* texels_;
    std::size_t pixel_ = 0;
};

#if defined(__CUDACC__)
/// A texture of a CUDA device.
class HardwareSource : public Fetches<HardwareSource> {
public:
    HardwareSource() : Fetches(SourceShape{}) {}
    TEXTON_HD HardwareSource(const SourceShape& shape, cudaTextureObject_t texture)
        : Fetches(shape), texture_(texture) {}

    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
#if defined(__CUDA_ARCH__)
        const uint4 word = fetch_words<operation, kind>(texture_, at, component);
        return {{ word.x, word.y, word.z, word.w }};
#else
        return {};
#endif
    }

private:
    cudaTextureObject_t texture_ = 0;
};
#endif

}  // namespace texton
