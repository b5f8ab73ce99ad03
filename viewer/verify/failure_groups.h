#pragma once
// Groups of cases that fail in the same way, so that people judge each kind of failure once.
#include <cstddef>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Returns true if the case neither passed nor was skipped.
[[nodiscard]] bool is_failure(const Result& result) noexcept;

/// Returns groups of indices of the results that neither passed nor were skipped. The most severe group is first; the
/// indices of a group ascend.
///
/// Two cases are in one group if
/// - both failed, or differ in the number, the size or the format of their images, with the same message,
/// - both differ, and the same texels differ by the same ulp distances, in all images that differ; inputs of both
///   changed, or of none; two cases of folders also have the same message,
/// - both have no reference, and their images are equal.
///
/// Severity: cases that failed, cases whose images have another number, size or format, cases that differ, by the
/// largest difference relative to the range of the format and then by the number of texels, and cases without a
/// reference. Throws the errors of compared_image() if the file of a mask changed after the cases were run.
[[nodiscard]] std::vector<std::vector<std::size_t>> failure_groups(const std::vector<const Case*>& cases,
                                                                   const std::vector<Result>& results);

}  // namespace texton::verify
