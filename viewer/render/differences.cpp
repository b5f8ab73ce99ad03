#include "viewer/render/differences.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <texton/metrics.h>

namespace texton::viewer {
namespace {

Steps steps_of(const FormatInfo& format) {
    if (format.layout == FormatLayout::block)
        return Steps::floats;  // decoded values lie between the code values of the endpoints
    switch (format.kind) {
        case FormatKind::uint:
        case FormatKind::sint:
        case FormatKind::unorm:
        case FormatKind::snorm: return Steps::codes;
        case FormatKind::srgb: return Steps::srgb_codes;
        case FormatKind::floating: return format.bits == 32 ? Steps::floats : Steps::halves;
    }
    return Steps::floats;
}

double largest_code(const FormatInfo& format, std::size_t channel) {
    if (format.kind == FormatKind::uint || format.kind == FormatKind::sint) return 1;  // the value is the code value
    const int bits = channel_bits(format.format, static_cast<int>(channel)).count;
    return std::ldexp(1.0, bits - (format.kind == FormatKind::snorm ? 1 : 0)) - 1;
}

double srgb_code(double light) {
    return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055);
}

// Returns the index of a float in the ordered sequence of all floats. 0 has index 0.
double subresource_among_floats(float value) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
    return value < 0 ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

// Returns the index of a value in the ordered sequence of all half values. It must be a half value.
double subresource_among_halves(float value) {
    const float magnitude = std::abs(value);
    const double subresource =
        magnitude < 0x1p-14f ? static_cast<double>(magnitude) * 0x1p24
                             : static_cast<double>((std::bit_cast<std::uint32_t>(magnitude) - (112u << 23)) >> 13);
    return value < 0 ? -subresource : subresource;
}

}  // namespace

Differences::Differences(CompareMode mode, Format shown, Format against, bool stored)
    : mode_(mode),
      meaning_(meaning_of(shown)),
      shown_unit_(meaning_.unit),
      against_unit_(meaning_of(against).unit),
      channels_(static_cast<std::size_t>(std::min(meaning_.channels, meaning_of(against).channels))) {
    if (stored && shown == against) {
        steps_ = steps_of(info(shown));
        linear_ = info(shown).channels == 2 ? 1 : 3;
        for (std::size_t i = 0; i < 4; ++i) codes_[i] = largest_code(info(shown), i);
    }
    meaning_.kind = mode == CompareMode::ulp          ? ValueKind::steps
                    : mode == CompareMode::difference ? ValueKind::signed_difference
                                                      : ValueKind::difference;
    meaning_.channels = static_cast<int>(channels_);
    meaning_.unit = 1;
    meaning_.light = meaning_.alpha = false;
}

double Differences::step_of(float value, std::size_t channel) const {
    switch (steps_) {
        case Steps::codes: return std::round(static_cast<double>(value) * codes_[channel]);
        case Steps::srgb_codes:
            return std::round(channel == linear_ ? static_cast<double>(value) * 255
                                                 : srgb_code(static_cast<double>(value)));
        case Steps::halves: return subresource_among_halves(value);
        case Steps::floats: return subresource_among_floats(value);
    }
    return 0;
}

float Differences::difference(float shown, float against, std::size_t channel) const {
    if (shown == against || (shown != shown && against != against)) return 0;
    const bool numbers = shown == shown && against == against;
    if (mode_ == CompareMode::ulp) {
        if (!numbers) return static_cast<float>(kFarthest);
        return static_cast<float>(std::abs(step_of(shown, channel) - step_of(against, channel)));
    }
    if (!numbers || std::isinf(shown) || std::isinf(against)) return std::numeric_limits<float>::quiet_NaN();
    const float a = shown / shown_unit_;
    const float b = against / against_unit_;
    switch (mode_) {
        case CompareMode::none:
        case CompareMode::wipe:
        case CompareMode::ulp: return 0;
        case CompareMode::difference: return a - b;
        case CompareMode::absolute: return std::abs(a - b);
        case CompareMode::relative: return std::abs(a - b) / std::max(std::abs(a), std::abs(b));
        case CompareMode::squared: return (a - b) * (a - b);
    }
    return 0;
}

void Differences::apply(std::span<Color> shown, std::span<const Color> against) const {
    for (std::size_t i = 0; i < shown.size(); ++i) {
        Color out{};
        for (std::size_t c = 0; c < channels_; ++c) out[c] = difference(shown[i][c], against[i][c], c);
        if (mode_ == CompareMode::ulp) out.fill(*std::max_element(out.begin(), out.end()));
        shown[i] = out;
    }
}

void DifferingTexels::read(const TexelBox& box, std::span<Color> out) const {
    shown_.read(box, out);
    std::vector<Color> other(out.size());
    against_.read(box, other);
    differences_.apply(out, other);
}

}  // namespace texton::viewer
