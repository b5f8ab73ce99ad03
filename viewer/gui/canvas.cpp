#include "viewer/gui/canvas.h"

#include <QAccessibleWidget>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "viewer/gui/annotation_tool.h"
#include "viewer/gui/canvas_overlay.h"
#include "viewer/inspect/region_statistics.h"
#include "viewer/model/streamed_image.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr int kNotch = 120;      // wheel angle, in eighths of a degree
constexpr double kWipeGrip = 6;  // window pixels on each side of the line
constexpr double kPanStep = 64;  // per key press, in window pixels
constexpr QRgb kMessage = 0xffd8dade;

QAccessibleInterface* accessible_canvas(const QString&, QObject* object) {
    auto* canvas = qobject_cast<Canvas*>(object);
    return canvas ? new QAccessibleWidget(canvas, QAccessible::Graphic) : nullptr;
}

Position whole(const Position& texel) { return {std::floor(texel.x) + 0.5, std::floor(texel.y) + 0.5}; }

}  // namespace

Canvas::Canvas(Workspace& workspace, CanvasSide side, QWidget* parent)
    : QWidget(parent),
      workspace_(workspace),
      side_(side),
      tiles_(new CanvasTiles(workspace.jobs(), side == CanvasSide::shown ? "canvas " : "reference canvas ", this)),
      against_tiles_(new CanvasTiles(workspace.jobs(), "canvas against ", this)),
      text_(new CanvasText(workspace.jobs(), side == CanvasSide::shown ? "canvas words" : "reference words", this)),
      editor_(new AnnotationEditor(workspace.annotation_tool(), this)) {
    static const bool installed = (QAccessible::installFactory(accessible_canvas), true);
    static_cast<void>(installed);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setContextMenuPolicy(Qt::PreventContextMenu);
    setMinimumSize(64, 64);
    setObjectName(side == CanvasSide::shown ? "canvas" : "reference-canvas");
    setAccessibleName(side == CanvasSide::shown ? tr("Image") : tr("Reference"));
    const auto again = [this] {
        refit();
        refresh();
        describe();
    };
    connect(&workspace_, &Workspace::changed, this, [this, again](const Session& before) {
        if (before.images != workspace_.session().images) left_view_.reset();
        again();
    });
    connect(&workspace_, &Workspace::documents_changed, this, again);
    connect(&workspace_, &Workspace::hover_changed, this, &Canvas::describe);
    connect(&workspace_, &Workspace::outlines_changed, this, qOverload<>(&QWidget::update));
    connect(&workspace_.annotation_tool(), &AnnotationTool::changed, this, [this] {
        if (side_ == CanvasSide::shown) editor_->place(annotation_shapes(scene()), devicePixelRatioF());
        show_cursor(pixel_at(mapFromGlobal(QCursor::pos())));
        update();
    });
    connect(&workspace_, &Workspace::texels_arrived, this, [this] {
        tiles_->texels_arrived();
        against_tiles_->texels_arrived();
    });
    if (side_ == CanvasSide::shown)
        connect(tiles_, &CanvasTiles::color_table_changed, &workspace_, &Workspace::set_color_table);
    for (CanvasTiles* tiles : {tiles_, against_tiles_}) {
        connect(tiles, &CanvasTiles::updated, this, qOverload<>(&QWidget::update));
        connect(tiles, &CanvasTiles::updated, this, &Canvas::tell_progress);
        connect(tiles, &CanvasTiles::files_failed, this, [this](const QString& why) { workspace_.tell(why); });
    }
    connect(text_, &CanvasText::updated, this, qOverload<>(&QWidget::update));
}

QSize Canvas::pixels() const {
    const double ratio = devicePixelRatioF();
    return {std::max(1, static_cast<int>(std::lround(width() * ratio))),
            std::max(1, static_cast<int>(std::lround(height() * ratio)))};
}

Position Canvas::pixel_at(QPointF point) const {
    const double ratio = devicePixelRatioF();
    return {point.x() * ratio, point.y() * ratio};
}

Scene Canvas::scene() const {
    Scene now = workspace_.scene(pixels().width(), pixels().height());
    if (side_ == CanvasSide::shown) return now;
    now.shown = now.session.reference ? workspace_.document(*now.session.reference) : nullptr;
    now.against = nullptr;
    now.session.compare.mode = CompareMode::none;
    return now;
}

void Canvas::show_title(bool shown) {
    has_title_ = shown;
    update();
}

bool Canvas::is_complete() const { return tiles_->is_complete() && against_tiles_->is_complete(); }

bool Canvas::has_pixels() const { return tiles_->has_pixels() && against_tiles_->has_pixels(); }

bool Canvas::shows_display() const { return tiles_->shows_display() && against_tiles_->shows_display(); }

// --- view ------------------------------------------------------------------------------------------------------------

void Canvas::set_view(const ViewState& view) {
    left_view_.reset();
    workspace_.look([&](Session& session) {
        session.view = view;
        session.fits = false;
    });
}

// Fits an image of another size to the canvas if the center of the view would be outside of it. The view before is
// restored for the next image that it suits, unless the user has changed the view since.
void Canvas::keep_in_view(const Scene& now) {
    const Extent extent = canvas_extent(now);
    const bool is_plane = layout_of(now.session, *now.shown) != Layout::sphere && !now.session.lod_plane.shown;
    const bool is_other = is_plane && seen_extent_.width != 0 && extent != seen_extent_;
    seen_extent_ = is_plane ? extent : Extent{};
    if (!is_other) return;
    const auto suits = [&](const ViewState& view) {
        const Position& at = view.center;
        return at.x >= 0 && at.y >= 0 && at.x <= static_cast<double>(extent.width) &&
               at.y <= static_cast<double>(extent.height);
    };
    if (!now.session.fits && !suits(now.session.view)) {
        left_view_ = now.session.view;
        workspace_.look([](Session& session) { session.fits = true; });
    } else if (now.session.fits && left_view_ && suits(*left_view_)) {
        const ViewState view = *left_view_;
        set_view(view);
    }
}

void Canvas::refit() {
    if (side_ == CanvasSide::reference) return;  // both canvases have one view
    if (const Scene now = scene(); now.shown) keep_in_view(now);
    const Scene now = scene();
    if (!now.session.fits || !now.shown) return;
    const ViewState view = fitted(canvas_extent(now), now.width, now.height);
    workspace_.look([&](Session& session) { session.view = view; });
}

void Canvas::fit() {
    left_view_.reset();
    workspace_.look([](Session& session) { session.fits = true; });
    refit();
}

void Canvas::actual_size() { set_view({1, workspace_.session().view.center}); }

void Canvas::zoom_by(double factor) {
    const QSize size = pixels();
    set_view(zoomed(workspace_.session().view, factor, {size.width() / 2.0, size.height() / 2.0}, size.width(),
                    size.height()));
}

std::optional<TexelBox> Canvas::visible_texels() const {
    const std::shared_ptr<const Document> shown = workspace_.shown();
    if (!shown) return std::nullopt;
    const Session& session = workspace_.session();
    if (session.layout != Layout::single) return whole_box(*shown, session.subresource);
    return visible_box(session.view, pixels().width(), pixels().height(), shown->extent(session.subresource));
}

void Canvas::look_at(Position texel) { set_view({workspace_.session().view.zoom, texel}); }

void Canvas::pan(Position moved) {
    const Scene now = scene();
    if (!now.shown) return;
    if (layout_of(now.session, *now.shown) != Layout::sphere)
        return set_view(panned(now.session.view, moved, canvas_extent(now)));
    const double degrees = 180 / std::numbers::pi / now.session.view.zoom;  // per pixel at the center
    workspace_.look([&](Session& session) {
        session.sphere_yaw = std::remainder(session.sphere_yaw - moved.x * degrees, 360.0);
        session.sphere_pitch = std::clamp(session.sphere_pitch + moved.y * degrees, -90.0, 90.0);
    });
}

// Steps through the slices of a volume, the layers and faces of layered arrays and cubemaps, or else through the
// levels.
void Canvas::step(int by) {
    const auto shown = workspace_.shown();
    if (!shown) return;
    const auto turned = [by](std::size_t index, std::size_t count) {
        const auto n = static_cast<std::ptrdiff_t>(count);
        return static_cast<std::size_t>(((static_cast<std::ptrdiff_t>(index) + by) % n + n) % n);
    };
    const auto edit = [&](Session& session) {
        SubresourceIndex subresource = shown->clamped(session.subresource);
        const ArrayInfo& info = shown->whole(subresource.plane);
        const std::size_t faces = is_cube(info.kind) ? 6 : 1;
        const std::size_t count = slice_count(info, subresource.level);
        if (info.kind == ArrayKind::array_3d) {
            subresource.slice = turned(subresource.slice, count);
        } else if (count > 1) {
            const std::size_t next =
                turned(subresource.layer * faces + static_cast<std::size_t>(subresource.face), count);
            subresource.layer = next / faces;
            subresource.face = static_cast<int>(next % faces);
        } else {
            const int level = std::clamp(subresource.level + by, 0, info.levels - 1);
            session.fits = session.fits || level != subresource.level;
            subresource.level = level;
        }
        session.subresource = subresource;
    };
    workspace_.change(tr("Show another slice"), edit, "slice");
}

// --- drawing ---------------------------------------------------------------------------------------------------------

void Canvas::refresh() {
    if (!isVisible()) return;
    const Scene now = scene();
    see(now);
    tiles_->show(shown_side(now));
    const bool wipes = wipe_column(now) < now.width || now.session.compare.mode == CompareMode::wipe;
    against_tiles_->show(wipes && now.against ? against_side(now) : Scene{});
    tell_progress();
    text_->show(now.session.overlays.values && now.session.compare.mode == CompareMode::none ? now : Scene{},
                kLeastForText * devicePixelRatioF());
    if (side_ == CanvasSide::shown) editor_->place(annotation_shapes(now), devicePixelRatioF());
    update();
}

// Requests the visible texels of streamed images. Before the tiles are rendered, so that they are not taken for final.
void Canvas::see(const Scene& now) {
    std::vector<Workspace::Seen> seen;
    for (const Scene& side : {shown_side(now), against_side(now)}) {
        if (side.shown && side.shown->streamed()) seen.push_back({side.shown->streamed(), streamed_parts(side)});
        if (wipe_column(now) >= now.width) break;
    }
    workspace_.see(this, std::move(seen));
}

void Canvas::hideEvent(QHideEvent*) { workspace_.see(this, {}); }

void Canvas::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), QColor::fromRgb(kBackground));
    const Scene now = scene();
    const double ratio = devicePixelRatioF();
    painter.scale(1 / ratio, 1 / ratio);
    // A canvas at a fractional screen position would show seams between its tiles.
    const QTransform begin = painter.deviceTransform();
    painter.translate(std::round(begin.dx()) - begin.dx(), std::round(begin.dy()) - begin.dy());
    paint_tiles(now, painter);
    if (now.shown) paint_overlay(now, painter);
    tell_frame(now);

    const QString problem = tiles_->problem().isEmpty() ? against_tiles_->problem() : tiles_->problem();
    if (problem.isEmpty()) return;
    painter.resetTransform();
    painter.setFont(font());
    painter.fillRect(rect(), QColor::fromRgb(kBackground));
    painter.setPen(QColor::fromRgb(kMessage));
    const QRect text = rect().adjusted(32, 32, -32, -32);
    painter.drawText(text, Qt::AlignCenter | Qt::TextWordWrap, problem);
}

void Canvas::tell_frame(const Scene& now) {
    if (!now.shown || now.shown->live_frame() == 0 || painted_.lock() == now.shown || !has_pixels()) return;
    painted_ = now.shown;
    Q_EMIT painted_frame(now.shown->live_frame());
}

void Canvas::paint_tiles(const Scene& now, QPainter& painter) const {
    const QRect canvas(0, 0, now.width, now.height);
    const int column = wipe_column(now);
    if (column >= now.width) return tiles_->paint(painter, canvas);
    painter.setClipRect(QRect(0, 0, column, now.height));
    tiles_->paint(painter, QRect(0, 0, column, now.height));
    const QRect rest(column, 0, now.width - column, now.height);
    painter.setClipRect(rest);
    against_tiles_->paint(painter, rest);
    painter.setClipping(false);
}

void Canvas::paint_overlay(const Scene& now, QPainter& painter) const {
    const Session& session = now.session;
    CanvasOverlay overlay(now, painter, devicePixelRatioF());
    if (session.overlays.grid && session.view.zoom >= kMinForGrid * devicePixelRatioF()) overlay.draw_grid();
    if (session.overlays.values)
        overlay.draw_text(text_->text(), [&](int x, int y) { return tiles_->pixel(x, y).value_or(kBackground); });
    overlay.draw_part_names();
    if (side_ == CanvasSide::shown && !workspace_.drawing().empty()) overlay.draw_commands(workspace_.drawing());
    overlay.draw_outlines(workspace_.outlines());
    if (session.overlays.annotations)
        overlay.draw_annotations(image_index(session),
                                 side_ == CanvasSide::shown ? workspace_.annotation_tool().selected() : std::nullopt);
    if (session.selection) overlay.draw_selection(*session.selection);
    overlay.draw_pins(session.pins);
    overlay.draw_wipe();
    if (!has_title_) return;
    overlay.draw_title(workspace_.title(image_index(session)));
}

void Canvas::paint_annotations(const Scene& now, QPainter& painter) const {
    if (!now.shown || !now.session.overlays.annotations) return;
    CanvasOverlay(now, painter, devicePixelRatioF()).draw_annotations(image_index(now.session), std::nullopt);
}

std::size_t Canvas::image_index(const Session& session) const {
    return side_ == CanvasSide::shown ? session.current : session.reference.value_or(0);
}

QImage Canvas::image() {
    const Scene now = scene();
    QImage image(now.width, now.height, QImage::Format_RGB32);
    if (viewer::reads_files(shown_side(now)) || (now.against && viewer::reads_files(against_side(now)))) {
        image.fill(kBackground);
        QPainter painter(&image);
        paint_tiles(now, painter);
        paint_annotations(now, painter);
        return image;
    }
    const auto colors = viewer::render(now, {0, 0, now.width, now.height});
    const auto columns = static_cast<std::size_t>(now.width);
    for (int y = 0; y < now.height; ++y)
        std::memcpy(image.scanLine(y), colors.data() + static_cast<std::size_t>(y) * columns, columns * 4);
    QPainter painter(&image);
    paint_annotations(now, painter);
    return image;
}

// Reports reading files for the canvas with the progress signal that loading uses.
void Canvas::tell_progress() {
    const std::optional<double> of_shown = tiles_->share_of_files(), of_against = against_tiles_->share_of_files();
    const bool reads = of_shown || of_against;
    if (reads || tells_progress_)
        Q_EMIT workspace_.progressed(reads ? std::min(of_shown.value_or(1), of_against.value_or(1)) : -1,
                                     tr("Reading file"));
    tells_progress_ = reads;
}

void Canvas::stop_files() {
    tiles_->stop_files();
    against_tiles_->stop_files();
    tell_progress();
}

void Canvas::resizeEvent(QResizeEvent*) {
    refit();
    refresh();
}

void Canvas::showEvent(QShowEvent*) {
    refit();
    refresh();
}

// Describes the inspected texel for screen readers. The hovered texel is described only while a screen reader is
// active.
void Canvas::describe() {
    if (side_ == CanvasSide::reference) return;  // the canvas of the current image describes the texel
    const auto shown = workspace_.shown();
    const auto texel = workspace_.pointed();
    if (!shown || !texel)
        return setAccessibleDescription(shown ? tr("No texel is inspected.") : tr("No image is open."));
    if (workspace_.session().pins.empty() && !QAccessible::isActive()) return;
    const auto x = static_cast<std::size_t>(std::max(0.0, texel->at.x)),
               y = static_cast<std::size_t>(std::max(0.0, texel->at.y));
    try {
        setAccessibleDescription(tr("Texel %1, %2: %3")
                                     .arg(x)
                                     .arg(y)
                                     .arg(QString::fromStdString(words_of(*shown, texel->subresource, x, y))));
    } catch (const std::exception& error) {
        setAccessibleDescription(QString::fromStdString(error_text(error)));
    }
}

// --- pins, selection, wipe -------------------------------------------------------------------------------------------

void Canvas::pin(const SeenTexel& texel, bool beside_others) {
    const Position at = whole(texel.at);
    const auto is_there = [&](const Session& session) {
        const auto shown = workspace_.shown();
        return shown && shown->clamped(session.subresource) == texel.subresource &&
               std::ranges::find(session.pins, at) != session.pins.end();
    };
    const bool removes = is_there(workspace_.session());
    workspace_.change(removes ? tr("Unpin a texel") : tr("Pin a texel"), [&](Session& session) {
        if (removes) {
            std::erase(session.pins, at);
            return;
        }
        if (!beside_others || workspace_.shown()->clamped(session.subresource) != texel.subresource)
            session.pins.clear();
        session.subresource = texel.subresource;
        session.pins.push_back(at);
    });
}

void Canvas::select(const SeenTexel& from, const SeenTexel& to) {
    if (from.subresource != to.subresource) return;
    const auto [left, right] = std::minmax({std::floor(from.at.x), std::floor(to.at.x)});
    const auto [top, bottom] = std::minmax({std::floor(from.at.y), std::floor(to.at.y)});
    const TexelBox box{static_cast<std::size_t>(left), static_cast<std::size_t>(top),
                       static_cast<std::size_t>(right - left) + 1, static_cast<std::size_t>(bottom - top) + 1};
    const auto edit = [&](Session& session) {
        session.subresource = from.subresource;
        session.selection = box;
    };
    workspace_.change(tr("Select texels"), edit, "select");
}

void Canvas::grow_selection(int right, int down) {
    const auto shown = workspace_.shown();
    const auto texel = workspace_.pointed();
    if (!shown || !texel) return;
    const Extent extent = shown->extent(texel->subresource);
    const auto grown = [](std::size_t from, std::size_t size, int by, std::size_t texels) {
        const auto maximum = static_cast<std::ptrdiff_t>(texels - from);
        return static_cast<std::size_t>(std::clamp(static_cast<std::ptrdiff_t>(size) + by, std::ptrdiff_t{1}, maximum));
    };
    const auto edit = [&](Session& session) {
        const std::size_t x = std::min(static_cast<std::size_t>(std::max(0.0, texel->at.x)), extent.width - 1);
        const std::size_t y = std::min(static_cast<std::size_t>(std::max(0.0, texel->at.y)), extent.height - 1);
        TexelBox box = session.selection.value_or(TexelBox{x, y, 1, 1});
        box.x = std::min(box.x, extent.width - 1);
        box.y = std::min(box.y, extent.height - 1);
        box.width = grown(box.x, box.width, right, extent.width);
        box.height = grown(box.y, box.height, down, extent.height);
        session.selection = box;
    };
    workspace_.change(tr("Select texels"), edit, "select");
}

void Canvas::move_wipe(double share) {
    workspace_.change(
        tr("Move the wipe"), [&](Session& session) { session.compare.wipe = std::clamp(share, 0.0, 1.0); }, "wipe");
}

bool Canvas::is_on_wipe(Position pixel) const {
    const Scene now = scene();
    return now.session.compare.mode == CompareMode::wipe && now.shown && now.against &&
           std::abs(pixel.x - wipe_column(now)) <= kWipeGrip * devicePixelRatioF();
}

AnnotationShapes Canvas::annotation_shapes(const Scene& now) const {
    return {now, image_index(now.session), overlay_font(devicePixelRatioF()), devicePixelRatioF()};
}

bool Canvas::is_on_annotation(Position pixel) const {
    const Session& session = workspace_.session();
    if (side_ != CanvasSide::shown || !session.overlays.annotations || session.annotations.empty()) return false;
    const Scene now = scene();
    return annotation_shapes(now).at(pixel).has_value();
}

// --- mouse and keys --------------------------------------------------------------------------------------------------

void Canvas::wheelEvent(QWheelEvent* event) {
    event->accept();
    const int turned = event->angleDelta().y();
    if (event->modifiers() & Qt::ControlModifier) {
        wheel_ += turned;
        const int notches = wheel_ / kNotch;
        wheel_ -= notches * kNotch;
        if (notches != 0) step(-notches);
        return;
    }
    if (!workspace_.shown()) return;
    const QSize size = pixels();
    const double factor = std::exp2(turned / (2.0 * kNotch));  // one notch is a factor of sqrt(2)
    set_view(zoomed(workspace_.session().view, factor, pixel_at(event->position()), size.width(), size.height()));
    workspace_.hover(texel_at(scene(), pixel_at(event->position())));
}

void Canvas::mousePressEvent(QMouseEvent* event) {
    const Position pixel = pixel_at(event->position());
    const auto texel = texel_at(scene(), pixel);
    if (event->button() == Qt::RightButton) {
        if (texel) pin(*texel, event->modifiers() & Qt::ControlModifier);
        return;
    }
    if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
    dragged_ = pixel;
    drag_ = Drag::pan;
    if (event->button() == Qt::LeftButton && is_on_wipe(pixel)) {
        drag_ = Drag::wipe;
    } else if (event->button() == Qt::LeftButton && (event->modifiers() & Qt::ShiftModifier)) {
        drag_ = Drag::select;
        selected_from_ = texel;
        if (!texel) workspace_.change(tr("Clear the selection"), [](Session& session) { session.selection.reset(); });
    } else if (event->button() == Qt::LeftButton && side_ == CanvasSide::shown) {
        const Scene now = scene();
        if (workspace_.annotation_tool().press(annotation_shapes(now), pixel, devicePixelRatioF()))
            drag_ = Drag::annotate;
    }
    show_cursor(pixel);
}

void Canvas::mouseMoveEvent(QMouseEvent* event) {
    const Position pixel = pixel_at(event->position());
    const auto texel = texel_at(scene(), pixel);
    switch (drag_) {
        case Drag::none: break;
        case Drag::pan: pan({pixel.x - dragged_.x, pixel.y - dragged_.y}); break;
        case Drag::wipe: move_wipe(pixel.x / std::max(1, pixels().width())); break;
        case Drag::select:
            if (selected_from_ && texel) select(*selected_from_, *texel);
            break;
        case Drag::annotate: {
            const Scene now = scene();
            workspace_.annotation_tool().move(annotation_shapes(now), pixel);
            break;
        }
    }
    dragged_ = pixel;
    if (drag_ == Drag::none) show_cursor(pixel);
    workspace_.hover(drag_ == Drag::pan ? texel_at(scene(), pixel) : texel);
}

void Canvas::mouseReleaseEvent(QMouseEvent* event) {
    if (std::exchange(drag_, Drag::none) == Drag::annotate) workspace_.annotation_tool().release();
    show_cursor(pixel_at(event->position()));
}

void Canvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    AnnotationTool& tool = workspace_.annotation_tool();
    const Position pixel = pixel_at(event->position());
    if (is_on_annotation(pixel)) {
        const Scene now = scene();
        tool.edit_text(annotation_shapes(now).at(pixel)->index);
    } else if (!tool.kind()) {
        fit();
    }
}

void Canvas::show_cursor(Position pixel) {
    switch (drag_) {
        case Drag::none:
            if (is_on_wipe(pixel)) return setCursor(Qt::SplitHCursor);
            if (is_on_annotation(pixel)) return setCursor(Qt::PointingHandCursor);
            if (workspace_.annotation_tool().kind() && side_ == CanvasSide::shown) return setCursor(Qt::CrossCursor);
            return unsetCursor();
        case Drag::pan: return setCursor(Qt::ClosedHandCursor);
        case Drag::wipe: return setCursor(Qt::SplitHCursor);
        case Drag::select:
        case Drag::annotate: return setCursor(Qt::CrossCursor);
    }
}

void Canvas::keyPressEvent(QKeyEvent* event) {
    const Qt::KeyboardModifiers modifiers =
        event->modifiers() & (Qt::ShiftModifier | Qt::AltModifier | Qt::ControlModifier);
    int right = 0, down = 0;
    switch (event->key()) {
        case Qt::Key_Left: right = -1; break;
        case Qt::Key_Right: right = 1; break;
        case Qt::Key_Up: down = -1; break;
        case Qt::Key_Down: down = 1; break;
        case Qt::Key_Space: {
            const QSize size = pixels();
            const auto texel = texel_at(scene(), {size.width() / 2.0, size.height() / 2.0});
            if (texel) pin(*texel, modifiers & Qt::ControlModifier);
            return;
        }
        default: return QWidget::keyPressEvent(event);
    }
    const double step = kPanStep * devicePixelRatioF();
    if (modifiers == Qt::AltModifier) {
        pan({-right * step, -down * step});
    } else if (modifiers == (Qt::AltModifier | Qt::ShiftModifier) && right != 0) {
        move_wipe(workspace_.session().compare.wipe + right / 50.0);
    } else if (modifiers == Qt::ShiftModifier) {
        grow_selection(right, down);
    } else {
        QWidget::keyPressEvent(event);
    }
}

void Canvas::leaveEvent(QEvent*) { workspace_.hover({}); }

}  // namespace texton::viewer
