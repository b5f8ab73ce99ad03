#pragma once
// Where places of the files are in a document's array, which may be smaller, and the reverse. Of a document that is whole all of it is
// the same.
#include "viewer/model/document.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// A position in texels of its place.
struct SeenTexel {
    Place place;
    Position at;
    bool operator==(const SeenTexel&) const = default;
};

[[nodiscard]] SeenTexel in_array(const Document& document, const SeenTexel& of_files);
/// What of the array has a part of the box: a texel at least.
[[nodiscard]] TexelBox in_array(const Document& document, const Place& place, const TexelBox& of_files);
/// Shows of the array what `of_files` shows of the place.
[[nodiscard]] ViewState in_array(const Document& document, const Place& place, const ViewState& of_files);
/// Its place, view, pins and selection.
[[nodiscard]] Session in_array(const Document& document, const Session& of_files);

/// `shown` is the place of the files that is looked at: several may have the same one of the array.
[[nodiscard]] SeenTexel in_files(const Document& document, const Place& shown, const SeenTexel& of_array);

}  // namespace texton::viewer
