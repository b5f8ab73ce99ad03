#pragma once
// Checks of paths: those that a session or a suite names, whose author may be a stranger, and those that are written.
#include <filesystem>
#include <optional>

namespace texton::viewer {

/// Throws Error{io} if the path exists and is neither a regular file nor a folder. Reading a pipe or a device could
/// block forever, and some devices change when they are read.
void refuse_special_file(const std::filesystem::path& path);

/// Returns true if the path, with all symbolic links followed, is in the folder. The path need not exist.
[[nodiscard]] bool is_inside(const std::filesystem::path& folder, const std::filesystem::path& path);

/// Throws Error{not_permitted} if `folder` is set and the path is not inside.
void refuse_outside(const std::optional<std::filesystem::path>& folder, const std::filesystem::path& path);

/// Returns true if both paths lead to the same file, also through links. Files that do not exist are the same if their
/// paths are.
[[nodiscard]] bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace texton::viewer
