#pragma once
// From values of texels to pixels of a screen.
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <texton/format.h>

#include "viewer/model/session.h"

namespace texton::viewer {

using Colour = std::array<float, 4>;

constexpr std::uint32_t kBackground = 0xff1c1d20;  ///< around the picture

constexpr std::uint32_t kNanMark = 0xffff00ff;
constexpr std::uint32_t kInfinityMark = 0xffff8c00;
constexpr std::uint32_t kBelowMark = 0xff2f6bff;
constexpr std::uint32_t kAboveMark = 0xffff3b30;

enum class ValueKind : std::uint8_t {
    colour,
    difference,         ///< 0 is black; low and high of the display only say how far apart they are
    signed_difference,  ///< the same, but 0 is grey
    steps               ///< ulp distances, in the colours of ulp_map() whatever the display says
};

/// How the values of a picture are taken.
struct Meaning {
    ValueKind kind = ValueKind::colour;
    int channels = 4;
    float unit = 1;      ///< the value that Display's 1 stands for: the largest of an integer
    bool light = false;  ///< linear, so that the screen's curve is due
    bool alpha = false;  ///< the fourth channel covers
    bool operator==(const Meaning&) const = default;
};
[[nodiscard]] Meaning meaning_of(Format format);

/// A curve from 0 to 1 as codes of 8 bits: the nearest, to the bit, without a power for each value.
class CodeCurve {
public:
    /// The screen's curve (sRGB) where `light`, then the power 1 / gamma.
    CodeCurve(bool light, float gamma);

    /// Of a value from 0 to 1.
    std::uint32_t code(float value) const {
        std::uint32_t code = first_codes_[std::bit_cast<std::uint32_t>(value) >> kBucketShift];
        code += value >= from_[code + 1] ? 1 : 0;
        while (is_steep_ && value >= from_[code + 1]) ++code;
        return code;
    }

private:
    // Buckets of values with the same exponent and the same 7 bits of mantissa; the last is of 1 alone.
    static constexpr int kBucketShift = 16;
    static constexpr std::uint32_t kBuckets = (127u << 7) + 1;

    std::array<float, 257> from_;            // the least value of each code
    std::vector<std::uint8_t> first_codes_;  // by bucket
    bool is_steep_ = false;                  // two codes begin within one bucket
};

/// A display's choices, made ready for many values.
class Screen {
public:
    Screen(const Display& display, const Meaning& meaning);

    /// Pixels 0xffRRGGBB of a row that begins at (x, y), which say where the board under transparent texels is light and dark.
    void show(std::span<const Colour> values, int x, int y, std::span<std::uint32_t> pixels) const;

private:
    static constexpr std::size_t kAtOnce = 256;
    using Levels = std::array<Colour, kAtOnce>;

    void show_some(std::span<const Colour> values, int x, int y, std::span<std::uint32_t> pixels) const;
    bool scale(std::span<const Colour> values, Levels& levels) const;
    std::uint32_t pixel(const Colour& level) const;
    std::uint32_t mark(const Colour& value) const;

    Display display_;
    CodeCurve curve_;
    std::array<float, 4> weights_{};  // of the grey value, where it is one
    std::array<float, 4> units_{};
    std::array<std::uint32_t, 4> shown_{};   // all bits of channels that count
    std::array<std::uint32_t, 4> marked_{};  // and the exponent's of those in which infinity and NaN are marked
    bool steps_ = false;
    bool grey_ = false;
    bool blends_ = false;
    bool marks_range_ = false;
    float low_ = 0;
    float scale_ = 1;
    float offset_ = 0;
    std::vector<std::uint32_t> false_colours_;
};

/// 256 pixels from 0 to 1; empty for none.
[[nodiscard]] std::vector<std::uint32_t> false_colours(FalseColour map);

}  // namespace texton::viewer
