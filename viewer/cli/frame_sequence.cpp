#include "viewer/cli/frame_sequence.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/file_reading.h"
#include "viewer/model/planar_files.h"
#include "viewer/model/saved_images.h"
#include "viewer/text/error_text.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDigits = 18;

// The parts of a name like in_%03d.png.
struct Pattern {
    std::string before;
    std::size_t digits;
    std::string after;

    std::string name(std::size_t number) const { return fmt::format("{}{:0{}}{}", before, number, digits, after); }
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

[[noreturn]] void refuse_files(const fs::path& pattern, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton",
                 .problem = pattern.string() + " " + std::move(problem),
                 .remedy = std::move(remedy)});
}

// Returns all files of a pattern by number.
std::map<std::size_t, fs::path> files_of(const fs::path& path) {
    const Pattern pattern = pattern_in(path.filename().string()).value();
    std::map<std::size_t, fs::path> files;
    std::error_code unreadable;
    const fs::path folder = path.parent_path();
    for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, unreadable)) {
        const std::string name = entry.path().filename().string();
        if (const auto number = number_of(pattern, name)) files.emplace(*number, folder / name);
    }
    if (files.empty())
        refuse_files(path, fmt::format("stands for no file: there is none like {}", pattern.name(1)),
                     "Check the name. The % of another name is read as it is if no d follows.");
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

}  // namespace

bool is_numbered(const fs::path& pattern) { return pattern_in(pattern.filename().string()).has_value(); }

fs::path numbered_path(const fs::path& pattern, std::size_t number) {
    return pattern.parent_path() / pattern_in(pattern.filename().string()).value().name(number);
}

std::vector<fs::path> named_files(const fs::path& path) {
    if (!is_numbered(path) || fs::exists(path)) return {path};
    std::vector<fs::path> files;
    for (auto& [number, file] : files_of(path)) files.push_back(std::move(file));
    return files;
}

std::vector<std::string> all_named_files(std::span<const std::string> names, std::string_view command, Status& status) {
    std::vector<std::string> files;
    for (const std::string& name : names) {
        try {
            for (const fs::path& file : named_files(name)) files.push_back(file.string());
        } catch (const Error& error) {
            std::cerr << command << ": " << viewer::error_text(error) << '\n';
            status = Status::failed;
        }
    }
    return files;
}

FrameInput::FrameInput(const fs::path& path, const ImageOptionText& selection, const ImageOptions& options)
    : path_(path), options_(options) {
    if (cli::is_numbered(path) && !fs::exists(path)) {
        for (auto& [number, file] : files_of(path)) {
            if (files_.empty()) first_number_ = number;
            files_.push_back(std::move(file));
        }
    }
    first_ = open_image(files_.empty() ? path_ : files_.front(), options_, viewer::file_reading());
    if (!selection.selects_frame()) video_frames_ = first_.metadata().frames;
}

FrameFile FrameInput::file(std::size_t frame) const {
    if (!files_.empty()) return {files_[frame], options_};
    FrameFile file{path_, options_};
    if (frame > 0) (file.options.raw ? file.options.raw->frame : file.options.frame) = frame;
    return file;
}

ImageFile FrameInput::open(std::size_t frame) const {
    if (frame == 0) return first_;
    const auto [path, options] = file(frame);
    return open_image(path, options, viewer::file_reading());
}

bool FrameOutput::takes_all() const { return is_numbered(path_) || is_video_name(path_); }

std::vector<fs::path> FrameOutput::write(const verify::KernelRun& run, std::span<const verify::HostImage> images,
                                         std::size_t number, bool cubes, SavedAlpha alpha) {
    const fs::path path = is_numbered(path_) ? numbered_path(path_, number) : path_;
    if (!is_video_name(path)) return verify::save_images(path, images, cubes, {.alpha = alpha});
    if (!verify::writes_planes(run)) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton run",
                     .problem = fmt::format("{} is a video file, but {} writes no frames", path.string(),
                                            run.kernel->info.name),
                     .remedy = "Convert the images with from_rgb()."});
    }
    const ImageFile frame = verify::planar_image_of(run, images);
    if (is_numbered(path_)) {
        save(path, frame, {.attributes = verify::planar_attributes(run)});
    } else {
        if (video_ == nullptr) video_ = std::make_unique<FrameWriter>(path, verify::planar_attributes(run));
        video_->write(frame);
    }
    return {path};
}

void FrameOutput::complete() {
    if (video_ != nullptr) video_->complete();
}

}  // namespace texton::cli
