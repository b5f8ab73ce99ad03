#pragma once
// Runs the cases of a suite and compares their images with the references.
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <texton/metrics.h>

#include "viewer/verify/made_images.h"
#include "viewer/verify/reference.h"
#include "viewer/verify/repetition.h"
#include "viewer/verify/suite.h"

namespace texton::verify {

/// The outcome of a case.
enum class Outcome : std::uint8_t {
    passed,        ///< an image set meets the criteria with one of the references
    skipped,       ///< something that the case needs is missing, and the suite allows that
    differs,       ///< it differs from all of its references by more than the criteria allow
    no_reference,  ///< the case has no approved reference
    failed         ///< the images could not be made or compared
};
/// Number of outcomes.
inline constexpr std::size_t kOutcomes = 5;
/// Returns the name of an outcome as reports print it: "no reference".
[[nodiscard]] const char* name(Outcome outcome) noexcept;

/// The result of a case.
struct Result {
    Outcome outcome = Outcome::failed;
    std::string message;  ///< why the case did not pass; empty if it passed
    bool equal = false;  ///< all bytes and the inputs equal a reference: nothing needs approval, and no images are kept
    std::vector<HostImage> images;          ///< images of the case; empty if `equal`; of folders, those that differ
    std::vector<const Criteria*> criteria;  ///< of each image; they belong to the case
    std::vector<std::string> inputs;        ///< SHA-256 of each input
    std::string output;                     ///< last lines of the command; empty for other cases
    /// The reference that the images equal or pass with, or else the one with the most equal fields. Of several such
    /// references, the one with the most equal fields, then with the smallest difference.
    std::optional<Reference> reference;
    std::vector<std::string> equal_fields{};  ///< fields of the reference that equal those of the device
    std::vector<Comparison>
        comparisons;  ///< of each image with the reference; empty if all bytes are equal or shapes differ
    std::optional<Repetition> repetition{};  ///< how the results of several runs vary; empty for a single run
    double seconds = 0;                      ///< duration of all runs of the case

    std::size_t differing() const;  ///< number of texels that differ, in all images together
    std::uint32_t max_ulp() const;  ///< largest ulp distance of all images
};

/// Returns true if the results of a case are compared with references of the suite, so that they can be approved.
[[nodiscard]] bool has_references(const Case& of) noexcept;

/// Compares images of a device with all references of the case, and keeps the nearest reference. Throws the errors of
/// ReferenceFolder::read() and difference_of().
[[nodiscard]] Result compare_images(const Case& of, const Suite& suite, const Device& device, MadeImages made);

/// Options of run_cases().
struct RunOptions {
    unsigned jobs = 0;  ///< maximum number of cases that run at a time; 0 means the number of hardware threads
    /// Number of runs of each kernel and command. The result is that of the run with the worst outcome.
    std::size_t repeat = 1;
    /// Called with the index of each finished case, on any of the threads but never by two at a time.
    std::function<void(std::size_t)> done{};
    /// If a stop is requested, commands are killed, and no more cases are started. Cases that were not started have the
    /// outcome `failed`.
    std::stop_token stop{};
};

/// Runs a case and compares its images with all of its references. `jobs` and `done` do not apply. An exception becomes
/// the outcome `failed`; none is thrown.
[[nodiscard]] Result run_case(const Case& of, const Suite& suite, const Device& device, const RunOptions& options = {});

/// Runs cases and returns the results in the order of `cases`.
[[nodiscard]] std::vector<Result> run_cases(const std::vector<const Case*>& cases, const Suite& suite,
                                            const Device& device, const RunOptions& options = {});

}  // namespace texton::verify
