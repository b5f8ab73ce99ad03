#include "viewer/model/numbered_paths.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::viewer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDigits = 18;

// The parts of a name like in_%03d.png.
struct Pattern {
    std::string before;
    std::size_t digits;
    std::string after;

    std::string name(std::size_t number) const { return fmt::format("{}{:0{}}{}", before, number, digits, after); }
    std::string text() const {
        return fmt::format("{}%{}d{}", before, digits > 1 ? fmt::format("0{}", digits) : "", after);
    }
};

std::optional<Pattern> pattern_in(const std::string& name) {
    const std::size_t percent = name.find('%');
    if (percent == std::string::npos) return {};
    const std::size_t d = name.find_first_not_of("0123456789", percent + 1);
    if (d == std::string::npos || name[d] != 'd') return {};
    std::size_t digits = 1;
    const std::string_view width(name.data() + percent + 1, d - percent - 1);
    if (!width.empty()) {
        std::from_chars(width.data(), width.data() + width.size(), digits);
        if (width.front() != '0' || digits < 1 || digits > kMaxDigits || width.size() > 3) return {};
    }
    return Pattern{name.substr(0, percent), digits, name.substr(d + 1)};
}

// Returns the number of a file whose name has a pattern.
std::optional<std::size_t> number_of(const Pattern& pattern, const std::string& name) {
    if (name.size() < pattern.before.size() + pattern.after.size()) return {};
    std::size_t number = 0;
    const char* const end = name.data() + name.size() - pattern.after.size();
    const auto [rest, error] = std::from_chars(name.data() + pattern.before.size(), end, number);
    if (rest != end || error != std::errc() || pattern.name(number) != name) return {};
    return number;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, unreadable))
        names.push_back(entry.path().filename().string());
    return names;
}

[[noreturn]] void refuse_files(const fs::path& pattern, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton",
                 .problem = pattern.string() + " " + std::move(problem),
                 .remedy = std::move(remedy)});
}

}  // namespace

std::map<std::size_t, fs::path> files_by_number(const fs::path& path) {
    const Pattern pattern = pattern_in(path.filename().string()).value();
    std::map<std::size_t, fs::path> files;
    const fs::path folder = path.parent_path();
    for (const std::string& name : names_in(folder)) {
        if (const auto number = number_of(pattern, name)) files.emplace(*number, folder / name);
    }
    if (files.empty())
        refuse_files(path, fmt::format("stands for no file: there is none like {}", pattern.name(1)),
                     "Check the name. A % stands for a number only in front of a d, as in %d and %03d.");
    const std::size_t first = files.begin()->first, last = files.rbegin()->first;
    if (last - first + 1 != files.size()) {
        std::size_t missing = first;
        while (files.contains(missing)) ++missing;
        refuse_files(path,
                     fmt::format("stands for the files {} to {}, of which {} is missing", pattern.name(first),
                                 pattern.name(last), pattern.name(missing)),
                     "Move the files of other sequences to another folder.");
    }
    return files;
}

bool is_numbered(const fs::path& pattern) { return pattern_in(pattern.filename().string()).has_value(); }

fs::path numbered_path(const fs::path& pattern, std::size_t number) {
    return pattern.parent_path() / pattern_in(pattern.filename().string()).value().name(number);
}

std::optional<fs::path> numbered_name_of(const fs::path& file) {
    constexpr const char* kDigits = "0123456789";
    const std::string name = file.filename().string();
    if (name.find('%') != std::string::npos) return {};
    const std::vector<std::string> names = names_in(file.parent_path());
    std::optional<Pattern> found;
    std::ptrdiff_t most = 0;
    for (std::size_t begin = name.find_first_of(kDigits), end; begin != std::string::npos;
         begin = name.find_first_of(kDigits, end)) {
        end = std::min(name.find_first_not_of(kDigits, begin), name.size());
        for (const std::size_t digits : {std::size_t{1}, end - begin}) {
            if (digits > kMaxDigits) continue;
            const Pattern pattern{name.substr(0, begin), digits, name.substr(end)};
            if (!number_of(pattern, name)) continue;
            const std::ptrdiff_t files = std::ranges::count_if(
                names, [&](const std::string& each) { return number_of(pattern, each).has_value(); });
            if (files < most) continue;
            most = files;
            found = pattern;
        }
    }
    if (!found) return {};
    return file.parent_path() / found->text();
}

std::vector<fs::path> named_files(const fs::path& path) {
    std::error_code unreadable;
    if (!is_numbered(path) || fs::exists(path, unreadable)) return {path};
    std::vector<fs::path> files;
    for (auto& [number, file] : files_by_number(path)) files.push_back(std::move(file));
    return files;
}

}  // namespace texton::viewer
