#pragma once
// Where the parts of an array lie on the canvas.
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/document.h"
#include "viewer/model/session.h"
#include "viewer/model/view_state.h"

namespace texton::viewer {

/// One slice of the array, stretched to a box of the canvas' plane, in texels. Only 1D arrays, which are shown as bands, are
/// stretched indeed.
struct Part {
    Place place;
    Position at;
    double width = 0;
    double height = 0;
    Extent extent;  ///< texels of the part
    bool operator==(const Part&) const = default;

    /// Texels along a unit of the canvas' plane.
    double texels_across() const { return static_cast<double>(extent.width) / width; }
    double texels_down() const { return static_cast<double>(extent.height) / height; }
};

/// Cross and sphere of what is no cubemap are the single part at the place. A sphere has no parts.
[[nodiscard]] Layout layout_of(const Session& session, const Document& document);
[[nodiscard]] std::vector<Part> parts_of(const Session& session, const Document& document);
/// Of all parts together.
[[nodiscard]] Extent extent_of(const Session& session, const Document& document);

/// "level 2, layer 1, face +x"; empty for an array of a single part.
[[nodiscard]] std::string label_of(const Document& document, const Place& place);

}  // namespace texton::viewer
