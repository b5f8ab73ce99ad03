#pragma once
// The texels of an image in a file, tightly packed, of which several processes can write different rows at once.
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>

#include "arrays/files/descriptor.h"
#include "viewer/tiles/rows.h"

namespace texton::tiles {

/// Size of an image in bytes and rows.
struct RowLayout {
    std::size_t row_bytes = 0;  ///< bytes of a row of a slice
    std::size_t rows = 0;       ///< rows of a slice
    std::size_t slices = 1;

    std::size_t bytes() const noexcept { return row_bytes * rows * slices; }
};

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
    /// Returns the size of the file in bytes. It ends after the last row that was written.
    std::size_t size() const;

    /// Reads `bytes` bytes from byte `first_byte` on of each of the rows of a slice, tightly packed. Throws Error{io}.
    void read(std::size_t slice, Rows rows, std::size_t first_byte, std::size_t bytes, std::byte* texels) const;
    /// Writes rows of all slices. Each slice of `texels` has rows.count() rows. Throws Error{io}.
    void write(Rows rows, const std::byte* texels) const;
    /// Returns after the disk has stored what any process of this machine has written. Throws Error{io}.
    void synchronize() const;
    /// Removes all rows. Throws Error{io}.
    void clear() const;

private:
    RowFile(std::filesystem::path path, RowLayout layout, detail::OwnedDescriptor file);

    std::size_t position(std::size_t slice, std::size_t row) const noexcept {
        return (slice * layout_.rows + row) * layout_.row_bytes;
    }
    [[noreturn]] void fail_to_write() const;

    std::filesystem::path path_;
    RowLayout layout_;
    detail::OwnedDescriptor file_;
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
