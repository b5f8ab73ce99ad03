#include "viewer/render/lod_plane.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace texton::viewer {
namespace {

constexpr double kEyeDistance = 2;  // distance from the center of the plane, in units of half its height
constexpr double kMaxTilt = 89.9;   // degrees
constexpr double kNearest = 1e-3;   // minimum distance from the horizon, in the same units

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

}  // namespace

std::optional<Position> subresource_on_plane(const LodPlane& plane, Position texel, Extent image) {
    const double half = static_cast<double>(image.height) / 2;
    const double aspect = static_cast<double>(image.height) / static_cast<double>(image.width);
    const double x = (texel.x - static_cast<double>(image.width) / 2) / half;
    const double y = (texel.y - half) / half;
    const double tilt = radians(std::clamp(plane.tilt, -kMaxTilt, kMaxTilt));
    // Intersection of the view ray with the plane, whose top is tilted away from the eye.
    const double nearness = kEyeDistance + y * std::tan(tilt);
    if (!(nearness > kNearest)) return std::nullopt;
    const double across = x * kEyeDistance / nearness;
    const double along = y * kEyeDistance / nearness / std::cos(tilt);
    const double turn = radians(plane.turn);
    const double u = across * std::cos(turn) - along * std::sin(turn);
    const double v = across * std::sin(turn) + along * std::cos(turn);
    return Position{0.5 + u * aspect * plane.repeats / 2, 0.5 + v * plane.repeats / 2};
}

}  // namespace texton::viewer
