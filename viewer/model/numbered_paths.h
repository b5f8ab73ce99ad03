#pragma once
// Names that stand for numbered files: in_%03d.png.
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace texton::viewer {

/// Returns true if the name of a file contains %d or, for numbers with at least N digits, %0Nd: in_%03d.png. It then
/// stands for numbered files.
[[nodiscard]] bool is_numbered(const std::filesystem::path& pattern);
/// Returns the path of the file with a number.
[[nodiscard]] std::filesystem::path numbered_path(const std::filesystem::path& pattern, std::size_t number);

/// Returns all files that the name of numbered files stands for. Throws Error{io} if there are none, or if one between
/// the first and the last number is missing.
[[nodiscard]] std::map<std::size_t, std::filesystem::path> files_by_number(const std::filesystem::path& pattern);
/// Returns the numbered files that a name stands for, in the order of their numbers, or only the path itself if it is
/// not the name of numbered files or if a file has this name. Throws the errors of files_by_number().
[[nodiscard]] std::vector<std::filesystem::path> named_files(const std::filesystem::path& path);

/// Returns the name of numbered files that stands for the file and for the most other files of its folder:
/// in_%03d.png for in_007.png. Returns nothing if the name contains no number, or a %.
[[nodiscard]] std::optional<std::filesystem::path> numbered_name_of(const std::filesystem::path& file);

}  // namespace texton::viewer
