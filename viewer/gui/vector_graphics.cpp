// The commands have the meaning of NanoVG's functions, which tev calls with them: y points down, and angles grow
// clockwise on the screen.
#include "viewer/gui/vector_graphics.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace texton::viewer {
namespace {

using tev::Command;
using tev::Verb;

constexpr double kTurn = 2 * std::numbers::pi;
constexpr int kClockwise = 2;  // of windings; such a part of a path is a hole
constexpr double kTextPixels = 16;

enum Align { kLeft = 1, kCenter = 2, kRight = 4, kTop = 8, kMiddle = 16, kBottom = 32 };

struct State {
    QColor fill = Qt::white;
    QColor stroke = Qt::white;
    double width = 1;  // in units of the painter
    double text_size = kTextPixels;
    int align = kLeft;
    QString font;
};

QColor color_of(const Command& command) {
    const auto channel = [&](std::size_t i) { return std::clamp(command.numbers[i], 0.f, 1.f); };
    return QColor::fromRgbF(channel(0), channel(1), channel(2), channel(3));
}

class Drawing {
public:
    Drawing(QPainter& painter, double pixel) : painter_(painter), pixel_(pixel) {
        state_.width = pixel;
        state_.text_size = kTextPixels * pixel;
    }

    void run(const Command& command) {
        const auto n = [&](std::size_t i) { return static_cast<double>(command.numbers[i]); };
        // 1: in screen pixels; 0: in texels
        const auto size = [&] { return std::max(n(0), 0.0) * (n(1) == 1 ? pixel_ : 1); };
        switch (command.verb) {
            case Verb::save: states_.push_back(state_); return;
            case Verb::restore:
                if (states_.empty()) return;
                state_ = states_.back();
                states_.pop_back();
                return;
            case Verb::fill_color: state_.fill = color_of(command); return;
            case Verb::stroke_color: state_.stroke = color_of(command); return;
            case Verb::stroke_width: state_.width = size(); return;
            case Verb::fill: return fill();
            case Verb::stroke: return stroke();
            case Verb::begin_path: parts_.clear(); return;
            case Verb::close_path: part().closeSubpath(); return;
            case Verb::path_winding:
                if (!parts_.empty()) parts_.back().is_hole = n(0) == kClockwise;
                return;
            case Verb::dump_path: return;
            case Verb::move_to: begin({n(0), n(1)}); return;
            case Verb::line_to: part().lineTo(n(0), n(1)); return;
            case Verb::quad_to: part().quadTo(n(0), n(1), n(2), n(3)); return;
            case Verb::bezier_to: part().cubicTo(n(0), n(1), n(2), n(3), n(4), n(5)); return;
            case Verb::arc_to: return arc_to({n(0), n(1)}, {n(2), n(3)}, n(4));
            case Verb::arc: return arc({n(0), n(1)}, n(2), n(3), n(4), n(5) == kClockwise);
            case Verb::circle: add().addEllipse(QPointF(n(0), n(1)), n(2), n(2)); return;
            case Verb::ellipse: add().addEllipse(QPointF(n(0), n(1)), n(2), n(3)); return;
            case Verb::rect: add().addRect(n(0), n(1), n(2), n(3)); return;
            case Verb::rounded_rect: return rounded({n(0), n(1), n(2), n(3)}, n(4), n(4), n(4), n(4));
            case Verb::rounded_rect_varying: return rounded({n(0), n(1), n(2), n(3)}, n(4), n(5), n(6), n(7));
            case Verb::text: return text({n(0), n(1)}, QString::fromStdString(command.text));
            case Verb::text_align: state_.align = static_cast<int>(std::clamp(n(0), 0.0, 127.0)); return;
            case Verb::font_face: state_.font = QString::fromStdString(command.text); return;
            case Verb::font_size: state_.text_size = size(); return;
        }
    }

private:
    struct Part {
        QPainterPath path;
        bool is_hole = false;
    };

    QPainterPath& add() { return parts_.emplace_back().path; }
    void begin(QPointF at) { add().moveTo(at); }
    QPainterPath& part() { return parts_.empty() ? add() : parts_.back().path; }

    void fill() {
        QPainterPath solid, holes;
        solid.setFillRule(Qt::WindingFill);
        for (const Part& each : parts_) (each.is_hole ? holes : solid).addPath(each.path);
        painter_.fillPath(holes.isEmpty() ? solid : solid.subtracted(holes), state_.fill);
    }
    void stroke() {
        if (state_.width <= 0) return;
        const QPen pen(state_.stroke, state_.width, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin);
        for (const Part& each : parts_) painter_.strokePath(each.path, pen);
    }
    // Joins the arc to the last point, as NanoVG does.
    void arc(QPointF center, double radius, double from, double to, bool clockwise) {
        double sweep = to - from;
        if (std::abs(sweep) >= kTurn) {
            sweep = clockwise ? kTurn : -kTurn;
        } else if (clockwise && sweep < 0) {
            sweep += kTurn;
        } else if (!clockwise && sweep > 0) {
            sweep -= kTurn;
        }
        const auto degrees = [](double angle) { return -angle * 360 / kTurn; };  // Qt's grow counterclockwise
        const QRectF box(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius);
        QPainterPath& path = part();
        if (path.isEmpty()) path.arcMoveTo(box, degrees(from));
        path.arcTo(box, degrees(from), degrees(sweep));
    }
    // A line and an arc of the circle that touches the lines from the last point to `corner` and from there to `end`.
    void arc_to(QPointF corner, QPointF end, double radius) {
        QPainterPath& path = part();
        const QPointF before = path.currentPosition() - corner, after = end - corner;
        const double a = std::hypot(before.x(), before.y()), b = std::hypot(after.x(), after.y());
        const double cross = before.x() * after.y() - before.y() * after.x();
        if (a == 0 || b == 0 || radius <= 0 || std::abs(cross) < 1e-9 * a * b) return path.lineTo(corner);
        const double half = std::acos(std::clamp(QPointF::dotProduct(before, after) / (a * b), -1.0, 1.0)) / 2;
        const double along = radius / std::tan(half);
        const QPointF first = corner + before * (along / a), last = corner + after * (along / b);
        const QPointF middle = before / a + after / b;
        const QPointF center = corner + middle * (radius / std::sin(half) / std::hypot(middle.x(), middle.y()));
        const auto angle = [&](QPointF at) { return std::atan2(at.y() - center.y(), at.x() - center.x()); };
        path.lineTo(first);
        arc(center, radius, angle(first), angle(last), cross < 0);
    }
    void rounded(QRectF box, double top_left, double top_right, double bottom_right, double bottom_left) {
        box = box.normalized();
        const double most = std::min(box.width(), box.height()) / 2;
        const auto limited = [&](double radius) { return std::clamp(radius, 0.0, most); };
        QPainterPath& path = add();
        const auto corner = [&](QPointF center, double radius, double from) {
            if (radius == 0) return path.lineTo(center);
            path.arcTo(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius, from, -90);
        };
        const double a = limited(top_left), b = limited(top_right), c = limited(bottom_right), d = limited(bottom_left);
        path.moveTo(box.left(), box.top() + a);
        corner(box.topLeft() + QPointF(a, a), a, 180);
        corner(box.topRight() + QPointF(-b, b), b, 90);
        corner(box.bottomRight() + QPointF(-c, -c), c, 0);
        corner(box.bottomLeft() + QPointF(d, -d), d, 270);
        path.closeSubpath();
    }
    void text(QPointF at, const QString& words) {
        if (state_.text_size <= 0) return;
        constexpr int kPixels = 64;  // fonts have whole sizes, so the painter is scaled
        QFont font = painter_.font();
        if (!state_.font.isEmpty()) font.setFamily(state_.font);
        font.setPixelSize(kPixels);
        const QFontMetricsF metrics(font);
        const double width = metrics.horizontalAdvance(words);
        const double x = (state_.align & kCenter) != 0 ? -width / 2 : (state_.align & kRight) != 0 ? -width : 0;
        const double y = (state_.align & kTop) != 0      ? metrics.ascent()
                         : (state_.align & kMiddle) != 0 ? (metrics.ascent() - metrics.descent()) / 2
                         : (state_.align & kBottom) != 0 ? -metrics.descent()
                                                         : 0;
        painter_.save();
        painter_.translate(at);
        painter_.scale(state_.text_size / kPixels, state_.text_size / kPixels);
        painter_.setFont(font);
        painter_.setPen(state_.fill);
        painter_.drawText(QPointF(x, y), words);
        painter_.restore();
    }

    QPainter& painter_;
    double pixel_;
    State state_;
    std::vector<State> states_;
    std::vector<Part> parts_;
};

}  // namespace

void draw_vector_graphics(QPainter& painter, const std::vector<tev::Command>& commands, double pixel) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    Drawing drawing(painter, pixel);
    for (const Command& command : commands) drawing.run(command);
    painter.restore();
}

}  // namespace texton::viewer
