#include "core/unfinished_file.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <system_error>

#include <fmt/format.h>

namespace texton::detail {
namespace {

struct Names {
    std::mutex mutex;
    std::multiset<std::string> all;
};

Names& names() {
    static Names& made =
        *new Names;  // never destroyed: threads may still write files when static objects are destroyed
    return made;
}

constexpr std::string_view kPrefix = ".texton-";

std::atomic<std::uint32_t>& own_mark() {
    static constinit std::atomic<std::uint32_t> mark{0};
    return mark;
}

}  // namespace

std::string temporary_name(std::uint64_t random, std::string_view ending) {
    if (const std::uint32_t mark = own_mark(); mark != 0) random = std::uint64_t{mark} << 32 | (random & 0xffffffff);
    return fmt::format("{}{:016x}{}", kPrefix, random, ending);
}

void mark_temporary_files(std::uint32_t mark) noexcept { own_mark() = mark; }

void remove_marked_files(const std::filesystem::path& folder, std::uint32_t mark) noexcept {
    try {
        const std::string start = fmt::format("{}{:08x}", kPrefix, mark);
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().filename().string().starts_with(start)) ::unlink(entry.path().c_str());
        }
    } catch (const std::exception&) {  // the folder cannot be read: the files stay
    }
}

UnfinishedFile::UnfinishedFile(const std::filesystem::path& path) {
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::absolute(path, failed);
    name_ = failed ? path.native() : whole.native();
    const std::lock_guard lock(names().mutex);
    names().all.insert(name_);
}

UnfinishedFile::~UnfinishedFile() {
    const std::lock_guard lock(names().mutex);
    names().all.erase(names().all.find(name_));
}

void remove_unfinished_files() noexcept {
    names().mutex.lock();  // never unlocked, see the header
    for (const std::string& name : names().all) ::unlink(name.c_str());
}

}  // namespace texton::detail
