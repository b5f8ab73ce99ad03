#include "viewer/model/file_texels.h"

#include <algorithm>
#include <chrono>
#include <compare>
#include <list>
#include <map>

#include "arrays/files/source.h"

// Pieces are a few hundred texels wide, also if the file has no tiles. Such a file decodes whole rows, but only the
// requested pieces of a row are cached. Therefore the cache holds many more rows.

namespace texton::viewer {
namespace {

constexpr std::size_t kSide = 256;  // minimum width of a piece, and maximum height, in texels; tiles can be larger
constexpr std::size_t kMaxAtOnce = std::size_t{16} << 20;  // maximum bytes of a band of rows or of a piece
constexpr std::chrono::milliseconds kPatience{20};         // interval in which a waiting thread checks for cancellation

struct Key {
    const void* owner;
    int plane, level;
    std::size_t layer;
    int face;
    std::size_t slice, column, row;
    auto operator<=>(const Key&) const = default;
};

using Bytes = std::shared_ptr<const std::vector<std::byte>>;

// The cache of all images. The most recently used piece comes first.
class Store {
public:
    Bytes find(const Key& key) {
        const std::scoped_lock lock(mutex_);
        const auto found = entries_.find(key);
        if (found == entries_.end()) return nullptr;
        order_.splice(order_.begin(), order_, found->second);
        return found->second->second;
    }
    void keep(const Key& key, const Bytes& piece) {
        const std::scoped_lock lock(mutex_);
        if (entries_.contains(key)) return;
        order_.emplace_front(key, piece);
        entries_[key] = order_.begin();
        bytes_ += piece->size();
        while (bytes_ > FileTexels::kMaxBytes) drop(std::prev(order_.end()));
    }
    void forget(const void* owner) {
        const std::scoped_lock lock(mutex_);
        for (auto entry = order_.begin(); entry != order_.end();) {
            const auto next = std::next(entry);
            if (entry->first.owner == owner) drop(entry);
            entry = next;
        }
    }
    std::size_t bytes() {
        const std::scoped_lock lock(mutex_);
        return bytes_;
    }
    static Store& instance() {
        static Store& made = *new Store;  // never destroyed, because images can outlive static objects
        return made;
    }

private:
    using Order = std::list<std::pair<Key, Bytes>>;

    void drop(Order::iterator entry) {
        bytes_ -= entry->second->size();
        entries_.erase(entry->first);
        order_.erase(entry);
    }

    std::mutex mutex_;
    Order order_;
    std::map<Key, Order::iterator> entries_;
    std::size_t bytes_ = 0;
};

std::size_t rounded_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

}  // namespace

struct FileTexels::Shape {
    ImageFile image;
    SubresourceIndex subresource;
    Format format{};
    Extent level{};  // size of the subresource
    Extent piece{};  // size of all pieces except the last ones of a row or column
    bool in_order = false;

    Extent extent_of(std::size_t column, std::size_t row) const {
        return {std::min(piece.width, level.width - column * piece.width),
                std::min(piece.height, level.height - row * piece.height)};
    }
    Key key(const void* owner, std::size_t column, std::size_t row) const {
        return {
            owner, subresource.plane, subresource.level, subresource.layer, subresource.face, subresource.slice, column,
            row};
    }
};

FileTexels::~FileTexels() { Store::instance().forget(this); }

std::size_t FileTexels::kept_bytes() { return Store::instance().bytes(); }

FileTexels::Shape FileTexels::shape_of(const SubresourceIndex& subresource) const {
    const bool planar = plane_count(image_.info().format) > 1;
    Shape out{.image = planar ? image_.plane(subresource.plane) : image_, .subresource = subresource};
    const ArrayInfo& array = out.image.info();
    const ImageAccess access = out.image.access(subresource.level);
    out.format = array.format;
    out.level = level_extent(array, subresource.level);
    out.in_order = access.in_order;
    const bool full_rows = access.granule.width >= out.level.width;
    const std::size_t block = block_side(array.format);
    out.piece.width = rounded_up(kSide, full_rows ? block : access.granule.width);
    const std::size_t row = row_bytes(array.format, full_rows ? out.level.width : out.piece.width);
    const std::size_t rows = std::clamp<std::size_t>(kMaxAtOnce / row, 1, kSide);
    out.piece.height = rounded_up(rows, access.granule.height);
    // Pieces of very large strips and tiles contain only part of them, so these are decoded once per piece.
    if (out.piece.height * row > 2 * kMaxAtOnce) out.piece.height = rows;
    out.piece.height = rounded_up(out.piece.height, block);
    return out;
}

FileTexels::Bytes FileTexels::find(const Shape& shape, std::size_t column, std::size_t row) const {
    return Store::instance().find(shape.key(this, column, row));
}

std::vector<FileTexels::Bytes> FileTexels::read_row(const Shape& shape, std::size_t row, std::size_t first,
                                                    std::size_t end) const {
    const ArrayInfo& array = shape.image.info();
    const std::size_t left = first * shape.piece.width, right = std::min(end * shape.piece.width, shape.level.width);
    const Extent band{right - left, shape.extent_of(first, row).height};
    Subresource part{.level = shape.subresource.level};
    if (is_layered(array.kind)) part.layer = shape.subresource.layer;
    if (is_cube(array.kind)) part.face = shape.subresource.face;
    part.region = Region{{left, row * shape.piece.height, shape.subresource.slice}, band};
    std::vector<std::byte> texels(packed_bytes(shape.format, band));
    shape.image.read(part, texels);
    std::vector<Bytes> out;
    for (std::size_t column = first; column < end; ++column) {
        const Extent extent = shape.extent_of(column, row);
        auto piece = std::make_shared<std::vector<std::byte>>(packed_bytes(shape.format, extent));
        detail::copy_box(shape.format, piece->data(), extent, {}, texels.data(), band,
                         {column * shape.piece.width - left, 0, 0}, extent);
        Store::instance().keep(shape.key(this, column, row), piece);
        out.push_back(std::move(piece));
    }
    return out;
}

std::vector<FileTexels::Bytes> FileTexels::row_of(const Shape& shape, std::size_t row, std::size_t first,
                                                  std::size_t end, const CancellationToken& token) const {
    std::vector<Bytes> out;
    for (std::size_t column = first; column < end; ++column) {
        Bytes piece = find(shape, column, row);
        if (piece == nullptr) break;
        out.push_back(std::move(piece));
    }
    if (out.size() == end - first) return out;
    if (shape.in_order) {
        if (row < next_row_) next_row_ = 0;
        for (; next_row_ < row; ++next_row_) {
            throw_if_canceled(token);
            (void)read_row(shape, next_row_, first, end);
        }
        next_row_ = row + 1;
    }
    throw_if_canceled(token);
    return read_row(shape, row, first, end);
}

void FileTexels::join(const Shape& shape, const std::vector<std::byte>& piece, std::size_t column, std::size_t row,
                      const TexelBox& box, std::vector<std::byte>& out) {
    const Extent extent = shape.extent_of(column, row);
    const Region subresource{{column * shape.piece.width, row * shape.piece.height, 0}, extent};
    const Region common = detail::common_part(subresource, {{box.x, box.y, 0}, {box.width, box.height}});
    detail::copy_box(shape.format, out.data(), {box.width, box.height},
                     {common.offset.x - box.x, common.offset.y - box.y, 0}, piece.data(), extent,
                     {common.offset.x - subresource.offset.x, common.offset.y - subresource.offset.y, 0},
                     common.extent);
}

std::vector<std::byte> FileTexels::read(const SubresourceIndex& subresource, const TexelBox& box,
                                        const CancellationToken& token) const {
    if (auto all = kept(subresource, box)) return *std::move(all);
    std::unique_lock lock(reading_, std::defer_lock);
    while (!lock.try_lock_for(kPatience)) throw_if_canceled(token);
    const Shape shape = shape_of(subresource);
    const Extent extent{box.width, box.height};
    std::vector<std::byte> out(packed_bytes(shape.format, extent));
    const std::size_t first = box.x / shape.piece.width, end = (box.x + box.width - 1) / shape.piece.width + 1;
    const std::size_t last_row = (box.y + box.height - 1) / shape.piece.height;
    for (std::size_t row = box.y / shape.piece.height; row <= last_row; ++row) {
        const std::vector<Bytes> pieces = row_of(shape, row, first, end, token);
        for (std::size_t column = first; column < end; ++column)
            join(shape, *pieces[column - first], column, row, box, out);
    }
    return out;
}

std::optional<std::vector<std::byte>> FileTexels::kept(const SubresourceIndex& subresource, const TexelBox& box) const {
    const Shape shape = shape_of(subresource);
    std::vector<std::byte> out(packed_bytes(shape.format, {box.width, box.height}));
    for (std::size_t row = box.y / shape.piece.height; row * shape.piece.height < box.y + box.height; ++row) {
        for (std::size_t column = box.x / shape.piece.width; column * shape.piece.width < box.x + box.width; ++column) {
            const Bytes piece = find(shape, column, row);
            if (piece == nullptr) return std::nullopt;
            join(shape, *piece, column, row, box, out);
        }
    }
    return out;
}

}  // namespace texton::viewer
