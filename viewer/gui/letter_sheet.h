#pragma once
#include <QFont>
#include <QImage>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <QStringList>

namespace texton::viewer {

/// Draws numbers many times faster than QPainter::drawText(). The glyphs are drawn once per font and color and cached
/// in QPixmapCache.
class LetterSheet {
public:
    /// The font must have a fixed pitch and a size in pixels.
    LetterSheet(const QFont& font, const QColor& color);

    /// Whether the sheet has all characters of the text, which are those of decimal and hexadecimal numbers.
    static bool has(const QString& text);
    /// Draws the lines centered in the box, aligned to whole pixels. Characters that the sheet does not have are drawn
    /// as spaces.
    void draw(QPainter& painter, const QRectF& box, const QStringList& lines);

private:
    QSize cell_;
    QImage letters_;
    QImage text_;  // reused buffer for whole texts; it only grows
};

}  // namespace texton::viewer
