#pragma once
// Files that store texels without compression, or blocks: DDS and raw frames.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "arrays/files/source.h"
#include "arrays/files/stored_order.h"
#include "core/new_file.h"

namespace texton::detail {

/// Location of the slices of a level in the file.
struct StoredLevel {
    Extent extent;             ///< size of the level; the depth is the number of slices
    std::uint64_t first = 0;   ///< byte offset of the first slice
    std::uint64_t stride = 0;  ///< bytes from one slice to the next
};

/// State of a file. It differs if the file was replaced or written.
struct FileIdentity {
    std::uint64_t device = 0, number = 0, bytes = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  ///< when it was written last
    bool operator==(const FileIdentity&) const = default;
};
/// Returns the state of a file. All members are 0 if it does not exist.
[[nodiscard]] FileIdentity identity_of(const std::filesystem::path& path) noexcept;

/// Returns a source that reads the texels. `identity` is the state of the file before its header was read; if it has
/// changed since, reading throws Error{io}. The file is opened for each read, so the number of sources is not limited
/// by the number of files that a process may have open.
[[nodiscard]] ImageSourcePtr stored_file(std::filesystem::path path, const FileIdentity& identity, Format format,
                                         bool srgb, const StoredOrder& order, std::vector<StoredLevel> levels);

/// Returns the first bytes of a file, at most `maximum`. Throws Error{io} if the file cannot be opened.
[[nodiscard]] std::vector<std::byte> first_bytes(const char* object, const std::filesystem::path& path,
                                                 std::size_t maximum);

/// Reads an image in bands for a writer and reports the progress. The constructor's arguments must outlive the object.
class ImageBands {
public:
    ImageBands(const ImageState& image, std::size_t total, const OnImageProgress& progress)
        : image_(image), total_(total), progress_(progress) {}

    /// Reads a box of a file, tightly packed. The result is valid until the next call.
    std::span<const std::byte> read(const ImageSource& file, int level, const Region& box);
    /// Adds to the progress and calls the callback. Throws Canceled if the callback returns false.
    void report(std::size_t bytes);
    /// Reads a region of a file and appends its texels to `out`, a band of rows at a time.
    void write(const ImageSource& file, int level, const Region& region, NewFile& out);

private:
    const ImageState& image_;
    std::size_t total_;
    const OnImageProgress& progress_;
    std::size_t done_ = 0;
    std::unique_ptr<std::byte[]> texels_;
    std::size_t capacity_ = 0;  // bytes of texels_
};

/// Size of the parts in which images are read and written.
inline constexpr std::size_t kBandBytes = std::size_t{16} << 20;

}  // namespace texton::detail
