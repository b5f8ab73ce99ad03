#include "viewer/gui/panels/inspection_panel.h"

#include <algorithm>
#include <cmath>

#include "viewer/gui/canvas.h"

namespace texton::viewer {

InspectionPanel::InspectionPanel(Workspace& workspace, QString tag)
    : LivePanel(workspace),
      tag_(std::move(tag)),
      column_(new QVBoxLayout),
      text_(new CalmText(tr("What the panel has to say"))) {
    lay_out(column_);
}

void InspectionPanel::hideEvent(QHideEvent* event) {
    drop_work();
    LivePanel::hideEvent(event);
}

void InspectionPanel::drop_work() { workspace().jobs().drop(tag_.toStdString()); }

void InspectionPanel::fail(const QString& why) {
    show_nothing();
    say(why);
}

std::optional<Inspected> InspectionPanel::inspected() const {
    const std::shared_ptr<const Document> shown = workspace().shown();
    if (!shown) return std::nullopt;
    const Place place = shown->clamped(workspace().session().place);
    return Inspected{shown, place, workspace().session().sampler.value_or(shown->standard_sampler(place.plane))};
}

QSize InspectionPanel::canvas_pixels() const {
    const QWidget* canvas = window()->findChild<Canvas*>();
    if (canvas == nullptr) canvas = this;
    const double ratio = canvas->devicePixelRatioF();
    return {std::max(1, static_cast<int>(std::lround(canvas->width() * ratio))),
            std::max(1, static_cast<int>(std::lround(canvas->height() * ratio)))};
}

ViewState InspectionPanel::view_of(const Inspected& at) const {
    const QSize canvas = canvas_pixels();
    const Session& session = workspace().session();
    if (session.layout == Layout::single) return session.view;
    return fitted(at.document->extent(at.place), canvas.width(), canvas.height());
}

FetchGrid InspectionPanel::visible_fetches(const Inspected& at) const {
    const QSize canvas = canvas_pixels();
    return visible_grid(view_of(at), canvas.width(), canvas.height(), at.document->extent(at.place));
}

}  // namespace texton::viewer
