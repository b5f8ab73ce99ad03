#pragma once
// Files that store texels without encoding: DDS, KTX2 and raw frames. The texels of KTX2 can be compressed as a whole.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "arrays/files/compressed_part.h"
#include "arrays/files/input_file.h"
#include "arrays/files/source.h"
#include "arrays/files/stored_order.h"
#include "core/new_file.h"

namespace texton::detail {

/// Returns a source that reads the texels. `identity` is the state of the file before its header was read; if it has
/// changed since, reading throws Error{io}. The file is opened for each read, so the number of sources is not limited
/// by the number of files that a process may have open. If `compressed` is not empty, it contains the location of each
/// level, and the offsets in `levels` refer to the decompressed bytes of the level. Such levels are read in order.
[[nodiscard]] ImageSourcePtr stored_file(std::filesystem::path path, const FileIdentity& identity, Format format,
                                         bool srgb, const StoredOrder& order, std::vector<StoredLevel> levels,
                                         std::vector<CompressedPart> compressed = {});

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
