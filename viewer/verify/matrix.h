#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "viewer/model/json_object.h"

namespace texton::verify {

/// Throws Error{bad_argument} if a suite has more than 100,000 cases.
void require_count(std::size_t cases, const std::string& where);

/// A case that a matrix created.
struct ExpandedCase {
    std::string name;
    Json json;
    bool is_quick = true;  ///< belongs to the cases in which every pair of values of two matrix keys occurs
};

/// Returns the cases that the matrix of a case creates, or the case itself. Names of inputs are replaced by the objects in `shared`, the "inputs" of the suite. `bytes` is increased by the length of
/// the JSON text of the cases.
///
/// Throws Error{bad_argument}, with the key, if the matrix is invalid, if there are too many cases, if `bytes` exceeds
/// 64 MiB, or if an input does not exist.
[[nodiscard]] std::vector<ExpandedCase> expanded(const std::string& name, Json of_case,
                                                 const std::map<std::string, Json>& shared, const std::string& where,
                                                 std::size_t& bytes);

}  // namespace texton::verify
