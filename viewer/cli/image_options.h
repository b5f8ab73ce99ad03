#pragma once
#include <CLI/CLI.hpp>

#include <texton/picture.h>

namespace texton::cli {

/// The options of a command that say what files are read as.
class PictureWords {
public:
    void add_to(CLI::App& command);
    /// Error{bad_argument} for a kind, a format, a layout or a size that there is not.
    PictureOptions options() const;

private:
    std::string kind_;
    std::string format_;
    std::string color_ = "by_metadata";
    std::string window_ = "data";
    bool as_stored_ = false;
    std::string cube_;
    std::size_t cube_side_ = 0;
    int part_ = 0;
    int first_level_ = 0;
    int levels_ = 0;
    std::string raw_;
    std::size_t frame_ = 0;
};

}  // namespace texton::cli
