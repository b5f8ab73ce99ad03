#pragma once
#include <QBoxLayout>
#include <QWidget>
#include <optional>

#include "viewer/gui/controls.h"
#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// A panel that shows the workspace as it is now; a hidden one does nothing.
class LivePanel : public QWidget {
    Q_OBJECT

public:
    explicit LivePanel(Workspace& workspace);

protected:
    /// Shows what the workspace has now. Called once for all changes that came together, and when the panel appears.
    virtual void refresh() = 0;
    /// Refreshes soon.
    void stale();
    /// Keeps the keys that move in controls from the window's shortcuts.
    bool event(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

    Workspace& workspace() const noexcept { return workspace_; }
    /// The window scrolls it.
    void lay_out(QBoxLayout* column);
    /// What the canvas of this window shows of the place; all of it where that is no single place.
    std::optional<TexelBox> visible_texels() const;
    /// Shows a texel in the middle of the canvas, large enough to be seen, and pins it.
    void jump_to(const Place& place, Position texel);

private:
    Workspace& workspace_;
    bool stale_ = false;
};

}  // namespace texton::viewer
