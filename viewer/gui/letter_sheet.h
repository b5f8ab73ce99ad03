#pragma once
#include <QFont>
#include <QPainter>
#include <QPixmap>
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
    void draw(QPainter& painter, const QRectF& box, const QStringList& lines) const;

private:
    QSize cell_;
    QPixmap letters_;
};

}  // namespace texton::viewer
