#include "viewer/gui/live_panel.h"

#include <QKeyEvent>
#include <QShowEvent>
#include <algorithm>
#include <cmath>

#include "viewer/gui/canvas.h"
#include "viewer/inspect/region_statistics.h"

namespace texton::viewer {

LivePanel::LivePanel(Workspace& workspace, QWidget* parent) : QWidget(parent), workspace_(workspace) {
    connect(&workspace, &Workspace::changed, this, &LivePanel::stale);
    connect(&workspace, &Workspace::documents_changed, this, &LivePanel::stale);
}

void LivePanel::stale() {
    if (!isVisible()) {
        // A document that was destroyed also counts as changed: the panel may still hold its array, see
        // Document::as_loaded().
        const auto is_other = [](const std::weak_ptr<const Document>& seen, const auto& now) {
            const std::weak_ptr<const Document> none;
            return (seen.owner_before(none) || none.owner_before(seen)) && seen.lock() != now;
        };
        if (is_other(seen_, workspace_.shown()) || is_other(seen_against_, workspace_.against())) {
            seen_.reset();
            seen_against_.reset();
            let_go();
        }
        return;
    }
    if (stale_) return;
    stale_ = true;
    QMetaObject::invokeMethod(
        this,
        [this] {
            stale_ = false;
            if (isVisible()) refresh_now();
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
    refresh_now();
}

void LivePanel::refresh_now() {
    seen_ = workspace_.shown();
    seen_against_ = workspace_.against();
    refresh();
}

void LivePanel::lay_out(QBoxLayout* column) {
    column->setContentsMargins(10, 8, 10, 10);
    column->setSpacing(8);
    setLayout(column);
}

// A floating dock is a window of its own, so the search continues in its parents.
const Canvas* LivePanel::canvas() const {
    for (const QWidget* each = this; each != nullptr; each = each->parentWidget())
        if (const auto* canvas = each->findChild<Canvas*>()) return canvas;
    return nullptr;
}

std::optional<TexelBox> LivePanel::visible_texels() const {
    const std::shared_ptr<const Document> shown = workspace_.shown();
    if (!shown) return {};
    const Canvas* canvas = this->canvas();
    return canvas != nullptr ? canvas->visible_texels() : whole_box(*shown, workspace_.session().subresource);
}

QSize LivePanel::canvas_pixels() const {
    const QWidget* canvas = this->canvas();
    if (canvas == nullptr) canvas = this;
    const double ratio = canvas->devicePixelRatioF();
    return {std::max(1, static_cast<int>(std::lround(canvas->width() * ratio))),
            std::max(1, static_cast<int>(std::lround(canvas->height() * ratio)))};
}

ViewState LivePanel::view_of(const Document& document, const SubresourceIndex& subresource) const {
    const QSize canvas = canvas_pixels();
    const Session& session = workspace_.session();
    const std::shared_ptr<const Document> shown = workspace_.shown();
    if (session.layout == Layout::single)
        return shown ? in_array(*shown, session.subresource, session.view) : session.view;
    return fitted(document.extent(subresource), canvas.width(), canvas.height());
}

FetchGrid LivePanel::visible_fetches(const Document& document, const SubresourceIndex& subresource) const {
    const QSize canvas = canvas_pixels();
    return visible_grid(view_of(document, subresource), canvas.width(), canvas.height(), document.extent(subresource));
}

void LivePanel::jump_to(const SubresourceIndex& subresource, Position texel) {
    constexpr double kSeenWell = 8;
    workspace_.change(tr("Go to texel"), [&](Session& session) {
        session.subresource = subresource;
        session.layout = Layout::single;
        const Position center{std::floor(texel.x) + 0.5, std::floor(texel.y) + 0.5};
        session.view = {std::max(session.view.zoom, kSeenWell), center};
        session.fits = false;
        std::erase(session.pins, center);
        session.pins.push_back(center);
    });
}

}  // namespace texton::viewer
