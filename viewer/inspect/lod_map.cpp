#include "viewer/inspect/lod_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace texton::viewer {
namespace {

std::string lod_text(std::int32_t lod) {
    if (lod <= kNoDetail / 2) return "none";
    return fmt::format("{:.3f}", lod / 256.0);
}

}  // namespace

std::optional<LodPixel> pixel_of(const LodView& view, int column, int row, Extent image) {
    const double x = (column + 0.5) * view.width / view.columns;
    const double y = (row + 0.5) * view.height / view.rows;
    const auto texel = [&](double at_x, double at_y) -> std::optional<Position> {
        const Position flat = to_image(view.view, {at_x, at_y}, view.width, view.height);
        if (!view.plane.shown) return flat;
        const std::optional<Position> subresource = subresource_on_plane(view.plane, flat, image);
        if (!subresource) return std::nullopt;
        return Position{subresource->x * static_cast<double>(image.width),
                        subresource->y * static_cast<double>(image.height)};
    };
    const std::optional<Position> here = texel(x, y);
    const std::optional<Position> right = texel(x + 1, y);
    const std::optional<Position> below = texel(x, y + 1);
    if (!here || !right || !below) return std::nullopt;
    return LodPixel{*here, {{right->x - here->x, right->y - here->y}, {below->x - here->x, below->y - here->y}}};
}

std::optional<Fetch> lod_fetch(const ArrayInfo& info, const SubresourceIndex& subresource, const Sampler& sampler,
                               const LodView& view, int column, int row) {
    const std::optional<LodPixel> pixel = pixel_of(view, column, row, level_extent(info, subresource.level));
    if (!pixel) return std::nullopt;
    return SubresourceFetches(info, subresource, sampler).at(pixel->texel, pixel->steps);
}

LodMap lod_map(const Model& model, const ArrayInfo& info, const SubresourceIndex& subresource, const LodView& view,
               const CancellationToken& token) {
    const Sampler& sampler = model.texture().sampler();
    LodMap map{
        .width = view.columns, .height = view.rows, .levels = info.levels, .max_anisotropy = sampler.max_anisotropy};
    map.pixels.reserve(static_cast<std::size_t>(view.columns) * static_cast<std::size_t>(view.rows));
    for (int row = 0; row < view.rows && !token.canceled(); ++row) {
        for (int column = 0; column < view.columns; ++column) {
            const std::optional<Fetch> fetch = lod_fetch(info, subresource, sampler, view, column, row);
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
    const double maximum = std::max<int>(2, map.max_anisotropy);
    switch (quantity) {
        case LodQuantity::lod:
        case LodQuantity::clamped:
        case LodQuantity::level: return {0, last_level};
        case LodQuantity::blend: return {0, 1};
        case LodQuantity::ratio: return {1, maximum};
        case LodQuantity::samples: return {1, 2 * maximum};
    }
    return {0, 1};
}

std::uint32_t legend_color(double share) {
    using Rgb = std::array<double, 3>;
    static constexpr std::array<Rgb, 5> kStops{
        {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
    const double subresource = (share > 0 ? std::min(share, 1.0) : 0.0) * (kStops.size() - 1);
    const auto first = std::min(static_cast<std::size_t>(subresource), kStops.size() - 2);
    const double rest = subresource - static_cast<double>(first);
    std::uint32_t color = 0xff;
    for (std::size_t i = 0; i < 3; ++i) {
        const double channel = kStops[first][i] + rest * (kStops[first + 1][i] - kStops[first][i]);
        color = color << 8 | static_cast<std::uint32_t>(std::lround(channel));
    }
    return color;
}

std::vector<std::uint32_t> colors_of(const LodMap& map, LodQuantity quantity, std::uint32_t background) {
    const auto [low, high] = range_of(map, quantity);
    std::vector<std::uint32_t> colors;
    colors.reserve(map.pixels.size());
    for (const std::optional<LevelChoice>& pixel : map.pixels) {
        const double value = pixel ? value_of(*pixel, quantity) : 0;
        colors.push_back(pixel ? legend_color((value - low) / (high - low)) : background);
    }
    return colors;
}

std::string words_of(const LevelChoice& choice) {
    std::string text = fmt::format("lod {}, biased {}, clamped {}: level {}", lod_text(choice.lod),
                                   lod_text(choice.biased), lod_text(choice.clamped), choice.level);
    if (choice.next_weight != 0) text += fmt::format(" and {}/256 of level {}", choice.next_weight, choice.level + 1);
    const int samples = choice.samples[0] + choice.samples[1];
    if (choice.ratio > 1) text += fmt::format(", ratio {:.2f}", choice.ratio);
    return text + fmt::format(", {} {}", samples, samples == 1 ? "sample" : "samples");
}

}  // namespace texton::viewer
