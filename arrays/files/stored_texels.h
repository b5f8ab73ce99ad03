#pragma once
// Files that store texels without encoding: DDS and raw frames.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arrays/files/source.h"

namespace texton::detail {

/// Order of the bytes of a texel in the file.
enum class StoredOrder : std::uint8_t {
    same,  ///< as in the format
    bgra,  ///< red and blue are exchanged
    bgrx,  ///< red and blue are exchanged; the fourth byte is unused
    rgbx,  ///< the fourth byte is unused
    bgr,   ///< three bytes; red and blue are exchanged
    rgb    ///< three bytes
};
/// Returns the bytes of a texel, or of a block, in the file.
[[nodiscard]] std::size_t stored_bytes(Format format, StoredOrder order) noexcept;

/// Location of the slices of a level in the file.
struct StoredLevel {
    Extent extent;             ///< size of the level; the depth is the number of slices
    std::uint64_t first = 0;   ///< byte offset of the first slice
    std::uint64_t stride = 0;  ///< bytes from one slice to the next
};

/// Returns a source that reads the texels. The file is opened for each read, so the number of sources is not limited by
/// the number of files that a process may have open.
[[nodiscard]] ImageSourcePtr stored_file(std::filesystem::path path, Format format, bool srgb, StoredOrder order,
                                         std::vector<StoredLevel> levels);

/// Returns the first bytes of a file, at most `maximum`. Throws Error{io} if the file cannot be opened.
[[nodiscard]] std::vector<std::byte> first_bytes(const char* object, const std::filesystem::path& path,
                                                 std::size_t maximum);

/// Writes bytes to a temporary file, which complete() renames. Without complete() the destructor removes it. The
/// constructor and the member functions throw Error{io}.
class StoredWriter {
public:
    StoredWriter(const char* object, const std::filesystem::path& path);
    ~StoredWriter();
    StoredWriter(const StoredWriter&) = delete;
    StoredWriter& operator=(const StoredWriter&) = delete;

    /// Appends bytes.
    void write(std::span<const std::byte> bytes);
    /// Closes the file and gives it its final name.
    void complete();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Reads an image in bands for a writer and reports the progress. The constructor's arguments must outlive the object.
class ImageBands {
public:
    ImageBands(const ImageState& image, std::size_t total, const OnImageProgress& progress)
        : image_(image), total_(total), progress_(progress) {}

    /// Reads a box of a file, tightly packed. The result is valid until the next call.
    std::span<const std::byte> read(const ImageSource& file, int level, const Region& box);
    /// Adds to the progress and calls the callback. Throws Canceled if the callback returns false.
    void report(std::size_t bytes);

private:
    const ImageState& image_;
    std::size_t total_;
    const OnImageProgress& progress_;
    std::size_t done_ = 0;
    std::vector<std::byte> texels_;
};

/// Size of the parts in which images are read and written.
inline constexpr std::size_t kBandBytes = std::size_t{16} << 20;

}  // namespace texton::detail
