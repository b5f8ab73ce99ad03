#pragma once
// Texels of an image of a TIFF file whose strips or tiles Texton decodes itself, see tiff_chunks.h.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "arrays/files/channel_packer.h"
#include "arrays/files/input_file.h"
#include "arrays/files/source.h"
#include "arrays/files/tiff_chunks.h"

namespace texton::detail {

class TiffTexels {
public:
    /// Finds the strips or tiles of each level. `identity` is the state of the file when it was opened.
    TiffTexels(std::filesystem::path path, const FileIdentity& identity, const ImageSource& source,
               const TiffPart& part);

    /// Reads a box of a level of the source. Returns false, and some texels may be written, if OpenImageIO must read
    /// it. Throws Error{io}, which names the file, if a strip or tile is damaged.
    bool read(int level, const Region& box, std::byte* packed) const;

private:
    std::filesystem::path path_;
    FileIdentity identity_;
    std::size_t texel_bytes_;
    ChannelPacker packer_;
    std::vector<std::optional<TiffChunks>> chunks_;  // of each level
};

}  // namespace texton::detail
