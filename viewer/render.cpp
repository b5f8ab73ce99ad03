#include "viewer/render.h"

#include <algorithm>
#include <cmath>

// The visible pixels are a grid, so the points to fetch are one, too: a list of x times a list of y. Enlarged, the
// lists hold each visible texel once, and pixels share them; reduced, they hold a few points a pixel, whose mean is
// shown.

namespace texton::viewer {
namespace {

// Along one side of the canvas: pixels [first, first + slots.size()) show the picture.
struct Axis {
    int first = 0;
    int taps = 1;            // points a pixel
    std::vector<int> slots;  // a pixel's first point
    std::vector<float> at;   // the points, in texels
};

Axis axis(double centre, double zoom, int pixels, std::size_t texels) {
    const auto texel_at = [&](double pixel) { return centre + (pixel - pixels / 2.0) / zoom; };
    Axis out;
    out.taps = zoom >= 1 ? 1 : std::min(4, static_cast<int>(std::ceil(1 / zoom)));
    long last = -1;
    for (int pixel = 0; pixel < pixels; ++pixel) {
        const double middle = texel_at(pixel + 0.5);
        if (middle < 0 || middle >= static_cast<double>(texels)) continue;
        if (out.slots.empty()) out.first = pixel;
        if (out.taps == 1) {
            const long texel = static_cast<long>(middle);
            if (texel != last) out.at.push_back(static_cast<float>(texel) + 0.5f);
            last = texel;
            out.slots.push_back(static_cast<int>(out.at.size()) - 1);
        } else {
            out.slots.push_back(static_cast<int>(out.at.size()));
            for (int tap = 0; tap < out.taps; ++tap) {
                const double point = texel_at(pixel + (tap + 0.5) / out.taps);
                out.at.push_back(static_cast<float>(std::clamp(point, 0.5, static_cast<double>(texels) - 0.5)));
            }
        }
    }
    return out;
}

std::uint32_t pixel_of(const Colour& colour, int x, int y) {
    const float board = ((x >> 3) + (y >> 3)) % 2 == 0 ? 0.24f : 0.32f;
    std::uint32_t out = 0xff;
    for (std::size_t i = 0; i < 3; ++i) {
        const float value = colour[i] * colour[3] + board * (1 - colour[3]);
        out = out << 8 | static_cast<std::uint32_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255));
    }
    return out;
}

}  // namespace

std::vector<std::uint32_t> render(const Document& document, const ViewState& view, int width, int height) {
    std::vector<std::uint32_t> out(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), kBackground);
    const Axis across = axis(view.centre.x, view.zoom, width, document.extent().width);
    const Axis down = axis(view.centre.y, view.zoom, height, document.extent().height);
    if (across.slots.empty() || down.slots.empty()) return out;

    const std::size_t columns = across.at.size();
    std::vector<Point2> points;
    points.reserve(columns * down.at.size());
    for (const float y : down.at) {
        for (const float x : across.at) points.push_back({x, y});
    }
    std::vector<Colour> texels = document.sample(points);
    document.to_display(texels);

    const float share = 1.0f / static_cast<float>(across.taps * down.taps);
    for (std::size_t j = 0; j < down.slots.size(); ++j) {
        const int y = down.first + static_cast<int>(j);
        std::uint32_t* row = out.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + across.first;
        for (std::size_t i = 0; i < across.slots.size(); ++i) {
            Colour colour{};
            for (int v = 0; v < down.taps; ++v) {
                const auto slot =
                    static_cast<std::size_t>(down.slots[j] + v) * columns + static_cast<std::size_t>(across.slots[i]);
                for (int u = 0; u < across.taps; ++u) {
                    const Colour& texel = texels[slot + static_cast<std::size_t>(u)];
                    for (std::size_t c = 0; c < 4; ++c) colour[c] += texel[c] * share;
                }
            }
            row[i] = pixel_of(colour, across.first + static_cast<int>(i), y);
        }
    }
    return out;
}

}  // namespace texton::viewer
