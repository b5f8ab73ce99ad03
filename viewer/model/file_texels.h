#pragma once
// Texels of files of which a device holds a smaller picture alone: read in pieces where somebody looks.
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <texton/picture.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// Any part of a picture's files. What was read is kept in pieces, of all pictures together no more than kMostBytes: those that were
/// used last. Any thread; one reads at a time, others wait as long as they are wanted.
class FileTexels {
public:
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

    explicit FileTexels(Picture picture) : picture_(std::move(picture)) {}
    ~FileTexels();
    FileTexels(const FileTexels&) = delete;
    FileTexels& operator=(const FileTexels&) = delete;

    /// Packed rows of a box, which lies in the place; of block-compressed formats whole blocks, or such as end at the edge. Of files
    /// that are read in order all rows above the box are read, too, and kept as far as they are in its columns. Throws what Picture::read
    /// throws; Cancelled, between two pieces, once it is not wanted.
    std::vector<std::byte> read(const Place& place, const TexelBox& box, const StillWanted& wanted = {}) const;
    /// The same without reading files: nothing unless all of it is kept.
    std::optional<std::vector<std::byte>> kept(const Place& place, const TexelBox& box) const;

    /// Of all pictures together.
    static std::size_t kept_bytes();

private:
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;
    struct Shape;  // of a place, and of the pieces that it is read in

    Shape shape_of(const Place& place) const;
    Bytes find(const Shape& shape, std::size_t column, std::size_t row) const;
    std::vector<Bytes> read_row(const Shape& shape, std::size_t row, std::size_t first, std::size_t end) const;
    /// What the box has of a piece.
    static void join(const Shape& shape, const std::vector<std::byte>& piece, std::size_t column, std::size_t row,
                     const TexelBox& box, std::vector<std::byte>& out);
    /// Of a row of pieces, from the files if one of them is not kept.
    std::vector<Bytes> row_of(const Shape& shape, std::size_t row, std::size_t first, std::size_t end,
                              const StillWanted& wanted) const;

    Picture picture_;
    mutable std::timed_mutex reading_;
    mutable std::size_t next_row_ = 0;  // of files that are read in order: of pieces, the one that comes next
};

}  // namespace texton::viewer
