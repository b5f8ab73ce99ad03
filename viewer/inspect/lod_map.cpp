#include "viewer/inspect/lod_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace texton::viewer {
namespace {

constexpr double kEyeDistance = 2;  // from the plane's middle, in halves of its height
constexpr double kMostTilt = 89.9;  // degrees
constexpr double kFarthest = 1e4;   // times as far as the plane's middle: there is the horizon

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

Position difference(Position a, Position b) { return {a.x - b.x, a.y - b.y}; }

std::string lod_words(std::int32_t lod) {
    if (lod <= kNoDetail / 2) return "none";
    return fmt::format("{:.3f}", lod / 256.0);
}

}  // namespace

std::optional<Position> place_on_plane(const LodPlane& plane, Position pixel, int width, int height) {
    const double x = (pixel.x - width / 2.0) / (height / 2.0);
    const double y = (pixel.y - height / 2.0) / (height / 2.0);
    const double tilt = radians(std::clamp(plane.tilt, -kMostTilt, kMostTilt));
    // The eye's ray through the pixel meets the plane after `reach` of its length to the screen; the top is tilted away.
    const double nearness = 1 + y * std::tan(tilt) / kEyeDistance;
    if (!(nearness > 1 / kFarthest)) return std::nullopt;
    const double reach = 1 / nearness;
    const double across = x * reach;
    const double along = y * reach / std::cos(tilt);
    const double turn = radians(plane.turn);
    const double u = across * std::cos(turn) - along * std::sin(turn);
    const double v = across * std::sin(turn) + along * std::cos(turn);
    return Position{0.5 + plane.repeats * u / 2, 0.5 + plane.repeats * v / 2};
}

std::optional<PlanePixel> pixel_on_plane(const LodPlane& plane, int x, int y, int width, int height, Extent picture) {
    const auto texel = [&](double at_x, double at_y) -> std::optional<Position> {
        const std::optional<Position> place = place_on_plane(plane, {at_x, at_y}, width, height);
        if (!place) return std::nullopt;
        return Position{place->x * static_cast<double>(picture.width), place->y * static_cast<double>(picture.height)};
    };
    const std::optional<Position> here = texel(x + 0.5, y + 0.5);
    const std::optional<Position> right = texel(x + 1.5, y + 0.5);
    const std::optional<Position> below = texel(x + 0.5, y + 1.5);
    if (!here || !right || !below) return std::nullopt;
    return PlanePixel{*here, {difference(*right, *here), difference(*below, *here)}};
}

PlanePixel pixel_of_view(const ViewState& view, int x, int y, int width, int height) {
    return {to_picture(view, {x + 0.5, y + 0.5}, width, height), {{1 / view.zoom, 0}, {0, 1 / view.zoom}}};
}

std::optional<Fetch> lod_fetch(const ArrayInfo& info, const Place& place, const Sampler& sampler, const LodPlane& plane,
                               const ViewState& view, int x, int y, int width, int height) {
    Place finest = place;
    finest.level = 0;
    const PlaceFetches fetches(info, finest, sampler);
    if (plane.shown) {
        const std::optional<PlanePixel> pixel = pixel_on_plane(plane, x, y, width, height, info.extent);
        if (!pixel) return std::nullopt;
        return fetches.at(pixel->texel, pixel->steps);
    }
    // The view's texels are those of the place's level.
    const Extent seen = level_extent(info, place.level);
    const double wider = static_cast<double>(info.extent.width) / static_cast<double>(seen.width);
    const double higher = static_cast<double>(info.extent.height) / static_cast<double>(seen.height);
    const PlanePixel pixel = pixel_of_view(view, x, y, width, height);
    return fetches.at({pixel.texel.x * wider, pixel.texel.y * higher},
                      {{pixel.steps.right.x * wider, 0}, {0, pixel.steps.down.y * higher}});
}

LodMap lod_map(const Model& model, const ArrayInfo& info, const Place& place, const LodPlane& plane,
               const ViewState& view, int width, int height, const Wanted& wanted) {
    const Sampler& sampler = model.texture().sampler();
    LodMap map{.width = width, .height = height, .levels = info.levels, .max_anisotropy = sampler.max_anisotropy};
    map.pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (int y = 0; y < height && wanted; ++y) {
        for (int x = 0; x < width; ++x) {
            const std::optional<Fetch> fetch = lod_fetch(info, place, sampler, plane, view, x, y, width, height);
            if (!fetch) continue;
            map.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
                model.levels(*fetch);
        }
    }
    return map;
}

// --- in colour -------------------------------------------------------------------------------------------------------

double value_of(const LevelChoice& choice, LodQuantity quantity) {
    switch (quantity) {
        case LodQuantity::lod: return choice.lod / 256.0;
        case LodQuantity::clamped: return choice.clamped / 256.0;
        case LodQuantity::level: return choice.level;
        case LodQuantity::blend: return choice.next_weight / 256.0;
        case LodQuantity::ratio: return choice.ratio;
        case LodQuantity::samples: return choice.samples[0] + choice.samples[1];
    }
    return 0;
}

std::pair<double, double> range_of(const LodMap& map, LodQuantity quantity) {
    const double last_level = std::max(1, map.levels - 1);
    const double most = std::max<int>(2, map.max_anisotropy);
    switch (quantity) {
        case LodQuantity::lod:
        case LodQuantity::clamped:
        case LodQuantity::level: return {0, last_level};
        case LodQuantity::blend: return {0, 1};
        case LodQuantity::ratio: return {1, most};
        case LodQuantity::samples: return {1, 2 * most};
    }
    return {0, 1};
}

std::uint32_t legend_colour(double share) {
    using Rgb = std::array<double, 3>;
    static constexpr std::array<Rgb, 5> kStops{
        {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
    const double place = (share > 0 ? std::min(share, 1.0) : 0.0) * (kStops.size() - 1);
    const auto first = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
    const double rest = place - static_cast<double>(first);
    std::uint32_t colour = 0xff;
    for (std::size_t i = 0; i < 3; ++i) {
        const double channel = kStops[first][i] + rest * (kStops[first + 1][i] - kStops[first][i]);
        colour = colour << 8 | static_cast<std::uint32_t>(std::lround(channel));
    }
    return colour;
}

std::vector<std::uint32_t> colours_of(const LodMap& map, LodQuantity quantity, std::uint32_t background) {
    const auto [low, high] = range_of(map, quantity);
    std::vector<std::uint32_t> colours;
    colours.reserve(map.pixels.size());
    for (const std::optional<LevelChoice>& pixel : map.pixels) {
        const double value = pixel ? value_of(*pixel, quantity) : 0;
        colours.push_back(pixel ? legend_colour((value - low) / (high - low)) : background);
    }
    return colours;
}

std::string words_of(const LevelChoice& choice) {
    std::string words = fmt::format("lod {}, with bias {}, in limits {}: level {}", lod_words(choice.lod),
                                    lod_words(choice.biased), lod_words(choice.clamped), choice.level);
    if (choice.next_weight != 0) words += fmt::format(" and {}/256 of level {}", choice.next_weight, choice.level + 1);
    const int samples = choice.samples[0] + choice.samples[1];
    if (choice.ratio > 1) words += fmt::format(", ratio {:.2f}", choice.ratio);
    return words + fmt::format(", {} {}", samples, samples == 1 ? "sample" : "samples");
}

}  // namespace texton::viewer
