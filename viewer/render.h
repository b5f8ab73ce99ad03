#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "viewer/document.h"
#include "viewer/session.h"

namespace texton::viewer {

using Colour = std::array<float, 4>;

constexpr std::uint32_t kBackground = 0xff1c1d20;  ///< around the picture

/// What the canvas shows, all that its pixels follow from.
struct Scene {
    Session session;
    std::shared_ptr<const Document> shown;  ///< the current picture, or what the kernel made of it; null: nothing
    std::shared_ptr<const Document>
        against;    ///< the reference, the same on the other device, or `shown`; null: nothing
    int width = 0;  ///< of the canvas, in pixels of the screen
    int height = 0;
    bool operator==(const Scene&) const = default;
};

struct PixelBox {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
    bool operator==(const PixelBox&) const = default;
};

/// A part of the canvas as pixels 0xffRRGGBB, rows packed. The parts of a canvas are what the whole would be. Any thread. Throws what
/// textures and fetches throw.
[[nodiscard]] std::vector<std::uint32_t> render(const Scene& scene, const PixelBox& part);

/// Width and height of what lies on the canvas, in texels: of a place, or of a sheet or cross of many. A sphere is 2 x 2.
[[nodiscard]] Extent canvas_extent(const Scene& scene);

/// The texel that is seen at a place of the canvas, in texels of its place; none beside the picture.
struct SeenTexel {
    Place place;
    Position at;
    bool operator==(const SeenTexel&) const = default;
};
[[nodiscard]] std::optional<SeenTexel> texel_at(const Scene& scene, Position pixel);

/// The texel at a place as the texture unit returns it, and what it is called: "0.502 0.000 1.000 1.000".
[[nodiscard]] Colour value_at(const Document& document, const Place& place, std::size_t x, std::size_t y);
[[nodiscard]] std::string words_of(const Document& document, const Place& place, std::size_t x, std::size_t y);

}  // namespace texton::viewer
