#pragma once
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <texton/image_file.h>

#include "viewer/model/selection_options.h"

namespace texton::cli {

/// The options of a command that select how image files are read.
class ImageOptionText {
public:
    /// Adds the options to a command. The object must outlive the parsing of the command line.
    void add_to(CLI::App& command);
    /// Adds only the options that select a part, channels and a frame of a file.
    void add_selection_to(CLI::App& command) { selection_.add_to(command); }
    /// Returns the parsed options. Throws Error{bad_argument} if the kind, the format or the description of raw frames
    /// is invalid.
    ImageOptions options() const;
    /// Returns true if a part of the file was selected.
    bool selects_part() const { return selection_.selects_part(); }
    /// Returns true if a frame of a video file was selected.
    bool selects_frame() const { return selection_.selects_frame(); }

private:
    std::string kind_;
    std::string format_;
    std::string bc_ = "gpu";
    std::string color_ = "by_metadata";
    std::string window_ = "data";
    bool as_stored_ = false;
    std::string cube_;
    std::size_t cube_side_ = 0;
    int first_level_ = 0;
    int levels_ = 0;
    std::optional<std::size_t> layer_;
    std::optional<int> face_;
    viewer::SelectionText selection_;
};

/// Returns the sentences of ImageFile::conversions() that say what of the file was not read, with the names of options.
[[nodiscard]] std::vector<std::string> left_out(const ImageFile& image);

/// Adds the option that sets `drops` to a command.
void add_drop_alpha(CLI::App& command, bool& drops);

}  // namespace texton::cli
