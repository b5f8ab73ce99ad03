#include "viewer/inspect/lod_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace texton::viewer {
namespace {

std::string lod_words(std::int32_t lod) {
    if (lod <= kNoDetail / 2) return "none";
    return fmt::format("{:.3f}", lod / 256.0);
}

}  // namespace

std::optional<LodPixel> pixel_of(const LodView& view, int column, int row, Extent picture) {
    const double x = (column + 0.5) * view.width / view.columns;
    const double y = (row + 0.5) * view.height / view.rows;
    const auto texel = [&](double at_x, double at_y) -> std::optional<Position> {
        const Position flat = to_picture(view.view, {at_x, at_y}, view.width, view.height);
        if (!view.plane.shown) return flat;
        const std::optional<Position> place = place_on_plane(view.plane, flat, picture);
        if (!place) return std::nullopt;
        return Position{place->x * static_cast<double>(picture.width), place->y * static_cast<double>(picture.height)};
    };
    const std::optional<Position> here = texel(x, y);
    const std::optional<Position> right = texel(x + 1, y);
    const std::optional<Position> below = texel(x, y + 1);
    if (!here || !right || !below) return std::nullopt;
    return LodPixel{*here, {{right->x - here->x, right->y - here->y}, {below->x - here->x, below->y - here->y}}};
}

std::optional<Fetch> lod_fetch(const ArrayInfo& info, const Place& place, const Sampler& sampler, const LodView& view,
                               int column, int row) {
    const std::optional<LodPixel> pixel = pixel_of(view, column, row, level_extent(info, place.level));
    if (!pixel) return std::nullopt;
    return PlaceFetches(info, place, sampler).at(pixel->texel, pixel->steps);
}

LodMap lod_map(const Model& model, const ArrayInfo& info, const Place& place, const LodView& view,
               const Wanted& wanted) {
    const Sampler& sampler = model.texture().sampler();
    LodMap map{
        .width = view.columns, .height = view.rows, .levels = info.levels, .max_anisotropy = sampler.max_anisotropy};
    map.pixels.reserve(static_cast<std::size_t>(view.columns) * static_cast<std::size_t>(view.rows));
    for (int row = 0; row < view.rows && wanted; ++row) {
        for (int column = 0; column < view.columns; ++column) {
            const std::optional<Fetch> fetch = lod_fetch(info, place, sampler, view, column, row);
            map.pixels.push_back(fetch ? std::optional(model.levels(*fetch)) : std::nullopt);
        }
    }
    map.pixels.resize(static_cast<std::size_t>(view.columns) * static_cast<std::size_t>(view.rows));
    return map;
}

// --- colors and text -------------------------------------------------------------------------------------------------

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
    std::string words = fmt::format("lod {}, biased {}, clamped {}: level {}", lod_words(choice.lod),
                                    lod_words(choice.biased), lod_words(choice.clamped), choice.level);
    if (choice.next_weight != 0) words += fmt::format(" and {}/256 of level {}", choice.next_weight, choice.level + 1);
    const int samples = choice.samples[0] + choice.samples[1];
    if (choice.ratio > 1) words += fmt::format(", ratio {:.2f}", choice.ratio);
    return words + fmt::format(", {} {}", samples, samples == 1 ? "sample" : "samples");
}

}  // namespace texton::viewer
