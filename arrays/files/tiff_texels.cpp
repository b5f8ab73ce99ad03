#include "arrays/files/tiff_texels.h"

#include <utility>

#include "arrays/files/compressed_part.h"
#include "arrays/files/oiio.h"

namespace texton::detail {

TiffTexels::TiffTexels(std::filesystem::path path, const FileIdentity& identity, const ImageSource& source,
                       const TiffPart& part)
    : path_(std::move(path)),
      identity_(identity),
      texel_bytes_(info(source.format()).bytes),
      packer_(source.format(), part.file_channels, part.channels) {
    const FormatInfo& format = info(source.format());
    TiffNumbers numbers(path_);
    // OpenImageIO reads parts or levels from directories that follow each other, and levels only of files of one part.
    for (int skipped = 0; skipped < part.index; ++skipped) {
        if (!numbers.next_directory()) return;
    }
    for (const Extent& level : source.levels()) {
        if (!numbers.next_directory()) return;
        chunks_.push_back(TiffChunks::of(numbers, {.extent = level,
                                                   .channels = static_cast<unsigned>(part.file_channels),
                                                   .channel_bytes = static_cast<unsigned>(format.bits) / 8,
                                                   .is_float = format.kind == FormatKind::floating}));
    }
}

bool TiffTexels::read(int level, const Region& box, std::byte* packed) const {
    const auto index = static_cast<std::size_t>(level);
    if (index >= chunks_.size() || !chunks_[index]) return false;
    const FileReading reading;
    const auto store = [this](const std::byte* stored, std::size_t texels, std::byte* out) {
        packer_.pack(stored, texels, out);
    };
    try {
        return chunks_[index]->read(path_, identity_, box, texel_bytes_, packed, store);
    } catch (const DamagedPart& damaged) {
        fail_file("texton::ImageFile", path_, damaged.what(), "The file may be damaged.");
    }
}

}  // namespace texton::detail
