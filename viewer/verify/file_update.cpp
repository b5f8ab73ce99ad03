#include "viewer/verify/file_update.h"

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::verify {
namespace {

constexpr const char* kObject = "texton::verify::write_update";

}  // namespace

void FileUpdate::add(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    auto file = std::make_unique<detail::NewFile>(kObject, path);
    file->write(bytes);
    file->prepare();
    files_.push_back(std::move(file));
}

void FileUpdate::complete() {
    for (auto& file : files_) {
        file->complete();
        file.reset();  // closes its folder
    }
    files_.clear();
    for (const std::filesystem::path& path : removed_) {
        std::error_code failed;
        if (std::filesystem::remove(path, failed) || !failed) continue;
        throw Error({.code = ErrorCode::io,
                     .object = kObject,
                     .problem = fmt::format("{} cannot be removed: {}", path.string(), failed.message()),
                     .remedy = "Make the folder writable."});
    }
    removed_.clear();
}

}  // namespace texton::verify
