#pragma once
#include <QBoxLayout>
#include <QSize>
#include <QWidget>
#include <memory>
#include <optional>

#include "viewer/gui/controls.h"
#include "viewer/gui/workspace.h"
#include "viewer/inspect/fetches.h"

namespace texton::viewer {

class Canvas;

/// A panel that shows the workspace as it is now; a hidden one does nothing.
class LivePanel : public QWidget {
    Q_OBJECT

public:
    explicit LivePanel(Workspace& workspace, QWidget* parent = nullptr);

    /// The least: where lists and tables may be lower than they would like to be, nothing is scrolled.
    int heightForWidth(int width) const override {
        return layout() != nullptr ? layout()->totalMinimumHeightForWidth(width) : -1;
    }

protected:
    /// Shows what the workspace has now. Called once for all changes that came together, and when the panel appears.
    virtual void refresh() = 0;
    /// The panel is hidden, and what it last showed, or what that was held against, is not there any more: what it holds of them
    /// can go, for it may be large.
    virtual void let_go() {}
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
    /// Of the window's canvas, in pixels of the screen; of the panel where there is none.
    QSize canvas_pixels() const;
    /// How the canvas shows a place of the array that is shown; the whole of it where it shows others, too.
    ViewState view_of(const Document& document, const Place& place) const;
    /// A fetch for each pixel in which the canvas shows it.
    FetchGrid visible_fetches(const Document& document, const Place& place) const;
    /// Shows a texel in the middle of the canvas, large enough to be seen, and pins it.
    void jump_to(const Place& place, Position texel);

private:
    /// Of the window that the panel belongs to; null where there is none.
    const Canvas* canvas() const;

    void refresh_now();

    Workspace& workspace_;
    std::weak_ptr<const Document> seen_;  // by the last refresh
    std::weak_ptr<const Document> seen_against_;
    bool stale_ = false;
};

}  // namespace texton::viewer
