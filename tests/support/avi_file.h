#pragma once
// AVI movies, for tests of damaged files.
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/support/file_bytes.h"

namespace texton::test {

/// Returns a chunk of a RIFF file, padded to an even size.
inline std::vector<std::uint8_t> riff_chunk(std::string_view kind, const std::vector<std::uint8_t>& data) {
    return FileBytes().text(kind).le32(data.size()).add(data).zeros(data.size() % 2).bytes;
}

/// Returns a list of chunks.
inline std::vector<std::uint8_t> riff_list(std::string_view kind, const std::vector<std::uint8_t>& data) {
    return riff_chunk("LIST", FileBytes().text(kind).add(data).bytes);
}

/// Returns a movie with these frames, and a header that claims `claimed` frames (0: as many as there are). `codec` is a
/// code of four characters, or empty for rows of texels of 24 bits.
inline std::vector<std::uint8_t> avi_file(unsigned width, unsigned height, std::string_view codec,
                                          const std::vector<std::vector<std::uint8_t>>& frames,
                                          std::uint32_t claimed = 0) {
    constexpr unsigned kBits = 24;
    if (claimed == 0) claimed = static_cast<std::uint32_t>(frames.size());
    const std::size_t bytes = frames.front().size();
    FileBytes header, stream, format, movie, index;
    header.le32(100000).le32(0).le32(0).le32(0x10).le32(claimed).le32(0).le32(1).le32(bytes);
    header.le32(width).le32(height).zeros(16);
    stream.text("vids").text(codec.empty() ? "DIB " : codec).zeros(12).le32(1).le32(10).le32(0);
    stream.le32(claimed).le32(bytes).le32(0).le32(0).zeros(4).le16(width).le16(height);
    format.le32(40).le32(width).le32(height).le16(1).le16(kBits);
    if (codec.empty()) {
        format.le32(0);
    } else {
        format.text(codec);
    }
    format.le32(bytes).zeros(16);
    for (const auto& frame : frames) {
        index.text("00dc").le32(0x10).le32(4 + movie.bytes.size()).le32(frame.size());
        movie.add(riff_chunk("00dc", frame));
    }
    const auto streams = riff_list(
        "strl", FileBytes().add(riff_chunk("strh", stream.bytes)).add(riff_chunk("strf", format.bytes)).bytes);
    FileBytes all;
    all.text("AVI ").add(riff_list("hdrl", FileBytes().add(riff_chunk("avih", header.bytes)).add(streams).bytes));
    return riff_chunk("RIFF", all.add(riff_list("movi", movie.bytes)).add(riff_chunk("idx1", index.bytes)).bytes);
}

}  // namespace texton::test
