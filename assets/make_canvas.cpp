// Canvas: colors and labels.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "assets/make.h"

namespace assets {
namespace {

constexpr int kGlyphWidth = 5, kGlyphHeight = 7;

// Rows from the top with five bits each. The highest bit is on the left.
struct Glyph {
    char character;
    std::array<std::uint8_t, kGlyphHeight> rows;
};
constexpr Glyph kGlyphs[] = {{'0', {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110}},
                             {'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
                             {'2', {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111}},
                             {'3', {0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110}},
                             {'4', {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010}},
                             {'5', {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110}},
                             {'6', {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110}},
                             {'7', {0b11111, 0b00001, 0b00010, 0b00100, 0b00100, 0b01000, 0b01000}},
                             {'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110}},
                             {'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100}},
                             {'+', {0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000}},
                             {'-', {0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000}},
                             {'X', {0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001}},
                             {'Y', {0b10001, 0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b00100}},
                             {'Z', {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b11111}}};

const Glyph& glyph_of(char character) {
    const auto* found = std::find_if(std::begin(kGlyphs), std::end(kGlyphs),
                                     [&](const Glyph& glyph) { return glyph.character == character; });
    if (found == std::end(kGlyphs)) throw std::invalid_argument(std::string("no glyph for ") + character);
    return *found;
}

}  // namespace

Rgb hue(float turns) {
    Rgb out{};
    for (std::size_t i = 0; i < 3; ++i) {
        out[i] = 0.5f + 0.5f * std::cos(2 * std::numbers::pi_v<float> * (turns - static_cast<float>(i) / 3));
    }
    return out;
}

void label(Canvas& canvas, std::string_view text, Rgb color) {
    const int wide = static_cast<int>(text.size()) * (kGlyphWidth + 1) - 1;
    const int scale = std::min(canvas.width / (wide + 2), canvas.height / (kGlyphHeight + 2));
    const int left = (canvas.width - wide * scale) / 2, top = (canvas.height - kGlyphHeight * scale) / 2;
    for (int y = 0; y < kGlyphHeight * scale; ++y) {
        for (int x = 0; x < wide * scale; ++x) {
            const int column = x / scale % (kGlyphWidth + 1);
            const Glyph& glyph = glyph_of(text[static_cast<std::size_t>(x / scale / (kGlyphWidth + 1))]);
            const bool ink = column < kGlyphWidth &&
                             (glyph.rows[static_cast<std::size_t>(y / scale)] >> (kGlyphWidth - 1 - column) & 1) != 0;
            if (ink) canvas.at(left + x, top + y) = color;
        }
    }
}

std::uint8_t byte_of(float value) {
    return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255));
}

std::vector<std::uint8_t> rgba8(const Canvas& canvas) {
    std::vector<std::uint8_t> out;
    for (const Rgb& texel : canvas.texels) {
        for (const float channel : texel) out.push_back(byte_of(channel));
        out.push_back(255);
    }
    return out;
}

}  // namespace assets
