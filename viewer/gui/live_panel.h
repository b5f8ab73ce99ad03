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

/// Base class of panels that show the current state of the workspace. A hidden panel is not refreshed. For the GUI
/// thread only; the workspace must outlive the panel.
class LivePanel : public QWidget {
    Q_OBJECT

public:
    explicit LivePanel(Workspace& workspace, QWidget* parent = nullptr);

    /// Returns the minimum height instead of the preferred one: lists and tables shrink before the panel needs a scroll
    /// bar.
    int heightForWidth(int width) const override {
        return layout() != nullptr ? layout()->totalMinimumHeightForWidth(width) : -1;
    }

protected:
    /// Shows the current state of the workspace. Called when the panel appears, and once for all changes of one turn of
    /// the event loop.
    virtual void refresh() = 0;
    /// Releases data of documents, which may be large. Called on a hidden panel when the document it last showed, or
    /// the one it was compared with, is no longer current.
    virtual void let_go() {}
    /// Schedules a refresh of a visible panel.
    void stale();
    /// Gives navigation keys to the controls of the panel instead of the shortcuts of the window.
    bool event(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

    Workspace& workspace() const noexcept { return workspace_; }
    /// Sets the layout of the panel. The window puts the panel into a scroll area.
    void lay_out(QBoxLayout* column);
    /// Returns the visible texels of the current subresource, or the whole subresource in layouts that show several or
    /// if the window has no canvas. Returns nullopt if no texel is visible.
    std::optional<TexelBox> visible_texels() const;
    /// Returns the size of the window's canvas in screen pixels, or the size of the panel if the window has no canvas.
    QSize canvas_pixels() const;
    /// Returns the view of the canvas, in texels of the loaded array. In layouts that show several subresources, the
    /// view fits the whole subresource.
    ViewState view_of(const Document& document, const SubresourceIndex& subresource) const;
    /// Returns one fetch for each canvas pixel that shows the subresource.
    FetchGrid visible_fetches(const Document& document, const SubresourceIndex& subresource) const;
    /// Pins the texel and shows it at the center of the canvas, magnified at least 8 times.
    void jump_to(const SubresourceIndex& subresource, Position texel);

private:
    /// Returns the canvas of the window that the panel belongs to, or null.
    const Canvas* canvas() const;

    void refresh_now();

    Workspace& workspace_;
    std::weak_ptr<const Document> seen_;          // shown at the last refresh
    std::weak_ptr<const Document> seen_against_;  // compared with at the last refresh
    bool stale_ = false;
};

}  // namespace texton::viewer
