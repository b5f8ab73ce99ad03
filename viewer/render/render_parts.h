#pragma once
// Functions that compute the values of render(). For internal use in render*.cpp.
#include "viewer/render/canvas_fetches.h"
#include "viewer/render/layout.h"
#include "viewer/render/render.h"
#include "viewer/render/stored_texels.h"

namespace texton::viewer::detail {

/// The texels that a pixel covers in one dimension.
struct Footprint {
    std::size_t first = 0;  ///< first texel
    std::size_t count = 1;  ///< number of texels
    float first_share = 1;  ///< covered fraction of the first texel
    float last_share = 1;   ///< covered fraction of the last texel
};

/// The consecutive pixels of the canvas plane that show texels of a part, in one dimension.
struct Axis {
    int begin = 0;                  ///< first pixel
    double scale = 1;               ///< texels per pixel
    std::vector<Footprint> pixels;  ///< texels of each pixel

    int size() const { return static_cast<int>(pixels.size()); }
    std::size_t first_texel() const { return pixels.front().first; }
    std::size_t end_texel() const { return pixels.back().first + pixels.back().count; }
};
/// A range of pixels of the canvas plane and the position of a part, in one dimension.
struct PlaneSide {
    int begin = 0;             ///< first pixel
    int size = 0;              ///< number of pixels
    double zoom = 1;           ///< pixels per unit of the canvas plane
    double part_at = 0;        ///< begin of the part, in units of the canvas plane
    double texels_a_unit = 1;  ///< texels of the part per unit of the canvas plane
    std::size_t texels = 0;    ///< texels of the part
};
/// Returns the pixels that show texels of the part.
[[nodiscard]] Axis axis_of(const PlaneSide& side, Quality quality);

/// Computes pixels from the texels that they cover: the mean, or the maximum if `largest` is true (for ulp distances).
void reduce_rows(const TexelRows& rows, const Axis& across, const Axis& down, bool largest, Values& out);

/// One side of a comparison.
struct Source {
    std::shared_ptr<const Document> document;  ///< the image
    Reading reading = Reading::stored;         ///< stored or sampled values
    Sampler sampler;                           ///< the sampler for sampled values
};
/// Samples a part at the pixels of the axes. `part` refers to the array of the document.
void sample_part(const Source& source, const Part& part, const Axis& across, const Axis& down, double zoom,
                 Values& out);
/// Samples a cubemap at the pixels of a sphere layout.
void sample_sphere(const Source& source, const Session& session, Values& out);
/// Samples the image at the pixels of the perspective plane.
void sample_plane(const Source& source, const Session& session, Values& out);
/// Returns the direction of a pixel of the canvas plane. Without rotation +z is ahead and +y is up.
[[nodiscard]] std::array<float, 3> sphere_direction(const Session& session, int x, int y);
/// Returns the normalized position on the perspective plane for a pixel of the canvas plane. Returns nothing beyond the
/// horizon.
[[nodiscard]] std::optional<Position> plane_shares(const LodPlane& plane, Extent extent, double zoom, int x, int y);

}  // namespace texton::viewer::detail
