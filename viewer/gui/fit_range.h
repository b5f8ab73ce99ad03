#pragma once
#include <QObject>
#include <functional>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// Makes the values of a box of what is shown the display's range, beside the window. `done` is told why that cannot be, or nothing; it is
/// not called if `guard` is gone by then.
void fit_range(Workspace& workspace, const TexelBox& box, QObject* guard, std::function<void(const QString&)> done);

}  // namespace texton::viewer
