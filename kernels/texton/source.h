#pragma once
// Sources: how a functor of launch() fetches from a texture. In a CUDA kernel the fetches go to the texture unit, on
// the CPU device to a model of it.
//
// launch() creates the sources and passes them to the functor by reference. They are valid only during the call of the
// functor. They do not own the texture's memory.
#include <cstddef>
#include <cstdint>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/float4.h>
#include <texton/host_device.h>
#include <texton/pixel_encode.h>
#if defined(__CUDACC__)
#include <texton/cuda_fetch.h>
#endif

namespace texton {

/// The extent and the coordinates of a texture, at the first level that it reads.
struct SourceShape {
    std::int32_t width = 1;   ///< texels of a row
    std::int32_t height = 1;  ///< rows
    std::int32_t depth = 1;   ///< slices of a 3D array
    std::int32_t layers = 1;  ///< layers of a layered array, cubes of a cubemap_layered array
    std::int32_t levels = 1;  ///< number of levels that the texture reads
    float x_unit = 1;         ///< width of a texel in the sampler's coordinates: 1, or 1 / width if they are normalized
    float y_unit = 1;         ///< height of a texel in the sampler's coordinates: 1, or 1 / height
    float z_unit = 1;         ///< depth of a texel in the sampler's coordinates: 1, or 1 / depth
    bool integers = false;    ///< fetches return integers (uint and sint formats)
    bool is_signed = false;   ///< fetches return signed integers
};

/// The channels of a texel of an integer format.
struct Integers {
    std::int64_t x = 0;                                ///< red
    std::int64_t y = 0;                                ///< green
    std::int64_t z = 0;                                ///< blue
    std::int64_t w = 0;                                ///< alpha
    bool operator==(const Integers&) const = default;  ///< Compares all channels.
};

namespace detail {

/// Returns the channels of a fetched texel of an integer format.
TEXTON_HD inline Integers integers_of(const SourceShape& shape, const Texel& texel) {
    const auto value = [&](std::uint32_t word) {
        return shape.is_signed ? std::int64_t{static_cast<std::int32_t>(word)} : std::int64_t{word};
    };
    return {value(texel.channel[0]), value(texel.channel[1]), value(texel.channel[2]), value(texel.channel[3])};
}

/// Converts the result of a fetch to the floats that a functor gets.
TEXTON_HD inline Float4 floats_of(const SourceShape& shape, const Texel& texel) {
    if (shape.integers) [[unlikely]] {  // one branch per texel: with one per channel, both conversions are computed
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

/// The fetches that every source has (curiously recurring template). A functor may only use the fetches that its
/// texture has: those of its kind; gather() only with ArrayUsage::gather and a component from 0 to 3; levels of detail
/// and gradients only of arrays. Other fetches are undefined on a CUDA device. On the CPU device they return zeros, and
/// the stream reports Error{unsupported}, which names the kernel, the texture and the fetch.
///
/// A fetch returns the same values on all devices: those of the texture function of CUDA. Channels that the format
/// lacks are 0. Integers are converted to floats, which are exact up to 2^24; get_integers() returns them unchanged.
/// `Source` must have the function Texel words<FetchOperation, ArrayKind>(const FetchPoint&, int component).
///
/// fetch(), fetch_layer(), fetch_lod(), gather() and get() take coordinates of the sampler: texels, or 0 to 1 if the
/// sampler's coordinates are normalized. at_texel() and layer_at_texel() take coordinates in texels in both cases.
template <class Source>
class Fetches : public SourceShape {
public:
    /// Creates the fetches of a texture with this shape.
    TEXTON_HD explicit Fetches(const SourceShape& shape) : SourceShape(shape) {}

    /// Fetches from a 1D texture.
    TEXTON_HD Float4 fetch(float x) const { return get<ArrayKind::array_1d>({.x = x}); }
    /// Fetches from a 2D texture.
    TEXTON_HD Float4 fetch(float x, float y) const { return get<ArrayKind::array_2d>({.x = x, .y = y}); }
    /// Fetches from a 3D texture.
    TEXTON_HD Float4 fetch(float x, float y, float z) const {
        return get<ArrayKind::array_3d>({.x = x, .y = y, .z = z});
    }
    /// Fetches from a layer of a layered 1D texture.
    TEXTON_HD Float4 fetch_layer(int layer, float x) const {
        return get<ArrayKind::layered_1d>({.x = x, .layer = layer});
    }
    /// Fetches from a layer of a layered 2D texture.
    TEXTON_HD Float4 fetch_layer(int layer, float x, float y) const {
        return get<ArrayKind::layered_2d>({.x = x, .y = y, .layer = layer});
    }
    /// Fetches from a cubemap in the direction (x, y, z), which may have any length.
    TEXTON_HD Float4 fetch_cube(float x, float y, float z) const {
        return get<ArrayKind::cubemap>({.x = x, .y = y, .z = z});
    }
    /// Fetches from a cube of a layered cubemap in the direction (x, y, z), which may have any length.
    TEXTON_HD Float4 fetch_cube_layer(int cube, float x, float y, float z) const {
        return get<ArrayKind::cubemap_layered>({.x = x, .y = y, .z = z, .layer = cube});
    }
    /// Fetches from a 2D texture at a level of detail.
    TEXTON_HD Float4 fetch_lod(float x, float y, float lod) const {
        return get<ArrayKind::array_2d, FetchOperation::lod>({.x = x, .y = y, .lod = lod});
    }
    /// Returns one component of the four texels around a coordinate of a 2D texture, in the order of tex2Dgather.
    TEXTON_HD Float4 gather(float x, float y, int component) const {
        return get<ArrayKind::array_2d, FetchOperation::gather>({.x = x, .y = y}, component);
    }
    /// Executes any fetch. FetchPoint contains the coordinates, the layer, the level of detail and the gradients.
    template <ArrayKind kind, FetchOperation operation = FetchOperation::plain>
    TEXTON_HD Float4 get(const FetchPoint& at, int component = 0) const {
        return detail::floats_of(*this,
                                 static_cast<const Source&>(*this).template words<operation, kind>(at, component));
    }

    /// Executes any fetch from a texture of an integer format and returns the integers. Returns 0 for other formats.
    template <ArrayKind kind, FetchOperation operation = FetchOperation::plain>
    TEXTON_HD Integers get_integers(const FetchPoint& at, int component = 0) const {
        if (!integers) return {};
        return detail::integers_of(*this,
                                   static_cast<const Source&>(*this).template words<operation, kind>(at, component));
    }
    /// Fetches the integers of a texel of a 2D texture at a coordinate in texels.
    TEXTON_HD Integers integers_at_texel(float x, float y) const {
        return get_integers<ArrayKind::array_2d>({.x = x * x_unit, .y = y * y_unit});
    }

    /// Fetches from a 1D texture at a coordinate in texels.
    TEXTON_HD Float4 at_texel(float x) const { return fetch(x * x_unit); }
    /// Fetches from a 2D texture at a coordinate in texels.
    TEXTON_HD Float4 at_texel(float x, float y) const { return fetch(x * x_unit, y * y_unit); }
    /// Fetches from a 3D texture at a coordinate in texels.
    TEXTON_HD Float4 at_texel(float x, float y, float z) const { return fetch(x * x_unit, y * y_unit, z * z_unit); }
    /// Fetches from a layer of a layered 2D texture at a coordinate in texels.
    TEXTON_HD Float4 layer_at_texel(int layer, float x, float y) const {
        return fetch_layer(layer, x * x_unit, y * y_unit);
    }
};

/// The sources of an array of textures, which a functor selects by index. Valid only during the call of the functor.
template <class Source, std::size_t count>
class SourceArray {
public:
    /// Called by launch().
    template <class... Sources>
    TEXTON_HD explicit SourceArray(const Sources&... sources) : sources_{&sources...} {}

    /// Returns the source of a texture. `index` must be less than size().
    TEXTON_HD const Source& operator[](std::size_t index) const { return *sources_[index]; }
    /// Returns the number of textures.
    TEXTON_HD static constexpr std::size_t size() { return count; }

private:
    const Source* sources_[count];
};

namespace detail {

class DirectFetches;  // executes fetches of one texture
/// Executes a plain fetch of a 1D, 2D or layered 2D texture.
Texel fetch_on_cpu(const DirectFetches& fetches, ArrayKind kind, float x, float y, std::int32_t layer);
/// Executes a fetch.
Texel fetch_on_cpu(const DirectFetches& fetches, ArrayKind kind, FetchOperation operation, const FetchPoint& at,
                   int component);
/// Executes a fetch. `resident` becomes true if all texels of the fetch have memory.
Texel fetch_on_cpu(const DirectFetches& fetches, ArrayKind kind, FetchOperation operation, const FetchPoint& at,
                   int component, bool& resident);

/// A fetch of each pixel of a block, with the same number among the fetches of the pixel.
struct RecordedLane {
    static constexpr std::size_t kPixels = 256;  ///< maximum number of pixels of a block
    std::size_t texture;
    ArrayKind kind;
    std::int32_t layer;
    int first_round;          ///< in earlier rounds, the coordinates are expected to depend on other fetches
    bool changed;             ///< some coordinates were requested since the last round
    RecordedLane* following;  ///< the next fetch of the pixels, or null
    float x[kPixels];         ///< kNotRequested if the pixel did not make this fetch
    float y[kPixels];
    Texel texels[kPixels];  ///< valid for unchanged coordinates
};

/// The bits of a coordinate that no fetch has: a NaN with another payload than requested NaNs.
inline constexpr std::uint32_t kNotRequested = 0x7fc5a5a5u;
/// Returns the coordinate as it is recorded. All NaNs are the same.
TEXTON_HD inline float recorded_coordinate(float coordinate) {
    return coordinate == coordinate ? coordinate : float_of(0x7fc00000u);
}

/// The fetches of a block of pixels that are recorded, and the pixel for which the functor is called.
struct RecordedFetches {
    RecordedLane* first = nullptr;        ///< the first fetch of each pixel; null while none is recorded
    RecordedLane* next = nullptr;         ///< the next fetch of the pixel; null: it is not recorded yet
    std::size_t pixel = 0;                ///< number of the pixel in the block
    int round = 0;                        ///< number of executions of the block's fetches
    bool changed = false;                 ///< a fetch of the pixel is not executed yet
    bool waiting[RecordedLane::kPixels];  ///< whether the functor must be called for each pixel

    /// Starts a pixel. Returns false if the functor need not be called for it.
    bool begin(std::size_t number) {
        pixel = number;
        next = first;
        changed = false;
        return waiting[number];
    }
    /// Ends the pixel, after the functor was called.
    void end() { waiting[pixel] = changed; }
};

/// Executes or records a fetch that is not recorded yet, or cannot be.
Texel fetch_on_cpu(RecordedFetches& fetches, std::size_t texture, ArrayKind kind, FetchOperation operation,
                   const FetchPoint& at, int component);

}  // namespace detail

/// The source of a texture on the CPU device. Each fetch is executed at once. A fetch that the texture does not have,
/// for example of another kind of texture, returns zeros, and the launch fails with Error{unsupported}. Must not be
/// shared by threads.
class CpuSource : public Fetches<CpuSource> {
public:
    /// Called by launch().
    CpuSource(const SourceShape& shape, const detail::DirectFetches& fetches) : Fetches(shape), fetches_(&fetches) {}

    /// Executes any fetch and returns the four channels as 32-bit words: floats or integers, by the texture's format.
    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
#if defined(__CUDA_ARCH__)  // nvcc compiles a functor for all sources; CUDA kernels only run another instantiation
        return {};
#else
        constexpr bool kInRows =
            kind == ArrayKind::array_1d || kind == ArrayKind::array_2d || kind == ArrayKind::layered_2d;
        if constexpr (operation == FetchOperation::plain && kInRows)
            return detail::fetch_on_cpu(*fetches_, kind, at.x, at.y, at.layer);
        else
            return detail::fetch_on_cpu(*fetches_, kind, operation, at, component);
#endif
    }

    /// Executes any fetch of an array_2d, array_3d or layered_2d. `resident` becomes true if all texels of the fetch
    /// have memory.
    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component,
                          [[maybe_unused]] bool& resident) const {
#if defined(__CUDA_ARCH__)
        return {};
#else
        return detail::fetch_on_cpu(*fetches_, kind, operation, at, component, resident);
#endif
    }

private:
    const detail::DirectFetches* fetches_;
};

/// The source of a texture on the CPU device for functors with kMayBeCalledWithZeros = true. A fetch may return zeros
/// while launch() records the functor's fetches; the functor is then called again for the same pixel. Must not be
/// shared by threads.
class RecordingSource : public Fetches<RecordingSource> {
public:
    /// Called by launch(). `texture` is the number of the texture among the arguments of launch().
    RecordingSource(const SourceShape& shape, detail::RecordedFetches& fetches, std::size_t texture)
        : Fetches(shape), fetches_(&fetches), texture_(texture) {}

    /// Executes or records any fetch and returns the four channels as 32-bit words, or zeros.
    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
#if defined(__CUDA_ARCH__)
        return {};
#else
        constexpr bool kInRows =
            kind == ArrayKind::array_1d || kind == ArrayKind::array_2d || kind == ArrayKind::layered_2d;
        if constexpr (operation == FetchOperation::plain && kInRows) {
            detail::RecordedLane* lane = fetches_->next;
            const std::int32_t layer = kind == ArrayKind::layered_2d ? at.layer : 0;
            if (lane != nullptr && lane->texture == texture_ && lane->kind == kind && lane->layer == layer) [[likely]] {
                fetches_->next = lane->following;
                return recorded(*lane, at.x, kind == ArrayKind::array_1d ? 0.0f : at.y);
            }
        }
        return detail::fetch_on_cpu(*fetches_, texture_, kind, operation, at, component);
#endif
    }

private:
    Texel recorded(detail::RecordedLane& lane, float x, float y) const {
        x = detail::recorded_coordinate(x);
        y = detail::recorded_coordinate(y);
        float& lane_x = lane.x[fetches_->pixel];
        float& lane_y = lane.y[fetches_->pixel];
        const bool same =
            detail::bits_of(lane_x) == detail::bits_of(x) && detail::bits_of(lane_y) == detail::bits_of(y);
        if (same) return lane.texels[fetches_->pixel];
        fetches_->changed = true;
        if (fetches_->round >= lane.first_round) {
            lane_x = x;
            lane_y = y;
            lane.changed = true;
        }
        return {};
    }

    detail::RecordedFetches* fetches_;
    std::size_t texture_;
};

namespace detail {

/// The fetches that every pixel of a block is expected to make, in this order.
struct PlannedFetches {
    static constexpr unsigned kMax = 2;
    struct Fetch {
        std::size_t texture;
        ArrayKind kind;
        std::int32_t layer;
    };
    unsigned count = 0;
    Fetch fetches[kMax]{};
};

/// A call of the functor for a pixel. The results of the fetches before number `wanted` are known. The coordinates of
/// that fetch are recorded; if `wanted` is the number of fetches, the result of the functor is the pixel.
template <unsigned wanted>
struct PlannedPixel {
    PlannedFetches plan;
    const Texel* known[wanted != 0 ? wanted : 1]{};
    float x = 0;
    float y = 0;
    unsigned number = 0;     // of the next fetch
    bool as_planned = true;  // false: the functor made another fetch than planned

    TEXTON_HD Texel fetch(std::size_t texture, ArrayKind kind, const FetchPoint& at) {
        const unsigned fetch = number++;
        if (fetch > wanted || fetch >= PlannedFetches::kMax) return {};
        const PlannedFetches::Fetch& planned = plan.fetches[fetch];
        as_planned &= planned.texture == texture && planned.kind == kind &&
                      (kind != ArrayKind::layered_2d || planned.layer == at.layer);
        if constexpr (wanted > 0) {
            if (fetch < wanted) return *known[fetch];
        }
        x = at.x;
        y = kind == ArrayKind::array_1d ? 0.0f : at.y;
        return {};
    }
};

/// The source of a texture on the CPU device for functors with kMayBeCalledWithZeros = true whose pixels all make the
/// same few plain fetches. The compiler knows the number of each fetch, so that it can vectorize loops over pixels.
template <unsigned wanted>
class PlannedSource : public Fetches<PlannedSource<wanted>> {
public:
    TEXTON_HD PlannedSource(const SourceShape& shape, PlannedPixel<wanted>& pixel, std::size_t texture)
        : Fetches<PlannedSource<wanted>>(shape), pixel_(&pixel), texture_(texture) {}

    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
        constexpr bool kInRows =
            kind == ArrayKind::array_1d || kind == ArrayKind::array_2d || kind == ArrayKind::layered_2d;
        if constexpr (operation == FetchOperation::plain && kInRows) return pixel_->fetch(texture_, kind, at);
        pixel_->as_planned = false;
        return {};
    }

private:
    PlannedPixel<wanted>* pixel_;
    std::size_t texture_;
};

/// The fetches of a functor that is called to find out whether it returns fetch number `wanted` unchanged. The fetch
/// returns these words. Separate numbers, since compilers follow them more easily than a Texel.
struct ReturnedFetch {
    std::uint32_t x, y, z, w;
    const Texel* before;  // result of the fetch before it, if there is one
    unsigned number = 0;  // of the next fetch
};

/// The source of a texture for such a functor. Texels are floats.
template <unsigned wanted>
class ReturnedSource : public Fetches<ReturnedSource<wanted>> {
public:
    TEXTON_HD ReturnedSource(const SourceShape& shape, ReturnedFetch& fetch)
        : Fetches<ReturnedSource<wanted>>(with_floats(shape)), fetch_(&fetch) {}

    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
        if (fetch_->number++ == wanted) return {{fetch_->x, fetch_->y, fetch_->z, fetch_->w}};
        if constexpr (wanted > 0) return *fetch_->before;
        return {};
    }

private:
    static TEXTON_HD SourceShape with_floats(SourceShape shape) {
        shape.integers = false;
        return shape;
    }

    ReturnedFetch* fetch_;
};

/// Texels or pixels of a row, stored channel by channel, so that compilers can vectorize loops over them.
struct alignas(64) TexelPlanes {
    static constexpr std::size_t kMax = 256;
    float channel[4][kMax];

    TEXTON_HD Float4 get(std::size_t i) const { return {channel[0][i], channel[1][i], channel[2][i], channel[3][i]}; }
    void set(std::size_t i, const Float4& texel) {
        channel[0][i] = texel.x;
        channel[1][i] = texel.y;
        channel[2][i] = texel.z;
        channel[3][i] = texel.w;
    }
};

}  // namespace detail

/// The source of a texture on the CPU device for pointwise functors: the texel at the position of the pixel has been
/// read already. Must not be shared by threads.
class PointwiseSource : public Fetches<PointwiseSource> {
public:
    /// Called by launch(). `texels` contains the texels of a part of a row.
    PointwiseSource(const SourceShape& shape, const detail::DirectFetches& fetches, const detail::TexelPlanes& texels)
        : Fetches(shape), fetches_(&fetches), texels_(&texels) {}

    /// Returns the source for one pixel of the part of the row.
    PointwiseSource of_pixel(std::size_t pixel) const {
        PointwiseSource source = *this;
        source.pixel_ = pixel;
        return source;
    }
    /// Returns the texels of the part of the row.
    const detail::TexelPlanes& texels() const { return *texels_; }

    using Fetches::at_texel;
    /// Returns the texel at the position of the pixel, without regard to the coordinates.
    TEXTON_HD Float4 at_texel(float, float) const { return texels_->get(pixel_); }
    /// Returns the texel at the position of the pixel, without regard to the layer and the coordinates.
    TEXTON_HD Float4 layer_at_texel(int, float, float) const { return texels_->get(pixel_); }

    /// Executes any fetch immediately and returns the four channels as 32-bit words.
    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
#if defined(__CUDA_ARCH__)
        return {};
#else
        return detail::fetch_on_cpu(*fetches_, kind, operation, at, component);
#endif
    }

private:
    const detail::DirectFetches* fetches_;
    const detail::TexelPlanes* texels_;
    std::size_t pixel_ = 0;
};

#if defined(__CUDACC__)
/// The source of a texture in CUDA kernels: fetches go to the texture unit. A plain value that all threads of a kernel
/// may share.
class HardwareSource : public Fetches<HardwareSource> {
public:
    /// Creates a source without a texture, from which nothing may be fetched.
    HardwareSource() : Fetches(SourceShape{}) {}
    /// Creates the source of a texture object.
    TEXTON_HD HardwareSource(const SourceShape& shape, cudaTextureObject_t texture)
        : Fetches(shape), texture_(texture) {}

    /// Executes any fetch and returns the four channels as 32-bit words. Only device code can call it; host code gets
    /// 0.
    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component = 0) const {
#if defined(__CUDA_ARCH__)
        const uint4 word = fetch_words<operation, kind>(texture_, at, component);
        return {{ word.x, word.y, word.z, word.w }};
#else
        return {};
#endif
    }

    /// Executes any fetch of an array_2d, array_3d or layered_2d. `resident` becomes true if all texels of the fetch
    /// have memory. Only device code can call it; host code gets 0.
    template <FetchOperation operation, ArrayKind kind>
    TEXTON_HD Texel words([[maybe_unused]] const FetchPoint& at, [[maybe_unused]] int component,
                          [[maybe_unused]] bool& resident) const {
#if defined(__CUDA_ARCH__)
        const uint4 word = fetch_words<operation, kind>(texture_, at, component, &resident);
        return {{ word.x, word.y, word.z, word.w }};
#else
        return {};
#endif
    }

private:
    cudaTextureObject_t texture_ = 0;
};

/// The sources of an array of textures in a CUDA kernel. They follow each other in the kernel's arguments, so an index
/// that varies at run time does not move them to local memory.
template <std::size_t count>
class SourceArray<HardwareSource, count> {
public:
    /// Called by launch().
    template <class... Others>
    TEXTON_HD explicit SourceArray(const HardwareSource& first, const Others&...) : first_(&first) {}

    /// Returns the source of a texture. `index` must be less than size().
    TEXTON_HD const HardwareSource& operator[](std::size_t index) const { return first_[index]; }
    /// Returns the number of textures.
    TEXTON_HD static constexpr std::size_t size() { return count; }

private:
    const HardwareSource* first_;
};
#endif

}  // namespace texton
