#include "viewer/tiles/row_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/file_error.h"
#include "core/unfinished_file.h"

namespace texton::tiles {
namespace {

namespace fs = std::filesystem;

constexpr const char* kObject = "texton::tiles::RowFile";

// Opens a file with a random name and removes the name, for file systems without O_TMPFILE.
int open_and_remove(const fs::path& folder) {
    const fs::path path = folder / detail::temporary_name(std::random_device()(), ".rows");
    const detail::UnfinishedFile unfinished(path);
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) ::unlink(path.c_str());
    return file;
}

}  // namespace

void fail_to_write_rows(const fs::path& path, int error) {
    detail::fail_file(
        kObject, path, fmt::format("cannot be written: {}", std::generic_category().message(error)),
        "Check the folder and the space on the disk. With --resume, the rows that were finished are kept.",
        ErrorCode::io, {{"errno", static_cast<std::uint64_t>(error)}});
}

RowFile::RowFile(fs::path path, RowLayout layout, detail::OwnedDescriptor file)
    : path_(std::move(path)), layout_(layout), file_(std::move(file)) {}

RowFile::RowFile(fs::path path, RowLayout layout, bool creates)
    : path_(std::move(path)),
      layout_(layout),
      file_(::open(path_.c_str(), O_RDWR | O_CLOEXEC | (creates ? O_CREAT | O_NOFOLLOW : 0), 0600)) {
    if (!file_) fail_to_write_rows(path_, errno);
}

RowFile RowFile::unnamed(const fs::path& folder, RowLayout layout) {
    const fs::path beside = folder.empty() ? fs::path(".") : folder;
    detail::OwnedDescriptor file(::open(beside.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    if (!file) file = detail::OwnedDescriptor(open_and_remove(beside));
    if (!file) fail_to_write_rows(beside, errno);
    fs::path path = fmt::format("/proc/{}/fd/{}", ::getpid(), file.number());
    return {std::move(path), layout, std::move(file)};
}

std::size_t RowFile::size() const {
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0) fail_to_write();
    return static_cast<std::size_t>(status.st_size);
}

void RowFile::read(std::size_t slice, Rows rows, std::size_t first_byte, std::size_t bytes, std::byte* texels) const {
    const bool whole_rows = bytes == layout_.row_bytes;
    const std::size_t part = whole_rows ? rows.count() * bytes : bytes;
    for (std::size_t row = rows.first; row < rows.end; row += whole_rows ? rows.count() : 1) {
        const std::size_t begin = position(slice, row) + first_byte;
        std::byte* const out = texels + (row - rows.first) * bytes;
        const std::size_t got = for_all_bytes(part, [&](std::size_t at, std::size_t left) {
            return ::pread(file_.number(), out + at, left, static_cast<off_t>(begin + at));
        });
        if (got != part) detail::fail_file(kObject, path_, "cannot be read", "Remove it and compute the image again.");
    }
}

void RowFile::write(Rows rows, const std::byte* texels) const {
    const std::size_t bytes = rows.count() * layout_.row_bytes;
    for (std::size_t slice = 0; slice < layout_.slices; ++slice) {
        const std::size_t begin = position(slice, rows.first);
        const std::size_t written = for_all_bytes(bytes, [&](std::size_t at, std::size_t left) {
            return ::pwrite(file_.number(), texels + slice * bytes + at, left, static_cast<off_t>(begin + at));
        });
        if (written != bytes) fail_to_write();
    }
}

void RowFile::synchronize() const {
    if (::fdatasync(file_.number()) != 0) fail_to_write();
}

void RowFile::clear() const {
    if (::ftruncate(file_.number(), 0) != 0) fail_to_write();
}

void RowFile::fail_to_write() const { fail_to_write_rows(path_, errno); }

}  // namespace texton::tiles
