#pragma once
// Files that are written together: all of them, or none.
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "core/new_file.h"

namespace texton::verify {

/// Writes files to temporary files beside their final names, and renames these when all of them are complete.
///
/// If a file cannot be written, renamed or removed, no file has changed. The renames themselves are not one operation: if
/// the machine stops between two of them, each file is complete, but some are old and some are new.
class FileUpdate {
public:
    /// Adds a file with these contents and creates its folder. Throws Error{io}, with the path, if it cannot be written.
    void add(const std::filesystem::path& path, std::span<const std::byte> bytes);
    /// Adds the removal of a file. It need not exist.
    void remove(std::filesystem::path path) { removed_.push_back(std::move(path)); }
    /// Gives all files their names, then removes files. If that fails, it restores all files and throws Error{io} with
    /// the path.
    void complete();

private:
    struct Added {
        std::filesystem::path path;
        std::unique_ptr<detail::NewFile> file;
    };

    std::vector<Added> added_;
    std::vector<std::filesystem::path> removed_;
};

}  // namespace texton::verify
