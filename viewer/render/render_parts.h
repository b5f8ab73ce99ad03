#pragma once
// The ways in which render() gets its values. For render_*.cpp alone.
#include "viewer/render/canvas_fetches.h"
#include "viewer/render/layout.h"
#include "viewer/render/render.h"
#include "viewer/render/stored_texels.h"

namespace texton::viewer::detail {

/// Texels of one side of a pixel: from `first`, the outer ones by the share that is covered.
struct Footprint {
    std::size_t first = 0;
    std::size_t count = 1;
    float first_share = 1;
    float last_share = 1;
};

/// Pixels begin, begin + 1, ... of a side of the plane that see texels.
struct Axis {
    int begin = 0;
    double scale = 1;  ///< texels along a pixel
    std::vector<Footprint> pixels;

    int size() const { return static_cast<int>(pixels.size()); }
    std::size_t first_texel() const { return pixels.front().first; }
    std::size_t end_texel() const { return pixels.back().first + pixels.back().count; }
};
struct PlaneSide {
    int begin = 0;  ///< in pixels
    int size = 0;
    double zoom = 1;
    double part_at = 0;  ///< in units of the plane
    double texels_a_unit = 1;
    std::size_t texels = 0;
};
[[nodiscard]] Axis axis_of(const PlaneSide& side, Quality quality);

/// Texels into the pixels that see them. `largest`: of ulp distances.
void reduce_rows(const TexelRows& rows, const Axis& across, const Axis& down, bool largest, Values& out);

/// How a side of a comparison is read.
struct Source {
    std::shared_ptr<const Document> document;
    Reading reading = Reading::stored;
    Sampler sampler;
};
/// `part` is one of the document's array.
void sample_part(const Source& source, const Part& part, const Axis& across, const Axis& down, double zoom,
                 Values& out);
void sample_sphere(const Source& source, const Session& session, Values& out);
void sample_plane(const Source& source, const Session& session, Values& out);
/// Where a pixel of the plane of pixels looks; +z is ahead, +y up, without a turn.
[[nodiscard]] std::array<float, 3> sphere_direction(const Session& session, int x, int y);
/// Where a pixel of the plane of pixels meets the session's perspective plane, which carries the picture: in shares of its width and
/// height. None beyond the horizon.
[[nodiscard]] std::optional<Position> plane_shares(const LodPlane& plane, Extent extent, double zoom, int x, int y);

}  // namespace texton::viewer::detail
