// Cubemaps, and conversions from and to other images of all directions.
//
// Light is sampled at N Hammersley points: (i + 1/2) / N and the reversed bits of i. They are transformed to directions
// whose density follows the lobe. A sample covers the solid angle 1 / (N pdf) and is fetched at the level of detail
// whose texels have that size (Colbert and Krivanek, GPU-Based Importance Sampling, GPU Gems 3, chapter 20; the solid
// angle of a texel is approximated by 4 pi / (6 n^2), where a face has n x n texels). The functor sums differences from
// the first sample, so that the result for a cube of a single color is exactly that color.
#include <texton/cubemap.h>

#include <span>
#include <string>
#include <vector>

#include <texton/float_math.h>
#include <texton/launch.h>

#include "kernels/functors/cube_direction.h"
#include "kernels/launch/checks.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

using Direction = detail::CubeDirection;

TEXTON_HD inline Direction direction_of(PixelPosition at, std::int32_t side) {
    return detail::direction_on_face(at.z, at.center_x(), at.center_y(), side);
}

TEXTON_HD inline Direction operator*(const Direction& a, float scale) {
    return {a.x * scale, a.y * scale, a.z * scale};
}
TEXTON_HD inline Direction operator+(const Direction& a, const Direction& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

TEXTON_HD inline Direction normalized(const Direction& a) {
    return a * (1.0f / sqrtf(a.x * a.x + a.y * a.y + a.z * a.z));
}

// --- conversion and rotation -----------------------------------------------------------------------------------------

struct FromEquirect {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kSlices = 2;
    std::int32_t side;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Direction to = direction_of(at, side);
        return source.at_texel(across(source, half_turns_of(to.x, to.z)),
                               down(source, half_turns_of(distance_from_axis(to), to.y)));
    }

    /// Computes the pixels of two opposite faces at mirrored positions.
    template <class Source>
    TEXTON_HD void mirrored(PixelPosition at, const Source& source, Float4 (&pixels)[4][kSlices]) const {
        const float u = detail::from_center(at.center_x(), side);
        const float v = detail::from_center(at.center_y(), side);
        switch (at.z) {
            case 0: return opposite_faces<0>(u, v, source, pixels);
            case 2: return opposite_faces<2>(u, v, source, pixels);
            default: return opposite_faces<4>(u, v, source, pixels);
        }
    }

private:
    /// The directions of these pixels differ only in the signs of their components. So both angles are computed once
    /// and then reflected.
    template <std::int32_t face, class Source>
    TEXTON_HD void opposite_faces(float u, float v, const Source& source, Float4 (&pixels)[4][kSlices]) const {
        const Direction size = magnitude_of(detail::direction_on_face(face, u, v));
        const float distance = distance_from_axis(size);
        const float around = half_turns_of_slope(slope_of(size.x, size.z));
        const float from_top = half_turns_of_slope(slope_of(distance, size.y));
        float x[2][2];  // indices: 1 if the direction's x is negative; 1 if its z is negative
        float y[2];     // index: 1 if the direction's y is negative
        for (int i = 0; i < 2; ++i) {
            const float to_x = i == 0 ? size.x : -size.x;
            for (int j = 0; j < 2; ++j)
                x[i][j] = across(source, half_turns_at(around, to_x, j == 0 ? size.z : -size.z));
            y[i] = down(source, half_turns_at(from_top, distance, i == 0 ? size.y : -size.y));
        }
        for (int mirror = 0; mirror < 4; ++mirror) {
            for (int i = 0; i < 2; ++i) {
                const Direction to =
                    detail::direction_on_face(face + i, mirror % 2 == 0 ? -1.0f : 1.0f, mirror / 2 == 0 ? -1.0f : 1.0f);
                pixels[mirror][i] = source.at_texel(x[to.x < 0 ? 1 : 0][to.z < 0 ? 1 : 0], y[to.y < 0 ? 1 : 0]);
            }
        }
    }

    TEXTON_HD static float distance_from_axis(const Direction& to) { return sqrtf(to.x * to.x + to.z * to.z); }
    TEXTON_HD static Direction magnitude_of(const Direction& to) {
        return {detail::magnitude_of(to.x), detail::magnitude_of(to.y), detail::magnitude_of(to.z)};
    }

    /// across() and down() convert angles in half turns to texel coordinates.
    template <class Source>
    TEXTON_HD static float across(const Source& source, float around) {
        return (0.5f + 0.5f * around) * static_cast<float>(source.width);
    }
    template <class Source>
    TEXTON_HD static float down(const Source& source, float from_top) {
        return from_top * static_cast<float>(source.height);
    }
};

struct ToEquirect {
    static constexpr bool kMayBeCalledWithZeros = true;
    float width;
    float height;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const SineCosine around = sine_cosine_of(2.0f * at.center_x() / width - 1.0f);
        const SineCosine down = sine_cosine_of(at.center_y() / height);
        return source.fetch_cube(around.sine * down.sine, down.cosine, around.cosine * down.sine);
    }
};

struct Rotated {
    static constexpr bool kMayBeCalledWithZeros = true;
    float rotation[9];
    std::int32_t side;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Direction d = direction_of(at, side);
        return source.fetch_cube(rotation[0] * d.x + rotation[1] * d.y + rotation[2] * d.z,
                                 rotation[3] * d.x + rotation[4] * d.y + rotation[5] * d.z,
                                 rotation[6] * d.x + rotation[7] * d.y + rotation[8] * d.z);
    }
};

// --- nets ------------------------------------------------------------------------------------------------------------

/// The layout of a net: its size, and the column and row of each face, in faces.
struct Net {
    std::int32_t width;
    std::int32_t height;
    std::int32_t column[6];
    std::int32_t row[6];
    std::int32_t turned;  ///< the face that is rotated by 180 degrees; -1 if there is none
};

Net net_of(CubeNet layout) {
    switch (layout) {
        case CubeNet::horizontal_cross: return {4, 3, {2, 0, 1, 1, 1, 3}, {1, 1, 0, 2, 1, 1}, -1};
        case CubeNet::vertical_cross: return {3, 4, {2, 0, 1, 1, 1, 1}, {1, 1, 0, 2, 1, 3}, 5};
        case CubeNet::horizontal_strip: return {6, 1, {0, 1, 2, 3, 4, 5}, {0, 0, 0, 0, 0, 0}, -1};
        case CubeNet::vertical_strip: return {1, 6, {0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5}, -1};
    }
    return {};
}

struct FromNet {
    static constexpr bool kMayBeCalledWithZeros = true;
    Net net;
    std::int32_t side;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const bool turned = at.z == net.turned;
        const std::int32_t x = turned ? side - 1 - at.x : at.x;
        const std::int32_t y = turned ? side - 1 - at.y : at.y;
        return source.at_texel(static_cast<float>(net.column[at.z] * side + x) + 0.5f,
                               static_cast<float>(net.row[at.z] * side + y) + 0.5f);
    }
};

struct ToNet {
    static constexpr bool kMayBeCalledWithZeros = true;
    Net net;
    std::int32_t side;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const std::int32_t column = at.x / side;
        const std::int32_t row = at.y / side;
        for (std::int32_t face = 0; face < 6; ++face) {
            if (net.column[face] != column || net.row[face] != row) continue;
            const bool turned = face == net.turned;
            const std::int32_t i = at.x - column * side;
            const std::int32_t j = at.y - row * side;
            const PixelPosition texel{turned ? side - 1 - i : i, turned ? side - 1 - j : j, face};
            const Direction to = direction_of(texel, side);
            return source.fetch_cube(to.x, to.y, to.z);
        }
        return {};
    }
};

// --- light -----------------------------------------------------------------------------------------------------------

/// Returns the reversed bits divided by 2^32. Only the upper 24 reversed bits are used, so that the result is below 1.
TEXTON_HD inline float reversed_share(std::uint32_t bits) {
    bits = bits << 16 | bits >> 16;
    bits = (bits & 0x00ff00ffu) << 8 | (bits & 0xff00ff00u) >> 8;
    bits = (bits & 0x0f0f0f0fu) << 4 | (bits & 0xf0f0f0f0u) >> 4;
    bits = (bits & 0x33333333u) << 2 | (bits & 0xccccccccu) >> 2;
    bits = (bits & 0x55555555u) << 1 | (bits & 0xaaaaaaaau) >> 1;
    return static_cast<float>(bits >> 8) * 0x1p-24f;
}

/// A direction around +z, its weight, and its solid angle in texels of a cube whose faces have one texel.
struct LobeSample {
    Direction direction;
    float weight;
    float texels;
};

/// Directions with cosine-weighted density, pdf = cos / pi. All samples have the weight 1.
struct CosineLobe {
    TEXTON_HD LobeSample sample(const SineCosine& around, float share, float count) const {
        const float sine = sqrtf(share);
        const float cosine = sqrtf(1.0f - share);
        return {{sine * around.cosine, sine * around.sine, cosine}, 1, 1.5f / (count * cosine)};
    }
};

/// Half vectors with the GGX distribution (Walter and others, Microfacet Models for Refraction, 2007, equation 35),
/// where alpha is the square of the roughness. Light is weighted by its cosine (Karis, Real Shading in Unreal Engine 4,
/// 2013). The view direction is the normal, so that pdf = D / 4, and D = q^2 / (pi alpha^2) with q = 1 + (alpha^2 - 1)
/// share.
struct GgxLobe {
    float alpha;

    TEXTON_HD LobeSample sample(const SineCosine& around, float share, float count) const {
        const float square = alpha * alpha;
        const float q = 1.0f + (square - 1.0f) * share;
        const float sine = alpha * sqrtf(share / q);
        const float cosine = sqrtf((1.0f - share) / q);
        const float flat = 2.0f * cosine * sine;
        const float up = 2.0f * cosine * cosine - 1.0f;
        return {{flat * around.cosine, flat * around.sine, up}, up > 0 ? up : 0.0f, 6.0f * square / (count * q * q)};
    }
};

/// A unit vector and two unit vectors orthogonal to it and to each other (Duff and others, Building an Orthonormal
/// Basis, Revisited, 2017).
struct Basis {
    Direction x;
    Direction y;
    Direction z;

    TEXTON_HD explicit Basis(const Direction& n) : x{}, y{}, z(n) {
        const float sign = n.z < 0 ? -1.0f : 1.0f;
        const float a = -1.0f / (sign + n.z);
        const float b = n.x * n.y * a;
        x = {1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x};
        y = {b, sign + n.y * n.y * a, -n.y};
    }
    TEXTON_HD Direction operator()(const Direction& local) const { return x * local.x + y * local.y + z * local.z; }
};

template <class Lobe>
struct Gathered {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    Lobe lobe;
    std::int32_t samples;
    std::int32_t side;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Basis basis(normalized(direction_of(at, side)));
        const auto count = static_cast<float>(samples);
        const auto texels = static_cast<float>(source.width) * static_cast<float>(source.width);
        Float4 first{};
        Float4 sum{};
        float total = 0;
        for (std::int32_t i = 0; i < samples; ++i) {
            const SineCosine around = sine_cosine_of(2.0f * (static_cast<float>(i) + 0.5f) / count);
            const LobeSample sample = lobe.sample(around, reversed_share(static_cast<std::uint32_t>(i)), count);
            if (sample.weight == 0) continue;
            const float lod = 0.5f * log2_of(sample.texels * texels);
            const Direction to = basis(sample.direction);
            const Float4 light = source.template get<ArrayKind::cubemap, FetchOperation::lod>(
                {.x = to.x, .y = to.y, .z = to.z, .lod = lod > 0 ? lod : 0.0f});
            if (total == 0) first = light;
            sum += (light - first) * sample.weight;
            total += sample.weight;
        }
        return {first.x + sum.x / total, first.y + sum.y / total, first.z + sum.z / total, first.w + sum.w / total};
    }
};

// --- checks ----------------------------------------------------------------------------------------------------------

constexpr const char* kNetToCube = "texton::net_to_cube";
constexpr const char* kCubeToNet = "texton::cube_to_net";
constexpr const char* kEquirectToCube = "texton::equirect_to_cube";
constexpr const char* kCubeToEquirect = "texton::cube_to_equirect";
constexpr const char* kRotateCube = "texton::rotate_cube";
constexpr const char* kIrradiance = "texton::irradiance";
constexpr const char* kPrefilterGgx = "texton::prefilter_ggx";

std::int32_t side_of(const View& cube) { return static_cast<std::int32_t>(cube.extent().width); }

void check_cube(const char* object, const View& cube) {
    const Extent sides = cube.extent();
    if (sides.width == sides.height && sides.depth == 6) return;
    detail::refuse_argument(object, "the cube has " + to_string(sides) + " pixels",
                            "Pass an image with six square slices.");
}

void check_one_slice(const char* object, const View& image) {
    if (image.extent().depth == 1) return;
    detail::refuse_argument(object, "the destination image has " + to_string(image.extent()) + " pixels",
                            "Pass an image with one slice.");
}

void check_net(const char* object, const Extent& sides, const Net& net, std::size_t side) {
    const Extent expected{static_cast<std::size_t>(net.width) * side, static_cast<std::size_t>(net.height) * side};
    if (sides == expected) return;
    detail::refuse_argument(
        object,
        "the net has " + to_string(sides) + " pixels, but a face of the cube has " + to_string(Extent{side, side}),
        "Use a net of " + to_string(expected) + " pixels.");
}

void check_samples(const char* object, const LightOptions& options) {
    detail::check_range(object, "samples", options.samples, 1, 65536);
}

}  // namespace

void net_to_cube(const Stream& stream, const View& cube, const Texture& net, CubeNet layout) try {
    detail::check_kind(kNetToCube, "net", net, {ArrayKind::array_2d});
    check_cube(kNetToCube, cube);
    check_net(kNetToCube, net.extent(), net_of(layout), cube.extent().width);
    detail::launch_as(kNetToCube, stream, cube, FromNet{net_of(layout), side_of(cube)}, net);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::net_to_cube");
}

void cube_to_net(const Stream& stream, const View& net, const Texture& cube, CubeNet layout) try {
    detail::check_kind(kCubeToNet, "cube", cube, {ArrayKind::cubemap});
    const std::size_t side = cube.extent().width;
    check_net(kCubeToNet, net.extent(), net_of(layout), side);
    detail::launch_as(kCubeToNet, stream, net, ToNet{net_of(layout), static_cast<std::int32_t>(side)}, cube);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::cube_to_net");
}

void equirect_to_cube(const Stream& stream, const View& cube, const Texture& equirect) try {
    detail::check_kind(kEquirectToCube, "equirect", equirect, {ArrayKind::array_2d});
    check_cube(kEquirectToCube, cube);
    detail::launch_as(kEquirectToCube, stream, cube, FromEquirect{side_of(cube)}, equirect);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::equirect_to_cube");
}

void cube_to_equirect(const Stream& stream, const View& equirect, const Texture& cube) try {
    detail::check_kind(kCubeToEquirect, "cube", cube, {ArrayKind::cubemap});
    check_one_slice(kCubeToEquirect, equirect);
    const Extent sides = equirect.extent();
    detail::launch_as(kCubeToEquirect, stream, equirect,
                      ToEquirect{static_cast<float>(sides.width), static_cast<float>(sides.height)}, cube);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::cube_to_equirect");
}

void rotate_cube(const Stream& stream, const View& rotated, const Texture& cube,
                 const std::array<float, 9>& rotation) try {
    detail::check_kind(kRotateCube, "cube", cube, {ArrayKind::cubemap});
    check_cube(kRotateCube, rotated);
    Rotated functor{{}, side_of(rotated)};
    for (std::size_t i = 0; i < rotation.size(); ++i) {
        detail::check_finite(kRotateCube, "rotation", rotation[i]);
        functor.rotation[i] = rotation[i];
    }
    detail::launch_as(kRotateCube, stream, rotated, functor, cube);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::rotate_cube");
}

void irradiance(const Stream& stream, const View& cube, const Texture& environment, const LightOptions& options) try {
    detail::check_kind(kIrradiance, "environment", environment, {ArrayKind::cubemap});
    detail::check_floats(kIrradiance, "environment", environment);
    check_cube(kIrradiance, cube);
    check_samples(kIrradiance, options);
    detail::launch_as(kIrradiance, stream, cube, Gathered<CosineLobe>{{}, options.samples, side_of(cube)}, environment);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::irradiance");
}

void prefilter_ggx(const Stream& stream, std::span<const View> levels, const Texture& environment,
                   std::span<const float> roughness, const LightOptions& options) try {
    detail::check_kind(kPrefilterGgx, "environment", environment, {ArrayKind::cubemap});
    detail::check_floats(kPrefilterGgx, "environment", environment);
    check_samples(kPrefilterGgx, options);
    if (levels.size() != roughness.size())
        detail::refuse_argument(kPrefilterGgx,
                                std::to_string(levels.size()) + " levels were passed, but " +
                                    std::to_string(roughness.size()) + " numbers of roughness",
                                "Pass one number per level.");
    for (const View& level : levels) check_cube(kPrefilterGgx, level);
    for (const float value : roughness) detail::check_range(kPrefilterGgx, "roughness", value, 0, 1);
    std::vector<detail::Launch> launches;  // checks all levels before the first is enqueued
    for (const View& level : levels)
        launches.emplace_back(kPrefilterGgx, stream, level, std::span(&environment, 1), detail::Overlap::refused);
    detail::check_distinct(launches, detail::level_name);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const float alpha = roughness[i] * roughness[i];
        const std::int32_t side = side_of(levels[i]);
        if (alpha == 0)  // the lobe is a single direction
            detail::run<1>(launches[i], Rotated{{1, 0, 0, 0, 1, 0, 0, 0, 1}, side});
        else
            detail::run<1>(launches[i], Gathered<GgxLobe>{{alpha}, options.samples, side});
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::prefilter_ggx");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

namespace {

constexpr const char* kGroup = "cubemap";

InputInfo cube_input(const char* summary) { return {"cube", summary, {ArrayKind::cubemap}}; }

ParameterInfo side_parameter(const char* otherwise) {
    return {.name = "side",
            .kind = ParameterKind::integer,
            .summary = std::string("width and height of a face, in texels; 0 means ") + otherwise,
            .standard = 0.0,
            .lowest = 0,
            .highest = 32768};
}

ParameterInfo layout_parameter(std::vector<std::string> choices) {
    return {.name = "layout",
            .kind = ParameterKind::choice,
            .summary = "direction in which the net is longer",
            .standard = choices[0],
            .choices = std::move(choices)};
}

ParameterInfo samples_parameter() {
    return {.name = "samples",
            .kind = ParameterKind::integer,
            .summary = "sample directions per texel",
            .standard = 1024.0,
            .lowest = 1,
            .highest = 65536};
}

std::size_t at_least_one(std::size_t side) { return side != 0 ? side : 1; }

ImageShape cube_like(std::size_t side, const Texture& texture) {
    return {{at_least_one(side), at_least_one(side), 6}, detail::shape_like(texture).format};
}

std::size_t side_or(const Arguments& arguments, std::size_t otherwise) {
    const int side = arguments.integer("side");
    return side != 0 ? static_cast<std::size_t>(side) : otherwise;
}

enum class NetKind : std::uint8_t { cross, strip };

CubeNet layout_of(const Arguments& arguments, NetKind kind) {
    const bool vertical = arguments.text("layout") == "vertical";
    if (kind == NetKind::cross) return vertical ? CubeNet::vertical_cross : CubeNet::horizontal_cross;
    return vertical ? CubeNet::vertical_strip : CubeNet::horizontal_strip;
}

Kernel net_to_cube_kernel(const char* name, const char* summary, NetKind kind) {
    KernelInfo info{name, kGroup, summary, {{"net", "image of the six faces"}}, {}};
    info.parameters = {layout_parameter({"horizontal", "vertical"})};
    return {
        std::move(info),
        [kind](const Arguments& arguments, std::span<const Texture> inputs) {
            const Net net = net_of(layout_of(arguments, kind));
            return std::vector{cube_like(inputs[0].extent().width / static_cast<std::size_t>(net.width), inputs[0])};
        },
        [kind](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
            net_to_cube(stream, images[0], inputs[0], layout_of(arguments, kind));
        }};
}

Kernel cube_to_net_kernel(const char* name, const char* summary, NetKind kind) {
    KernelInfo info{name, kGroup, summary, {cube_input("cubemap whose faces are arranged in the net")}, {}};
    info.parameters = {layout_parameter({"horizontal", "vertical"})};
    return {
        std::move(info),
        [kind](const Arguments& arguments, std::span<const Texture> inputs) {
            const Net net = net_of(layout_of(arguments, kind));
            ImageShape shape = detail::shape_like(inputs[0]);
            const std::size_t side = inputs[0].extent().width;
            shape.extent = {side * static_cast<std::size_t>(net.width), side * static_cast<std::size_t>(net.height)};
            return std::vector{shape};
        },
        [kind](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
            cube_to_net(stream, images[0], inputs[0], layout_of(arguments, kind));
        }};
}

}  // namespace

Kernel detail::equirect_to_cube_kernel() {
    KernelInfo info{"equirect_to_cube",
                    kGroup,
                    "converts an equirectangular image to a cube",
                    {{"equirect", "equirectangular image, twice as wide as high; +z is at the center, +y at the top"}},
                    {side_parameter("a quarter of the input's width")}};
    return {std::move(info),
            [](const Arguments& arguments, std::span<const Texture> inputs) {
                return std::vector{cube_like(side_or(arguments, inputs[0].extent().width / 4), inputs[0])};
            },
            [](const Stream& stream, std::span<const View> images, const Arguments&, std::span<const Texture> inputs) {
                equirect_to_cube(stream, images[0], inputs[0]);
            }};
}

Kernel detail::cube_to_equirect_kernel() {
    KernelInfo info{"cube_to_equirect",
                    kGroup,
                    "converts a cube to an equirectangular image",
                    {cube_input("cubemap to convert")},
                    {}};
    return {std::move(info),
            [](const Arguments&, std::span<const Texture> inputs) {
                const std::size_t side = inputs[0].extent().width;
                ImageShape shape = detail::shape_like(inputs[0]);
                shape.extent = {4 * side, 2 * side};
                return std::vector{shape};
            },
            [](const Stream& stream, std::span<const View> images, const Arguments&, std::span<const Texture> inputs) {
                cube_to_equirect(stream, images[0], inputs[0]);
            }};
}

Kernel detail::cross_to_cube_kernel() {
    return net_to_cube_kernel("cross_to_cube", "converts a cross of six faces to a cube", NetKind::cross);
}
Kernel detail::cube_to_cross_kernel() {
    return cube_to_net_kernel("cube_to_cross", "converts a cube to a cross of six faces", NetKind::cross);
}
Kernel detail::strip_to_cube_kernel() {
    return net_to_cube_kernel("strip_to_cube", "converts a strip of six faces to a cube", NetKind::strip);
}
Kernel detail::cube_to_strip_kernel() {
    return cube_to_net_kernel("cube_to_strip", "converts a cube to a strip of six faces", NetKind::strip);
}

Kernel detail::rotate_cube_kernel() {
    KernelInfo info{"rotate_cube", kGroup, "rotates a cube", {cube_input("cubemap to rotate")}, {}};
    info.parameters = {
        {.name = "rotation",
         .kind = ParameterKind::numbers,
         .summary = "matrix, row by row, that maps a direction of the result to the direction that is read",
         .standard = std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1},
         .count = 9}};
    return {std::move(info),
            [](const Arguments&, std::span<const Texture> inputs) {
                return std::vector{cube_like(inputs[0].extent().width, inputs[0])};
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                std::array<float, 9> rotation{};
                for (std::size_t i = 0; i < rotation.size(); ++i)
                    rotation[i] = static_cast<float>(arguments.numbers("rotation")[i]);
                rotate_cube(stream, images[0], inputs[0], rotation);
            }};
}

Kernel detail::irradiance_kernel() {
    KernelInfo info{"irradiance",
                    kGroup,
                    "computes the irradiance of an environment, divided by pi",
                    {cube_input("environment; levels and linear filters reduce noise")},
                    {side_parameter("32"), samples_parameter()}};
    return {std::move(info),
            [](const Arguments& arguments, std::span<const Texture> inputs) {
                return std::vector{cube_like(side_or(arguments, 32), inputs[0])};
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                irradiance(stream, images[0], inputs[0], {arguments.integer("samples")});
            }};
}

Kernel detail::prefilter_ggx_kernel() {
    KernelInfo info{"prefilter_ggx",
                    kGroup,
                    "prefilters an environment for glossy reflections, one level per roughness",
                    {cube_input("environment; levels and linear filters reduce noise")},
                    {side_parameter("the size of the environment's faces"), samples_parameter()}};
    info.parameters.push_back({.name = "roughness",
                               .kind = ParameterKind::numbers,
                               .summary = "roughness of each level; the first level is the largest",
                               .standard = std::vector<double>{0, 0.25, 0.5, 0.75, 1},
                               .lowest = 0,
                               .highest = 1});
    return {std::move(info),
            [](const Arguments& arguments, std::span<const Texture> inputs) {
                std::vector<ImageShape> shapes;
                std::size_t side = side_or(arguments, inputs[0].extent().width);
                for (std::size_t i = 0; i < arguments.numbers("roughness").size(); ++i, side /= 2)
                    shapes.push_back(cube_like(side, inputs[0]));
                return shapes;
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                std::vector<float> roughness;
                for (const double value : arguments.numbers("roughness"))
                    roughness.push_back(static_cast<float>(value));
                prefilter_ggx(stream, images, inputs[0], roughness, {arguments.integer("samples")});
            }};
}

}  // namespace texton
