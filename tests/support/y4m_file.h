#pragma once
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace texton::test {

/// Writes a Y4M file of frames of 16 x 8 texels in 4:2:0. All luma codes of frame i are 16 * (i + 1); the codes of Cb
/// rise along the rows, and those of Cr are 128. `words` are added to the header: "C420jpeg XCOLORRANGE=FULL".
inline void write_y4m(const std::filesystem::path& path, std::size_t frames, const std::string& words) {
    std::ofstream out(path, std::ios::binary);
    out << "YUV4MPEG2 W16 H8 F25:1 " << words << '\n';
    for (std::size_t frame = 0; frame < frames; ++frame) {
        out << "FRAME\n" << std::string(16 * 8, static_cast<char>(16 * (frame + 1)));
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 8; ++x) out.put(static_cast<char>(100 + 7 * x + 3 * y));
        out << std::string(8 * 4, static_cast<char>(128));
    }
}

}  // namespace texton::test
