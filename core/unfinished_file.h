#pragma once
// Temporary files of the process, so that a signal that ends it can remove them.
#include <filesystem>
#include <string>

namespace texton::detail {

/// Registers the path of a temporary file as long as it lives. Create it before the file, and destroy it after the file
/// was renamed or removed.
class UnfinishedFile {
public:
    explicit UnfinishedFile(const std::filesystem::path& path);
    ~UnfinishedFile();
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

private:
    std::string name_;
};

/// Removes all registered files. Afterwards the constructor and the destructor of UnfinishedFile block forever, so that
/// no other thread creates or renames one: call this only if the process ends immediately. It must not be called by a
/// signal handler, but by a thread that waits for signals.
void remove_unfinished_files() noexcept;

}  // namespace texton::detail
