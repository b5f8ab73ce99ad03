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

/// The subject of an inspection panel: a subresource of the loaded array of the shown image, and the sampler for its
/// fetches.
struct Inspected {
    std::shared_ptr<const Document> document;  ///< Document::as_loaded()
    SubresourceIndex subresource;
    Sampler sampler;
    const ArrayInfo& info() const { return document->info(subresource.plane); }
};

/// Base class of panels that compute their content on a worker thread from the state of the workspace. A hidden panel
/// computes nothing: hiding cancels the job and releases the copy of keep_twin(). For the GUI thread only.
class InspectionPanel : public LivePanel {
    Q_OBJECT

protected:
    /// `tag` identifies the panel's jobs; each panel needs its own.
    InspectionPanel(Workspace& workspace, QString tag);

    void hideEvent(QHideEvent* event) override;
    void let_go() override { show_nothing(); }

    /// Returns nullopt if no image is shown.
    std::optional<Inspected> inspected() const;
    /// Returns the view of the canvas. In layouts that show several subresources, the view fits the whole subresource.
    ViewState view_of(const Inspected& at) const { return LivePanel::view_of(*at.document, at.subresource); }
    /// Returns one fetch for each canvas pixel that shows the subresource.
    FetchGrid visible_fetches(const Inspected& at) const {
        return LivePanel::visible_fetches(*at.document, at.subresource);
    }
    /// Shows a message below the controls of the panel. An empty text hides it.
    void say(const QString& text) { text_->say(text); }
    CalmText* text() const noexcept { return text_; }
    QVBoxLayout* column() const noexcept { return column_; }

    /// Cancels the current job of the panel and runs `work(token)` on a worker thread. Calls `show` with the result on
    /// the GUI thread if the panel still exists. If `work` throws, the error becomes the message of the panel and
    /// `show` is not called.
    template <class Work, class Show>
    void compute(Work work, Show show) {
        const QPointer<InspectionPanel> self(this);
        workspace().jobs().start(
            tag_.toStdString(),
            [self, work = std::move(work), show = std::move(show)](const CancellationToken& token) -> Jobs::Finish {
                try {
                    return [self, show, result = work(token)] {
                        if (self) show(result);
                    };
                } catch (const std::exception& error) {
                    return [self, why = QString::fromStdString(error_text(error))] {
                        if (self) self->fail(why);
                    };
                }
            });
    }
    /// Cancels the current job.
    void drop_work();
    /// Keeps a copy of the array on another device until the panel is hidden, so that it is not copied again for each
    /// fetch.
    void keep_twin(std::shared_ptr<const Array> twin) { twin_ = std::move(twin); }

private:
    void fail(const QString& why);
    /// Clears the results of the panel.
    virtual void show_nothing() = 0;

    QString tag_;
    QVBoxLayout* column_;
    CalmText* text_;
    std::shared_ptr<const Array> twin_;
};

}  // namespace texton::viewer
