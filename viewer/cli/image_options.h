#pragma once
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <texton/image_file.h>

namespace texton::cli {

/// The options of a command that select how image files are read.
class ImageOptionText {
public:
    /// Adds the options to a command. The object must outlive the parsing of the command line.
    void add_to(CLI::App& command);
    /// Returns the parsed options. Throws Error{bad_argument} if the kind, the format or the size is invalid.
    ImageOptions options() const;

private:
    std::string kind_;
    std::string format_;
    std::string bc_ = "gpu";
    std::string color_ = "by_metadata";
    std::string window_ = "data";
    bool as_stored_ = false;
    std::string cube_;
    std::size_t cube_side_ = 0;
    std::string part_ = "0";
    int first_level_ = 0;
    int levels_ = 0;
    std::optional<std::size_t> layer_;
    std::optional<int> face_;
    std::string raw_;
    std::size_t frame_ = 0;
};

}  // namespace texton::cli
