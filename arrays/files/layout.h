#pragma once
// Pictures put together of pieces of others: turned upright, in their display window, faces of a cube, layers of a
// stack, some of the levels. A piece knows where its texels go, so that a load can follow the order of the file and put
// each box of it where it belongs.
#include <optional>
#include <string>
#include <vector>

#include "arrays/files/source.h"

namespace texton::detail {

/// Columns and rows change places first, if they do; then columns are reversed, then rows.
struct Turn {
    bool transposed = false;
    bool reversed_x = false;
    bool reversed_y = false;
    bool operator==(const Turn&) const = default;
};

/// What turns a picture upright whose Exif orientation is 1 to 8; anything else counts as 1.
[[nodiscard]] Turn upright_turn(int orientation) noexcept;
/// What undoes a turn.
[[nodiscard]] Turn inverse(Turn turn) noexcept;

struct Piece {
    PictureFilePtr file;  ///< null: zeros
    int level = 0;        ///< of the file
    Region from;          ///< in that level; of zeros only the extent counts
    Turn turn{};
    Offset to{};
};

/// The pieces of each level must cover it without overlapping.
[[nodiscard]] PictureFilePtr assemble(Format format, bool srgb, std::vector<Extent> levels,
                                      std::vector<std::vector<Piece>> pieces);

[[nodiscard]] PictureFilePtr turned(PictureFilePtr file, Turn turn);
/// `count` levels from `first` on.
[[nodiscard]] PictureFilePtr with_levels(PictureFilePtr file, int first, int count);
/// Slices on slices. All have the same format, and the same sides in the first `count` levels.
[[nodiscard]] PictureFilePtr stacked(const std::vector<PictureFilePtr>& files, int count);
/// One slice of each level.
[[nodiscard]] PictureFilePtr slice_of(PictureFilePtr file, std::size_t slice, std::size_t count = 1);
/// Rows of the only slice become slices of one row.
[[nodiscard]] PictureFilePtr rows_as_slices(PictureFilePtr file);
/// The other way.
[[nodiscard]] PictureFilePtr slices_as_rows(PictureFilePtr file);

/// The place of each face in a laid-out cube with faces of 1 x 1, and how it is turned there; no layouts that are
/// converted.
struct FacePlace {
    std::size_t column, row;
    Turn turn;
};
[[nodiscard]] FacePlace face_place(CubeLayout layout, std::size_t face);
/// The sides of such a picture.
[[nodiscard]] Extent layout_extent(CubeLayout layout) noexcept;
/// The layout that the sides fit, if there is one.
[[nodiscard]] std::optional<CubeLayout> layout_of(Extent extent) noexcept;
[[nodiscard]] std::string name(CubeLayout layout);

/// Six slices from one, in the levels whose sides fit: none if the first does not.
[[nodiscard]] PictureFilePtr faces_of(PictureFilePtr picture, CubeLayout layout);
/// One slice from six. What no face covers is zero.
[[nodiscard]] PictureFilePtr laid_out(PictureFilePtr faces, CubeLayout layout);

}  // namespace texton::detail
