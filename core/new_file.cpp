#include "core/new_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/file_error.h"

namespace texton::detail {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;           // as in Linux
constexpr int kMaxAttempts = 100;       // random names that exist already
constexpr std::size_t kMaxEnding = 64;  // bytes of an extension that the temporary name repeats

std::string remedy_for(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR: return "Create the folder first, or write to another one.";
        case EACCES:
        case EPERM:
        case EROFS: return "Check the permissions of the file and its folder, or write to another path.";
        case ENOSPC:
        case EDQUOT:
        case EFBIG: return "The disk may be full, or the file too large for it: free space, or write to another disk.";
        default: return "Check the folder and the disk, or write to another path.";
    }
}

// Returns the file that a symbolic link leads to, or the path itself. The file need not exist.
//
// The call of stat() before lets the system refuse links of other users in folders that all users may write.
fs::path followed(const char* object, const fs::path& path) {
    struct stat ignored;
    if (::stat(path.c_str(), &ignored) != 0 && errno != ENOENT) {
        const int error = errno;
        fail_file(object, path, "cannot be written: " + std::generic_category().message(error), remedy_for(error),
                  ErrorCode::io, {{"errno", static_cast<std::uint64_t>(error)}});
    }
    fs::path file = path;
    std::error_code failure;
    for (int links = 0; links < kMaxLinks; ++links) {
        const fs::path next = fs::read_symlink(file, failure);
        if (failure) return file;
        file = next.is_absolute() ? next : file.parent_path() / next;
    }
    fail_file(object, path, "cannot be written: too many symbolic links", "Write to another path.");
}

std::uint64_t random_number() {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

std::optional<struct stat> status_of(int folder, const std::string& name) {
    struct stat status;
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    return status;
}

// Returns 0 or the error number. Some file systems cannot synchronize folders.
int synchronized(int file) noexcept {
    while (::fsync(file) != 0) {
        if (errno == EINTR) continue;
        return errno == EINVAL || errno == EBADF || errno == ENOTSUP ? 0 : errno;
    }
    return 0;
}

}  // namespace

NewFile::NewFile(const char* object, const fs::path& path) : object_(object), path_(path) {
    const fs::path file = followed(object, path);
    folder_name_ = file.parent_path().empty() ? fs::path(".") : file.parent_path();
    target_ = file.filename().string();
    if (target_.empty() || target_ == "." || target_ == "..")
        fail_file(object, path, "is a folder", "Write to the path of a file.");
    open_folder();
    try {
        const auto old = status_of(folder_, target_);
        if (old && S_ISDIR(old->st_mode)) fail_file(object, path, "is a folder", "Write to the path of a file.");
        if (old && !S_ISREG(old->st_mode))
            fail_file(object, path, "is not a regular file", "Write to the path of a regular file.");
        if (old && ::faccessat(folder_, target_.c_str(), W_OK, AT_EACCESS) != 0) fail(errno);
        std::string ending = path.extension().string();
        if (ending.size() > kMaxEnding) ending.clear();
        const mode_t mode = old ? S_IRUSR | S_IWUSR : 0666;
        for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
            aside_ = temporary_name(random_number(), ending);
            aside_path_ = folder_name_ / aside_;
            unfinished_.emplace(aside_path_);
            file_ = ::openat(folder_, aside_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
            if (file_ >= 0) break;
            const int error = errno;
            unfinished_.reset();
            if (error != EEXIST && error != EINTR) fail(error);
        }
        if (file_ < 0) fail(EEXIST);
        exists_ = true;
    } catch (...) {
        ::close(folder_);
        throw;
    }
}

NewFile::~NewFile() { remove(); }

void NewFile::open_folder() {
    folder_ = ::open(folder_name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0 && errno == EACCES)  // it can be searched and written, but not listed or synchronized
        folder_ = ::open(folder_name_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) fail(errno);
}

void NewFile::remove() noexcept {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    if (exists_) {
        if (folder_ >= 0) {
            ::unlinkat(folder_, aside_.c_str(), 0);
        } else {
            ::unlink(aside_path_.c_str());
        }
    }
    unfinished_.reset();
    if (folder_ >= 0) ::close(std::exchange(folder_, -1));
}

void NewFile::fail(int error) const {
    fail_file(object_, path_, "cannot be written: " + std::generic_category().message(error), remedy_for(error),
              ErrorCode::io, {{"errno", static_cast<std::uint64_t>(error)}});
}

int NewFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t put = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        if (put == 0) return EIO;
        offset += static_cast<std::uint64_t>(put);
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return 0;
}

std::size_t NewFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const noexcept {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

std::optional<std::uint64_t> NewFile::size() const noexcept {
    struct stat status;
    if (::fstat(file_, &status) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

bool NewFile::has_hole() const noexcept {
    const off_t hole = ::lseek(file_, 0, SEEK_HOLE);
    return hole >= 0 && static_cast<std::uint64_t>(hole) < size().value_or(0);
}

void NewFile::write(std::span<const std::byte> bytes) {
    if (const int error = write_at(appended_, bytes); error != 0) fail(error);
    appended_ += bytes.size();
}

// The permissions are set last, because a change of the owner clears some of them.
void NewFile::keep_attributes() {
    const auto old = status_of(folder_, target_);
    if (!old || !S_ISREG(old->st_mode)) return;
    mode_t mode = old->st_mode & 0777;
    struct stat made;
    if (::fstat(file_, &made) != 0) fail(errno);
    const bool owned = made.st_uid == old->st_uid && made.st_gid == old->st_gid;
    if (!owned && ::fchown(file_, old->st_uid, old->st_gid) != 0 &&
        ::fchown(file_, static_cast<uid_t>(-1), old->st_gid) != 0) {
        const mode_t others = (mode & 07) << 3;
        mode &= ~mode_t{070} | others;
    }
    if (::fchmod(file_, mode) != 0) fail(errno);
}

// Completes the temporary file, which stays open.
void NewFile::store(bool waits) {
    keep_attributes();
    if (const int error = waits ? synchronized(file_) : 0; error != 0) fail(error);
    // A library that opened the file by name may have written another file, which was not synchronized.
    struct stat written;
    const auto named = status_of(folder_, aside_);
    if (::fstat(file_, &written) != 0 || !named || named->st_ino != written.st_ino || named->st_dev != written.st_dev)
        fail_file(object_, path_, "cannot be written: the temporary file was replaced", "Write to another folder.");
}

void NewFile::prepare(bool waits) {
    store(waits);
    if (::close(std::exchange(file_, -1)) != 0 && errno != EINTR) fail(errno);
    ::close(std::exchange(folder_, -1));
}

void NewFile::complete(bool waits) {
    if (file_ >= 0) {
        store(waits);
    } else {
        open_folder();
    }
    if (::renameat(folder_, aside_.c_str(), folder_, target_.c_str()) != 0) fail(errno);
    exists_ = false;
    unfinished_.reset();
    const bool is_open = file_ >= 0;
    const int closed = is_open && ::close(std::exchange(file_, -1)) != 0 && errno != EINTR ? errno : 0;
    const int error = waits ? synchronized(folder_) : 0;
    if (closed != 0 || error != 0) fail(closed != 0 ? closed : error);
}

void write_file(const char* object, const fs::path& path, std::span<const std::byte> bytes) {
    NewFile file(object, path);
    file.write(bytes);
    file.complete();
}

void write_file(const char* object, const fs::path& path, std::string_view text) {
    write_file(object, path, std::as_bytes(std::span(text)));
}

}  // namespace texton::detail
