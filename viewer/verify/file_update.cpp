#include "viewer/verify/file_update.h"

#include <deque>
#include <optional>
#include <random>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/unfinished_file.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr const char* kObject = "texton::verify::write_update";

void check(const std::error_code& failed, const fs::path& path, const char* what) {
    if (!failed) return;
    throw Error({.code = ErrorCode::io,
                 .object = kObject,
                 .problem = fmt::format("{} cannot be {}: {}", path.string(), what, failed.message()),
                 .remedy = "Make the folder writable."});
}

/// A second name of a file that will be replaced or removed, so that this can be undone. The destructor removes the
/// second name.
class KeptFile {
public:
    /// The file need not exist.
    explicit KeptFile(const fs::path& path) : path_(path) {
        std::error_code failed;
        if (!fs::exists(fs::symlink_status(path, failed))) return;
        std::random_device random;
        const std::uint64_t number = std::uint64_t{random()} << 32 | random();
        aside_ = path.parent_path() / detail::temporary_name(number, path.extension().string());
        unfinished_.emplace(aside_);
        fs::create_hard_link(path, aside_, failed);
        if (failed) fs::copy_file(path, aside_, failed);  // the file system has no hard links
        check(failed, path, "copied");
    }
    ~KeptFile() {
        std::error_code ignored;
        if (!aside_.empty()) fs::remove(aside_, ignored);
    }
    KeptFile(const KeptFile&) = delete;
    KeptFile& operator=(const KeptFile&) = delete;

    /// Makes the file what it was.
    void restore() const {
        std::error_code ignored;
        if (aside_.empty()) {
            fs::remove(path_, ignored);
        } else {
            fs::rename(aside_, path_, ignored);
        }
    }

private:
    fs::path path_;
    fs::path aside_;  // empty if there was no file
    std::optional<detail::UnfinishedFile> unfinished_;
};

/// Returns the path of the file that is replaced: symbolic links stay.
fs::path replaced(const fs::path& path) {
    std::error_code failed;
    const fs::path file = fs::canonical(path, failed);
    return failed ? path : file;
}

}  // namespace

void FileUpdate::add(const fs::path& path, std::span<const std::byte> bytes) {
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    auto file = std::make_unique<detail::NewFile>(kObject, path);
    file->write(bytes);
    file->prepare();
    added_.push_back({path, std::move(file)});
}

void FileUpdate::complete() {
    std::deque<KeptFile> kept;
    std::size_t changed = 0;  // files that may differ from those that are kept
    try {
        for (const Added& each : added_) kept.emplace_back(replaced(each.path));
        for (const fs::path& path : removed_) kept.emplace_back(path);
        for (Added& each : added_) {
            each.file->complete();
            ++changed;
            each.file.reset();  // closes its folder
        }
        for (const fs::path& path : removed_) {
            std::error_code failed;
            fs::remove(path, failed);
            check(failed, path, "removed");
            ++changed;
        }
    } catch (...) {
        for (std::size_t i = 0; i < changed; ++i) kept[i].restore();
        throw;
    }
    added_.clear();
    removed_.clear();
}

}  // namespace texton::verify
