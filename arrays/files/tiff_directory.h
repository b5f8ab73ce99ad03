#pragma once
// Directories of TIFF files, each of which describes an image.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "arrays/files/input_file.h"

namespace texton::detail {

/// A field of a directory: one or several values.
struct TiffField {
    unsigned tag = 0;
    unsigned value_bytes = 0;  ///< 2, 4 or 8; 0 for types other than unsigned integers
    std::uint64_t count = 0;   ///< of values
    std::uint64_t at = 0;      ///< offset of the first value in the file
    std::uint64_t value = 0;   ///< the first value, if has_value
    bool has_value = false;    ///< the directory contains the values
};

/// Reads unsigned integers of a TIFF file in its byte order.
class TiffNumbers {
public:
    /// Does not throw for files that are no TIFF files: they have no directories.
    explicit TiffNumbers(const std::filesystem::path& path);

    const InputFile& file() const noexcept { return file_; }
    bool is_big_endian() const noexcept { return big_endian_; }

    /// Returns an integer of at most 8 bytes at an offset, or nothing beyond the end of the file.
    std::optional<std::uint64_t> number(std::uint64_t at, unsigned bytes) const;
    /// Returns integers of the same size that follow each other, or nothing if the file ends before.
    std::optional<std::vector<std::uint64_t>> numbers(std::uint64_t at, unsigned bytes, std::size_t count) const;

    /// Reads the next directory. Returns false, and there are no fields, if there is none or if it cannot be read
    /// completely.
    bool next_directory();
    /// Returns true if no directory follows the current one. False if that cannot be read.
    bool is_last() const noexcept { return is_last_; }
    /// Returns a field of the current directory, or null.
    const TiffField* field(unsigned tag) const noexcept;
    /// Returns the first value of a field, or `absent` if there is no such field, or nothing if the directory does not
    /// contain its values or if they are no unsigned integers.
    std::optional<std::uint64_t> value(unsigned tag, std::uint64_t absent) const noexcept;

private:
    InputFile file_;
    bool big_endian_ = false;
    bool large_ = false;  // BigTIFF
    bool is_last_ = false;
    std::uint64_t next_ = 0;  // offset of the next directory; 0: none
    std::vector<TiffField> fields_;
};

/// The first directory of a TIFF file, which describes its first image.
struct TiffDirectory {
    std::uint64_t slices = 1;  ///< tag ImageDepth
    bool is_last = false;      ///< the file has no other directory
};
/// Reads it. Returns the defaults for values that cannot be read.
[[nodiscard]] TiffDirectory first_tiff_directory(const std::filesystem::path& path);

}  // namespace texton::detail
