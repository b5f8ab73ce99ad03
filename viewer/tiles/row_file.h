#pragma once
// The texels of an image in a file, compressed, of which several processes can write different rows at once.
//
// Rows that are written together are divided into blocks of up to 512 KiB, which all threads compress. A block has a
// header and is compressed on its own. Its position in the file depends only on its first row: as if no block were
// compressed, and each row had a header. The bytes between blocks are holes, which take no space on the disk. So
// writers need not know of each other. Blocks that follow each other have consecutive rows, so that a range of rows
// can be read from its first row on.
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include <texton/format.h>

#include "arrays/files/descriptor.h"
#include "viewer/tiles/compressed_block.h"
#include "viewer/tiles/rows.h"

namespace texton::tiles {

/// Size of an image in bytes and rows.
struct RowLayout {
    std::size_t row_bytes = 0;  ///< bytes of a row of a slice
    std::size_t rows = 0;       ///< rows of a slice
    std::size_t slices = 1;
    TexelLayout texel{};

    std::size_t bytes() const noexcept { return row_bytes * rows * slices; }
};

/// Returns the layout of an image. The depth of `extent` is the number of slices.
[[nodiscard]] RowLayout row_layout(Format format, const Extent& extent);

class RowFile {
public:
    /// Opens a file. With `creates`, creates it if it does not exist. Throws Error{io}.
    RowFile(std::filesystem::path path, RowLayout layout, bool creates);
    /// Creates a file without a name in a folder. The system removes it when no process uses it any more. Throws
    /// Error{io}.
    [[nodiscard]] static RowFile unnamed(const std::filesystem::path& folder, RowLayout layout);

    const RowLayout& layout() const noexcept { return layout_; }
    /// Returns a path with which other processes of the same user can open the file. If the file has no name, they must
    /// run on the same machine, and this object must exist.
    const std::filesystem::path& path() const noexcept { return path_; }
    /// Returns the bytes that the rows take on the disk if they cannot be compressed: 1/64 more than the texels.
    std::size_t max_bytes() const noexcept { return layout_.bytes() + layout_.bytes() / 64; }

    /// Reads `bytes` bytes from byte `first_byte` on of each of the rows of a slice, tightly packed. The rows must have
    /// been written by this object, added or found. Throws Error{io}, also if their checksum is wrong.
    void read(std::size_t slice, Rows rows, std::size_t first_byte, std::size_t bytes, std::byte* texels) const;
    /// Writes rows of all slices. Each slice of `texels` has texel_rows.count() rows, which include `rows`. Throws
    /// Error{io}.
    void write(Rows rows, const std::byte* texels, Rows texel_rows);
    /// Makes rows readable that another object has written in one call of write().
    void add(Rows rows);
    /// Makes rows readable that other objects have written in any number of calls. Returns false if the file does not
    /// have them. Throws Error{unsupported} if this build cannot decompress them.
    [[nodiscard]] bool find(Rows rows);
    /// Makes the rows readable that are readable through another object.
    void add_rows_of(const RowFile& other);
    /// Frees the disk space of the blocks that end before a row. Their rows can no longer be read. File systems that
    /// cannot free a part of a file keep it until the file is removed.
    void free_before(std::size_t row);
    /// Returns after the disk has stored what any process of this machine has written. Throws Error{io}.
    void synchronize() const;
    /// Removes all rows. Throws Error{io}.
    void clear();

private:
    struct Header;
    // A block that was decompressed because a part of it was read.
    struct Decompressed {
        std::size_t slice = 0;
        Rows rows{};
        std::vector<std::byte> texels{};
    };

    RowFile(std::filesystem::path path, RowLayout layout, detail::OwnedDescriptor file);

    std::size_t block_rows() const noexcept;
    std::size_t position(std::size_t slice, std::size_t row) const noexcept;
    bool read_header(std::size_t slice, std::size_t row, Header& header) const;
    void read_block(std::size_t slice, Rows block, std::byte* texels) const;
    void write_block(std::size_t slice, Rows block, const std::byte* texels);
    Rows block_with(std::size_t row) const;
    [[noreturn]] void fail_to_write() const;
    [[noreturn]] void fail_to_read() const;

    std::filesystem::path path_;
    RowLayout layout_;
    detail::OwnedDescriptor file_;
    mutable std::mutex mutex_;                   // of the members below
    std::map<std::size_t, std::size_t> blocks_;  // the end of each block that is readable, by its first row
    mutable Decompressed last_;
};

/// Throws Error{io} for a file of rows, or of their journal, that cannot be written. `error` is a number of the system.
[[noreturn]] void fail_to_write_rows(const std::filesystem::path& path, int error);
/// Calls a function of the system for parts of a buffer, until all bytes are done: call(offset, bytes). Returns the
/// number of bytes that are done. It is smaller after an error, which errno names, and at the end of a file.
template <class Call>
std::size_t for_all_bytes(std::size_t bytes, const Call& call) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t part = call(done, bytes - done);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) break;
        done += static_cast<std::size_t>(part);
    }
    return done;
}

}  // namespace texton::tiles
