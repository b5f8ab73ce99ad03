// Warps whose coordinates are computed by a matrix or given by an image.
#include <texton/warp.h>

#include <texton/sample.h>

#include "arrays/texture_state.h"
#include "kernels/functors/warp_functors.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

using detail::WarpPosition;
using detail::WarpSlopes;

constexpr const char* kAffine = "texton::warp_affine";
constexpr const char* kPerspective = "texton::warp_perspective";
constexpr const char* kMap = "texton::warp_map";

// --- affine ----------------------------------------------------------------------------------------------------------

/// Fetches through a map to the sampler's coordinates. Each operation is rounded as in sample(), so the result does not
/// depend on which of the two computes the image.
struct AffineFetch {
    static constexpr bool kMayBeCalledWithZeros = true;
    AffineMap map;
    bool layered;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const float x = (map.xx * at.center_x() + map.xy * at.center_y()) + map.x0;
        const float y = (map.yx * at.center_x() + map.yy * at.center_y()) + map.y0;
        return layered ? source.fetch_layer(at.z, x, y) : source.fetch(x, y);
    }
};

struct AffinePositions {
    Affine map;

    TEXTON_HD WarpPosition position(PixelPosition at) const {
        return {(map.xx * at.center_x() + map.xy * at.center_y()) + map.x0,
                (map.yx * at.center_x() + map.yy * at.center_y()) + map.y0};
    }
    TEXTON_HD WarpSlopes slopes(PixelPosition) const { return {map.xx, map.yx, map.xy, map.yy}; }
};

AffineMap in_sampler_coordinates(const Affine& map, const Texture& texture) {
    const bool normalized = texture.sampler().normalized_coordinates;
    const float x = normalized ? 1.0f / static_cast<float>(texture.extent().width) : 1.0f;
    const float y = normalized ? 1.0f / static_cast<float>(texture.extent().height) : 1.0f;
    return {map.xx * x, map.xy * x, map.x0 * x, map.yx * y, map.yy * y, map.y0 * y};
}

void check_map(const Affine& map) {
    detail::check_finite(kAffine, "xx of the map", map.xx);
    detail::check_finite(kAffine, "xy of the map", map.xy);
    detail::check_finite(kAffine, "x0 of the map", map.x0);
    detail::check_finite(kAffine, "yx of the map", map.yx);
    detail::check_finite(kAffine, "yy of the map", map.yy);
    detail::check_finite(kAffine, "y0 of the map", map.y0);
}

// --- perspective -----------------------------------------------------------------------------------------------------

struct PerspectivePositions {
    float m[3][3];

    TEXTON_HD float row(int index, PixelPosition at) const {
        return (m[index][0] * at.center_x() + m[index][1] * at.center_y()) + m[index][2];
    }
    TEXTON_HD WarpPosition position(PixelPosition at) const {
        const float w = row(2, at);
        return {row(0, at) / w, row(1, at) / w, w > 0};
    }
    TEXTON_HD WarpSlopes slopes(PixelPosition at) const {
        const float w = row(2, at);
        const float x = row(0, at) / w;
        const float y = row(1, at) / w;
        return {(m[0][0] - x * m[2][0]) / w, (m[1][0] - y * m[2][0]) / w, (m[0][1] - x * m[2][1]) / w,
                (m[1][1] - y * m[2][1]) / w};
    }
};

// --- by an image -----------------------------------------------------------------------------------------------------

struct ImagePositions {
    std::int32_t width;   // width of the destination image
    std::int32_t height;  // height of the destination image
    float x_scale;        // texels of the map per pixel
    float y_scale;
    float from_center;  // 1: positions are relative to the pixel's center; 0: absolute. Branches prevent vectors.
    bool layered;

    template <class Source>
    TEXTON_HD WarpPosition position(PixelPosition at, const Source& map) const {
        const float x = at.center_x() * x_scale;
        const float y = at.center_y() * y_scale;
        const Float4 position = layered ? map.layer_at_texel(at.z, x, y) : map.at_texel(x, y);
        const bool exists = position.x == position.x && position.y == position.y;
        return {at.center_x() * from_center + position.x, at.center_y() * from_center + position.y, exists};
    }
    /// Returns half the difference between the neighbors on both sides. At an edge, or beside a pixel without a
    /// coordinate, returns the difference between the pixel itself and its other neighbor.
    template <class Source>
    TEXTON_HD WarpSlopes slopes(PixelPosition at, const Source& map) const {
        const Change right = change(at, 1, 0, map);
        const Change down = change(at, 0, 1, map);
        return {right.x, right.y, down.x, down.y};
    }

private:
    struct Change {
        float x;
        float y;
    };
    template <class Source>
    TEXTON_HD Change change(PixelPosition at, std::int32_t x, std::int32_t y, const Source& map) const {
        const bool has_before = x != 0 ? at.x > 0 : at.y > 0;
        const bool has_after = x != 0 ? at.x + 1 < width : at.y + 1 < height;
        const WarpPosition center = position(at, map);
        WarpPosition before = has_before ? position({at.x - x, at.y - y, at.z}, map) : center;
        WarpPosition after = has_after ? position({at.x + x, at.y + y, at.z}, map) : center;
        const bool two_sided = has_before && has_after && before.exists && after.exists;
        if (!before.exists) before = center;
        if (!after.exists) after = center;
        const float share = two_sided ? 0.5f : 1.0f;
        return {(after.x - before.x) * share, (after.y - before.y) * share};
    }
};

void check_map(const Texture& texture, const Texture& map) {
    detail::check_kind(kMap, "map", map, {ArrayKind::array_2d, ArrayKind::layered_2d});
    detail::check_floats(kMap, "map", map);
    if (info(map.format()).channels < 2)
        detail::refuse_argument(kMap, "map has one channel", "Use a texture with two channels: x and y.");
    if (map.kind() == ArrayKind::layered_2d && map.layers() != texture.layers())
        detail::refuse_argument(kMap,
                                "map has " + std::to_string(map.layers()) + " layers, but the texture has " +
                                    std::to_string(texture.layers()),
                                "Use a 2D map, or a map with as many layers as the texture.");
}

}  // namespace

void warp_affine(const Stream& stream, const View& image, const Texture& texture, const Affine& map,
                 const WarpOptions& options) try {
    detail::check_warp(kAffine, image, texture, options);
    check_map(map);
    if (options.minification != Minification::none)
        return detail::enqueue_warp(kAffine, stream, image, AffinePositions{map}, options, texture);
    const AffineMap scaled = in_sampler_coordinates(map, texture);
    if (!detail::fits_sample(image, texture)) {
        const AffineFetch fetch{scaled, texture.kind() == ArrayKind::layered_2d};
        return detail::launch_as(kAffine, stream, image, fetch, texture);
    }
    detail::Launch(kAffine, stream, image, {&texture, 1}, detail::Overlap::refused).sample_grid(scaled);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::warp_affine");
}

void warp_perspective(const Stream& stream, const View& image, const Texture& texture, const Perspective& map,
                      const WarpOptions& options) try {
    detail::check_warp(kPerspective, image, texture, options);
    PerspectivePositions positions{};
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
            const std::string name = "map[" + std::to_string(row) + "][" + std::to_string(column) + "]";
            detail::check_finite(kPerspective, name.c_str(), map[row][column]);
            positions.m[row][column] = map[row][column];
        }
    }
    detail::enqueue_warp(kPerspective, stream, image, positions, options, texture);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::warp_perspective");
}

void warp_map(const Stream& stream, const View& image, const Texture& texture, const Texture& map,
              MapCoordinates positions, const WarpOptions& options) try {
    detail::check_warp(kMap, image, texture, options);
    check_map(texture, map);
    const Extent extent = image.extent();
    // Pixels then read whole texels of the map.
    const bool is_fitting = map.extent().width == extent.width && map.extent().height == extent.height;
    const ImagePositions map_positions{static_cast<std::int32_t>(extent.width),
                                       static_cast<std::int32_t>(extent.height),
                                       static_cast<float>(map.extent().width) / static_cast<float>(extent.width),
                                       static_cast<float>(map.extent().height) / static_cast<float>(extent.height),
                                       positions == MapCoordinates::offset ? 1.0f : 0.0f,
                                       map.kind() == ArrayKind::layered_2d};
    detail::enqueue_warp(kMap, stream, image, map_positions, options, texture,
                         is_fitting ? detail::by_points(map) : map);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::warp_map");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

Kernel detail::warp_kernel(std::string name, std::string summary, std::vector<ParameterInfo> parameters) {
    Kernel kernel;
    kernel.info.name = std::move(name);
    kernel.info.group = "warp";
    kernel.info.summary = std::move(summary);
    kernel.info.inputs = {{"image", "image to warp", {ArrayKind::array_2d, ArrayKind::layered_2d}}};
    kernel.info.parameters = std::move(parameters);
    kernel.info.parameters.push_back(
        {.name = "minification",
         .kind = ParameterKind::choice,
         .summary = "how levels are chosen; mip and anisotropic need an image with several levels",
         .standard = "none",
         .choices = {"none", "mip", "anisotropic"}});
    kernel.info.parameters.push_back({.name = "border",
                                      .kind = ParameterKind::numbers,
                                      .summary = "color of pixels without a coordinate in the image",
                                      .standard = std::vector<double>{0, 0, 0, 0},
                                      .count = 4});
    kernel.shapes = [](const Arguments&, std::span<const Texture> inputs) {
        return std::vector<ImageShape>{shape_like(inputs[0])};
    };
    return kernel;
}

WarpOptions detail::warp_options(const Arguments& arguments) {
    const std::vector<double>& border = arguments.numbers("border");
    return {arguments.choice<Minification>("minification"),
            {number_at(border, 0), number_at(border, 1), number_at(border, 2), number_at(border, 3)}};
}

Kernel detail::warp_affine_kernel() {
    Kernel kernel =
        warp_kernel("warp_affine", "warps an image with an affine map",
                    {{.name = "map",
                      .kind = ParameterKind::numbers,
                      .summary = "two rows of a matrix that maps (x, y, 1) of a pixel to texels of the image",
                      .standard = std::vector<double>{1, 0, 0, 0, 1, 0},
                      .count = 6}});
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        const std::vector<double>& map = arguments.numbers("map");
        warp_affine(stream, images[0], inputs[0],
                    {number_at(map, 0), number_at(map, 1), number_at(map, 2), number_at(map, 3), number_at(map, 4),
                     number_at(map, 5)},
                    warp_options(arguments));
    };
    return kernel;
}

Kernel detail::warp_perspective_kernel() {
    Kernel kernel = warp_kernel(
        "warp_perspective", "warps an image with a perspective map",
        {{.name = "map",
          .kind = ParameterKind::numbers,
          .summary = "three rows of a matrix that maps (x, y, 1) of a pixel to (x, y, w) in texels of the image",
          .standard = std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1},
          .count = 9}});
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        const std::vector<double>& numbers = arguments.numbers("map");
        Perspective map{};
        for (std::size_t i = 0; i < 9; ++i) map[i / 3][i % 3] = number_at(numbers, i);
        warp_perspective(stream, images[0], inputs[0], map, warp_options(arguments));
    };
    return kernel;
}

Kernel detail::warp_map_kernel() {
    Kernel kernel = warp_kernel(
        "warp_map", "warps an image with coordinates from another image",
        {{.name = "coordinates",
          .kind = ParameterKind::choice,
          .summary = "meaning of the map's channels: coordinates in texels, or offsets from the pixel's center",
          .standard = "absolute",
          .choices = {"absolute", "offset"}}});
    kernel.info.inputs.push_back(
        {"map", "coordinate that each pixel reads: x and y in texels", {ArrayKind::array_2d, ArrayKind::layered_2d}});
    kernel.shapes = [](const Arguments&, std::span<const Texture> inputs) {
        ImageShape shape = shape_like(inputs[0]);
        shape.extent.width = inputs[1].extent().width;
        shape.extent.height = inputs[1].extent().height;
        return std::vector<ImageShape>{shape};
    };
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        warp_map(stream, images[0], inputs[0], inputs[1], arguments.choice<MapCoordinates>("coordinates"),
                 warp_options(arguments));
    };
    return kernel;
}

}  // namespace texton
