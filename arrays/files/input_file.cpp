#include "arrays/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "arrays/files/oiio.h"

namespace texton::detail {
namespace {

FileIdentity identity_in(const struct stat& status) noexcept {
    return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec};
}

}  // namespace

FileIdentity identity_of(const std::filesystem::path& path) noexcept {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? identity_in(status) : FileIdentity{};
}

InputFile::InputFile(const std::filesystem::path& path) noexcept
    : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

InputFile::~InputFile() {
    if (is_open()) ::close(number_);
}

FileIdentity InputFile::identity() const noexcept {
    struct stat status;
    return ::fstat(number_, &status) == 0 ? identity_in(status) : FileIdentity{};
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const noexcept {
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got = ::pread(number_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

std::string system_message() { return std::generic_category().message(errno); }

std::vector<std::byte> bytes_at(const char* object, const std::filesystem::path& path, std::uint64_t offset,
                                std::size_t maximum) {
    require_file(object, path);
    const InputFile file(path);
    if (!file.is_open())
        fail_file(object, path, "cannot be opened: " + system_message(), "Check the permissions of the file.");
    std::vector<std::byte> bytes(maximum);
    bytes.resize(file.read_at(offset, bytes));
    return bytes;
}

}  // namespace texton::detail
