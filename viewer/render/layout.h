#pragma once
// Arrangement of the subresources of an array on the canvas.
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/document.h"
#include "viewer/model/session.h"
#include "viewer/model/view_state.h"

namespace texton::viewer {

/// A subresource and its box on the canvas plane, in texels at zoom 1. The box has the size of the subresource, except
/// for 1D arrays, which are stretched to bands.
struct Part {
    SubresourceIndex subresource;  ///< the subresource
    Position at;                   ///< top left corner of the box
    double width = 0;              ///< width of the box
    double height = 0;             ///< height of the box
    Extent extent;                 ///< size of the subresource in texels
    bool operator==(const Part&) const = default;

    /// Returns the number of texels per unit of the canvas plane in x.
    double texels_across() const { return static_cast<double>(extent.width) / width; }
    /// Returns the number of texels per unit of the canvas plane in y.
    double texels_down() const { return static_cast<double>(extent.height) / height; }
};

/// Returns the layout of the session, or Layout::single for cross and sphere if the image is not a cubemap.
[[nodiscard]] Layout layout_of(const Session& session, const Document& document);
/// Returns the displayed parts. A sphere has none.
[[nodiscard]] std::vector<Part> parts_of(const Session& session, const Document& document);
/// Returns the size of the box around all parts, in texels. A sphere is 2 x 2.
[[nodiscard]] Extent extent_of(const Session& session, const Document& document);

/// Returns the label of a subresource: "level 2, layer 1, face +x". Empty if the array has only one subresource.
[[nodiscard]] std::string label_of(const Document& document, const SubresourceIndex& subresource);

}  // namespace texton::viewer
