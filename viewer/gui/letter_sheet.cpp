#include "viewer/gui/letter_sheet.h"

#include <QFontMetrics>
#include <QPixmapCache>
#include <cmath>
#include <vector>

namespace texton::viewer {
namespace {

const QString kLetters = "0123456789abcdefxin+-. ";

}  // namespace

LetterSheet::LetterSheet(const QFont& font, const QColor& colour) {
    const QFontMetrics metrics(font);
    cell_ = {metrics.horizontalAdvance('0'), metrics.height()};
    const QString key = QString("texton letters %1 %2").arg(font.key()).arg(colour.rgba());
    if (QPixmapCache::find(key, &letters_)) return;
    letters_ = QPixmap(cell_.width() * static_cast<int>(kLetters.size()), cell_.height());
    letters_.fill(Qt::transparent);
    QPainter painter(&letters_);
    painter.setFont(font);
    painter.setPen(colour);
    for (int i = 0; i < kLetters.size(); ++i)
        painter.drawText(i * cell_.width(), metrics.ascent(), QString(kLetters[i]));
    QPixmapCache::insert(key, letters_);
}

bool LetterSheet::has(const QString& text) {
    for (const QChar letter : text)
        if (!kLetters.contains(letter)) return false;
    return true;
}

void LetterSheet::draw(QPainter& painter, const QRectF& box, const QStringList& lines) const {
    const int top =
        static_cast<int>(std::lround(box.center().y() - static_cast<double>(lines.size() * cell_.height()) / 2));
    std::vector<QPainter::PixmapFragment> fragments;
    for (int row = 0; row < lines.size(); ++row) {
        const QString& line = lines[row];
        const int left =
            static_cast<int>(std::lround(box.center().x() - static_cast<double>(line.size() * cell_.width()) / 2));
        for (int column = 0; column < line.size(); ++column) {
            const auto letter = kLetters.indexOf(line[column]);
            if (letter < 0) continue;
            const QRectF source(static_cast<double>(letter) * cell_.width(), 0, cell_.width(), cell_.height());
            const QPointF middle(left + (column + 0.5) * cell_.width(), top + (row + 0.5) * cell_.height());
            fragments.push_back(QPainter::PixmapFragment::create(middle, source));
        }
    }
    painter.drawPixmapFragments(fragments.data(), static_cast<int>(fragments.size()), letters_);
}

}  // namespace texton::viewer
