#pragma once
// Files that are written completely or not at all.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/unfinished_file.h"

namespace texton::detail {

/// A temporary file that replaces the file `path` when complete() is called. Until then an existing file is unchanged,
/// and can still be read. Without complete() the destructor removes the temporary file. Throws Error{io} with the name
/// of `path` and the reason. If a call of the system failed, Error::numbers() contains "errno".
///
/// - The temporary file has a random name in the folder of `path` and is created exclusively, so that it cannot be
///   prepared by others. Until complete() nobody but the user may read it if a file is replaced.
/// - The new file has the permissions of the old one and, if the process may set them, its owner and group. If the
///   group cannot be set, the permissions of the group are reduced to those of others. A new file has the permissions
///   that the umask allows.
/// - If `path` is a symbolic link, the file that it leads to is replaced and the link stays. Other hard links keep the
///   old contents.
/// - Only regular files are replaced, and only if the process may write them.
/// - A signal that ends the process removes the temporary file if the program calls remove_unfinished_files().
/// - complete() returns after the system has stored the contents and the name, unless it is told not to wait.
class NewFile {
public:
    NewFile(const char* object, const std::filesystem::path& path);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    /// Returns the path of the temporary file, with the extension of `path`, for libraries that open files by name.
    const std::filesystem::path& name() const noexcept { return aside_path_; }

    /// Appends bytes. Must not be mixed with write_at().
    void write(std::span<const std::byte> bytes);
    /// Writes bytes at an offset. Returns 0 or the error number of the system.
    int write_at(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
    /// Reads bytes at an offset. Returns their number, which is smaller at the end of the file and after errors.
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) const noexcept;
    /// Returns the size of the file in bytes, or nothing and sets errno if the system does not tell it.
    std::optional<std::uint64_t> size() const noexcept;
    /// Returns true if the file system has stored nothing for a part of the file: a write there was lost.
    bool has_hole() const noexcept;

    /// Completes the contents and closes the file, so that many files can be prepared before the first one gets its
    /// name. Afterwards only complete() may be called. `waits` is as in complete().
    void prepare(bool waits = true);
    /// Gives the file its final name. If `waits` is false, the system stores the contents and the name later: after a
    /// power failure the file may have the name, but not the contents.
    void complete(bool waits = true);

    /// Throws Error{io} for an error number of the system.
    [[noreturn]] void fail(int error) const;

private:
    void open_folder();
    void keep_attributes();
    void store(bool waits);
    void remove() noexcept;

    const char* object_;
    std::filesystem::path path_;         // for messages
    std::filesystem::path folder_name_;  // folder of the file that is replaced
    std::string target_;                 // name of that file in its folder
    std::string aside_;                  // name of the temporary file
    std::filesystem::path aside_path_;   // path of the temporary file
    std::optional<UnfinishedFile> unfinished_;
    int folder_ = -1;      // -1 after prepare()
    int file_ = -1;        // -1 after prepare()
    bool exists_ = false;  // the temporary file
    std::uint64_t appended_ = 0;
};

/// Writes a file as NewFile does.
void write_file(const char* object, const std::filesystem::path& path, std::span<const std::byte> bytes);
/// Writes a text file as NewFile does.
void write_file(const char* object, const std::filesystem::path& path, std::string_view text);

}  // namespace texton::detail
