#include "core/unfinished_file.h"

#include <unistd.h>

#include <mutex>
#include <set>
#include <system_error>

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

}  // namespace

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
