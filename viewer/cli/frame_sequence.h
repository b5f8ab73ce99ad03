#pragma once
// Sequences of frames: video files and numbered files, as inputs and results of a command.
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/frame_writer.h>
#include <texton/image_file.h>
#include <texton/image_list.h>
#include <texton/image_save.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/image_options.h"
#include "viewer/model/host_image.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/numbered_paths.h"

namespace texton::cli {

/// Returns viewer::named_files() of all names. Files that are missing are printed on standard error, after the name of the
/// command, and set `status` to Status::failed.
[[nodiscard]] std::vector<std::string> all_named_files(std::span<const std::string> names, std::string_view command,
                                                       Status& status);

/// A file to open, and how.
struct FrameFile {
    std::filesystem::path path;
    ImageOptions options;
};

/// An input of a command: an image, a video file, or numbered files.
class FrameInput {
public:
    /// Opens the first frame: of a video file the one that is selected, else frame 0. Throws the errors of
    /// open_image(), and Error{io} if there are no numbered files, or if one between the first and the last number is
    /// missing.
    FrameInput(const std::filesystem::path& path, const ImageOptionText& selection, const ImageOptions& options);

    /// Returns the number of frames. It is 1 for an image, and if a frame of a video file is selected.
    std::size_t frames() const noexcept { return files_.empty() ? video_frames_ : files_.size(); }
    /// Returns the number of the first frame: that of the first file, else 0.
    std::size_t first_number() const noexcept { return first_number_; }
    /// Returns true if the input is numbered files.
    bool is_numbered() const noexcept { return !files_.empty(); }
    /// Returns the file of a frame. The index is counted from 0.
    FrameFile file(std::size_t frame) const;
    /// Returns the first frame.
    const ImageFile& first() const noexcept { return first_; }
    /// Opens a frame. The index is counted from 0. Numbered files that are opened in their order are opened ahead.
    ImageFile open(std::size_t frame);

private:
    std::filesystem::path path_;
    ImageOptions options_;
    std::vector<std::filesystem::path> files_;  // numbered files
    std::size_t first_number_ = 0;
    std::size_t video_frames_ = 1;
    ImageFile first_;
    std::optional<ImageList> next_;  // the numbered files after the last one that was opened in the order
};

/// Where a command writes the results of a kernel for one frame or several.
class FrameOutput {
public:
    explicit FrameOutput(std::filesystem::path path) : path_(std::move(path)) {}

    /// Returns true if all frames are written: to a video file or to numbered files.
    bool takes_all() const;
    /// Writes the images of a frame, as save_images() does, and returns the paths of the files. Throws
    /// Error{bad_argument} if the path is that of a video file and the images are not planes.
    std::vector<std::filesystem::path> write(const verify::KernelRun& run, std::span<const verify::HostImage> images,
                                             std::size_t number, bool cubes, SavedAlpha alpha);
    /// Must be called after the last frame.
    void complete();

private:
    std::filesystem::path path_;
    std::unique_ptr<FrameWriter> video_;
};

}  // namespace texton::cli
