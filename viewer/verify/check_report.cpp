#include "viewer/verify/check_report.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/verify/junit.h"
#include "viewer/verify/report.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const char* problem, int error) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::check_image",
                 .problem = fmt::format("{} {}: {}", path.string(), problem, std::system_category().message(error)),
                 .remedy = "Check the folder that TEXTON_REPORT names."});
}

// Excludes other threads and processes that list the pages of a folder.
class FolderLock {
public:
    explicit FolderLock(const fs::path& folder) {
        const fs::path path = folder / ".lock";
        file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file_ < 0) refuse(path, "cannot be opened", errno);
        while (::flock(file_, LOCK_EX) != 0) {
            if (errno == EINTR) continue;
            const int error = errno;
            ::close(file_);
            refuse(path, "cannot be locked", error);
        }
    }
    ~FolderLock() { ::close(file_); }  // also unlocks the file
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int file_ = -1;
};

bool is_page(const fs::path& path) {
    std::error_code none;
    return path.filename().string().find('@') != std::string::npos && fs::exists(path / "index.html", none);
}

// Writes the list of all pages. The folder must be locked.
void write_list(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code none;
    for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none))
        if (is_page(entry->path())) names.push_back(entry->path().filename().string());
    std::ranges::sort(names);
    std::string rows;
    for (const std::string& name : names) {
        const std::size_t at = name.find('@');
        rows += fmt::format("<tr><td>{}<td><a href=\"{}/index.html\">{}</a>\n", escaped(name.substr(0, at)),
                            escaped(name), escaped(name.substr(at + 1)));
    }
    write_text(
        folder / "index.html",
        fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                    "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Images that "
                    "failed</title>\n<style>\n:root {{ color-scheme: light dark; }}\nbody {{ font: 15px/1.4 "
                    "system-ui, sans-serif; margin: 2em auto; max-width: 96em; padding: 0 1em; }}\ntd, th {{ "
                    "text-align: left; padding: .3em 1em .3em 0; overflow-wrap: anywhere; }}\n</style>\n</head>\n"
                    "<body>\n<h1>Images that failed: {}</h1>\n<table>\n<tr><th>test<th>image\n{}</table>\n"
                    "</body>\n</html>\n",
                    names.size(), rows));
}

}  // namespace

fs::path check_page(const fs::path& folder, const std::string& test, const std::string& name_of_check) {
    return folder / (file_name(test) + '@' + file_name(name_of_check));
}

void write_check_page(const fs::path& page, const Suite& suite, const Device& device, const Case& of,
                      const std::vector<Result>& results) {
    std::error_code failed;
    fs::remove_all(page, failed);  // files of an earlier failure; an error shows when the new ones are written
    write_report(page, suite, device, {&of}, results);
    const FolderLock lock(page.parent_path());
    write_list(page.parent_path());
}

void remove_check_page(const fs::path& page) {
    if (!is_page(page)) return;
    const FolderLock lock(page.parent_path());
    std::error_code failed;
    fs::remove_all(page, failed);
    if (failed) refuse(page, "cannot be removed", failed.value());
    write_list(page.parent_path());
}

}  // namespace texton::verify
