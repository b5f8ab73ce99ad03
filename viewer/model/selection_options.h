#pragma once
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include <texton/image_file.h>

namespace texton::viewer {

/// The options of a program that select a part, channels and a frame of image files.
class SelectionText {
public:
    /// Adds the options to a command. The object must outlive the parsing of the command line.
    void add_to(CLI::App& command);
    /// Sets the parsed options. Raw frames whose format is not given have options.format, which is reset, or else NV12.
    /// Throws Error{bad_argument} if the description of raw frames is invalid.
    void apply(ImageOptions& options) const;
    /// Returns true if a part of the file was selected.
    bool selects_part() const { return !part_.empty(); }
    /// Returns true if a frame of a video file was selected.
    bool selects_frame() const { return frame_ || raw_.find('@') != std::string::npos; }

private:
    std::string part_;
    std::vector<std::string> channels_;
    std::string raw_;
    std::optional<std::size_t> frame_;
};

inline void SelectionText::add_to(CLI::App& command) {
    command.add_option("--part", part_, "Index or name of the image in a file of several (OpenEXR, TIFF)")
        ->type_name("INDEX|NAME");
    command
        .add_option("--channels", channels_,
                    "One to four channels to read, by name or index, in this order: R,G,B,Z. Default: the first four")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAME,...");
    command
        .add_option(
            "--raw", raw_,
            "Size and format of the frames of a file without a header: 1920x1080:nv12, 1920x1080:i420@5 for frame "
            "5. Default: from a name like clip_1920x1080_nv12.yuv")
        ->type_name("WxH:FORMAT[@FRAME]");
    command.add_option("--frame", frame_, "Index of the frame in a video file (.y4m, .yuv). Default: 0, or all frames")
        ->type_name("INDEX");
}

inline void SelectionText::apply(ImageOptions& options) const {
    const char* const end = part_.data() + part_.size();
    if (const auto [rest, error] = std::from_chars(part_.data(), end, options.part);
        rest != end || error != std::errc() || options.part < 0) {
        options.part = 0;
        options.part_name = part_;
    }
    options.channels = channels_;
    options.frame = frame_.value_or(0);
    if (raw_.empty()) return;
    options.raw = raw_frames_of(raw_);
    if (raw_.find(':') == std::string::npos) {
        options.raw->format = options.format.value_or(Format::nv12);
        options.format.reset();
    }
    if (frame_) options.raw->frame = *frame_;
}

}  // namespace texton::viewer
