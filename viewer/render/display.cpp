#include "viewer/render/display.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <texton/error.h>
#include <texton/metrics.h>

#include "viewer/render/color_tables.h"
#include "viewer/render/color_transform.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr std::array<float, 3> kLuma{0.2126f, 0.7152f, 0.0722f};  // Rec. ITU-R BT.709

double light_of(double encoded) {
    return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

std::uint32_t packed(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
    return 0xff000000u | red << 16 | green << 8 | blue;
}

std::span<const std::uint32_t> anchors(FalseColor map) {
    static constexpr std::array<std::uint32_t, 9> kViridis{0x440154, 0x472c7a, 0x3b518b, 0x2c718e, 0x21908d,
                                                           0x27ad81, 0x5cc863, 0xaadc32, 0xfde725};
    static constexpr std::array<std::uint32_t, 9> kTurbo{0x30123b, 0x466be3, 0x28bceb, 0x32f298, 0xa4fc3c,
                                                         0xeecf3a, 0xfb7e21, 0xd02f05, 0x7a0403};
    static constexpr std::array<std::uint32_t, 5> kDiverging{0x2a4fb5, 0x8db0ea, 0xe6e6e6, 0xec9a7b, 0xae1c28};
    switch (map) {
        case FalseColor::none: return {};
        case FalseColor::viridis: return kViridis;
        case FalseColor::turbo: return kTurbo;
        case FalseColor::diverging: return kDiverging;
    }
    return {};
}

float compressed(ToneCurve curve, float x) {
    switch (curve) {
        case ToneCurve::none: return x;
        case ToneCurve::reinhard: return x / (1 + x);
        case ToneCurve::filmic: return x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
    }
    return x;
}

constexpr std::uint32_t kExponent = 0x7f800000;  // exponent bits, all set in infinities and NaN

}  // namespace

std::string color_problem(const ColorConversion& color, const FileColors& colors) {
    try {
        if (!color.input.empty()) {
            (void)color_transform(color, colors);
        } else if (!color.config.empty()) {
            (void)color_names(color);
        }
    } catch (const Error& error) {
        return error_text(error);
    }
    return {};
}

Meaning meaning_of(Format format) {
    const FormatInfo& row = info(format);
    const bool integers = row.kind == FormatKind::uint || row.kind == FormatKind::sint;
    Meaning out;
    out.channels = row.channels;
    out.light = row.kind == FormatKind::floating || row.kind == FormatKind::srgb;
    out.alpha = row.channels == 4 && !integers;  // the added alpha of widened integers is 1, not their maximum
    if (integers) out.unit = std::ldexp(1.0f, row.bits - (row.kind == FormatKind::sint ? 1 : 0)) - 1;
    return out;
}

std::shared_ptr<const ColorTransform> shown_transform(const Display& display, const Meaning& meaning,
                                                      const FileColors& colors) {
    const auto& shown = display.channels;
    const bool is_color = meaning.kind == ValueKind::color && meaning.channels >= 3 && !display.luminance &&
                          display.false_color == FalseColor::none && shown[0] + shown[1] + shown[2] > 1;
    if (!is_color) return nullptr;
    try {
        return color_transform(display.color, colors);
    } catch (const Error&) {
        return nullptr;
    }
}

CodeCurve::CodeCurve(bool light, float gamma) : first_codes_(kBuckets) {
    constexpr float kMin =
        std::numeric_limits<float>::denorm_min();  // code 0 is reserved for the value 0, even on a steep curve
    from_[0] = 0;
    std::uint32_t bucket = 0;
    for (std::uint32_t code = 1; code < 256; ++code) {
        const double encoded = std::pow((code - 0.5) / 255, std::clamp(gamma, 0.01f, 100.0f));
        from_[code] = std::max(static_cast<float>(light ? light_of(encoded) : encoded), kMin);
        // The first bucket whose values all have at least this code value.
        const std::uint32_t next =
            (std::bit_cast<std::uint32_t>(from_[code]) + (1u << kBucketShift) - 1) >> kBucketShift;
        is_steep_ = is_steep_ || (next == bucket);
        std::fill(first_codes_.begin() + bucket, first_codes_.begin() + next, static_cast<std::uint8_t>(code - 1));
        bucket = next;
    }
    std::fill(first_codes_.begin() + bucket, first_codes_.end(), std::uint8_t{255});
    from_[256] = std::numeric_limits<float>::infinity();
}

std::vector<std::uint32_t> false_colors(FalseColor map) {
    const std::span<const std::uint32_t> points = anchors(map);
    if (points.empty()) return {};
    std::vector<std::uint32_t> out(256);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const float at = static_cast<float>(i) / 255 * static_cast<float>(points.size() - 1);
        const std::size_t left = std::min(static_cast<std::size_t>(at), points.size() - 2);
        const float share = at - static_cast<float>(left);
        std::uint32_t pixel = 0xff;
        for (int shift = 16; shift >= 0; shift -= 8) {
            const auto a = static_cast<float>(points[left] >> shift & 255);
            const auto b = static_cast<float>(points[left + 1] >> shift & 255);
            pixel = pixel << 8 | static_cast<std::uint32_t>(std::lround(a + (b - a) * share));
        }
        out[i] = pixel;
    }
    return out;
}

Screen::Screen(const Display& display, const Meaning& meaning, const FileColors& colors, const TableUse* tables)
    : display_(display),
      color_(shown_transform(display, meaning, colors)),
      tables_(tables != nullptr && color_ ? tables->cache.tables(tables->device, color_) : nullptr),
      curve_(tables_ ||
                 (meaning.kind == ValueKind::color && meaning.light && !color_ &&
                  display.channels != std::array{false, false, false, true}),  // alpha alone is a fraction, not light
             display.gamma),
      steps_(meaning.kind == ValueKind::steps),
      false_colors_(false_colors(display.false_color)) {
    const auto channels = static_cast<std::size_t>(std::clamp(meaning.channels, 1, 4));
    std::array<bool, 4> shown{};
    std::size_t chosen = 0, last = 0;
    for (std::size_t i = 0; i < channels; ++i) {
        shown[i] = display.channels[i];
        if (shown[i]) ++chosen, last = i;
    }
    if (channels == 1) shown[0] = true, chosen = 1, last = 0;  // a single channel is always shown
    blends_ = meaning.alpha && meaning.kind == ValueKind::color && shown[3] && chosen > 1;
    if (chosen > 1) shown[3] = false;  // alpha is the opacity or is not shown
    gray_ = chosen == 1 || display.luminance || !false_colors_.empty();
    if (chosen == 1 && !(display.luminance && channels > 1)) {
        weights_[last] = 1;
    } else if (gray_) {
        std::copy(kLuma.begin(), kLuma.begin() + static_cast<long>(std::min<std::size_t>(channels, 3)),
                  weights_.begin());
        for (std::size_t i = 0; i < 4; ++i) shown[i] = weights_[i] != 0;
    }
    for (std::size_t i = 0; i < 4; ++i) {
        if (shown[i]) shown_[i] = ~0u;
        if (shown[i] && display.mark_nan) marked_[i] = kExponent;
    }
    units_.fill(meaning.unit);
    if (meaning.alpha) units_[3] = 1;
    const bool is_color = meaning.kind == ValueKind::color;
    marks_range_ = (display.mark_range || display.zebra) && is_color;
    if (is_color && false_colors_.empty()) tone_curve_ = display.tone_curve;
    if (is_color) low_ = display.low;
    const float range = display.high - display.low;
    scale_ = std::exp2(display.exposure) / (range == 0 ? std::numeric_limits<float>::min() : range);
    if (meaning.kind == ValueKind::signed_difference) scale_ /= 2, offset_ = 0.5f;
}

// Computes the values of the channels before the color conversion. If gray is shown, only the first channel is set.
// Returns true if there may be values to mark. The loops contain no branches per value, so that compilers can vectorize
// them.
bool Screen::scale(std::span<const Color> values, std::span<Color> levels) const {
    std::uint32_t is_marked = marks_range_ ? 1 : 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t c = 0; c < 4; ++c) {
            const float level = (values[i][c] / units_[c] - low_) * scale_ + offset_;
            levels[i][c] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(level) & shown_[c]);
            is_marked |= (std::bit_cast<std::uint32_t>(values[i][c]) & marked_[c]) == kExponent ? 1 : 0;
        }
    }
    if (gray_) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Color& t = levels[i];
            levels[i][0] = t[0] * weights_[0] + t[1] * weights_[1] + t[2] * weights_[2] + t[3] * weights_[3];
        }
    }
    // x / x of an infinite x is NaN, so that large values are limited before the curve.
    for (std::size_t i = 0; tone_curve_ != ToneCurve::none && i < values.size(); ++i)
        for (float& level : levels[i]) level = level > 0 ? compressed(tone_curve_, std::min(level, 1e9f)) : 0;
    return is_marked != 0;
}

inline std::uint32_t Screen::pixel(const Color& level) const {
    if (!gray_) return packed(curve_.code(level[0]), curve_.code(level[1]), curve_.code(level[2]));
    if (!false_colors_.empty()) return 0xff000000u | false_colors_[static_cast<std::size_t>(level[0] * 255 + 0.5f)];
    const std::uint32_t code = curve_.code(level[0]);
    return packed(code, code, code);
}

// Returns the marker color of a value at (x, y), or 0 if it has none. Stripes of values above the range rise to the
// right, those of values below it fall.
std::uint32_t Screen::mark(const Color& value, int x, int y) const {
    bool below = false, above = false;
    for (std::size_t i = 0; i < 4; ++i) {
        if (!shown_[i]) continue;
        if ((std::bit_cast<std::uint32_t>(value[i]) & marked_[i]) == kExponent)
            return value[i] != value[i] ? kNanMark : kInfinityMark;
        const float v = value[i] / units_[i] - low_;
        below = below || v < 0;
        above = above || v > display_.high - display_.low;
    }
    if (!marks_range_) return 0;
    if (!display_.mark_range && ((above ? x + y : x - y) & 7) >= 4) return 0;
    return above ? kAboveMark : below ? kBelowMark : 0;
}

// Shows the levels of a row after the color conversion.
void Screen::show_levels(std::span<const Color> values, std::span<Color> levels, bool marks, int x, int y,
                         std::span<std::uint32_t> pixels) const {
    for (Color& color : levels) {
        for (float& level : color) {
            level = level > 0 ? level : 0;  // also replaces NaN
            level = level < 1 ? level : 1;
        }
    }
    for (std::size_t i = 0; i < values.size(); ++i) pixels[i] = pixel(levels[i]);
    for (std::size_t i = 0; blends_ && i < values.size(); ++i) {
        if (!(values[i][3] < 1)) continue;
        const float alpha = values[i][3] > 0 ? values[i][3] : 0;
        const float board = (((x + static_cast<int>(i)) >> 3) + (y >> 3)) % 2 == 0 ? 61 : 82;
        const auto blended = [&](int shift) {
            const auto code = static_cast<float>(pixels[i] >> shift & 255);
            return static_cast<std::uint32_t>(code * alpha + board * (1 - alpha) + 0.5f);
        };
        pixels[i] = packed(blended(16), blended(8), blended(0));
    }
    for (std::size_t i = 0; marks && i < values.size(); ++i) {
        if (const std::uint32_t marked = mark(values[i], x + static_cast<int>(i), y)) pixels[i] = marked;
    }
}

void Screen::show_row(std::span<const Color> values, int x, int y, std::span<std::uint32_t> pixels) const {
    std::array<Color, kAtOnce> levels;
    for (std::size_t i = 0; i < values.size(); i += kAtOnce) {
        const std::size_t count = std::min(kAtOnce, values.size() - i);
        const std::span<const Color> some = values.subspan(i, count);
        const std::span<Color> their_levels = std::span(levels).first(count);
        const bool marks = scale(some, their_levels);
        if (color_) color_->apply(their_levels);
        show_levels(some, their_levels, marks, x + static_cast<int>(i), y, pixels.subspan(i, count));
    }
}

void Screen::show_steps(std::span<const Color> values, std::span<std::uint32_t> pixels) const {
    std::vector<std::uint32_t> distances(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float steps = values[i][0];
        distances[i] = steps < 4294967040.0f ? static_cast<std::uint32_t>(steps) : kFarthest;  // also for NaN
    }
    const std::vector<std::byte> map = ulp_map(distances);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto byte = [&](std::size_t c) { return std::to_integer<std::uint32_t>(map[4 * i + c]); };
        pixels[i] = packed(byte(0), byte(1), byte(2));
    }
}

void Screen::show_rows(std::span<const Color> values, std::size_t width, int x, int y,
                       std::span<std::uint32_t> pixels) const {
    if (steps_) return show_steps(values, pixels);
    std::vector<Color> levels(tables_ ? values.size() : 0);
    const bool marks = tables_ && scale(values, levels);
    if (tables_) tables_->apply(levels);
    for (std::size_t first = 0; first < values.size(); first += width, ++y) {
        if (tables_) {
            show_levels(values.subspan(first, width), std::span(levels).subspan(first, width), marks, x, y,
                        pixels.subspan(first, width));
        } else {
            show_row(values.subspan(first, width), x, y, pixels.subspan(first, width));
        }
    }
}

}  // namespace texton::viewer
