#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "viewer/cli/commands.h"
#include "viewer/cli/progress.h"

namespace texton::cli {

/// Calls `process` for each file, in order, and shows the progress with `title`. If it throws Error or std::bad_alloc,
/// the error is printed on standard error, and the other files are processed nevertheless. Returns Status::failed if
/// there was an error, else Status::good.
///
/// `process` must call ProgressBar::hide() before it prints.
[[nodiscard]] Status for_each_file(std::string_view command, const char* title, std::span<const std::string> files,
                                   const std::function<void(const std::string& file, ProgressBar& bar)>& process);

/// Returns the status of two parts of a command: the greater one.
[[nodiscard]] inline Status worse(Status a, Status b) { return a < b ? b : a; }

}  // namespace texton::cli
