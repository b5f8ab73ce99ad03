#include "viewer/gui/panels/inspection_panel.h"

#include <QKeyEvent>
#include <algorithm>
#include <cmath>

#include <texton/error.h>

#include "viewer/gui/canvas.h"

namespace texton::viewer {

QString words_of(const std::exception& error) {
    const auto* own = dynamic_cast<const Error*>(&error);
    if (own == nullptr) return QString::fromUtf8(error.what());
    return QString::fromStdString(own->problem() + (own->remedy().empty() ? "." : ". " + own->remedy()));
}

InspectionPanel::InspectionPanel(Workspace& workspace, QString tag)
    : workspace_(workspace),
      tag_(std::move(tag)),
      column_(new QVBoxLayout(this)),
      text_(new CalmText(tr("What the panel has to say"))) {
    column_->setContentsMargins(10, 8, 10, 10);
    column_->setSpacing(8);
    connect(&workspace_, &Workspace::changed, this, &InspectionPanel::refresh_soon);
    connect(&workspace_, &Workspace::documents_changed, this, &InspectionPanel::refresh_soon);
}

void InspectionPanel::follow_hover() {
    connect(&workspace_, &Workspace::hover_changed, this, &InspectionPanel::refresh_soon);
}

void InspectionPanel::refresh_soon() {
    if (stale_ || !isVisible()) return;
    stale_ = true;
    QMetaObject::invokeMethod(
        this,
        [this] {
            stale_ = false;
            if (isVisible()) refresh();
        },
        Qt::QueuedConnection);
}

bool InspectionPanel::event(QEvent* event) {
    static constexpr int kMoves[] = {Qt::Key_Up,    Qt::Key_Down,     Qt::Key_Left, Qt::Key_Right,
                                     Qt::Key_Home,  Qt::Key_End,      Qt::Key_Plus, Qt::Key_PageUp,
                                     Qt::Key_Equal, Qt::Key_PageDown, Qt::Key_Minus};
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if ((key->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) == 0 &&
            std::ranges::find(kMoves, key->key()) != std::end(kMoves)) {
            event->accept();
            return true;
        }
    }
    return QWidget::event(event);
}

void InspectionPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

void InspectionPanel::hideEvent(QHideEvent* event) {
    drop_work();
    QWidget::hideEvent(event);
}

void InspectionPanel::drop_work() { workspace_.jobs().drop(tag_.toStdString()); }

void InspectionPanel::fail(const QString& why) {
    show_nothing();
    say(why);
}

std::optional<Inspected> InspectionPanel::inspected() const {
    const std::shared_ptr<const Document> shown = workspace_.shown();
    if (!shown) return std::nullopt;
    const Place place = shown->clamped(workspace_.session().place);
    return Inspected{shown, place, workspace_.session().sampler.value_or(shown->standard_sampler(place.plane))};
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
    const Session& session = workspace_.session();
    if (session.layout == Layout::single) return session.view;
    return fitted(at.document->extent(at.place), canvas.width(), canvas.height());
}

FetchGrid InspectionPanel::visible_fetches(const Inspected& at) const {
    const QSize canvas = canvas_pixels();
    return visible_grid(view_of(at), canvas.width(), canvas.height(), at.document->extent(at.place));
}

void InspectionPanel::jump_to(const Place& place, Position texel) {
    constexpr double kSeenWell = 16;  // canvas pixels along a texel
    workspace_.change(tr("Go to texel"), [&](Session& session) {
        session.place = place;
        session.layout = Layout::single;
        session.view = {std::max(session.view.zoom, kSeenWell), texel};
        session.fits = false;
        std::erase(session.pins, texel);
        session.pins.push_back(texel);
    });
}

}  // namespace texton::viewer
