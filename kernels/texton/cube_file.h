#pragma once
// Tables of colours in text files: Adobe's Cube LUT Specification 1.0.
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <texton/array.h>
#include <texton/lut.h>

namespace texton {

struct CubeLut {
    std::string title{};
    int dimensions = 3;    ///< 1 or 3
    std::size_t size = 0;  ///< entries along an axis: 2 to 65536, or 2 to 256 of three dimensions
    LutDomain domain{};
    std::vector<float> entries{};  ///< red, green, blue of each; of three dimensions red changes fastest, blue slowest
    bool operator==(const CubeLut&) const = default;
};

/// Error{io} names the file and the line: one that is neither a keyword with its values, three numbers, a comment nor
/// empty; a keyword given twice or after the first entry; a size or domain that cannot be; more or fewer entries than
/// the size says.
[[nodiscard]] CubeLut read_cube_file(const std::filesystem::path& path);
/// The same of text in memory; `name` stands for the file in errors.
[[nodiscard]] CubeLut parse_cube(std::string_view text, std::string_view name);

/// Numbers with as many digits as it takes to read the same floats again. The file is written aside and renamed when
/// complete. Errors: bad_argument (sizes that do not match, numbers that are not finite, a domain that cannot be, a
/// title with quotes or line ends), io.
void write_cube_file(const std::filesystem::path& path, const CubeLut& lut);

/// The table for lut_1d() or lut_3d(), 1D or 3D, with alpha 1; of any format of four float or unorm channels, which rounds
/// the entries, and unorm keeps them within 0 and 1. On an H200 Filter::linear reads 3D tables of rgba16_float and of 32-bit
/// texels two and a half times as fast as those of rgba32_float. Returns when it is there. Errors: bad_argument as for
/// write_cube_file(), or another format; and those of Array.
[[nodiscard]] Array cube_array(const Device& device, const CubeLut& lut, Format format = Format::rgba32_float);

}  // namespace texton
