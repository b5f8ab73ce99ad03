// Copies the glyphs of a text side by side into an image, pixel row by pixel row, and draws this image with one call. A
// painter call per glyph takes many times as long.
#include "viewer/gui/letter_sheet.h"

#include <QFontMetrics>
#include <QPixmapCache>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

namespace texton::viewer {
namespace {

constexpr std::string_view kLetters = "0123456789abcdefxin+-. ";

// Index of each character in the sheet; -1: not in the sheet.
constexpr std::array<std::int8_t, 128> kPlaces = [] {
    std::array<std::int8_t, 128> out{};
    out.fill(-1);
    for (std::size_t i = 0; i < kLetters.size(); ++i)
        out[static_cast<std::size_t>(kLetters[i])] = static_cast<std::int8_t>(i);
    return out;
}();

int subresource_of(QChar letter) { return letter.unicode() < kPlaces.size() ? kPlaces[letter.unicode()] : -1; }

}  // namespace

LetterSheet::LetterSheet(const QFont& font, const QColor& color) {
    const QFontMetrics metrics(font);
    cell_ = {metrics.horizontalAdvance('0'), metrics.height()};
    const QString key = QString("texton letters %1 %2").arg(font.key()).arg(color.rgba());
    QPixmap known;
    if (QPixmapCache::find(key, &known)) {
        letters_ = known.toImage();
        return;
    }
    letters_ =
        QImage(cell_.width() * static_cast<int>(kLetters.size()), cell_.height(), QImage::Format_ARGB32_Premultiplied);
    letters_.fill(Qt::transparent);
    QPainter painter(&letters_);
    painter.setFont(font);
    painter.setPen(color);
    for (std::size_t i = 0; i < kLetters.size(); ++i)
        painter.drawText(static_cast<int>(i) * cell_.width(), metrics.ascent(), QString(QChar(kLetters[i])));
    painter.end();
    QPixmapCache::insert(key, QPixmap::fromImage(letters_));
}

bool LetterSheet::has(const QString& text) {
    return std::ranges::all_of(text, [](QChar letter) { return subresource_of(letter) >= 0; });
}

void LetterSheet::draw(QPainter& painter, const QRectF& box, const QStringList& lines) {
    qsizetype letters = 0;
    for (const QString& line : lines) letters = std::max(letters, line.size());
    // Each line is centered on its own and may begin at half a glyph. One more glyph leaves room for that.
    const QSize size(static_cast<int>(letters + 1) * cell_.width(), static_cast<int>(lines.size()) * cell_.height());
    if (text_.width() < size.width() || text_.height() < size.height())
        text_ = QImage(size.expandedTo(text_.size()), QImage::Format_ARGB32_Premultiplied);
    const auto begin_of = [&](qsizetype wide) {
        return static_cast<int>(std::lround(box.center().x() - static_cast<double>(wide * cell_.width()) / 2));
    };
    const int left = begin_of(letters);
    const int top = static_cast<int>(std::lround(box.center().y() - size.height() / 2.0));
    const auto cell_bytes = static_cast<std::size_t>(cell_.width()) * 4;
    for (int row = 0; row < lines.size(); ++row) {
        for (int y = 0; y < cell_.height(); ++y) {
            const uchar* const from = letters_.constScanLine(y);
            uchar* to = text_.scanLine(row * cell_.height() + y);
            std::memset(to, 0, static_cast<std::size_t>(size.width()) * 4);
            to += static_cast<std::size_t>(begin_of(lines[row].size()) - left) * 4;
            for (const QChar letter : lines[row]) {
                const int subresource = subresource_of(letter);
                if (subresource >= 0)
                    std::memcpy(to, from + static_cast<std::size_t>(subresource) * cell_bytes, cell_bytes);
                to += cell_bytes;
            }
        }
    }
    painter.drawImage(QPoint(left, top), text_, QRect(QPoint(0, 0), size));
}

}  // namespace texton::viewer
