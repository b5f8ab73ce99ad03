#pragma once
// Files that Texton reads itself, with the calls of the system.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace texton::detail {

/// State of a file. It differs if the file was replaced or written.
struct FileIdentity {
    std::uint64_t device = 0, number = 0, bytes = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  ///< when it was written last
    bool operator==(const FileIdentity&) const = default;
};
/// Returns the state of a file. All members are 0 if it does not exist.
[[nodiscard]] FileIdentity identity_of(const std::filesystem::path& path) noexcept;

/// A file that is open for reading.
class InputFile {
public:
    /// Opens the file. If that fails, errno is set and is_open() returns false.
    explicit InputFile(const std::filesystem::path& path) noexcept;
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    bool is_open() const noexcept { return number_ >= 0; }
    FileIdentity identity() const noexcept;
    /// Reads bytes at an offset. Returns their number, which is smaller only at the end of the file or after an error.
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const noexcept;

private:
    int number_;
};

/// Returns the message of the system for errno.
[[nodiscard]] std::string system_message();

/// Returns bytes of a file from an offset on, at most `maximum`. Throws Error{io} if the file cannot be opened.
[[nodiscard]] std::vector<std::byte> bytes_at(const char* object, const std::filesystem::path& path,
                                              std::uint64_t offset, std::size_t maximum);

}  // namespace texton::detail
