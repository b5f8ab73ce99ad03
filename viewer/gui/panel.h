#pragma once
#include <QString>
#include <QWidget>
#include <functional>
#include <span>
#include <vector>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// Where a panel stands at first: one of them a place, the others behind it as tabs.
enum class PanelArea : std::uint8_t { left, left_below, right, right_below, bottom };

/// A panel beside the canvas, which shows and changes the workspace. The window puts each into a dock.
struct PanelInfo {
    QString id;     ///< in session files
    QString title;  ///< of the dock and its action
    QString tip;    ///< one sentence
    PanelArea area = PanelArea::right;
    std::function<QWidget*(Workspace&)> make{};
};

/// All of them: a new panel is a pair of files and a line in panels.cpp.
[[nodiscard]] const std::vector<PanelInfo>& panels();

}  // namespace texton::viewer
