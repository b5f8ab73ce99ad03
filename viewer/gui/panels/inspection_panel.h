#pragma once
#include <QPointer>
#include <QSize>
#include <QVBoxLayout>
#include <QWidget>
#include <memory>
#include <optional>
#include <utility>

#include "viewer/gui/live_panel.h"
#include "viewer/inspect/fetches.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {

/// What panels inspect: a place of the picture that is shown, as the device has it, and how it is sampled.
struct Inspected {
    std::shared_ptr<const Document> document;  ///< Document::as_loaded()
    Place place;
    Sampler sampler;
    const ArrayInfo& info() const { return document->info(place.plane); }
};

/// A panel that computes what it shows beside the window, from the workspace as it is; nothing while it is hidden.
class InspectionPanel : public LivePanel {
    Q_OBJECT

protected:
    /// `tag` is of its jobs.
    InspectionPanel(Workspace& workspace, QString tag);

    void hideEvent(QHideEvent* event) override;
    void let_go() override { show_nothing(); }

    /// None where nothing is shown.
    std::optional<Inspected> inspected() const;
    /// How the canvas shows the place; the whole of it where it shows others, too.
    ViewState view_of(const Inspected& at) const { return LivePanel::view_of(*at.document, at.place); }
    /// A fetch for each pixel in which the canvas shows the place.
    FetchGrid visible_fetches(const Inspected& at) const { return LivePanel::visible_fetches(*at.document, at.place); }
    /// Calm text below the panel's controls; empty hides it.
    void say(const QString& text) { text_->say(text); }
    CalmText* text() const noexcept { return text_; }
    QVBoxLayout* column() const noexcept { return column_; }

    /// Runs `work(wanted)` on a worker in place of what the panel computes now, and gives its result to `show` on the
    /// window's thread, if the panel is still there. What it throws becomes the panel's text, and `show` is not called.
    template <class Work, class Show>
    void compute(Work work, Show show) {
        const QPointer<InspectionPanel> self(this);
        workspace().jobs().start(
            tag_.toStdString(),
            [self, work = std::move(work), show = std::move(show)](const Wanted& wanted) -> Jobs::Finish {
                try {
                    return [self, show, result = work(wanted)] {
                        if (self) show(result);
                    };
                } catch (const std::exception& error) {
                    return [self, why = QString::fromStdString(error_words(error))] {
                        if (self) self->fail(why);
                    };
                }
            });
    }
    void drop_work();
    /// While the panel is seen, a copy of the picture on another device is not made again for each fetch.
    void keep_twin(std::shared_ptr<const Array> twin) { twin_ = std::move(twin); }

private:
    void fail(const QString& why);
    /// Clears what a failed computation would have shown.
    virtual void show_nothing() = 0;

    QString tag_;
    QVBoxLayout* column_;
    CalmText* text_;
    std::shared_ptr<const Array> twin_;
};

}  // namespace texton::viewer
