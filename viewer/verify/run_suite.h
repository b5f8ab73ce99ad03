#pragma once
// Runs the cases of a suite and compares their images with the references.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <texton/metrics.h>

#include "viewer/verify/reference.h"
#include "viewer/verify/suite.h"

namespace texton::verify {

/// The outcome of a case.
enum class Outcome : std::uint8_t {
    passed,        ///< an image set matches one of the references within the tolerance
    differs,       ///< it differs from all of its references by more than the tolerance
    no_reference,  ///< the case has no approved reference
    failed         ///< an exception was thrown
};
/// Returns the name of an outcome as reports print it: "no reference".
[[nodiscard]] const char* name(Outcome outcome) noexcept;

/// The result of a case.
struct Result {
    Outcome outcome = Outcome::failed;
    std::string message;  ///< why the case did not pass; empty if it passed
    bool equal = false;  ///< all bytes and the inputs equal a reference: nothing needs approval, and no images are kept
    std::vector<HostImage> images;       ///< the images that the kernel wrote; empty if `equal`
    std::vector<std::string> inputs;     ///< SHA-256 of each input
    std::optional<Reference> reference;  ///< the reference with the smallest difference
    std::vector<Comparison>
        comparisons;     ///< of each image with the reference; empty if all bytes are equal or shapes differ
    double seconds = 0;  ///< duration of the case

    std::size_t differing() const;  ///< number of texels that differ, in all images together
    std::uint32_t max_ulp() const;  ///< largest ulp distance of all images
};

/// Reads the files of an input, or draws its pattern. The result is one array, or two arrays with the planes of a
/// planar image, whose format and code values become the default parameters of the run. Throws the errors of
/// open_image() and draw().
[[nodiscard]] std::vector<HostArray> read_input(const Input& input, KernelRun& run);
/// Creates the texture of an input: `array` with the range and the sampler of the input. Throws Error{bad_argument} if
/// the sampler is invalid.
[[nodiscard]] Texture texture_of(const Input& input, const Array& array);

/// Runs a case and compares its images with all of its references. An exception becomes the outcome `failed`; none is
/// thrown.
[[nodiscard]] Result run_case(const Case& of, const Suite& suite, const Device& device);

/// Runs cases on up to `jobs` threads; 0 means the number of hardware threads. Returns the results in the order of
/// `cases`.
///
/// `done` is called with the index of each finished case, on any of the threads but never by two at a time.
[[nodiscard]] std::vector<Result> run_cases(const std::vector<const Case*>& cases, const Suite& suite,
                                            const Device& device, unsigned jobs,
                                            const std::function<void(std::size_t)>& done = {});

}  // namespace texton::verify
