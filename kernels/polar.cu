// Conversion between Cartesian and polar images.
#include <texton/warp.h>

#include "kernels/functors/warp_functors.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

using detail::WarpPosition;
using detail::WarpSlopes;

constexpr const char* kPolar = "texton::warp_polar";

constexpr float kPi = 3.14159265f;
constexpr float kLogarithmOf2 = 0.693147181f;

/// The relation between radii, in texels, and rows of the polar image.
struct Radii {
    bool logarithmic;
    float inner;
    float step;     // texels per row, or octaves per row if logarithmic
    float rows;     // rows per texel, or rows per octave if logarithmic
    float inverse;  // 1 / inner if logarithmic

    TEXTON_HD float radius(float row) const { return logarithmic ? inner * exp2_of(row * step) : inner + row * step; }
    TEXTON_HD float row(float radius) const {
        return (logarithmic ? log2_of(radius * inverse) : radius - inner) * rows;
    }
    /// Returns the change of the radius from one row to the next, in texels.
    TEXTON_HD float radius_slope(float radius) const { return logarithmic ? radius * (step * kLogarithmOf2) : step; }
    /// Returns the change of the row for a radius that is larger by one texel.
    TEXTON_HD float row_slope(float radius) const { return logarithmic ? rows / (radius * kLogarithmOf2) : rows; }
};

struct ToPolar {
    float center_x;
    float center_y;
    float half_turns;  // per pixel
    Radii radii;

    TEXTON_HD WarpPosition position(PixelPosition at) const {
        const SineCosine toward = sine_cosine_of(at.center_x() * half_turns);
        const float radius = radii.radius(at.center_y());
        return {center_x + radius * toward.cosine, center_y + radius * toward.sine};
    }
    TEXTON_HD WarpSlopes slopes(PixelPosition at) const {
        const SineCosine toward = sine_cosine_of(at.center_x() * half_turns);
        const float radius = radii.radius(at.center_y());
        const float along = radius * (half_turns * kPi);
        const float outward = radii.radius_slope(radius);
        return {-along * toward.sine, along * toward.cosine, outward * toward.cosine, outward * toward.sine};
    }
};

struct FromPolar {
    float center_x;
    float center_y;
    float width;  // width of the polar texture, which is a full turn
    Radii radii;

    TEXTON_HD WarpPosition position(PixelPosition at) const {
        const float x = at.center_x() - center_x;
        const float y = at.center_y() - center_y;
        const float radius = sqrtf(x * x + y * y);
        const float half_turns = half_turns_of(y, x);
        const float turn = 0.5f * (half_turns < 0 ? half_turns + 2.0f : half_turns);
        return {turn * width, radii.row(radius), radius > 0 || !radii.logarithmic};
    }
    TEXTON_HD WarpSlopes slopes(PixelPosition at) const {
        const float x = at.center_x() - center_x;
        const float y = at.center_y() - center_y;
        const float length = sqrtf(x * x + y * y);
        const float radius = length > 0.5f ? length : 0.5f;  // the pixel at the center contains all angles
        const float around = width / (2.0f * kPi * (radius * radius));
        const float outward = radii.row_slope(radius) / radius;
        return {-y * around, x * outward, x * around, y * outward};
    }
};

/// Returns the parameters with the defaults that depend on the Cartesian image.
Polar completed(Polar polar, Extent cartesian) {
    if (polar.outer == 0) {
        polar.center_x = 0.5f * static_cast<float>(cartesian.width);
        polar.center_y = 0.5f * static_cast<float>(cartesian.height);
        polar.outer = polar.center_x < polar.center_y ? polar.center_x : polar.center_y;
    }
    if (polar.logarithmic && polar.inner == 0) polar.inner = 1;
    return polar;
}

void check_polar(const Polar& polar) {
    detail::check_finite(kPolar, "center_x", polar.center_x);
    detail::check_finite(kPolar, "center_y", polar.center_y);
    detail::check_finite(kPolar, "inner", polar.inner);
    detail::check_positive(kPolar, "outer", polar.outer);
    if (polar.inner < 0 || polar.inner >= polar.outer)
        detail::refuse_argument(
            kPolar, "inner is " + std::to_string(polar.inner) + ", but outer is " + std::to_string(polar.outer),
            "Use an inner radius that is at least 0 and less than the outer radius.");
}

/// Returns the relation for a polar image with `height` rows.
Radii radii_of(const Polar& polar, float height) {
    const float range = polar.logarithmic ? log2_of(polar.outer / polar.inner) : polar.outer - polar.inner;
    return {polar.logarithmic, polar.inner, range / height, height / range,
            polar.logarithmic ? 1.0f / polar.inner : 0.0f};
}

}  // namespace

void warp_polar(const Stream& stream, const View& image, const Texture& texture, const Polar& polar,
                const WarpOptions& options) try {
    detail::check_warp(kPolar, image, texture, options);
    const bool to_polar = polar.direction == PolarDirection::to_polar;
    const Extent extent = to_polar ? image.extent() : texture.extent();
    const Polar whole = completed(polar, to_polar ? texture.extent() : image.extent());
    check_polar(whole);
    const auto width = static_cast<float>(extent.width);
    const Radii radii = radii_of(whole, static_cast<float>(extent.height));
    if (to_polar) {
        const ToPolar map{whole.center_x, whole.center_y, 2.0f / width, radii};
        return detail::enqueue_warp(kPolar, stream, image, map, options, texture);
    }
    const FromPolar map{whole.center_x, whole.center_y, width, radii};
    detail::enqueue_warp(kPolar, stream, image, map, options, texture);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::warp_polar");
}

Kernel detail::warp_polar_kernel() {
    Kernel kernel = warp_kernel(
        "warp_polar", "converts an image to polar coordinates, or back",
        {{.name = "direction",
          .kind = ParameterKind::choice,
          .summary = "to_polar: the result is polar; from_polar: the input is polar",
          .standard = "to_polar",
          .choices = {"to_polar", "from_polar"}},
         {.name = "logarithmic",
          .kind = ParameterKind::flag,
          .summary = "radii grow by the same factor from row to row",
          .standard = false},
         {.name = "circle",
          .kind = ParameterKind::numbers,
          .summary =
              "x and y of the center, inner and outer radius, in texels; 0 0 0 0 means the largest circle around "
              "the image's center",
          .standard = std::vector<double>{0, 0, 0, 0},
          .count = 4}});
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        const std::vector<double>& circle = arguments.numbers("circle");
        warp_polar(stream, images[0], inputs[0],
                   {arguments.choice<PolarDirection>("direction"), arguments.flag("logarithmic"), number_at(circle, 0),
                    number_at(circle, 1), number_at(circle, 2), number_at(circle, 3)},
                   warp_options(arguments));
    };
    return kernel;
}

}  // namespace texton
