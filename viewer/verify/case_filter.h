#pragma once
#include <string>
#include <vector>

#include "viewer/verify/suite.h"

namespace texton::verify {

/// Returns the cases of a suite whose names contain a match of a regular expression; all cases if it is empty. If
/// `quick` is true, only those with Case::is_quick. Throws Error{bad_argument} if the expression is invalid, or if there
/// is no such case.
[[nodiscard]] std::vector<const Case*> matching_cases(const Suite& suite, const std::string& filter,
                                                      bool quick = false);

}  // namespace texton::verify
