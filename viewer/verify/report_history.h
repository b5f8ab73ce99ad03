#pragma once
// Plots of the history of a case as SVG inside of HTML.
#include <string>
#include <vector>

#include "viewer/verify/run_history.h"

namespace texton::verify {

/// Returns a row of marks with the outcomes of the last runs, oldest first; empty if there are none.
[[nodiscard]] std::string outcome_strip(const std::vector<HistoryEntry>& entries);

/// Returns plots of the root mean squared error and of the duration over the runs; empty if there are no runs. A line
/// connects the runs on one device.
[[nodiscard]] std::string history_plot(const std::vector<HistoryEntry>& entries);

}  // namespace texton::verify
