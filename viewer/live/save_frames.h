#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "viewer/live/live_server.h"

namespace texton::viewer {

/// Path of a saved frame: `{name}` and `{frame}` of the pattern are replaced.
///
/// A name never leads to another folder: all bytes but letters, digits, `-`, `_`, `.` after the first byte, spaces and
/// bytes of UTF-8 are written as `%` and two hexadecimal digits, so different names have different files.
class SavePattern {
public:
    /// Throws Error{bad_argument} if the pattern is empty, has other text in braces, or has no extension.
    explicit SavePattern(const std::string& pattern);
    std::filesystem::path path_of(const std::string& name, std::uint64_t frame) const;

private:
    std::string pattern_;
};

/// What save_frames() did.
struct SavedFrames {
    std::size_t saved = 0;
    std::size_t failed = 0;
};

/// Writes the newest frame of each live image to a file, again and again, until a stop is requested or `frames` files
/// were written. Missing folders are created. Prints a line for each file on standard output, and on standard
/// error messages and, for each image, the first error. Throws Error{io} if the server could not listen at some address.
SavedFrames save_frames(const LiveServer::Options& options, const SavePattern& pattern,
                        std::optional<std::size_t> frames, std::stop_token stop);

}  // namespace texton::viewer
