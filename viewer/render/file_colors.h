#pragma once
// Colors that the file of an image states by its ICC profile.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace texton::viewer {

class Document;

/// Bytes of an ICC profile.
using IccProfile = std::vector<std::uint8_t>;

/// How the colors of an image are to be understood.
struct FileColors {
    std::shared_ptr<const IccProfile> profile{};  ///< profile of the file; null: the file has none
    bool decoded = false;  ///< true: the values were decoded with the sRGB curve when they were read
};

/// Returns the profile of the file of a document. Results of kernels are in no file, and have none. Thread-safe.
[[nodiscard]] FileColors file_colors(const Document& document);

/// Returns why a profile cannot be used, or an empty string: profiles of RGB with a matrix and curves are supported.
[[nodiscard]] std::string profile_problem(const IccProfile& profile);

}  // namespace texton::viewer
