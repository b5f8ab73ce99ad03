#pragma once
#include <QObject>
#include <functional>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// Sets the display range to the range of the values in a box of the shown subresource, and the exposure to 0. A worker
/// thread computes the range. Calls `done` on the GUI thread with the reason for a failure, or with an empty string. If
/// `guard` was destroyed before, `done` is not called and the range stays.
void fit_range(Workspace& workspace, const TexelBox& box, QObject* guard, std::function<void(const QString&)> done);

}  // namespace texton::viewer
