#pragma once
// Files whose texels lie in them as they are: DDS and raw frames.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arrays/files/source.h"

namespace texton::detail {

/// How the bytes of a texel lie in the file.
enum class StoredOrder : std::uint8_t {
    same,  ///< as in the format
    bgra,  ///< red and blue changed places
    bgrx,  ///< the same, and the fourth byte means nothing
    rgbx,
    bgr,  ///< three bytes
    rgb
};
/// Bytes of a texel (or block) in the file.
[[nodiscard]] std::size_t stored_bytes(Format format, StoredOrder order) noexcept;

/// Where the slices of a level are.
struct StoredLevel {
    Extent extent;  ///< the depth counts slices
    std::uint64_t first = 0;
    std::uint64_t stride = 0;  ///< from slice to slice
};

/// The file is opened for each read, so that a stack may have more files than a process may keep open.
[[nodiscard]] PictureFilePtr stored_file(std::filesystem::path path, Format format, bool srgb, StoredOrder order,
                                         std::vector<StoredLevel> levels);

/// The bytes of a file, Error{io} if it cannot be opened; at most `most`.
[[nodiscard]] std::vector<std::byte> first_bytes(const char* object, const std::filesystem::path& path,
                                                 std::size_t most);

/// Writes one byte after the other to a file that has its name when it is complete.
class StoredWriter {
public:
    StoredWriter(const char* object, const std::filesystem::path& path);
    ~StoredWriter();
    StoredWriter(const StoredWriter&) = delete;
    StoredWriter& operator=(const StoredWriter&) = delete;

    void write(std::span<const std::byte> bytes);
    void complete();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Reads a picture in bands, for a writer, and tells the user how far it is.
class PictureBands {
public:
    PictureBands(const PictureState& picture, std::size_t total, const OnPictureProgress& progress)
        : picture_(picture), total_(total), progress_(progress) {}

    /// The box of the file, or of one plane, packed. Valid until the next.
    std::span<const std::byte> read(const PictureFile& file, int level, const Region& box);
    /// Throws Cancelled if the user says so.
    void report(std::size_t bytes);

private:
    const PictureState& picture_;
    std::size_t total_;
    const OnPictureProgress& progress_;
    std::size_t done_ = 0;
    std::vector<std::byte> texels_;
};

inline constexpr std::size_t kBandBytes = std::size_t{16} << 20;

}  // namespace texton::detail
