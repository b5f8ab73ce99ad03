#include "viewer/gui/annotation_tool.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "viewer/gui/workspace.h"

namespace texton::viewer {
namespace {

constexpr double kClick = 3;  // a mouse that moves less, in window pixels, does not drag

// Boxes and rulers measure whole texels.
bool snaps(AnnotationKind kind) { return kind == AnnotationKind::box || kind == AnnotationKind::ruler; }

Position snapped(const Annotation& annotation, Position at) {
    return snaps(annotation.kind) ? Position{std::round(at.x), std::round(at.y)} : at;
}

QString name_of_new(AnnotationKind kind) {
    switch (kind) {
        case AnnotationKind::arrow: return Workspace::tr("Draw an arrow");
        case AnnotationKind::box: return Workspace::tr("Draw a box");
        case AnnotationKind::text: return Workspace::tr("Write text");
        case AnnotationKind::ruler: return Workspace::tr("Draw a ruler");
    }
    return {};
}

}  // namespace

AnnotationTool::AnnotationTool(Workspace& workspace) : QObject(&workspace), workspace_(workspace) {
    connect(&workspace, &Workspace::changed, this, &AnnotationTool::follow);
}

// Ends what refers to an annotation by its index if the list was changed elsewhere, for example by undo.
void AnnotationTool::follow(const Session& before) {
    if (edits_) return;
    const Session& session = workspace_.session();
    const bool has_indices =
        before.annotations.size() == session.annotations.size() && before.images.size() == session.images.size();
    const auto is_valid = [&](std::size_t index) {
        return has_indices && session.annotations[index].image == session.current;
    };
    if (before.annotations != session.annotations || before.current != session.current) drag_.reset();
    const bool ends_edit = edited_ && (edited_->index ? !is_valid(*edited_->index) ||
                                                            session.annotations[*edited_->index] != edited_->annotation
                                                      : edited_->annotation.image != session.current);
    const bool ends_selection = selected_ && !is_valid(*selected_);
    if (ends_edit) edited_.reset();
    if (ends_selection) selected_.reset();
    if (ends_edit || ends_selection) Q_EMIT changed();
}

void AnnotationTool::choose(std::optional<AnnotationKind> kind) {
    if (kind) workspace_.look([](Session& session) { session.overlays.annotations = true; });
    if (kind == kind_) return;
    kind_ = kind;
    drag_.reset();
    Q_EMIT changed();
}

void AnnotationTool::select(std::optional<std::size_t> index) {
    if (index == selected_) return;
    selected_ = index;
    Q_EMIT changed();
}

bool AnnotationTool::has_any() const {
    const Session& session = workspace_.session();
    return std::ranges::find(session.annotations, session.current, &Annotation::image) != session.annotations.end();
}

// Returns the index, or nullopt if the session has too many annotations.
std::optional<std::size_t> AnnotationTool::add(const Annotation& annotation) {
    const std::size_t index = workspace_.session().annotations.size();
    if (index >= kMaxAnnotations) {
        workspace_.tell(tr("There are %1 annotations already, which is the maximum. Remove some first.").arg(index));
        return std::nullopt;
    }
    edits_ = true;
    workspace_.change(name_of_new(annotation.kind),
                      [&](Session& session) { session.annotations.push_back(annotation); });
    edits_ = false;
    select(index);
    return index;
}

// --- mouse -----------------------------------------------------------------------------------------------------------

bool AnnotationTool::press(const AnnotationShapes& shapes, Position pixel, double unit) {
    const Session& session = workspace_.session();
    if (!session.overlays.annotations) return false;
    if (const auto hit = shapes.at(pixel)) {
        select(hit->index);
        const Annotation& annotation = session.annotations[hit->index];
        const auto at = shapes.texel_at(annotation.subresource, pixel);
        if (at) drag_ = Drag{hit->index, annotation, hit->grip, *at, pixel, unit};
        return true;
    }
    select(std::nullopt);
    const auto subresource = kind_ ? shapes.subresource_at(pixel) : std::nullopt;
    if (!subresource) return false;
    Annotation made{.kind = *kind_, .image = session.current, .subresource = *subresource, .color = color_};
    const Position at = shapes.texel_at(*subresource, pixel).value_or(Position{});
    made.from = made.to = snapped(made, at);
    drag_ = Drag{std::nullopt, made, {false, false, true, true}, at, pixel, unit};
    return true;
}

Annotation AnnotationTool::dragged(Position at) const {
    Annotation now = drag_->begin;
    const AnnotationGrip& grip = drag_->grip;
    if (grip.is_whole()) {
        const Position moved = snapped(now, {at.x - drag_->pressed.x, at.y - drag_->pressed.y});
        for (Position* end : {&now.from, &now.to}) {
            end->x += moved.x;
            end->y += moved.y;
        }
        return now;
    }
    const Position end = snapped(now, at);
    if (grip.from_x) now.from.x = end.x;
    if (grip.from_y) now.from.y = end.y;
    if (grip.to_x) now.to.x = end.x;
    if (grip.to_y) now.to.y = end.y;
    return now;
}

// The first move of a drag is a change that can be undone. The following ones belong to it.
void AnnotationTool::move(const AnnotationShapes& shapes, Position pixel) {
    if (!drag_) return;
    const bool is_click = std::hypot(pixel.x - drag_->pixel.x, pixel.y - drag_->pixel.y) < kClick * drag_->unit;
    const auto at = shapes.texel_at(drag_->begin.subresource, pixel);
    if (!at || (is_click && !drag_->moved)) return;
    const Annotation now = dragged(*at);
    if (!drag_->index) {
        if (now.kind == AnnotationKind::text || now.to == now.from) return;
        drag_->index = add(now);
        if (!drag_->index) return drag_.reset();
        drag_->moved = true;
        return;
    }
    const std::size_t index = *drag_->index;
    const auto edit = [&](Session& session) { session.annotations[index] = now; };
    if (workspace_.session().annotations[index] == now) return;
    edits_ = true;
    if (std::exchange(drag_->moved, true)) {
        workspace_.look(edit);
    } else {
        workspace_.change(tr("Move an annotation"), edit);
    }
    edits_ = false;
}

void AnnotationTool::release() {
    if (!drag_) return;
    const Drag ended = *std::exchange(drag_, std::nullopt);
    if (ended.index || ended.begin.kind != AnnotationKind::text) return;
    edited_ = Edit{std::nullopt, ended.begin};
    Q_EMIT changed();
}

// --- text, color, removal --------------------------------------------------------------------------------------------

void AnnotationTool::edit_text(std::size_t index) {
    drag_.reset();
    selected_ = index;
    edited_ = Edit{index, workspace_.session().annotations.at(index)};
    Q_EMIT changed();
}

void AnnotationTool::accept_text(const QString& text) {
    if (!edited_) return;
    Edit ended = *std::exchange(edited_, std::nullopt);
    if (ended.index) {
        set_text(*ended.index, text);
    } else if (!text.trimmed().isEmpty()) {
        ended.annotation.text = text.toStdString();
        add(ended.annotation);
    }
    Q_EMIT changed();
}

void AnnotationTool::cancel_text() {
    if (!edited_) return;
    edited_.reset();
    Q_EMIT changed();
}

void AnnotationTool::set_text(std::size_t index, const QString& text) {
    edits_ = true;
    workspace_.change(
        tr("Text of an annotation"), [&](Session& session) { session.annotations.at(index).text = text.toStdString(); },
        QString("annotation text %1").arg(index));
    edits_ = false;
}

void AnnotationTool::set_color(std::size_t index, AnnotationColor color) {
    color_ = color;
    edits_ = true;
    workspace_.change(tr("Color of an annotation"),
                      [&](Session& session) { session.annotations.at(index).color = color; });
    edits_ = false;
}

void AnnotationTool::remove(std::size_t index) {
    drag_.reset();
    edited_.reset();
    selected_.reset();
    workspace_.change(tr("Remove an annotation"), [&](Session& session) {
        session.annotations.erase(session.annotations.begin() + static_cast<std::ptrdiff_t>(index));
    });
    Q_EMIT changed();
}

void AnnotationTool::remove_all() {
    workspace_.change(tr("Remove all annotations"), [](Session& session) {
        std::erase_if(session.annotations, [&](const Annotation& each) { return each.image == session.current; });
    });
}

}  // namespace texton::viewer
