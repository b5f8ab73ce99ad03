#include "viewer/display.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <texton/metrics.h>

namespace texton::viewer {
namespace {

// Buckets of values with the same exponent and the same 7 bits of mantissa, from 2^-40 up to 1.
constexpr int kBucketShift = 16;
constexpr std::uint32_t kFirstBucket = (127u - 40) << 7;
constexpr std::uint32_t kBuckets = 40u << 7;

constexpr std::array<float, 3> kLuma{0.2126f, 0.7152f, 0.0722f};  // Rec. ITU-R BT.709

double light_of(double encoded) {
    return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

std::uint32_t packed(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
    return 0xff000000u | red << 16 | green << 8 | blue;
}

std::span<const std::uint32_t> anchors(FalseColour map) {
    static constexpr std::array<std::uint32_t, 9> kViridis{0x440154, 0x472c7a, 0x3b518b, 0x2c718e, 0x21908d,
                                                           0x27ad81, 0x5cc863, 0xaadc32, 0xfde725};
    static constexpr std::array<std::uint32_t, 9> kTurbo{0x30123b, 0x466be3, 0x28bceb, 0x32f298, 0xa4fc3c,
                                                         0xeecf3a, 0xfb7e21, 0xd02f05, 0x7a0403};
    static constexpr std::array<std::uint32_t, 5> kDiverging{0x2a4fb5, 0x8db0ea, 0xe6e6e6, 0xec9a7b, 0xae1c28};
    switch (map) {
        case FalseColour::none: return {};
        case FalseColour::viridis: return kViridis;
        case FalseColour::turbo: return kTurbo;
        case FalseColour::diverging: return kDiverging;
    }
    return {};
}

bool is_finite(float value) { return (std::bit_cast<std::uint32_t>(value) & 0x7f800000u) != 0x7f800000u; }

}  // namespace

Meaning meaning_of(Format format) {
    const FormatInfo& row = info(format);
    const bool integers = row.kind == FormatKind::uint || row.kind == FormatKind::sint;
    Meaning out;
    out.channels = row.channels;
    out.light = row.kind == FormatKind::floating || row.kind == FormatKind::srgb;
    out.alpha = row.channels == 4 && !integers;  // alpha 1 of widened integers is no share of their range
    if (integers) out.unit = std::ldexp(1.0f, row.bits - (row.kind == FormatKind::sint ? 1 : 0)) - 1;
    return out;
}

CodeCurve::CodeCurve(bool light, float gamma) : first_codes_(kBuckets) {
    from_[0] = 0;
    for (int code = 1; code < 256; ++code) {
        const double encoded = std::pow((code - 0.5) / 255, std::clamp(gamma, 0.01f, 100.0f));
        from_[static_cast<std::size_t>(code)] = static_cast<float>(light ? light_of(encoded) : encoded);
    }
    from_[256] = std::numeric_limits<float>::infinity();
    std::uint8_t code = 0;
    for (std::uint32_t i = 0; i < kBuckets; ++i) {
        const auto least = std::bit_cast<float>((kFirstBucket + i) << kBucketShift);
        while (from_[code + 1u] <= least) ++code;
        first_codes_[i] = code;
    }
}

std::uint32_t CodeCurve::code(float value) const {
    if (!(value > 0)) return 0;  // NaN as well
    if (value >= 1) return 255;
    const std::uint32_t bucket = std::bit_cast<std::uint32_t>(value) >> kBucketShift;
    std::uint32_t code = bucket < kFirstBucket ? 0 : first_codes_[bucket - kFirstBucket];
    while (value >= from_[code + 1]) ++code;
    return code;
}

std::vector<std::uint32_t> false_colours(FalseColour map) {
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

Screen::Screen(const Display& display, const Meaning& meaning)
    : display_(display),
      meaning_(meaning),
      curve_(meaning.kind == ValueKind::colour && meaning.light &&
                 display.channels != std::array{false, false, false, true},  // alpha alone is a share, not light
             display.gamma),
      false_colours_(false_colours(display.false_colour)) {
    const auto channels = static_cast<std::size_t>(std::clamp(meaning.channels, 1, 4));
    std::size_t chosen = 0, last = 0;
    for (std::size_t i = 0; i < channels; ++i) {
        shown_[i] = display.channels[i];
        if (shown_[i]) ++chosen, last = i;
    }
    if (channels == 1) shown_[0] = true, chosen = 1, last = 0;  // nothing else could be shown
    blends_ = meaning.alpha && meaning.kind == ValueKind::colour && shown_[3] && chosen > 1;
    if (chosen > 1) shown_[3] = false;  // it covers, or is not seen
    grey_ = chosen == 1 || display.luminance || !false_colours_.empty();
    if (chosen == 1 && !(display.luminance && channels > 1)) {
        weights_[last] = 1;
    } else if (grey_) {
        std::copy(kLuma.begin(), kLuma.begin() + static_cast<long>(std::min<std::size_t>(channels, 3)),
                  weights_.begin());
        for (std::size_t i = 0; i < 4; ++i) shown_[i] = weights_[i] != 0;
    }
    const float range = display.high - display.low;
    scale_ = std::exp2(display.exposure) / (range == 0 ? std::numeric_limits<float>::min() : range);
    if (meaning.kind == ValueKind::signed_difference) scale_ /= 2, offset_ = 0.5f;
}

std::uint32_t Screen::pixel(const Colour& value, int x, int y) const {
    const bool is_colour = meaning_.kind == ValueKind::colour;
    bool below = false, above = false;
    Colour t{};
    for (std::size_t i = 0; i < 4; ++i) {
        if (!shown_[i]) continue;
        if (display_.mark_nan && !is_finite(value[i])) return value[i] != value[i] ? kNanMark : kInfinityMark;
        const float unit = i == 3 && meaning_.alpha ? 1 : meaning_.unit;
        const float v = value[i] / unit - (is_colour ? display_.low : 0);
        t[i] = v * scale_ + offset_;
        below = below || v < 0;
        above = above || v > display_.high - display_.low;
    }
    if (display_.mark_range && is_colour) {
        if (above) return kAboveMark;
        if (below) return kBelowMark;
    }
    std::array<std::uint32_t, 3> code{};
    if (grey_) {
        const float level = t[0] * weights_[0] + t[1] * weights_[1] + t[2] * weights_[2] + t[3] * weights_[3];
        if (!false_colours_.empty()) {
            const std::uint32_t mapped =
                false_colours_[level > 0 ? static_cast<std::size_t>(std::min(level, 1.0f) * 255 + 0.5f) : 0];
            code = {mapped >> 16 & 255, mapped >> 8 & 255, mapped & 255};
        } else {
            code.fill(curve_.code(level));
        }
    } else {
        for (std::size_t i = 0; i < 3; ++i) code[i] = shown_[i] ? curve_.code(t[i]) : 0;
    }
    if (blends_ && value[3] < 1) {
        const float alpha = value[3] > 0 ? value[3] : 0;
        const float board = ((x >> 3) + (y >> 3)) % 2 == 0 ? 61 : 82;
        for (std::uint32_t& c : code)
            c = static_cast<std::uint32_t>(static_cast<float>(c) * alpha + board * (1 - alpha) + 0.5f);
    }
    return packed(code[0], code[1], code[2]);
}

void Screen::show(std::span<const Colour> values, int x, int y, std::span<std::uint32_t> pixels) const {
    if (meaning_.kind != ValueKind::steps) {
        for (std::size_t i = 0; i < values.size(); ++i) pixels[i] = pixel(values[i], x + static_cast<int>(i), y);
        return;
    }
    std::vector<std::uint32_t> distances(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float steps = values[i][0];
        distances[i] = steps < 4294967040.0f ? static_cast<std::uint32_t>(steps) : kFarthest;  // NaN as well
    }
    const std::vector<std::byte> map = ulp_map(distances);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto byte = [&](std::size_t c) { return std::to_integer<std::uint32_t>(map[4 * i + c]); };
        pixels[i] = packed(byte(0), byte(1), byte(2));
    }
}

}  // namespace texton::viewer
