#include "viewer/gui/panels/inspection_panel.h"

namespace texton::viewer {

InspectionPanel::InspectionPanel(Workspace& workspace, QString tag)
    : LivePanel(workspace), tag_(std::move(tag)), column_(new QVBoxLayout), text_(new CalmText(tr("Message"))) {
    lay_out(column_);
}

void InspectionPanel::hideEvent(QHideEvent* event) {
    drop_work();
    twin_.reset();
    LivePanel::hideEvent(event);
}

void InspectionPanel::drop_work() { workspace().jobs().drop(tag_.toStdString()); }

void InspectionPanel::fail(const QString& why) {
    twin_.reset();
    show_nothing();
    say(why);
}

std::optional<Inspected> InspectionPanel::inspected() const {
    const std::shared_ptr<const Document> shown = workspace().shown();
    if (!shown) return std::nullopt;
    const SubresourceIndex subresource = shown->in_array(workspace().session().subresource);
    return Inspected{shown->as_loaded(), subresource,
                     workspace().session().sampler.value_or(shown->standard_sampler(subresource.plane))};
}

}  // namespace texton::viewer
