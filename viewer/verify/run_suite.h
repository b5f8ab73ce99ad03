#pragma once
// Runs the cases of a suite and holds what they make against their references.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <texton/metrics.h>

#include "viewer/verify/reference.h"
#include "viewer/verify/suite.h"

namespace texton::verify {

enum class Outcome : std::uint8_t {
    passed,
    differs,       ///< from all of its references, by more than it may
    no_reference,  ///< nobody has approved one
    failed         ///< an Error
};
[[nodiscard]] const char* name(Outcome outcome) noexcept;

struct Result {
    Outcome outcome = Outcome::failed;
    std::string message;  ///< why it did not pass; empty if it did
    bool equal = false;   ///< every byte, and its inputs: nothing to approve, and no pictures are kept
    std::vector<HostPicture> pictures;
    std::vector<std::string> inputs;      ///< SHA-256 of each
    std::optional<Reference> reference;   ///< the nearest
    std::vector<Comparison> comparisons;  ///< with it, of each picture; empty if all bytes are equal, or sizes are not
    double seconds = 0;

    std::size_t differing() const;  ///< texels, of all pictures
    std::uint32_t max_ulp() const;
};

/// An input as the case's kernel reads it.
[[nodiscard]] HostArray read_input(const Input& input);
[[nodiscard]] Texture texture_of(const Input& input, const Array& array);

/// Throws nothing: what goes wrong is an outcome.
[[nodiscard]] Result run_case(const Case& of, const Suite& suite, const Device& device);

/// As many at a time as `jobs`; 0: as the machine has threads. `done` is called after each, by one thread at a time.
[[nodiscard]] std::vector<Result> run_cases(const std::vector<const Case*>& cases, const Suite& suite,
                                            const Device& device, unsigned jobs,
                                            const std::function<void(std::size_t)>& done = {});

}  // namespace texton::verify
