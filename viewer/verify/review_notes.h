#pragma once
// Notes on rejected cases: a JSON file beside the suite.
#include <filesystem>
#include <map>
#include <string>

namespace texton::verify {

/// A case that a reviewer rejected.
struct RejectedCase {
    std::string note;     ///< what the reviewer wrote; can be empty
    std::string message;  ///< why the case did not pass
    bool operator==(const RejectedCase&) const = default;
};

/// Rejected cases by their names.
using RejectedCases = std::map<std::string, RejectedCase>;

/// Returns the path of the notes on a suite: NAME.review.json beside NAME.json.
[[nodiscard]] std::filesystem::path notes_path(const std::filesystem::path& suite);
/// Reads notes. Returns none if the file does not exist. Throws Error{io}, with the path, if it cannot be read, and
/// Error{bad_argument}, with the path and the key, if it is not a file of notes.
[[nodiscard]] RejectedCases read_notes(const std::filesystem::path& path);
/// Writes notes, completely or not at all. Removes the file if there are none. Throws Error{io}, with the path, if that
/// fails.
void write_notes(const std::filesystem::path& path, const RejectedCases& rejected);

}  // namespace texton::verify
