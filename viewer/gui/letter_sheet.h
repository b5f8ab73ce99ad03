#pragma once
#include <QFont>
#include <QImage>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <QStringList>

namespace texton::viewer {

/// Draws numbers many times faster than drawText(), from letters that were drawn once for each font and colour.
class LetterSheet {
public:
    /// Of a font whose letters are equally wide, with a size in pixels.
    LetterSheet(const QFont& font, const QColor& colour);

    /// Whether all letters are those of numbers, decimal or hexadecimal.
    static bool has(const QString& text);
    /// Lines in the middle of a box, on whole pixels. Letters that the sheet does not have are left out.
    void draw(QPainter& painter, const QRectF& box, const QStringList& lines);

private:
    QSize cell_;
    QImage letters_;
    QImage text_;  // as large as the largest that was drawn
};

}  // namespace texton::viewer
