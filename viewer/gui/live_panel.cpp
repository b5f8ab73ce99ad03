#include "viewer/gui/live_panel.h"

#include <QKeyEvent>
#include <QShowEvent>
#include <algorithm>
#include <cmath>

#include "viewer/gui/canvas.h"
#include "viewer/place_statistics.h"

namespace texton::viewer {

LivePanel::LivePanel(Workspace& workspace) : workspace_(workspace) {
    connect(&workspace, &Workspace::changed, this, &LivePanel::stale);
    connect(&workspace, &Workspace::documents_changed, this, &LivePanel::stale);
}

void LivePanel::stale() {
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

bool LivePanel::event(QEvent* event) {
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

void LivePanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

void LivePanel::lay_out(QBoxLayout* column) {
    column->setContentsMargins(10, 8, 10, 10);
    column->setSpacing(8);
    setLayout(column);
}

std::optional<TexelBox> LivePanel::visible_texels() const {
    const std::shared_ptr<const Document> shown = workspace_.shown();
    if (!shown) return {};
    const auto* canvas = window()->findChild<Canvas*>();
    return canvas != nullptr ? canvas->visible_texels() : whole_box(*shown, workspace_.session().place);
}

void LivePanel::jump_to(const Place& place, Position texel) {
    constexpr double kSeenWell = 8;
    workspace_.change(tr("Go to texel"), [&](Session& session) {
        session.place = place;
        session.layout = Layout::single;
        const Position middle{std::floor(texel.x) + 0.5, std::floor(texel.y) + 0.5};
        session.view = {std::max(session.view.zoom, kSeenWell), middle};
        session.fits = false;
        std::erase(session.pins, middle);
        session.pins.push_back(middle);
    });
}

}  // namespace texton::viewer
