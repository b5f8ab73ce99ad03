#pragma once
#include <QPointer>
#include <QSize>
#include <QVBoxLayout>
#include <QWidget>
#include <memory>
#include <optional>
#include <utility>

#include "viewer/gui/controls.h"
#include "viewer/gui/workspace.h"
#include "viewer/inspect/fetches.h"

namespace texton::viewer {

/// What panels inspect: a place of the picture that is shown, and how it is sampled.
struct Inspected {
    std::shared_ptr<const Document> document;
    Place place;
    Sampler sampler;
    const ArrayInfo& info() const { return document->info(place.plane); }
};

/// What an error says to people.
[[nodiscard]] QString words_of(const std::exception& error);

/// A panel that computes what it shows beside the window, from the workspace as it is; nothing while it is hidden.
class InspectionPanel : public QWidget {
    Q_OBJECT

protected:
    /// `tag` is of its jobs.
    InspectionPanel(Workspace& workspace, QString tag);

    /// Called once for all changes that came together, and when the panel appears.
    virtual void refresh() = 0;
    void refresh_soon();
    void follow_hover();
    /// Keeps the keys that move in controls from the window's shortcuts.
    bool event(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

    Workspace& workspace() const noexcept { return workspace_; }
    /// None where nothing is shown.
    std::optional<Inspected> inspected() const;
    /// Of the window's canvas, in pixels of the screen; of the panel where there is none.
    QSize canvas_pixels() const;
    /// How the canvas shows the place; the whole of it where it shows others, too.
    ViewState view_of(const Inspected& at) const;
    /// A fetch for each pixel in which the canvas shows the place.
    FetchGrid visible_fetches(const Inspected& at) const;
    /// Pins the texel and brings it to the middle of the canvas.
    void jump_to(const Place& place, Position texel);
    /// Calm text below the panel's controls; empty hides it.
    void say(const QString& text) { text_->say(text); }
    CalmText* text() const noexcept { return text_; }
    QVBoxLayout* column() const noexcept { return column_; }

    /// Runs `work(wanted)` on a worker in place of what the panel computes now, and gives its result to `show` on the
    /// window's thread, if the panel is still there. What it throws becomes the panel's text, and `show` is not called.
    template <class Work, class Show>
    void compute(Work work, Show show) {
        const QPointer<InspectionPanel> self(this);
        workspace_.jobs().start(
            tag_.toStdString(),
            [self, work = std::move(work), show = std::move(show)](const Wanted& wanted) -> Jobs::Finish {
                try {
                    return [self, show, result = work(wanted)] {
                        if (self) show(result);
                    };
                } catch (const std::exception& error) {
                    return [self, why = words_of(error)] {
                        if (self) self->fail(why);
                    };
                }
            });
    }
    void drop_work();

private:
    void fail(const QString& why);
    /// Clears what a failed computation would have shown.
    virtual void show_nothing() = 0;

    Workspace& workspace_;
    QString tag_;
    QVBoxLayout* column_;
    CalmText* text_;
    bool stale_ = false;
};

}  // namespace texton::viewer
