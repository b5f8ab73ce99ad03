#include "viewer/cli/frame_sequence.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/file_reading.h"
#include "viewer/model/planar_files.h"
#include "viewer/model/saved_images.h"
#include "viewer/text/error_text.h"

namespace texton::cli {

namespace fs = std::filesystem;

std::vector<std::string> all_named_files(std::span<const std::string> names, std::string_view command, Status& status) {
    std::vector<std::string> files;
    for (const std::string& name : names) {
        try {
            for (const fs::path& file : viewer::named_files(name)) files.push_back(file.string());
        } catch (const Error& error) {
            std::cerr << command << ": " << viewer::error_text(error) << '\n';
            status = Status::failed;
        }
    }
    return files;
}

FrameInput::FrameInput(const fs::path& path, const ImageOptionText& selection, const ImageOptions& options)
    : path_(path), options_(options) {
    std::error_code unreadable;
    if (viewer::is_numbered(path) && !fs::exists(path, unreadable)) {
        for (auto& [number, file] : viewer::files_by_number(path)) {
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

ImageFile FrameInput::open(std::size_t frame) {
    if (frame == 0) return first_;
    if (frame == 1 && !files_.empty()) next_.emplace(std::span(files_).subspan(1), options_, viewer::file_reading());
    if (next_ && frame + next_->left() == files_.size()) return next_->open_next();
    const auto [path, options] = file(frame);
    return open_image(path, options, viewer::file_reading());
}

bool FrameOutput::takes_all() const { return viewer::is_numbered(path_) || is_video_name(path_); }

std::vector<fs::path> FrameOutput::write(const verify::KernelRun& run, std::span<const verify::HostImage> images,
                                         std::size_t number, bool cubes, SavedAlpha alpha) {
    const fs::path path = viewer::is_numbered(path_) ? viewer::numbered_path(path_, number) : path_;
    if (!is_video_name(path)) return verify::save_images(path, images, cubes, {.alpha = alpha});
    if (!verify::writes_planes(run)) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton run",
                     .problem = fmt::format("{} is a video file, but {} writes no frames", path.string(),
                                            run.kernel->info.name),
                     .remedy = "Convert the images with from_rgb()."});
    }
    const ImageFile frame = verify::planar_image_of(run, images);
    if (viewer::is_numbered(path_)) {
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
