#include "viewer/verify/image_files.h"

#include <glob.h>

#include <algorithm>
#include <new>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>
#include <texton/image_file.h>

#include "viewer/model/compared_file.h"
#include "viewer/model/file_reading.h"
#include "viewer/model/named_paths.h"
#include "viewer/text/utf8.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChannels = 4;  // of a texel

// The result of glob().
class Matches {
public:
    explicit Matches(const std::string& pattern) {
        if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found_) == GLOB_NOSPACE) {
            ::globfree(&found_);
            throw std::bad_alloc();
        }
    }
    ~Matches() { ::globfree(&found_); }
    Matches(const Matches&) = delete;
    Matches& operator=(const Matches&) = delete;

    std::vector<std::string> paths() const { return {found_.gl_pathv, found_.gl_pathv + found_.gl_pathc}; }

private:
    glob_t found_{};
};

// Returns a pattern that matches only this path.
std::string literal(const fs::path& path) {
    std::string out;
    for (const char letter : path.string()) {
        if (std::string_view("*?[]\\").find(letter) != std::string_view::npos) out += '\\';
        out += letter;
    }
    return out;
}

std::vector<fs::path> matching_files(const fs::path& folder, const std::string& pattern) {
    const bool is_absolute = fs::path(pattern).is_absolute();
    const Matches matches(is_absolute ? pattern : literal(folder.empty() ? "." : folder) + '/' + pattern);
    std::vector<fs::path> files;
    for (const std::string& path : matches.paths()) {
        std::error_code failed;
        if (!fs::is_directory(path, failed)) files.emplace_back(path);
    }
    std::ranges::sort(files, [](const fs::path& a, const fs::path& b) { return comes_before(a.native(), b.native()); });
    return files;
}

// Adds the images of a file. `all_channels` is false if other channels of it are added by another call.
void add_images(std::vector<HostImage>& images, const viewer::ComparedFile& file, const std::string& name,
                bool all_channels) {
    for (const std::string& note : file.notes()) {
        if (!all_channels && note.find(" channels ") != std::string::npos) continue;
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::verify",
                     .problem = "a part of the file cannot be compared: " + note,
                     .remedy = "Write it to a file of its own."});
    }
    for (std::size_t i = 0; i < file.size(); ++i) {
        Image read = file.read(i);
        const bool is_srgb = info(file.format(i)).kind == FormatKind::srgb;
        HostImage& image = images.emplace_back();
        image.format = viewer::with_srgb(read.format, is_srgb);
        image.extent = read.extent;
        image.texels = std::move(read.texels);
        image.name = file.name(i).empty() ? name : fmt::format("{}, {}", name, file.name(i));
        if (read.file_channels < info(image.format).channels) image.file_channels = read.file_channels;
    }
}

}  // namespace

bool comes_before(std::string_view a, std::string_view b) noexcept {
    constexpr std::string_view kDigits = "0123456789";
    const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
    std::string_view left = a, right = b;
    while (!left.empty() && !right.empty()) {
        if (!is_digit(left.front()) || !is_digit(right.front())) {
            if (left.front() != right.front())
                return static_cast<unsigned char>(left.front()) < static_cast<unsigned char>(right.front());
            left.remove_prefix(1);
            right.remove_prefix(1);
            continue;
        }
        const auto number = [kDigits](std::string_view& text) {
            const std::string_view digits = text.substr(0, text.find_first_not_of(kDigits));
            text.remove_prefix(digits.size());
            return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
        };
        const std::string_view number_left = number(left), number_right = number(right);
        if (number_left.size() != number_right.size()) return number_left.size() < number_right.size();
        if (number_left != number_right) return number_left < number_right;
    }
    if (left.empty() != right.empty()) return left.empty();
    return a < b;  // 01 and 1
}

std::vector<FoundFile> find_files(const fs::path& folder, const std::optional<fs::path>& within,
                                  const std::vector<ImagePattern>& patterns, const ImagePattern*& unmatched) {
    std::vector<FoundFile> out;
    std::set<fs::path> found;
    std::set<std::string> names;
    unmatched = nullptr;
    for (const ImagePattern& pattern : patterns) {
        const std::vector<fs::path> files = matching_files(folder, pattern.files);
        if (files.empty() && unmatched == nullptr) unmatched = &pattern;
        if (files.size() > 1 && !pattern.name.empty())
            refuse_text(
                pattern.criteria.where,
                fmt::format("'name' is '{}', but '{}' matches {} files", pattern.name, pattern.files, files.size()),
                "Omit 'name', or name one file.");
        for (const fs::path& file : files) {
            viewer::refuse_outside(within, file);
            viewer::refuse_special_file(file);
            if (!found.insert(file).second) continue;
            const fs::path relative = file.lexically_relative(folder.empty() ? "." : folder);
            const std::string name = pattern.name.empty() ? viewer::to_utf8(relative.string()) : pattern.name;
            if (!names.insert(name).second)
                refuse_text(pattern.criteria.where, fmt::format("two images have the name '{}'", name),
                            "Give each image a different 'name'.");
            out.push_back({file, name, &pattern.criteria});
        }
    }
    return out;
}

std::vector<HostImage> read_images(const fs::path& path, const std::string& name) {
    std::vector<HostImage> images;
    const viewer::ComparedFile whole(path.string());
    if (whole.notes().empty()) {
        add_images(images, whole, name, true);
        return images;
    }
    const std::size_t parts = open_image(path, {}, viewer::file_reading()).metadata().parts;
    for (std::size_t part = 0; part < std::max<std::size_t>(parts, 1); ++part) {
        ImageOptions options{.part = static_cast<int>(part)};
        const std::vector<std::string> channels = open_image(path, options, viewer::file_reading()).metadata().channels;
        const std::string name_of_part = parts > 1 ? fmt::format("{}, part {}", name, part) : name;
        for (std::size_t first = 0; first < std::max<std::size_t>(channels.size(), 1); first += kChannels) {
            std::string name_of_channels = name_of_part;
            if (channels.size() > kChannels) {
                const auto begin = channels.begin() + static_cast<std::ptrdiff_t>(first);
                const std::size_t count = std::min(kChannels, channels.size() - first);
                options.channels.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
                name_of_channels += fmt::format(", channels {}", fmt::join(options.channels, " "));
            }
            add_images(images, viewer::ComparedFile(path.string(), options, {.all_parts = false}), name_of_channels,
                       channels.size() <= kChannels);
        }
    }
    return images;
}

}  // namespace texton::verify
