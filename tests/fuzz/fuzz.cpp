#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace texton::fuzz {

void require(bool holds, const char* property) {
    if (holds) return;
    std::fprintf(stderr, "This does not hold: %s\n", property);
    std::abort();
}

ScratchFile::ScratchFile(const std::string& ending)
    : path_(std::filesystem::temp_directory_path() / ("texton-fuzz-" + std::to_string(::getpid()) + ending)) {}

ScratchFile::~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

const std::filesystem::path& ScratchFile::with(Bytes bytes) const {
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const auto size = static_cast<ssize_t>(bytes.size());
    const bool written = file >= 0 && ::write(file, bytes.data(), bytes.size()) == size && ::close(file) == 0;
    require(written, "the temporary folder is writable");
    return path_;
}

std::int64_t Numbers::hostile() {
    const auto choice = take<std::uint8_t>();
    if (choice < 192) return choice;
    if (choice < 224) {
        const std::uint64_t power = std::uint64_t{1} << (take<std::uint8_t>() % 64);
        return static_cast<std::int64_t>(power + choice % 3 - 1);
    }
    if (choice < 240) return -std::int64_t{take<std::uint8_t>()};
    return take<std::int64_t>();
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

}  // namespace texton::fuzz
