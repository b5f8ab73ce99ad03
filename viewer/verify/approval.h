#pragma once
// Approval of results: they become the references of their cases.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Changes that an update makes to the references of a suite.
struct Update {
    std::vector<std::size_t> changed;           ///< indices of the results that become references
    std::vector<std::filesystem::path> unused;  ///< references of cases that do not exist; the update removes them

    bool empty() const noexcept { return changed.empty() && unused.empty(); }
};

/// Returns true if the result has images that can become a reference of the suite.
[[nodiscard]] bool is_approvable(const Case& of, const Result& result) noexcept;

/// Returns the changes that make `results` the references of `cases`. A result that is equal to one of its references
/// needs no change.
[[nodiscard]] Update update_of(const std::vector<const Case*>& cases, const std::vector<Result>& results);

/// Returns the references in the suite's folder that belong to none of its cases; empty if other suites can use the
/// folder.
[[nodiscard]] std::vector<std::filesystem::path> unused_references(const Suite& suite);

/// Returns the reference that a result becomes, with the origin `device` and without a path.
[[nodiscard]] Reference reference_of(const Result& result, const Device& device);

/// Writes the changes. Each reference names `device`, and `variant` unless that is empty. All files are written
/// completely before the first one replaces another: if one cannot be written, no reference has changed. Throws the
/// errors of add_files() and FileUpdate::complete().
void write_update(const Suite& suite, const Device& device, const std::string& variant,
                  const std::vector<const Case*>& cases, const std::vector<Result>& results, const Update& update);

}  // namespace texton::verify
