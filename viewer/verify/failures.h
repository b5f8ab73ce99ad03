#pragma once
// Failures of a suite in the order in which a person reviews them.
#include <cstddef>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Failures that are alike: in all of them the same texels differ by the same size, or the message is the same.
struct FailureGroup {
    std::vector<std::size_t> results;  ///< indices of the results, most severe first; not empty
};

/// Returns true if the case neither passed nor was skipped.
[[nodiscard]] bool is_failure(const Result& result) noexcept;

/// Returns the largest root mean squared error of the images, divided by the range of their channels. It is infinite if
/// a NaN or an infinity is compared with another value, and 0 without comparisons.
[[nodiscard]] double relative_rmse(const Result& result);

/// Returns the failures in groups, most severe first. A group has the severity of its first failure.
///
/// The order is: cases that could not be run, images of other shapes, differences by descending relative_rmse(), and
/// cases without a reference. Failures of equal severity keep their order.
///
/// Two failures with comparisons are alike if their images have the same sizes, the same texels differ, and the ulp
/// distances of each texel are in the same power of two. Two failures without comparisons are alike if their messages
/// are equal apart from the position in the suite. Throws the errors of compared_image().
[[nodiscard]] std::vector<FailureGroup> failure_groups(const std::vector<const Case*>& cases,
                                                       const std::vector<Result>& results);

}  // namespace texton::verify
