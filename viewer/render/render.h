#pragma once
// Rendering of a scene to pixels. The canvas plane is a plane of pixels whose origin is the top left corner of the
// image and whose size depends on the zoom. The canvas shows a window of this plane at an integer offset. Therefore
// tiles of the plane remain valid while panning, and the edges of texels do not flicker.
//
// Enlarged texels are sampled at the centers of pixels. If a pixel covers several texels, it shows their mean weighted
// by area, or the maximum of ulp distances. Therefore a NaN is visible at any zoom. At plane 0 planar images are shown
// in color (BT.709, limited range, as to_rgb() computes it) or, with Display::luminance, as luma. At plane 1 they are
// shown as chroma.
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

struct StreamedPart;

/// Everything that determines the pixels of the canvas.
struct Scene {
    Session session;                        ///< the state of the viewer
    std::shared_ptr<const Document> shown;  ///< the current image or the result of the kernel; null: nothing is shown
    /// The other side of a comparison: the reference, the image on the other device, or `shown`. Null: no comparison.
    std::shared_ptr<const Document> against;
    int width = 0;   ///< width of the canvas in pixels of the screen
    int height = 0;  ///< height of the canvas in pixels of the screen
    bool operator==(const Scene&) const = default;
};

/// A box of pixels, of the canvas or of the canvas plane.
struct PixelBox {
    int x = 0;       ///< left edge
    int y = 0;       ///< top edge
    int width = 0;   ///< width in pixels
    int height = 0;  ///< height in pixels
    bool operator==(const PixelBox&) const = default;
};

/// Renders a part of the canvas to pixels 0xffRRGGBB in packed rows. A part has exactly the pixels of the whole canvas.
/// Blocks, and reads files if reads_files() returns true. Thread-safe. Throws the errors of Texture, of sample() and of
/// Document::texels().
[[nodiscard]] std::vector<std::uint32_t> render(const Scene& scene, const PixelBox& part,
                                                const CancellationToken& token = {});

/// Returns the size of the contents of the canvas in texels: a subresource, or the arrangement of several. A sphere is
/// 2 x 2.
[[nodiscard]] Extent canvas_extent(const Scene& scene);

/// Returns the position in the files that is visible at a pixel of the canvas. Returns nothing outside the image.
[[nodiscard]] std::optional<SeenTexel> texel_at(const Scene& scene, Position pixel);

/// Returns the value of a texel of the files, as the texture unit returns it. Can read files. Throws the errors of
/// Document::texels().
[[nodiscard]] Color value_at(const Document& document, const SubresourceIndex& subresource, std::size_t x,
                             std::size_t y);
/// Returns the value of a texel as text: "0.5020  0.0000  1.0000  1.0000". Reads no files. If only the reduced image is
/// available, the text is its value: "about 0.5 ...".
[[nodiscard]] std::string words_of(const Document& document, const SubresourceIndex& subresource, std::size_t x,
                                   std::size_t y);

// --- rendering in steps, for a cache of tiles ---

/// Width and height of a tile of the canvas plane, in pixels. Tiles start at multiples of it.
constexpr int kTileSide = 256;

/// A pixel of the canvas plane.
struct PlanePixel {
    int x = 0;  ///< column
    int y = 0;  ///< row
    bool operator==(const PlanePixel&) const = default;
};
/// Returns the pixel of the canvas plane at the top left corner of the canvas.
[[nodiscard]] PlanePixel canvas_origin(const Scene& scene);
/// Returns the box of the canvas plane that contains the image. For a sphere and a perspective plane it is practically
/// unlimited.
[[nodiscard]] PixelBox plane_box(const Scene& scene);

/// Returns the scene of the left side of a wipe. Returns other scenes unchanged.
[[nodiscard]] Scene shown_side(const Scene& scene);
/// Returns the scene of the right side of a wipe. Returns other scenes unchanged.
[[nodiscard]] Scene against_side(const Scene& scene);
/// Returns the first column of the canvas that shows the right side of a wipe, or the width of the canvas for other
/// scenes.
[[nodiscard]] int wipe_column(const Scene& scene);

/// Quality of values.
enum class Quality : std::uint8_t {
    /// A pixel shows one of the texels that it covers. Slow fetches are made once per block of pixels. No files are
    /// read.
    quick,
    /// Exact values. Stored texels are read from the files if the array has less than one texel per pixel. Those of a
    /// streamed image are the ones that are resident; values_of() tells whether they are all there.
    full
};
/// Returns true if values with Quality::full are read from files, which can take a long time.
[[nodiscard]] bool reads_files(const Scene& scene);

/// Returns the parts of the levels of a streamed image whose texels the tiles of the canvas show. Empty if the shown
/// image is not streamed, or if the scene uses its array. The scene must not be a wipe.
[[nodiscard]] std::vector<StreamedPart> streamed_parts(const Scene& scene);

/// Pixels before the conversion to colors of the screen.
struct Values {
    PixelBox part;                    ///< box of the canvas plane
    std::vector<Color> values;        ///< packed rows
    std::vector<std::uint8_t> seen;   ///< one flag per pixel; 0 means outside the image
    Meaning meaning;                  ///< interpretation of the values
    Quality quality = Quality::full;  ///< quality reached; can be another one than was requested
    FileColors colors{};              ///< colors of the file
};
/// Returns the values of a part of the canvas plane. The scene must not be a wipe. Of Session::display, only
/// `luminance` has an effect: it selects luma of planar images. Thread-safe. Throws the errors of render().
[[nodiscard]] Values values_of(const Scene& scene, const PixelBox& plane_part, Quality quality,
                               const CancellationToken& token = {});
/// Converts values to pixels 0xffRRGGBB in packed rows. Null `tables` select exact colors. Throws the errors of Screen.
void show_values(const Values& values, const Display& display, std::span<std::uint32_t> pixels,
                 const TableUse* tables = nullptr);

}  // namespace texton::viewer
