#pragma once
// Image files that are assembled from pieces of others: turned upright, extended to the display window, cube faces,
// stacked layers, a range of levels. A piece knows the destination of its texels. A load can therefore read boxes in
// the order of the file and copy each to its destination.
#include <optional>
#include <string>
#include <vector>

#include "arrays/files/source.h"
#include "arrays/turn.h"

namespace texton::detail {

/// Returns the turn that makes an image of this Exif orientation upright. Values other than 1 to 8 count as 1.
[[nodiscard]] Turn upright_turn(int orientation) noexcept;
/// Returns the turn that reverts another one.
[[nodiscard]] Turn inverse(Turn turn) noexcept;

/// A box of a file and its destination.
struct Piece {
    ImageSourcePtr file;  ///< null: the texels are zero
    int level = 0;        ///< level of the file
    Region from;          ///< box in that level; for zeros only its extent is used
    Turn turn{};          ///< how the box is turned
    Offset to{};          ///< destination of the turned box
};

/// Returns a file made of pieces. The pieces of each level must cover the level without overlap.
[[nodiscard]] ImageSourcePtr assemble(Format format, bool srgb, std::vector<Extent> levels,
                                      std::vector<std::vector<Piece>> pieces);

/// Returns the file with all levels turned.
[[nodiscard]] ImageSourcePtr turned(ImageSourcePtr file, Turn turn);
/// Returns `count` levels of the file, starting at `first`.
[[nodiscard]] ImageSourcePtr with_levels(ImageSourcePtr file, int first, int count);
/// Returns the slices of all files, one file after the other. The files must have the same format, and the same width
/// and height in the first `count` levels.
[[nodiscard]] ImageSourcePtr stacked(const std::vector<ImageSourcePtr>& files, int count);
/// Returns `count` slices of each level, starting at `slice`.
[[nodiscard]] ImageSourcePtr slice_of(ImageSourcePtr file, std::size_t slice, std::size_t count = 1);
/// Returns the rows of a file with one slice and one level as slices with one row each.
[[nodiscard]] ImageSourcePtr rows_as_slices(ImageSourcePtr file);
/// Returns slices with one row each as the rows of one slice. The file must have one level.
[[nodiscard]] ImageSourcePtr slices_as_rows(ImageSourcePtr file);

/// Position of a face in a cube layout, in units of faces, and the turn of the face there.
struct FacePosition {
    std::size_t column, row;
    Turn turn;
};
/// Returns the position of a face. The layout must not be equirectangular or openexr_latlong.
[[nodiscard]] FacePosition face_position(CubeLayout layout, std::size_t face);
/// Returns the smallest width and height with the aspect ratio of a layout. For layouts that consist of faces these are
/// the numbers of columns and rows.
[[nodiscard]] Extent layout_extent(CubeLayout layout) noexcept;
/// Returns the layout with the aspect ratio of an image, if there is one.
[[nodiscard]] std::optional<CubeLayout> layout_of(Extent extent) noexcept;
/// Returns the name of the enumerator.
[[nodiscard]] std::string name(CubeLayout layout);

/// Returns the faces of a layout as six slices. Levels from the first one on whose size does not fit the layout are
/// omitted, so the result can have no levels.
[[nodiscard]] ImageSourcePtr faces_of(ImageSourcePtr image, CubeLayout layout);
/// Returns six slices in a layout, as one slice. Texels outside the faces are zero.
[[nodiscard]] ImageSourcePtr laid_out(ImageSourcePtr faces, CubeLayout layout);

}  // namespace texton::detail
