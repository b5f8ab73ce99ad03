#pragma once
// The processes that read image files in isolation, for tests that end them or look for leaks.
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/configured_path.h"

namespace texton::test {

/// A process, as /proc shows it.
struct SeenProcess {
    pid_t process = 0;
    std::string name;
    char state = 'Z';  ///< Z: it ended and was not waited for
};

/// Returns the processes whose parent is `parent`.
inline std::vector<SeenProcess> children_of(pid_t parent) {
    std::vector<SeenProcess> children;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
        const std::string number = entry.path().filename();
        SeenProcess seen;
        if (std::from_chars(number.data(), number.data() + number.size(), seen.process).ec != std::errc()) continue;
        std::ifstream file(entry.path() / "stat");
        std::string text;
        std::getline(file, text);  // nothing if the process is gone
        const std::size_t begin = text.find('('), end = text.rfind(')');
        if (end == std::string::npos || text.size() < end + 4) continue;
        seen.name = text.substr(begin + 1, end - begin - 1);
        seen.state = text[end + 2];
        if (std::strtol(text.c_str() + end + 4, nullptr, 10) == parent) children.push_back(seen);
    }
    return children;
}

/// Returns the helper that the process started, or 0.
inline pid_t helper_of(pid_t process) {
    for (const SeenProcess& child : children_of(process)) {
        if (child.name == "texton-reader" && child.state != 'Z') return child.process;
    }
    return 0;
}

/// Returns the children of the helper whose name is kSpareName, or the others.
inline std::vector<pid_t> readers_named(bool spare) {
    std::vector<pid_t> all;
    const pid_t helper = helper_of(::getpid());
    if (helper == 0) return all;
    for (const SeenProcess& child : children_of(helper)) {
        if (child.state != 'Z' && (child.name == "texton-spare") == spare) all.push_back(child.process);
    }
    return all;
}
/// Returns the processes that read files for this one, without those that wait for their first file.
inline std::vector<pid_t> readers() { return readers_named(false); }
/// Returns the processes that wait for their first file.
inline std::vector<pid_t> spare_readers() { return readers_named(true); }

/// Waits until the condition holds, at most a minute. Returns whether it does.
inline bool eventually(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

/// Sets TEXTON_READER while it exists.
class ReaderProgram {
public:
    explicit ReaderProgram(const std::string& path) { setenv("TEXTON_READER", path.c_str(), 1); }
    ~ReaderProgram() { setenv("TEXTON_READER", before_.c_str(), 1); }
    ReaderProgram(const ReaderProgram&) = delete;
    ReaderProgram& operator=(const ReaderProgram&) = delete;

private:
    std::string before_ = configured_path("TEXTON_READER", "");
};

}  // namespace texton::test
