#pragma once
// A scene as pixels. The canvas has a plane of pixels that begins at the picture's corner and grows with the zoom; of it a canvas
// shows a window at whole pixels. So tiles of the plane stay good while it is panned, and texel edges do not shimmer.
//
// A plane texel is shown by its pixels' middles. Where a pixel covers several texels it is their mean by area (of ulp distances the
// largest), so that a NaN is seen at any zoom. Planar pictures are shown in colour (BT.709, limited range, as to_rgb() makes it) at
// plane 0; their luma alone with Display::luminance, their chroma at plane 1.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viewer/model/document.h"
#include "viewer/model/positions.h"
#include "viewer/model/session.h"
#include "viewer/render/display.h"

namespace texton::viewer {

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
/// textures, fetches and Document::texels throw, which reads files if reads_files() says so.
[[nodiscard]] std::vector<std::uint32_t> render(const Scene& scene, const PixelBox& part,
                                                const StillWanted& wanted = {});

/// Width and height of what lies on the canvas, in texels: of a place, or of a sheet or cross of many. A sphere is 2 x 2.
[[nodiscard]] Extent canvas_extent(const Scene& scene);

/// The texel that is seen at a pixel of the canvas; none beside the picture.
[[nodiscard]] std::optional<SeenTexel> texel_at(const Scene& scene, Position pixel);

/// The texel at a place as the texture unit returns it.
[[nodiscard]] Colour value_at(const Document& document, const Place& place, std::size_t x, std::size_t y);
/// What it is called: "0.5020  0.0000  1.0000  1.0000". Reads no files: "about 0.5 ..." is what the array has in its place.
[[nodiscard]] std::string words_of(const Document& document, const Place& place, std::size_t x, std::size_t y);

// --- in steps, for who keeps tiles ----------------------------------------------------------------------------------

/// The plane is made in tiles of that many pixels a side, which begin at its multiples.
constexpr int kTileSide = 256;

/// Where the canvas' first pixel lies in the plane of pixels.
struct PlanePixel {
    int x = 0;
    int y = 0;
    bool operator==(const PlanePixel&) const = default;
};
[[nodiscard]] PlanePixel canvas_origin(const Scene& scene);
/// What of the plane has pixels; a sphere and a perspective plane have all of it.
[[nodiscard]] PixelBox plane_box(const Scene& scene);

/// A wipe's two sides by themselves; of another scene, itself.
[[nodiscard]] Scene shown_side(const Scene& scene);
[[nodiscard]] Scene against_side(const Scene& scene);
/// Pixels left of it show the picture, in a wipe; else the canvas' width.
[[nodiscard]] int wipe_column(const Scene& scene);

enum class Quality : std::uint8_t {
    quick,  ///< one texel of the array of those that a pixel covers; of slow fetches one for a block of pixels
    full    ///< stored texels as the files have them, where the array has fewer than the canvas has pixels
};
/// Whether full values of the scene are read from files, which may take long.
[[nodiscard]] bool reads_files(const Scene& scene);

/// Pixels before the display's choices.
struct Values {
    PixelBox part;                   ///< of the plane
    std::vector<Colour> values;      ///< rows packed
    std::vector<std::uint8_t> seen;  ///< 0: beside the picture
    Meaning meaning;
    Quality quality = Quality::full;  ///< full too where quick was asked for and is the same
};
/// Of a scene that is no wipe. Of Session::display only luminance counts, as far as it says that luma is shown. Throws what render()
/// throws.
[[nodiscard]] Values values_of(const Scene& scene, const PixelBox& plane_part, Quality quality,
                               const StillWanted& wanted = {});
/// As pixels 0xffRRGGBB, rows packed.
void show_values(const Values& values, const Display& display, std::span<std::uint32_t> pixels);

}  // namespace texton::viewer
