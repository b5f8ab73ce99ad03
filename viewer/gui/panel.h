#pragma once
#include <QString>
#include <QWidget>
#include <functional>
#include <span>
#include <vector>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// Initial area of a panel. Panels with the same area share it as tabs.
enum class PanelArea : std::uint8_t { left, left_below, right, right_below, bottom };

/// A panel that shows and changes the workspace. The window puts each panel into a dock.
struct PanelInfo {
    QString id;     ///< name in session files and object name of the dock
    QString title;  ///< of the dock and of its action
    QString tip;    ///< one sentence
    PanelArea area = PanelArea::right;
    std::function<QWidget*(Workspace&)> make{};
};

/// Returns all panels. A new panel needs a pair of files in panels/ and a line in panels.cpp.
[[nodiscard]] const std::vector<PanelInfo>& panels();

}  // namespace texton::viewer
