#pragma once
// Conversion of positions between the files and the array of a document, which can be a reduced image. If the document
// is not reduced, both are equal.
#include "viewer/model/document.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// A position in texels and its subresource.
struct SeenTexel {
    SubresourceIndex subresource;
    Position at;
    bool operator==(const SeenTexel&) const = default;
};

/// Returns the position in the array for a position in the files.
[[nodiscard]] SeenTexel in_array(const Document& document, const SeenTexel& of_files);
/// Returns the texels of the array that overlap a box of the files: at least one texel.
[[nodiscard]] TexelBox in_array(const Document& document, const SubresourceIndex& subresource,
                                const TexelBox& of_files);
/// Returns the view of the array that shows the same part of the image as a view of the files.
[[nodiscard]] ViewState in_array(const Document& document, const SubresourceIndex& subresource,
                                 const ViewState& of_files);
/// Returns a session whose subresource, view, pins and selection refer to the array.
[[nodiscard]] Session in_array(const Document& document, const Session& of_files);

/// Returns the position in the files for a position in the array. `shown` is the displayed subresource of the files. It
/// is needed because several subresources of the files can correspond to the same one of the array.
[[nodiscard]] SeenTexel in_files(const Document& document, const SubresourceIndex& shown, const SeenTexel& of_array);

}  // namespace texton::viewer
