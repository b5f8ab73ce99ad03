#pragma once
// Temporary files of the process, so that a signal that ends it can remove them.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

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

/// Returns the name of a temporary file: its random part begins with the mark of the process, if it has one.
[[nodiscard]] std::string temporary_name(std::uint64_t random, std::string_view ending);
/// Sets the mark of the process. Another process that knows the mark can remove the temporary files of this one, if it is
/// killed.
void mark_temporary_files(std::uint32_t mark) noexcept;
/// Removes the temporary files in a folder that a process with this mark left.
void remove_marked_files(const std::filesystem::path& folder, std::uint32_t mark) noexcept;

/// Removes all registered files. Afterwards the constructor and the destructor of UnfinishedFile block forever, so that
/// no other thread creates or renames one: call this only if the process ends immediately. It must not be called by a
/// signal handler, but by a thread that waits for signals.
void remove_unfinished_files() noexcept;

}  // namespace texton::detail
