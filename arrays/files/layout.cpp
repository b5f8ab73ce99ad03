#include "arrays/files/layout.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace texton::detail {
namespace {

Extent turned_extent(Extent extent, Turn turn) noexcept {
    if (turn.transposed) std::swap(extent.width, extent.height);
    return extent;
}

// Returns the position of a box inside a block of `extent` texels after the block is turned.
Region turned_box(Region box, Extent extent, Turn turn) noexcept {
    if (turn.transposed) {
        std::swap(box.offset.x, box.offset.y);
        std::swap(box.extent.width, box.extent.height);
        std::swap(extent.width, extent.height);
    }
    if (turn.reversed_x) box.offset.x = extent.width - box.offset.x - box.extent.width;
    if (turn.reversed_y) box.offset.y = extent.height - box.offset.y - box.extent.height;
    return box;
}

// Turns a packed block and writes it to the offset `at` of another one.
void copy_turned(std::size_t texel, std::byte* to, Extent to_extent, Offset at, const std::byte* from, Extent extent,
                 Turn turn) {
    const Extent result = turned_extent(extent, turn);
    for (std::size_t z = 0; z < result.depth; ++z) {
        for (std::size_t y = 0; y < result.height; ++y) {
            std::byte* row = to + (((at.z + z) * to_extent.height + at.y + y) * to_extent.width + at.x) * texel;
            const std::size_t v = turn.reversed_y ? result.height - 1 - y : y;
            for (std::size_t x = 0; x < result.width; ++x) {
                const std::size_t u = turn.reversed_x ? result.width - 1 - x : x;
                const std::size_t source_x = turn.transposed ? v : u;
                const std::size_t source_y = turn.transposed ? u : v;
                std::memcpy(row + x * texel, from + ((z * extent.height + source_y) * extent.width + source_x) * texel,
                            texel);
            }
        }
    }
}

Region moved(Region region, Offset by) noexcept {
    region.offset = {region.offset.x + by.x, region.offset.y + by.y, region.offset.z + by.z};
    return region;
}

Region moved_back(Region region, Offset by) noexcept {
    region.offset = {region.offset.x - by.x, region.offset.y - by.y, region.offset.z - by.z};
    return region;
}

class Assembly : public ImageSource {
public:
    Assembly(Format format, bool srgb, std::vector<Extent> levels, std::vector<std::vector<Piece>> pieces)
        : ImageSource(format, srgb, std::move(levels)), pieces_(std::move(pieces)) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        for (const Piece& piece : pieces_[static_cast<std::size_t>(level)]) {
            const Region part = common_part(box, target_of(piece));
            if (!is_empty(part)) read_part(piece, part, box, packed);
        }
    }

    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        std::vector<Region> all;
        for (const Piece& piece : pieces_[static_cast<std::size_t>(level)]) {
            if (piece.file == nullptr) {
                const auto zeros = cut(format(), target_of(piece), {piece.from.extent.width, 1, 1}, max_bytes);
                all.insert(all.end(), zeros.begin(), zeros.end());
                continue;
            }
            for (const Region& box : piece.file->boxes(piece.level, max_bytes)) {
                const Region part = common_part(box, piece.from);
                if (is_empty(part)) continue;
                const Region inside = moved_back(part, piece.from.offset);
                all.push_back(moved(turned_box(inside, piece.from.extent, piece.turn), piece.to));
            }
        }
        return all;
    }

    // All pieces of a level have similar costs, so the first one stands for all.
    ImageAccess access(int level) const override {
        const std::vector<Piece>& pieces = pieces_[static_cast<std::size_t>(level)];
        const Piece& first = pieces.front();
        if (first.file == nullptr) return {{first.from.extent.width, 1, 1}};
        ImageAccess access = first.file->access(first.level);
        access.granule = turned_extent(access.granule, first.turn);
        access.in_order = access.in_order && pieces.size() == 1 && first.turn == Turn{};
        return access;
    }

private:
    static Region target_of(const Piece& piece) noexcept {
        return {piece.to, turned_extent(piece.from.extent, piece.turn)};
    }

    // Reads `part` of the level, which lies in the piece, into the packed texels of `box`.
    void read_part(const Piece& piece, const Region& part, const Region& box, std::byte* packed) const {
        const Offset at = moved_back(part, box.offset).offset;
        if (piece.file == nullptr) {
            const std::vector<std::byte> zeros(row_bytes(format(), part.extent.width));
            for (std::size_t z = 0; z < part.extent.depth; ++z) {
                for (std::size_t y = 0; y < part.extent.height; ++y) {
                    copy_box(format(), packed, box.extent, {at.x, at.y + y, at.z + z}, zeros.data(),
                             {part.extent.width}, {}, {part.extent.width});
                }
            }
            return;
        }
        const Region inside = moved_back(part, piece.to);
        const Region turned_back = turned_box(inside, target_of(piece).extent, inverse(piece.turn));
        const Region source = moved(turned_back, piece.from.offset);
        if (piece.turn == Turn{} && part == box) {
            piece.file->read(piece.level, source, packed);
            return;
        }
        const auto texels = std::make_unique_for_overwrite<std::byte[]>(packed_bytes(format(), source.extent));
        piece.file->read(piece.level, source, texels.get());
        if (piece.turn == Turn{}) {
            copy_box(format(), packed, box.extent, at, texels.get(), source.extent, {}, source.extent);
        } else {
            copy_turned(info(format()).bytes, packed, box.extent, at, texels.get(), source.extent, piece.turn);
        }
    }

    std::vector<std::vector<Piece>> pieces_;
};

// Exchanges height and depth of a file where one of them is 1. Bytes and their order are unchanged.
class Reshaped : public ImageSource {
public:
    Reshaped(ImageSourcePtr file, Extent extent)
        : ImageSource(file->format(), file->srgb(), {extent}), file_(std::move(file)) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        file_->read(level, exchanged(box), packed);
    }
    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        std::vector<Region> all = file_->boxes(level, max_bytes);
        for (Region& box : all) box = exchanged(box);
        return all;
    }

private:
    static Region exchanged(Region box) noexcept {
        std::swap(box.offset.y, box.offset.z);
        std::swap(box.extent.height, box.extent.depth);
        return box;
    }

    ImageSourcePtr file_;
};

ImageSourcePtr reshaped(ImageSourcePtr file) {
    const Extent extent = file->level(0);
    return std::make_shared<Reshaped>(std::move(file), Extent{extent.width, extent.depth, extent.height});
}

constexpr Turn kUpsideDown{.reversed_x = true, .reversed_y = true};
constexpr Turn kMirrored{.reversed_x = true};
constexpr Turn kFlipped{.reversed_y = true};

}  // namespace

Turn upright_turn(int orientation) noexcept {
    constexpr Turn kTurns[] = {{false, false, false}, {false, true, false}, {false, true, true}, {false, false, true},
                               {true, false, false},  {true, true, false},  {true, true, true},  {true, false, true}};
    return orientation >= 1 && orientation <= 8 ? kTurns[orientation - 1] : Turn{};
}

Turn inverse(Turn turn) noexcept {
    if (turn.transposed) std::swap(turn.reversed_x, turn.reversed_y);
    return turn;
}

ImageSourcePtr assemble(Format format, bool srgb, std::vector<Extent> levels, std::vector<std::vector<Piece>> pieces) {
    return std::make_shared<Assembly>(format, srgb, std::move(levels), std::move(pieces));
}

ImageSourcePtr turned(ImageSourcePtr file, Turn turn) {
    if (turn == Turn{}) return file;
    std::vector<Extent> levels;
    std::vector<std::vector<Piece>> pieces;
    for (const Extent& extent : file->levels()) {
        pieces.push_back(
            {{.file = file, .level = static_cast<int>(levels.size()), .from = whole(extent), .turn = turn}});
        levels.push_back(turned_extent(extent, turn));
    }
    return assemble(file->format(), file->srgb(), std::move(levels), std::move(pieces));
}

ImageSourcePtr with_levels(ImageSourcePtr file, int first, int count) {
    if (first == 0 && std::cmp_equal(count, file->levels().size())) return file;
    std::vector<Extent> levels;
    std::vector<std::vector<Piece>> pieces;
    for (int level = first; level < first + count; ++level) {
        levels.push_back(file->level(level));
        pieces.push_back({{.file = file, .level = level, .from = whole(levels.back())}});
    }
    return assemble(file->format(), file->srgb(), std::move(levels), std::move(pieces));
}

ImageSourcePtr stacked(const std::vector<ImageSourcePtr>& files, int count) {
    if (files.size() == 1) return with_levels(files.front(), 0, count);
    std::vector<Extent> levels;
    std::vector<std::vector<Piece>> pieces;
    for (int level = 0; level < count; ++level) {
        Extent extent = files.front()->level(level);
        extent.depth = 0;
        pieces.emplace_back();
        for (const ImageSourcePtr& file : files) {
            pieces.back().push_back(
                {.file = file, .level = level, .from = whole(file->level(level)), .to = {0, 0, extent.depth}});
            extent.depth += file->level(level).depth;
        }
        levels.push_back(extent);
    }
    return assemble(files.front()->format(), files.front()->srgb(), std::move(levels), std::move(pieces));
}

ImageSourcePtr slice_of(ImageSourcePtr file, std::size_t slice, std::size_t count) {
    std::vector<Extent> levels;
    std::vector<std::vector<Piece>> pieces;
    for (Extent extent : file->levels()) {
        extent.depth = count;
        pieces.push_back({{.file = file, .level = static_cast<int>(levels.size()), .from = {{0, 0, slice}, extent}}});
        levels.push_back(extent);
    }
    return assemble(file->format(), file->srgb(), std::move(levels), std::move(pieces));
}

ImageSourcePtr rows_as_slices(ImageSourcePtr file) { return reshaped(std::move(file)); }
ImageSourcePtr slices_as_rows(ImageSourcePtr file) { return reshaped(std::move(file)); }

FacePosition face_position(CubeLayout layout, std::size_t face) {
    constexpr std::size_t kCross[6][2] = {{2, 1}, {0, 1}, {1, 0}, {1, 2}, {1, 1}, {3, 1}};
    switch (layout) {
        case CubeLayout::horizontal_strip: return {face, 0, {}};
        case CubeLayout::horizontal_cross: return {kCross[face][0], kCross[face][1], {}};
        case CubeLayout::vertical_cross:
            if (face == 5) return {1, 3, kUpsideDown};
            return {kCross[face][0], kCross[face][1], {}};
        case CubeLayout::openexr_cube: return {0, face, face / 2 == 1 ? kFlipped : kMirrored};
        case CubeLayout::faces:
        case CubeLayout::vertical_strip:
        case CubeLayout::equirectangular:
        case CubeLayout::openexr_latlong: break;
    }
    return {0, face, {}};
}

Extent layout_extent(CubeLayout layout) noexcept {
    switch (layout) {
        case CubeLayout::horizontal_strip: return {6, 1};
        case CubeLayout::horizontal_cross: return {4, 3};
        case CubeLayout::vertical_cross: return {3, 4};
        case CubeLayout::equirectangular:
        case CubeLayout::openexr_latlong: return {2, 1};
        case CubeLayout::vertical_strip:
        case CubeLayout::openexr_cube: return {1, 6};
        case CubeLayout::faces: break;
    }
    return {1, 1};
}

std::optional<CubeLayout> layout_of(Extent extent) noexcept {
    for (const CubeLayout layout :
         {CubeLayout::vertical_strip, CubeLayout::horizontal_strip, CubeLayout::horizontal_cross,
          CubeLayout::vertical_cross, CubeLayout::equirectangular}) {
        const Extent sides = layout_extent(layout);
        if (extent.width % sides.width == 0 && extent.width / sides.width * sides.height == extent.height)
            return layout;
    }
    return std::nullopt;
}

std::string name(CubeLayout layout) {
    switch (layout) {
        case CubeLayout::faces: return "faces";
        case CubeLayout::vertical_strip: return "vertical_strip";
        case CubeLayout::horizontal_strip: return "horizontal_strip";
        case CubeLayout::horizontal_cross: return "horizontal_cross";
        case CubeLayout::vertical_cross: return "vertical_cross";
        case CubeLayout::equirectangular: return "equirectangular";
        case CubeLayout::openexr_cube: return "openexr_cube";
        case CubeLayout::openexr_latlong: return "openexr_latlong";
    }
    return "";
}

ImageSourcePtr faces_of(ImageSourcePtr image, CubeLayout layout) {
    const Extent sides = layout_extent(layout);
    std::vector<Extent> levels;
    std::vector<std::vector<Piece>> pieces;
    for (const Extent& extent : image->levels()) {
        const std::size_t side = extent.width / sides.width;
        if (side * sides.width != extent.width || side * sides.height != extent.height) break;
        const int level = static_cast<int>(levels.size());
        pieces.emplace_back();
        for (std::size_t face = 0; face < 6; ++face) {
            const FacePosition location = face_position(layout, face);
            const Region from{{location.column * side, location.row * side}, {side, side}};
            pieces.back().push_back(
                {.file = image, .level = level, .from = from, .turn = inverse(location.turn), .to = {0, 0, face}});
        }
        levels.push_back({side, side, 6});
    }
    return assemble(image->format(), image->srgb(), std::move(levels), std::move(pieces));
}

ImageSourcePtr laid_out(ImageSourcePtr faces, CubeLayout layout) {
    const Extent sides = layout_extent(layout);
    std::vector<Extent> levels;
    std::vector<std::vector<Piece>> pieces;
    for (const Extent& extent : faces->levels()) {
        const std::size_t side = extent.width;
        const int level = static_cast<int>(levels.size());
        std::vector<bool> used(sides.width * sides.height);
        pieces.emplace_back();
        for (std::size_t face = 0; face < 6; ++face) {
            const FacePosition location = face_position(layout, face);
            used[location.row * sides.width + location.column] = true;
            const Offset to{location.column * side, location.row * side};
            pieces.back().push_back(
                {.file = faces, .level = level, .from = {{0, 0, face}, {side, side}}, .turn = location.turn, .to = to});
        }
        for (std::size_t cell = 0; cell < used.size(); ++cell) {
            if (used[cell]) continue;
            const Offset to{cell % sides.width * side, cell / sides.width * side};
            pieces.back().push_back({.file = nullptr, .from = {{}, {side, side}}, .to = to});
        }
        levels.push_back({side * sides.width, side * sides.height});
    }
    return assemble(faces->format(), faces->srgb(), std::move(levels), std::move(pieces));
}

}  // namespace texton::detail
