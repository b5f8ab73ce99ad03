#pragma once
// Reads texels of files that a device can only hold as a reduced image.
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <texton/image_file.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// Reads parts of the files of an image and caches them in pieces. All objects share one cache of kMaxBytes, which
/// drops the least recently used pieces. Several threads may use an object at once; one of them reads files while
/// others wait.
class FileTexels {
public:
    /// Maximum size of the cache in bytes.
    static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

    /// Creates an object that reads this image.
    explicit FileTexels(ImageFile image) : image_(std::move(image)) {}
    ~FileTexels();
    FileTexels(const FileTexels&) = delete;
    FileTexels& operator=(const FileTexels&) = delete;

    /// Returns the packed rows of a box, which must lie in the subresource. In block-compressed formats it must consist
    /// of whole blocks or end at the edge. If the file must be read in order, all rows above the box are read, too, and
    /// their pieces in the box's columns are cached. Throws the errors of ImageFile::read(). Throws Canceled, between
    /// two pieces, when `token` is canceled.
    std::vector<std::byte> read(const SubresourceIndex& subresource, const TexelBox& box,
                                const CancellationToken& token = {}) const;
    /// Returns the same texels if all of them are in the cache, and otherwise nothing. Reads no files.
    std::optional<std::vector<std::byte>> kept(const SubresourceIndex& subresource, const TexelBox& box) const;

    /// Returns the current size of the cache in bytes.
    static std::size_t kept_bytes();

private:
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;
    struct Shape;  // size of a subresource and of its pieces

    Shape shape_of(const SubresourceIndex& subresource) const;
    Bytes find(const Shape& shape, std::size_t column, std::size_t row) const;
    std::vector<Bytes> read_row(const Shape& shape, std::size_t row, std::size_t first, std::size_t end) const;
    /// Copies the texels of a piece that lie in the box to `out`.
    static void join(const Shape& shape, const std::vector<std::byte>& piece, std::size_t column, std::size_t row,
                     const TexelBox& box, std::vector<std::byte>& out);
    /// Returns the pieces of a row, from the cache if it contains all of them, and otherwise from the files.
    std::vector<Bytes> row_of(const Shape& shape, std::size_t row, std::size_t first, std::size_t end,
                              const CancellationToken& token) const;

    ImageFile image_;
    mutable std::timed_mutex reading_;
    mutable std::size_t next_row_ = 0;  // next row of pieces of a file that must be read in order
};

}  // namespace texton::viewer
