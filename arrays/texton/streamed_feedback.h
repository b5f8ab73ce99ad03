#pragma once
// How kernels report which tiles of a StreamedTexture they need. See <texton/streamed_source.h> of texton::kernels.
#include <cstdint>

#include <texton/fetch.h>
#include <texton/host_device.h>
#include <texton/pixel_encode.h>
#include <texton/sampler.h>

/// Marks a function that is not inlined, so that kernels with many fetches stay short.
#if defined(__CUDACC__)
#define TEXTON_RARELY_CALLED __noinline__
#else
#define TEXTON_RARELY_CALLED __attribute__((noinline))
#endif

namespace texton {

/// The tiles of a streamed texture and the device memory in which fetches note tiles. A plain value that functors copy;
/// StreamedTexture::feedback() returns it. The members are for internal use.
struct StreamedFeedback {
    static constexpr int kMaxLevels = 16;  ///< maximum number of levels below the resident level

    /// A level below the resident level.
    struct Level {
        std::int32_t texels[3] = {1, 1, 1};  ///< width, height and depth
        std::int32_t tiles[3] = {1, 1, 1};   ///< number of tiles along each axis
        std::uint32_t first = 0;             ///< number of the first tile
    };
    /// A list of distinct tiles. `words` has the number of all tiles and then the first `capacity` ones.
    struct List {
        std::uint32_t* words = nullptr;  ///< count, then tiles
        std::uint32_t* bits = nullptr;   ///< a bit for each tile of the texture
    };

    Level levels[kMaxLevels]{};       ///< levels below the resident level
    std::int32_t resident_level = 0;  ///< first level that is always resident
    std::int32_t last_level = 0;      ///< last level of the texture
    std::int32_t layers = 1;          ///< number of layers
    std::int32_t tile_bits[3] = {};   ///< logarithms of width, height and depth of a tile
    bool volume = false;              ///< the texture is an array_3d
    Sampler sampler{};                ///< sampler of the texture with clamp 0
    std::uint32_t capacity = 0;       ///< maximum number of tiles in a list
    List missing{};                   ///< tiles that lacked memory
    List used{};                      ///< other tiles that were probably read
    std::uint32_t turn = 0;           ///< number of the launch, modulo kTurns
    std::uint32_t turn_mask = 0;      ///< kTurns - 1: each launch notes tiles for some pixels; 0: for all

    /// In a launch for many pixels, one in this many notes the tiles that it uses, so that notes take little time. In
    /// as many launches, every pixel does it once.
    static constexpr std::uint32_t kTurns = 128;
    /// Returns true if the fetches of a pixel note the tiles that they use. The pixels of a warp give the same result:
    /// they are in the same row, and their first column is a multiple of 32.
    TEXTON_HD bool notes_used(std::int32_t x, std::int32_t y) const {
        const auto column = static_cast<std::uint32_t>(x), row = static_cast<std::uint32_t>(y);
        const std::uint32_t own = (row >> 3 & 15) | (column >> 5 & 7) << 4;  // of 32 x 8 pixels
        return ((own ^ turn) & turn_mask) == 0;
    }
};

namespace detail {

/// Adds a tile to a list unless the list contains it. Several threads may add tiles at once.
TEXTON_HD inline void note_tile(const StreamedFeedback::List& list, std::uint32_t capacity, std::uint32_t tile) {
    std::uint32_t* word = list.bits + (tile >> 5);
    const std::uint32_t bit = std::uint32_t{1} << (tile & 31);
#if defined(__CUDA_ARCH__)
    if ((__ldcg(word) & bit) != 0 || (atomicOr(word, bit) & bit) != 0) return;
    const std::uint32_t index = atomicAdd(list.words, 1u);
#else
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) != 0) return;
    if ((__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) != 0) return;
    const std::uint32_t index = __atomic_fetch_add(list.words, 1u, __ATOMIC_RELAXED);
#endif
    if (index < capacity) list.words[1 + index] = tile;
}

/// Returns the largest integer that is not larger. The value must be between -2^30 and 2^30.
TEXTON_HD inline std::int32_t integer_below(float value) {
    const auto cut = static_cast<std::int32_t>(value);
    return static_cast<float>(cut) > value ? cut - 1 : cut;
}

/// Returns value - floor(value), or 0 for large and infinite values and NaN, as the texture unit reads them.
TEXTON_HD inline float fraction_of(float value) {
    constexpr float kIntegers = 16777216.0f;
    if (!(value > -kIntegers && value < kIntegers)) return 0;
    return value - static_cast<float>(integer_below(value));
}

/// The tiles of an axis from `first` to `last`, and from 0 to `wrapped_last` or from `wrapped_first` to the last one.
/// Empty if first > last.
struct TileSpan {
    std::int32_t first = 0;
    std::int32_t last = -1;
    std::int32_t wrapped_first = 0;
    std::int32_t wrapped_last = -1;
};

/// Returns the tiles that contain the texels up to `reach` texels away from a normalized coordinate.
TEXTON_HD inline TileSpan tile_span(float coordinate, std::int32_t size, std::int32_t tile_bits, AddressMode mode,
                                    std::int32_t reach) {
    constexpr float kFar = 1073741824.0f;
    float at = coordinate == coordinate ? coordinate : 0.0f;
    if (mode == AddressMode::wrap) at = fraction_of(at);
    if (mode == AddressMode::mirror) {
        at = 2.0f * fraction_of(at * 0.5f);
        if (at > 1.0f) at = 2.0f - at;
    }
    at *= static_cast<float>(size);
    const std::int32_t texel = integer_below(at < -kFar ? -kFar : at > kFar ? kFar : at);
    std::int32_t first = texel - reach;
    std::int32_t last = texel + reach;
    TileSpan span;
    if (mode == AddressMode::border && (last < 0 || first >= size)) return span;
    if (mode == AddressMode::wrap) {
        if (last - first + 1 >= size) {
            first = 0;
            last = size - 1;
        } else if (first < 0) {
            span.wrapped_first = (first + size) >> tile_bits;
            span.wrapped_last = (size - 1) >> tile_bits;
        } else if (last >= size) {
            span.wrapped_last = (last - size) >> tile_bits;
        }
    }
    first = first < 0 ? 0 : first >= size ? size - 1 : first;
    last = last < 0 ? 0 : last >= size ? size - 1 : last;
    span.first = first >> tile_bits;
    span.last = last >> tile_bits;
    return span;
}

/// Writes the tiles that contain the texels up to `reach` texels away from a normalized coordinate, at most two: those
/// inside the level. Returns false if there may be others, because of the address mode.
TEXTON_HD inline bool plain_tile_span(float coordinate, std::int32_t size, std::int32_t tile_bits, AddressMode mode,
                                      std::int32_t reach, std::int32_t (&tiles)[2]) {
    if (!(coordinate >= 0 && coordinate < 1)) return false;
    const auto texel = static_cast<std::int32_t>(coordinate * static_cast<float>(size));
    std::int32_t first = texel - reach, last = texel + reach;
    if (mode == AddressMode::wrap && (first < 0 || last >= size)) return false;
    tiles[0] = (first < 0 ? 0 : first) >> tile_bits;
    tiles[1] = (last >= size ? size - 1 : last) >> tile_bits;
    return true;
}

/// Notes a tile of a level.
TEXTON_HD inline void note_tile_at(const StreamedFeedback& feedback, const StreamedFeedback::List& list, int level,
                                   std::int32_t layer, std::int32_t column, std::int32_t row, std::int32_t slice) {
    const StreamedFeedback::Level& info = feedback.levels[level];
    const auto index = ((static_cast<std::uint32_t>(layer) * static_cast<std::uint32_t>(info.tiles[2]) +
                         static_cast<std::uint32_t>(slice)) *
                            static_cast<std::uint32_t>(info.tiles[1]) +
                        static_cast<std::uint32_t>(row)) *
                           static_cast<std::uint32_t>(info.tiles[0]) +
                       static_cast<std::uint32_t>(column);
    note_tile(list, feedback.capacity, info.first + index);
}

/// Returns the layer of a fetch. Layers are unsigned for the texture unit.
TEXTON_HD inline std::int32_t layer_of(const StreamedFeedback& feedback, const FetchPoint& at) {
    if (feedback.volume) return 0;
    return static_cast<std::uint32_t>(at.layer) < static_cast<std::uint32_t>(feedback.layers) ? at.layer
                                                                                              : feedback.layers - 1;
}

/// Notes the tiles of a level with all texels within `reach` texels. Few fetches need it, so it is not inlined.
TEXTON_RARELY_CALLED TEXTON_HD inline void note_tiles(const StreamedFeedback& feedback,
                                                      const StreamedFeedback::List& list, int level,
                                                      const FetchPoint& at, std::int32_t reach) {
    const StreamedFeedback::Level& info = feedback.levels[level];
    const Sampler& sampler = feedback.sampler;
    const TileSpan x = tile_span(at.x, info.texels[0], feedback.tile_bits[0], sampler.address[0], reach);
    const TileSpan y = tile_span(at.y, info.texels[1], feedback.tile_bits[1], sampler.address[1], reach);
    const TileSpan z = feedback.volume
                           ? tile_span(at.z, info.texels[2], feedback.tile_bits[2], sampler.address[2], reach)
                           : TileSpan{0, 0};
    const std::int32_t layer = layer_of(feedback, at);
    const auto each = [](const TileSpan& span, const auto& visit) {
        for (std::int32_t i = span.first; i <= span.last; ++i) visit(i);
        for (std::int32_t i = span.wrapped_first; i <= span.wrapped_last; ++i) visit(i);
    };
    each(z, [&](std::int32_t slice) {
        each(y, [&](std::int32_t row) {
            each(x, [&](std::int32_t column) { note_tile_at(feedback, list, level, layer, column, row, slice); });
        });
    });
}

/// Notes the tiles of a level that a fetch may read: all tiles within `reach` texels.
TEXTON_HD inline void note_footprint(const StreamedFeedback& feedback, const StreamedFeedback::List& list, int level,
                                     const FetchPoint& at, std::int32_t reach) {
    if (level < 0 || level >= feedback.resident_level) return;
    const StreamedFeedback::Level& info = feedback.levels[level];
    std::int32_t columns[2], rows[2], slices[2] = {};
    const auto plain = [&](int axis, float coordinate, std::int32_t(&tiles)[2]) {
        return plain_tile_span(coordinate, info.texels[axis], feedback.tile_bits[axis], feedback.sampler.address[axis],
                               reach, tiles);
    };
    if (!plain(0, at.x, columns) || !plain(1, at.y, rows) || (feedback.volume && !plain(2, at.z, slices)))
        return note_tiles(feedback, list, level, at, reach);
    const std::int32_t layer = layer_of(feedback, at);
    for (std::int32_t slice = slices[0]; slice <= slices[1]; ++slice) {
        for (std::int32_t row = rows[0]; row <= rows[1]; ++row) {
            for (std::int32_t column = columns[0]; column <= columns[1]; ++column)
                note_tile_at(feedback, list, level, layer, column, row, slice);
        }
    }
}

/// Returns log2 of a positive number with an error below 0.09, or -64 for others.
TEXTON_HD inline float rough_log2(float value) {
    if (!(value > 1e-18f)) return -64;
    const std::uint32_t bits = bits_of(value < 1e18f ? value : 1e18f);
    return static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 127) +
           static_cast<float>(bits & 0x7fffffu) / 8388608.0f;
}

/// Returns a level of detail without bias, and how far it may be from that of the texture unit.
template <FetchOperation operation>
TEXTON_HD float rough_lod(const StreamedFeedback& feedback, const FetchPoint& at, float& error) {
    if constexpr (operation != FetchOperation::gradients) {
        error = 0.004f;
        return at.lod == at.lod ? at.lod : 0.0f;
    }
    error = 0.25f;
    const auto size = [&](int axis) { return static_cast<float>(feedback.levels[0].texels[axis]); };
    float x[3];
    float y[3];
    for (int i = 0; i < 3; ++i) {
        const bool exists = i < 2 || feedback.volume;
        x[i] = exists ? at.dx[i] * size(i) : 0.0f;
        y[i] = exists ? at.dy[i] * size(i) : 0.0f;
    }
    const float x_square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    const float y_square = y[0] * y[0] + y[1] * y[1] + y[2] * y[2];
    const float major = 0.5f * rough_log2(x_square > y_square ? x_square : y_square);
    if (feedback.sampler.max_anisotropy < 2 || feedback.volume) return major;
    const float area = x[0] * y[1] - x[1] * y[0];
    const float ratio = 2.0f * major - rough_log2(area < 0 ? -area : area);
    const float limit = rough_log2(static_cast<float>(feedback.sampler.max_anisotropy));
    return major - (ratio < 0 ? 0.0f : ratio > limit ? limit : ratio);
}

/// Returns how many texels away from its coordinates a fetch may read in each level.
template <FetchOperation operation>
TEXTON_HD std::int32_t reach_of(const StreamedFeedback& feedback) {
    const int anisotropy = feedback.sampler.max_anisotropy;
    return operation == FetchOperation::gradients && anisotropy > 1 && !feedback.volume ? 4 + anisotropy : 2;
}

/// Notes the tiles that a fetch with clamp - 1 lacks, if `clamp` is the smallest clamp with resident texels: they are
/// in level clamp - 1, or next to texels of level `clamp`.
template <FetchOperation operation>
TEXTON_RARELY_CALLED TEXTON_HD void note_missing(const StreamedFeedback& feedback, FetchPoint at, int clamp) {
    const std::int32_t reach = reach_of<operation>(feedback);
    note_footprint(feedback, feedback.missing, clamp - 1, at, reach);
    note_footprint(feedback, feedback.missing, clamp, at, reach);
}

/// Notes the tiles that a fetch with a clamp reads.
template <FetchOperation operation>
TEXTON_RARELY_CALLED TEXTON_HD void note_used(const StreamedFeedback& feedback, FetchPoint at, int clamp) {
    const Sampler& sampler = feedback.sampler;
    float error = 0;
    float lod = rough_lod<operation>(feedback, at, error);
    const auto limited = [](float value, float low, float high) {
        const float below = value > high ? high : value;
        return below < low ? low : below;
    };
    lod = limited(lod + limited(sampler.mip_bias, -15, 15), sampler.mip_min, sampler.mip_max);
    lod = limited(lod, static_cast<float>(clamp), static_cast<float>(feedback.last_level));
    const float half = sampler.mip_filter == Filter::point ? 0.5f : 0.0f;
    const int first = integer_below(limited(lod - error + half, 0, 16));
    const int last = integer_below(lod + error + half) + (sampler.mip_filter == Filter::point ? 0 : 1);
    const std::int32_t reach = reach_of<operation>(feedback);
    for (int level = first; level <= last; ++level) note_footprint(feedback, feedback.used, level, at, reach);
}

}  // namespace detail
}  // namespace texton
