#pragma once
// Shared parts of all warps: a map computes the coordinate that a pixel reads, and Warped fetches there.
//
// A map has these functions, whose further arguments are the other sources that the map itself fetches from:
//     WarpPosition position(PixelPosition at, const Sources&... sources) const
//     WarpSlopes slopes(PixelPosition at, const Sources&... sources) const
// slopes() is called only if position() returned an existing coordinate and minification is not `none`. A map whose
// computation is long declares kPixels = 1. A map that fetches makes a single fetch, of a 2D texture or a layer, at
// (center_x() * x_scale, center_y() * y_scale), which are members of the map.
#include <cstddef>
#include <cstdint>

#include <texton/float_math.h>
#include <texton/kernel.h>
#include <texton/launch.h>
#include <texton/warp.h>

#include "kernels/launch/checks.h"
#include "kernels/launch/dispatch.h"

namespace texton::detail {

/// The coordinate that a pixel reads, in texels. If `exists` is false the pixel gets the border color.
struct WarpPosition {
    float x;
    float y;
    bool exists = true;
};

/// The change of the coordinate from a pixel to its right neighbor and to the neighbor below, in texels.
struct WarpSlopes {
    float x_right;
    float y_right;
    float x_down;
    float y_down;
};

/// Returns the level of detail: the binary logarithm of the longer of the two changes (Vulkan 1.3, "Scale Factor,
/// Level-of-Detail Operation").
TEXTON_HD inline float level_of(const WarpSlopes& slopes) {
    const float right = slopes.x_right * slopes.x_right + slopes.y_right * slopes.y_right;
    const float down = slopes.x_down * slopes.x_down + slopes.y_down * slopes.y_down;
    const float longer = right > down ? right : down;
    constexpr float kMax = 1099511627776.0f;  // 2^40 (squared length), level 20: no texture has that many levels
    if (!(longer > 1.0f / kMax)) return -20.0f;
    return longer < kMax ? 0.5f * log2_of(longer) : 20.0f;
}

/// Returns the slope clamped to +-2^20, and 0 for NaN. Gradients stay finite, and larger ones would not change the
/// result.
TEXTON_HD inline float limited(float slope) {
    constexpr float kMax = 1048576.0f;
    if (!(slope == slope)) return 0;
    return slope > kMax ? kMax : slope < -kMax ? -kMax : slope;
}

template <class Map, Minification minification>
constexpr unsigned pixels_of_warp() {
    if constexpr (requires { Map::kPixels; }) return Map::kPixels;
    return minification == Minification::none ? 4 : 1;
}

template <class Map, Minification minification>
struct Warped {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = pixels_of_warp<Map, minification>();
    Map map;
    Float4 border;
    bool layered;

    template <class Source, class... Sources>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Sources&... sources) const {
        const WarpPosition position = map.position(at, sources...);
        if (!position.exists) return border;
        FetchPoint point{.x = position.x * source.x_unit, .y = position.y * source.y_unit, .layer = at.z};
        if constexpr (minification == Minification::none) {
            return fetch<FetchOperation::plain>(source, point);
        } else if constexpr (minification == Minification::mip) {
            point.lod = level_of(map.slopes(at, sources...));
            return fetch<FetchOperation::lod>(source, point);
        } else {
            const WarpSlopes slopes = map.slopes(at, sources...);
            point.dx[0] = limited(slopes.x_right) * source.x_unit;
            point.dx[1] = limited(slopes.y_right) * source.y_unit;
            point.dy[0] = limited(slopes.x_down) * source.x_unit;
            point.dy[1] = limited(slopes.y_down) * source.y_unit;
            return fetch<FetchOperation::gradients>(source, point);
        }
    }

private:
    template <FetchOperation operation, class Source>
    TEXTON_HD Float4 fetch(const Source& source, const FetchPoint& point) const {
        return layered ? source.template get<ArrayKind::layered_2d, operation>(point)
                       : source.template get<ArrayKind::array_2d, operation>(point);
    }
};

inline void check_warp(const char* object, const View& image, const Texture& texture, const WarpOptions& options) {
    check_kind(object, "texture", texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    check_slices(object, image, texture);
    if (options.minification != Minification::none) check_levels(object, "texture", texture);
}

/// A source whose only fetch has been executed already.
struct FetchedTexel {
    Float4 texel;
    TEXTON_HD Float4 at_texel(float, float) const { return texel; }
    TEXTON_HD Float4 layer_at_texel(int, float, float) const { return texel; }
};

/// Computes the coordinates of a step of pixels. Compilers vectorize loops of constant length at more levels of
/// optimization, if parameters say that memory does not overlap. Returns whether all pixels exist.
template <bool has_source, class Map>
bool warp_step(Map map, PixelPosition at, [[maybe_unused]] const float* __restrict map_x,
               [[maybe_unused]] const float* __restrict map_y, float* __restrict x, float* __restrict y,
               std::int32_t* __restrict exists) {
    constexpr auto kStep = static_cast<std::int32_t>(Warp::Row::kStep);
    std::int32_t existing = 0;
    for (std::int32_t i = 0; i < kStep; ++i) {
        const PixelPosition pixel{at.x + i, at.y, at.z};
        WarpPosition position;
        if constexpr (has_source) {
            position = map.position(pixel, FetchedTexel{{map_x[i], map_y[i], 0, 0}});
        } else {
            position = map.position(pixel);
        }
        x[i] = position.x;
        y[i] = position.y;
        exists[i] = position.exists ? 1 : 0;
        existing += exists[i];
    }
    return existing == kStep;
}

/// Returns the warp for DeviceKernels::warp(). The map fetches from as many sources as `has_source` says.
template <bool has_source, class Map>
Warp warp_of(const Map& map, const Float4& border) {
    Warp warp;
    warp.border = border;
    if constexpr (has_source) {
        warp.map_x = map.x_scale;
        warp.map_y = map.y_scale;
    }
    warp.coordinates = [map](PixelPosition at, std::size_t count, const Warp::MapRow& fetched, Warp::Row& row) {
        bool all_exist = true;
        for (std::size_t i = 0; i < count; i += Warp::Row::kStep) {
            const float* const map_x = has_source ? fetched.x + i : nullptr;
            const float* const map_y = has_source ? fetched.y + i : nullptr;
            all_exist &= warp_step<has_source>(map, at, map_x, map_y, row.x + i, row.y + i, row.exists + i);
            at.x += static_cast<std::int32_t>(Warp::Row::kStep);
        }
        return all_exist;
    };
    return warp;
}

/// Enqueues the warp. The map fetches from `sources`, of which there is at most one.
template <class Map, class... Sources>
void enqueue_warp(const char* object, const Stream& stream, const View& image, const Map& map,
                  const WarpOptions& options, const Texture& texture, const Sources&... sources) {
    constexpr std::size_t kTextures = 1 + sizeof...(sources);
    static_assert(kTextures <= 2);
    const Float4 border{options.border[0], options.border[1], options.border[2], options.border[3]};
    const bool layered = texture.kind() == ArrayKind::layered_2d;
    switch (options.minification) {
        case Minification::none: {
            const Texture textures[] = {texture, sources...};
            Launch launch(object, stream, image, textures, Overlap::refused);
            if (device_kernels(launch).warp(launch, [&] { return warp_of<kTextures == 2>(map, border); })) return;
            return run<kTextures>(launch, Warped<Map, Minification::none>{map, border, layered});
        }
        case Minification::mip:
            return launch_as(object, stream, image, Warped<Map, Minification::mip>{map, border, layered}, texture,
                             sources...);
        case Minification::anisotropic:
            return launch_as(object, stream, image, Warped<Map, Minification::anisotropic>{map, border, layered},
                             texture, sources...);
    }
}

// --- named kernels ---------------------------------------------------------------------------------------------------

/// Returns the named kernel of a warp. Its parameters are `parameters` followed by the parameters of all warps. Its
/// shape is the shape of the input.
Kernel warp_kernel(std::string name, std::string summary, std::vector<ParameterInfo> parameters);
WarpOptions warp_options(const Arguments& arguments);
/// Returns a number of a parameter that is a list of numbers, as float.
inline float number_at(const std::vector<double>& numbers, std::size_t index) {
    return static_cast<float>(numbers[index]);
}

}  // namespace texton::detail
