#include "viewer/model/named_paths.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::viewer {

namespace fs = std::filesystem;

void refuse_special_file(const fs::path& path) {
    std::error_code unreadable;
    const fs::file_status status = fs::status(path, unreadable);
    if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) return;
    throw Error({.code = ErrorCode::io,
                 .object = "texton::viewer",
                 .problem = fmt::format("{} is a device, a pipe or a socket", path.string()),
                 .remedy = "Name a regular file."});
}

bool is_inside(const fs::path& folder, const fs::path& path) {
    std::error_code failed;
    const fs::path base = fs::weakly_canonical(fs::absolute(folder.empty() ? "." : folder, failed), failed);
    if (failed) return false;
    const fs::path real = fs::weakly_canonical(fs::absolute(path, failed), failed);
    if (failed) return false;  // for example a loop of links
    return std::ranges::mismatch(base, real).in1 == base.end();
}

void refuse_outside(const std::optional<fs::path>& folder, const fs::path& path) {
    if (!folder || is_inside(*folder, path)) return;
    throw Error({.code = ErrorCode::not_permitted,
                 .object = "texton::verify",
                 .problem = fmt::format("{} is outside of the folder of the suite, {}", path.string(),
                                        folder->empty() ? "which is the working folder" : folder->string()),
                 .remedy = "Move the file into the folder, or add --allow-outside if you trust the suite."});
}

bool is_same_file(const fs::path& a, const fs::path& b) {
    std::error_code failed;
    if (fs::equivalent(a, b, failed)) return true;
    return fs::weakly_canonical(fs::absolute(a, failed), failed) ==
           fs::weakly_canonical(fs::absolute(b, failed), failed);
}

}  // namespace texton::viewer
