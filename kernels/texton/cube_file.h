#pragma once
// Color lookup tables in text files, after Adobe's Cube LUT Specification 1.0.
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <texton/array.h>
#include <texton/lut.h>

namespace texton {

/// The contents of a cube file.
struct CubeLut {
    std::string title{};   ///< title without the enclosing quotes; may be empty
    int dimensions = 3;    ///< 1 or 3
    std::size_t size = 0;  ///< entries along an axis: 2 to 65536 for 1 dimension, 2 to 256 for 3 dimensions
    LutDomain domain{};    ///< colors that the first and the last entry map
    /// Red, green and blue of each entry. In 3 dimensions red changes fastest and blue slowest.
    std::vector<float> entries{};
    bool operator==(const CubeLut&) const = default;  ///< Returns true if all members are equal.
};

/// Reads a cube file. Several threads may call the functions of this header at once.
///
/// Throws Error{io} if the file cannot be opened or read. Throws Error{io} with the file and the line number if
/// - a line is none of these: empty, a comment, a keyword with its values, three finite numbers,
/// - the title contains a quote or a carriage return,
/// - a keyword is given twice or after the first entry,
/// - the title contains quotes or a carriage return,
/// - the size or the domain is invalid,
/// - the number of entries does not match the size.
[[nodiscard]] CubeLut read_cube_file(const std::filesystem::path& path);
/// Parses the text of a cube file. Errors contain `name` in place of a file name. Throws the same errors as
/// read_cube_file().
[[nodiscard]] CubeLut parse_cube(std::string_view text, std::string_view name);

/// Writes a cube file. Numbers have as many digits as are needed to read the same floats again. The file is replaced as
/// by save(): if writing fails, an existing file is unchanged.
///
/// Throws Error{bad_argument} if the number of entries does not match the size, if a number is not finite, if the
/// dimensions, the size or the domain are invalid, or if the title contains quotes or line ends. Throws Error{io} if
/// the file cannot be written.
void write_cube_file(const std::filesystem::path& path, const CubeLut& lut);

/// Creates the table for lut_1d() or lut_3d(): a 1D or 3D array with alpha 1. Returns when the table is complete.
///
/// `format` is any format with four float or unorm channels. Entries are rounded to the format, and unorm formats clamp
/// them to 0 to 1. On an H200, Filter::linear reads 3D tables of rgba16_float and of formats with 32-bit texels 2.5
/// times as fast as tables of rgba32_float.
///
/// Throws Error{bad_argument} for an invalid `lut`, as write_cube_file() does, or for another format. Also throws the
/// errors of Array.
[[nodiscard]] Array cube_array(const Device& device, const CubeLut& lut, Format format = Format::rgba32_float);

}  // namespace texton
