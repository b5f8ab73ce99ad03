#pragma once
// Images of a case: results of a kernel, files that a command wrote, or files that exist.
#include <stop_token>
#include <string>
#include <vector>

#include "viewer/verify/suite.h"

namespace texton::verify {

/// The images of a case, or why there are none.
struct MadeImages {
    std::vector<HostImage> images;
    std::vector<const Criteria*> criteria;  ///< of each image; they belong to the case
    std::vector<std::string> inputs;        ///< SHA-256 of each input of a kernel
    std::string output;                     ///< last lines of a command; empty for other cases
    std::string problem;                    ///< why there are no images, with the position in the suite; else empty
    bool is_missing = false;  ///< the problem is a file that does not exist, or the command skipped the case
};

/// Exit status of a command that skips its case.
inline constexpr int kSkipStatus = 77;

/// Makes or reads the images of a case that has no folders. Throws the errors of open_image() and compute(), and those
/// of a pattern of files.
[[nodiscard]] MadeImages made_images(const Case& of, const Suite& suite, const Device& device, std::stop_token stop);

/// Reads the files of an input, or draws its pattern. The result is one array, or two arrays with the planes of a
/// planar image, whose format and code values become the default parameters of the run. Throws the errors of
/// open_image() and draw().
[[nodiscard]] std::vector<HostArray> read_input(const Input& input, KernelRun& run);
/// Creates the texture of an input: `texels` with the memory, the range and the sampler of the input. Throws
/// Error{bad_argument} if the sampler is invalid, and the errors of upload().
[[nodiscard]] Texture texture_of(const Input& input, const HostArray& texels, const Device& device);

}  // namespace texton::verify
