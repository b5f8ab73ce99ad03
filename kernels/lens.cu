// Lens distortion and its inverse.
//
// A model maps the ray (x, y, 1) in front of the lens to a ray behind it. In both models the Jacobian of this mapping
// is a symmetric matrix. The inverse is computed with Newton's method, in a fixed number of steps so that all devices
// compute the same bits.
#include <texton/warp.h>

#include "kernels/functors/warp_functors.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

using detail::WarpPosition;
using detail::WarpSlopes;

constexpr const char* kUndistort = "texton::undistort";
constexpr const char* kDistort = "texton::distort";

constexpr int kSteps = 6;           // Newton steps; four are enough for full precision with common lenses
constexpr float kClose = 0.00001f;  // tolerance of the inverse: 1/100 texel at a focal length of 1000 texels
constexpr float kPi = 3.14159265f;

// --- models ----------------------------------------------------------------------------------------------------------

/// A ray behind the lens, and its derivatives with respect to the ray in front.
struct BentRay {
    float x;
    float y;
    float xx;
    float xy;  // derivative of x with respect to y, and of y with respect to x
    float yy;
};

/// A ray in front of the lens. `exists` is false if no ray is mapped to the given ray behind the lens.
struct StraightRay {
    float x;
    float y;
    bool exists;
};

TEXTON_HD inline BentRay bend(const BrownConrady& lens, float x, float y) {
    const float r2 = x * x + y * y;
    const float grown = 1.0f + r2 * (lens.k1 + r2 * (lens.k2 + r2 * lens.k3));
    const float growth = lens.k1 + r2 * (2.0f * lens.k2 + r2 * (3.0f * lens.k3));  // derivative of `grown` by r2
    return {x * grown + (2.0f * lens.p1 * (x * y) + lens.p2 * (r2 + 2.0f * (x * x))),
            y * grown + (lens.p1 * (r2 + 2.0f * (y * y)) + 2.0f * lens.p2 * (x * y)),
            grown + 2.0f * (x * x) * growth + (2.0f * lens.p1 * y + 6.0f * lens.p2 * x),
            2.0f * (x * y) * growth + (2.0f * lens.p1 * x + 2.0f * lens.p2 * y),
            grown + 2.0f * (y * y) * growth + (6.0f * lens.p1 * y + 2.0f * lens.p2 * x)};
}

TEXTON_HD inline StraightRay straighten(const BrownConrady& lens, float bent_x, float bent_y) {
    float x = bent_x;
    float y = bent_y;
    for (int step = 0; step < kSteps; ++step) {
        const BentRay guess = bend(lens, x, y);
        const float left_x = bent_x - guess.x;
        const float left_y = bent_y - guess.y;
        const float scale = 1.0f / (guess.xx * guess.yy - guess.xy * guess.xy);
        x += (guess.yy * left_x - guess.xy * left_y) * scale;
        y += (guess.xx * left_y - guess.xy * left_x) * scale;
    }
    const BentRay reached = bend(lens, x, y);
    const float close = kClose * (1.0f + (fabsf(bent_x) + fabsf(bent_y)));
    const bool is_near = fabsf(reached.x - bent_x) <= close && fabsf(reached.y - bent_y) <= close;
    // Beyond the point where the polynomial turns back, the Jacobian is not positive definite: a direction is reversed.
    const bool is_upright = reached.xx * reached.yy - reached.xy * reached.xy > 0 && reached.xx + reached.yy > 0;
    return {x, y, is_near && is_upright};
}

/// The distance from the center for an angle, and its derivative.
struct FisheyeRadius {
    float radius;
    float growth;
};

TEXTON_HD inline FisheyeRadius radius_of(const Fisheye& lens, float angle) {
    const float a2 = angle * angle;
    return {angle * (1.0f + a2 * (lens.k1 + a2 * (lens.k2 + a2 * (lens.k3 + a2 * lens.k4)))),
            1.0f + a2 * (3.0f * lens.k1 + a2 * (5.0f * lens.k2 + a2 * (7.0f * lens.k3 + a2 * (9.0f * lens.k4))))};
}

TEXTON_HD inline BentRay bend(const Fisheye& lens, float x, float y) {
    const float r2 = x * x + y * y;
    const float r = sqrtf(r2);
    if (r < 0.000001f) return {x, y, 1, 0, 1};
    const FisheyeRadius bent = radius_of(lens, half_turns_of(r, 1.0f) * kPi);
    const float scale = bent.radius / r;
    const float growth = (bent.growth / (1.0f + r2) - scale) / r2;
    return {x * scale, y * scale, scale + x * x * growth, x * y * growth, scale + y * y * growth};
}

TEXTON_HD inline StraightRay straighten(const Fisheye& lens, float bent_x, float bent_y) {
    const float radius = sqrtf(bent_x * bent_x + bent_y * bent_y);
    if (radius < 0.000001f) return {bent_x, bent_y, true};
    float angle = radius;
    for (int step = 0; step < kSteps; ++step) {
        const FisheyeRadius guess = radius_of(lens, angle);
        angle += (radius - guess.radius) / guess.growth;
    }
    const FisheyeRadius reached = radius_of(lens, angle);
    const bool is_near = fabsf(reached.radius - radius) <= kClose * (1.0f + radius) && reached.growth > 0;
    if (!is_near || !(angle > 0 && angle < 0.5f * kPi)) return {0, 0, false};
    const SineCosine turned = sine_cosine_of(angle * (1.0f / kPi));
    const float scale = turned.sine / (turned.cosine * radius);
    return {bent_x * scale, bent_y * scale, turned.cosine > 0};
}

// --- pixels ----------------------------------------------------------------------------------------------------------

/// The map of undistort(): from pixels of the undistorted image to coordinates in the distorted image.
template <class Distortion>
struct Undistorted {
    Distortion lens;
    Camera bent;
    Camera straight;

    TEXTON_HD BentRay ray(PixelPosition at) const {
        return bend(lens, (at.center_x() - straight.cx) / straight.fx, (at.center_y() - straight.cy) / straight.fy);
    }
    TEXTON_HD WarpPosition position(PixelPosition at) const {
        const BentRay to = ray(at);
        return {to.x * bent.fx + bent.cx, to.y * bent.fy + bent.cy};
    }
    TEXTON_HD WarpSlopes slopes(PixelPosition at) const {
        const BentRay to = ray(at);
        return {to.xx * bent.fx / straight.fx, to.xy * bent.fy / straight.fx, to.xy * bent.fx / straight.fy,
                to.yy * bent.fy / straight.fy};
    }
};

/// The map of distort(): from pixels of the distorted image to coordinates in the undistorted image.
template <class Distortion>
struct Distorted {
    static constexpr unsigned kPixels = 1;
    Distortion lens;
    Camera bent;
    Camera straight;

    TEXTON_HD StraightRay ray(PixelPosition at) const {
        return straighten(lens, (at.center_x() - bent.cx) / bent.fx, (at.center_y() - bent.cy) / bent.fy);
    }
    TEXTON_HD WarpPosition position(PixelPosition at) const {
        const StraightRay to = ray(at);
        return {to.x * straight.fx + straight.cx, to.y * straight.fy + straight.cy, to.exists};
    }
    /// Returns the inverse of the Jacobian of the distortion.
    TEXTON_HD WarpSlopes slopes(PixelPosition at) const {
        const StraightRay to = ray(at);
        const BentRay back = bend(lens, to.x, to.y);
        const float determinant = back.xx * back.yy - back.xy * back.xy;
        return {back.yy * straight.fx / (determinant * bent.fx), -back.xy * straight.fy / (determinant * bent.fx),
                -back.xy * straight.fx / (determinant * bent.fy), back.xx * straight.fy / (determinant * bent.fy)};
    }
};

// --- checks ----------------------------------------------------------------------------------------------------------

void check_camera(const char* object, const Camera& camera) {
    detail::check_positive(object, "fx of a camera", camera.fx);
    detail::check_positive(object, "fy of a camera", camera.fy);
    detail::check_finite(object, "cx of a camera", camera.cx);
    detail::check_finite(object, "cy of a camera", camera.cy);
}

void check_distortion(const char* object, const BrownConrady& lens) {
    detail::check_finite(object, "k1", lens.k1);
    detail::check_finite(object, "k2", lens.k2);
    detail::check_finite(object, "k3", lens.k3);
    detail::check_finite(object, "p1", lens.p1);
    detail::check_finite(object, "p2", lens.p2);
}

void check_distortion(const char* object, const Fisheye& lens) {
    detail::check_finite(object, "k1", lens.k1);
    detail::check_finite(object, "k2", lens.k2);
    detail::check_finite(object, "k3", lens.k3);
    detail::check_finite(object, "k4", lens.k4);
}

template <template <class> class Map, class Distortion>
void enqueue_lens(const char* object, const Stream& stream, const View& image, const Texture& texture, const Lens& lens,
                  const Distortion& distortion, const WarpOptions& options) {
    const Camera straight = lens.straight.value_or(lens.camera);
    detail::check_warp(object, image, texture, options);
    check_camera(object, lens.camera);
    check_camera(object, straight);
    check_distortion(object, distortion);
    detail::enqueue_warp(object, stream, image, Map<Distortion>{distortion, lens.camera, straight}, options, texture);
}

template <template <class> class Map>
void enqueue_lens(const char* object, const Stream& stream, const View& image, const Texture& texture, const Lens& lens,
                  const WarpOptions& options) {
    if (const auto* fisheye = std::get_if<Fisheye>(&lens.distortion))
        return enqueue_lens<Map>(object, stream, image, texture, lens, *fisheye, options);
    enqueue_lens<Map>(object, stream, image, texture, lens, std::get<BrownConrady>(lens.distortion), options);
}

}  // namespace

void undistort(const Stream& stream, const View& image, const Texture& texture, const Lens& lens,
               const WarpOptions& options) try {
    enqueue_lens<Undistorted>(kUndistort, stream, image, texture, lens, options);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::undistort");
}

void distort(const Stream& stream, const View& image, const Texture& texture, const Lens& lens,
             const WarpOptions& options) try {
    enqueue_lens<Distorted>(kDistort, stream, image, texture, lens, options);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::distort");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

namespace {

/// Returns the camera with these values of fx, fy, cx and cy. If all are 0, returns a default for the extent: the width
/// as the focal length, and the center as the principal point.
Camera camera_of(const std::vector<double>& numbers, Extent extent) {
    using detail::number_at;
    if (numbers == std::vector<double>(4)) {
        const auto width = static_cast<float>(extent.width);
        return {width, width, 0.5f * width, 0.5f * static_cast<float>(extent.height)};
    }
    return {number_at(numbers, 0), number_at(numbers, 1), number_at(numbers, 2), number_at(numbers, 3)};
}

Lens lens_of(const Arguments& arguments, Extent distorted) {
    using detail::number_at;
    const std::vector<double>& k = arguments.numbers("k");
    const std::vector<double>& p = arguments.numbers("p");
    const std::vector<double>& straight = arguments.numbers("straight");
    Lens lens;
    lens.camera = camera_of(arguments.numbers("camera"), distorted);
    if (straight != std::vector<double>(4)) lens.straight = camera_of(straight, distorted);
    if (arguments.text("model") == "fisheye")
        lens.distortion = Fisheye{number_at(k, 0), number_at(k, 1), number_at(k, 2), number_at(k, 3)};
    else
        lens.distortion =
            BrownConrady{number_at(k, 0), number_at(k, 1), number_at(k, 2), number_at(p, 0), number_at(p, 1)};
    return lens;
}

std::vector<ParameterInfo> lens_parameters() {
    const auto numbers = [](const char* name, const char* summary, std::size_t count) {
        ParameterInfo parameter;
        parameter.name = name;
        parameter.kind = ParameterKind::numbers;
        parameter.summary = summary;
        parameter.standard = std::vector<double>(count);
        parameter.count = count;
        return parameter;
    };
    return {
        {.name = "model",
         .kind = ParameterKind::choice,
         .summary = "distortion model",
         .standard = "brown_conrady",
         .choices = {"brown_conrady", "fisheye"}},
        numbers("camera", "fx, fy, cx and cy of the distorted image, in texels; 0 0 0 0 derives them from its size", 4),
        numbers("k", "k1 to k4; brown_conrady has no k4", 4),
        numbers("p", "p1 and p2 of brown_conrady", 2),
        numbers("straight", "fx, fy, cx and cy of the undistorted image, in texels; 0 0 0 0 means the values of camera",
                4)};
}

}  // namespace

Kernel detail::undistort_kernel() {
    Kernel kernel = warp_kernel("undistort", "removes lens distortion", lens_parameters());
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        undistort(stream, images[0], inputs[0], lens_of(arguments, inputs[0].extent()), warp_options(arguments));
    };
    return kernel;
}

Kernel detail::distort_kernel() {
    Kernel kernel = warp_kernel("distort", "applies lens distortion", lens_parameters());
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        distort(stream, images[0], inputs[0], lens_of(arguments, images[0].extent()), warp_options(arguments));
    };
    return kernel;
}

}  // namespace texton
