#include "viewer/render.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <texton/sample.h>

namespace texton::viewer {
namespace {

FetchPoint point_of(const Document& document, const Place& place, double x, double y) {
    const Place at = document.clamped(place);
    const ArrayInfo& row = document.info(at.plane);
    const Extent extent = level_extent(row, at.level);
    const bool shares = row.levels > 1 || is_cube(row.kind);
    FetchPoint point{.x = static_cast<float>(shares ? x / static_cast<double>(extent.width) : x),
                     .y = static_cast<float>(shares ? y / static_cast<double>(extent.height) : y)};
    const double z = static_cast<double>(at.slice) + 0.5;
    point.z = static_cast<float>(shares ? z / static_cast<double>(extent.depth) : z);
    point.layer = static_cast<std::int32_t>(at.layer);
    point.lod = static_cast<float>(at.level);
    return point;
}

std::uint32_t pixel_of(const Colour& colour) {
    std::uint32_t out = 0xff;
    for (std::size_t i = 0; i < 3; ++i)
        out = out << 8 | static_cast<std::uint32_t>(std::lround(std::clamp(colour[i], 0.0f, 1.0f) * 255));
    return out;
}

}  // namespace

Colour value_at(const Document& document, const Place& place, std::size_t x, std::size_t y) {
    const Place at = document.clamped(place);
    const FetchPoint point = point_of(document, at, static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
    const Texture texture = document.texel_texture(at.plane);
    const bool levels = document.info(at.plane).levels > 1;
    const Texel texel =
        sample(texture, {&point, 1}, {.operation = levels ? FetchOperation::lod : FetchOperation::plain})
            .texels.front();
    const FormatKind kind = info(document.info(at.plane).format).kind;
    Colour colour{};
    for (int i = 0; i < 4; ++i) {
        const std::uint32_t bits = texel.channel[i];
        colour[static_cast<std::size_t>(i)] = kind == FormatKind::uint ? static_cast<float>(bits)
                                              : kind == FormatKind::sint
                                                  ? static_cast<float>(static_cast<std::int32_t>(bits))
                                                  : texel.as_float(i);
    }
    return colour;
}

std::string words_of(const Document& document, const Place& place, std::size_t x, std::size_t y) {
    const Colour colour = value_at(document, place, x, y);
    const FormatInfo& row = info(document.info(document.clamped(place).plane).format);
    const bool integers = row.kind == FormatKind::uint || row.kind == FormatKind::sint;
    std::string out;
    for (std::size_t i = 0; i < row.channels; ++i)
        out += fmt::format(fmt::runtime(integers ? "{}{:.0f}" : "{}{:.4f}"), i == 0 ? "" : "  ", colour[i]);
    return out;
}

Extent canvas_extent(const Scene& scene) {
    return scene.shown ? scene.shown->extent(scene.session.place) : Extent{1, 1};
}

std::optional<SeenTexel> texel_at(const Scene& scene, Position pixel) {
    if (!scene.shown) return {};
    const Extent extent = canvas_extent(scene);
    const Position at = to_picture(scene.session.view, pixel, scene.width, scene.height);
    if (!(at.x >= 0 && at.y >= 0 && at.x < static_cast<double>(extent.width) &&
          at.y < static_cast<double>(extent.height)))
        return {};
    return SeenTexel{scene.shown->clamped(scene.session.place), at};
}

std::vector<std::uint32_t> render(const Scene& scene, const PixelBox& part) {
    std::vector<std::uint32_t> out(static_cast<std::size_t>(part.width) * static_cast<std::size_t>(part.height),
                                   kBackground);
    if (!scene.shown) return out;
    std::vector<FetchPoint> points;
    std::vector<std::size_t> pixels;
    for (int y = 0; y < part.height; ++y) {
        for (int x = 0; x < part.width; ++x) {
            const auto seen = texel_at(scene, {part.x + x + 0.5, part.y + y + 0.5});
            if (!seen) continue;
            points.push_back(point_of(*scene.shown, seen->place, seen->at.x, seen->at.y));
            pixels.push_back(static_cast<std::size_t>(y) * static_cast<std::size_t>(part.width) +
                             static_cast<std::size_t>(x));
        }
    }
    const Place at = scene.shown->clamped(scene.session.place);
    const bool levels = scene.shown->info(at.plane).levels > 1;
    const Samples samples = sample(scene.shown->texel_texture(at.plane), points,
                                   {.operation = levels ? FetchOperation::lod : FetchOperation::plain});
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const Texel& texel = samples.texels[i];
        out[pixels[i]] = pixel_of({texel.as_float(0), texel.as_float(1), texel.as_float(2), 1});
    }
    return out;
}

}  // namespace texton::viewer
