#include "viewer/model/json_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace texton::verify {
namespace {

struct TooDeep {};

// A file descriptor that is closed at the end of its scope.
class Descriptor {
public:
    // O_NONBLOCK: opening a pipe that nobody writes to must not block.
    explicit Descriptor(const char* path) : number_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const noexcept { return number_; }

private:
    int number_;
};

}  // namespace

std::optional<std::string> read_json_text(const std::filesystem::path& path, std::string& problem) {
    const auto fails = [&problem] {
        problem = fmt::format("cannot be read: {}", std::strerror(errno));
        return std::nullopt;
    };
    const Descriptor file(path.c_str());
    struct stat status {};
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return fails();
    if (!S_ISREG(status.st_mode)) {
        problem = "cannot be read: it is not a regular file";
        return {};
    }
    std::string text;
    std::array<char, 65536> part;
    for (;;) {
        const ssize_t count = ::read(file.number(), part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fails();
        if (count == 0) return text;
        text.append(part.data(), static_cast<std::size_t>(count));
        if (text.size() > kMaxJsonBytes) {
            problem = fmt::format("is larger than {} MiB", kMaxJsonBytes >> 20);
            return {};
        }
    }
}

std::optional<Json> parse_json(const std::string& text, std::string& problem) {
    const auto check_depth = [](int depth, Json::parse_event_t event, Json&) {
        const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
        if (opens && depth >= kMaxJsonDepth) throw TooDeep{};
        return true;
    };
    try {
        return Json::parse(text, check_depth, true, true);
    } catch (const TooDeep&) {
        problem = fmt::format("is nested more than {} levels deep", kMaxJsonDepth);
    } catch (const Json::exception& error) {
        const std::string_view what = error.what();  // "[json.exception...] parse error at line 1, ..."
        const std::size_t end = what.find("] ");
        problem = fmt::format("is not valid JSON: {}", end == std::string_view::npos ? what : what.substr(end + 2));
    }
    return {};
}

}  // namespace texton::verify
