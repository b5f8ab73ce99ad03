#pragma once
// Conversion of texel values to pixels of the screen.
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <texton/device.h>
#include <texton/format.h>

#include "viewer/model/session.h"
#include "viewer/render/file_colors.h"

namespace texton::viewer {

/// Four channels: red, green, blue, alpha.
using Color = std::array<float, 4>;

constexpr std::uint32_t kBackground = 0xff1c1d20;  ///< color around the image, 0xffRRGGBB

constexpr std::uint32_t kNanMark = 0xffff00ff;       ///< marker color of NaN
constexpr std::uint32_t kInfinityMark = 0xffff8c00;  ///< marker color of infinities
constexpr std::uint32_t kBelowMark = 0xff2f6bff;     ///< marker color of values below the range
constexpr std::uint32_t kAboveMark = 0xffff3b30;     ///< marker color of values above the range

/// Kind of the values to display.
enum class ValueKind : std::uint8_t {
    color,       ///< colors
    difference,  ///< absolute differences: 0 is black; only the difference of Display::high and Display::low matters
    signed_difference,  ///< signed differences: as `difference`, but 0 is gray
    steps               ///< ulp distances in the colors of ulp_map(), which do not depend on Display
};

/// Interpretation of the values of an image.
struct Meaning {
    ValueKind kind = ValueKind::color;  ///< kind of the values
    int channels = 4;                   ///< number of channels
    float unit = 1;      ///< the value that corresponds to 1 in Display: the maximum of an integer format
    bool light = false;  ///< true: values are linear and need the transfer curve of the screen
    bool alpha = false;  ///< true: the fourth channel is the opacity
    bool operator==(const Meaning&) const = default;
};
/// Returns the interpretation of a format.
[[nodiscard]] Meaning meaning_of(Format format);

/// Encodes values from 0 to 1 as 8-bit code values with a transfer curve. The result is exact, although no power is
/// computed per value. Immutable.
class CodeCurve {
public:
    /// Creates the curve: the sRGB transfer curve if `light` is true, followed by the power 1 / gamma.
    CodeCurve(bool light, float gamma);

    /// Returns the code value of a value from 0 to 1.
    std::uint32_t code(float value) const {
        std::uint32_t code = first_codes_[std::bit_cast<std::uint32_t>(value) >> kBucketShift];
        code += value >= from_[code + 1] ? 1 : 0;
        while (is_steep_ && value >= from_[code + 1]) ++code;
        return code;
    }

private:
    // A bucket contains the values with the same exponent and the same first 7 bits of the mantissa. The last bucket
    // contains only 1.
    static constexpr int kBucketShift = 16;
    static constexpr std::uint32_t kBuckets = (127u << 7) + 1;

    std::array<float, 257> from_;            // minimum value of each code value
    std::vector<std::uint8_t> first_codes_;  // code value of the first value of each bucket
    bool is_steep_ = false;                  // a bucket contains the minimum values of several code values
};

class ColorTableCache;
class ColorTables;
class ColorTransform;

/// Returns the color conversion of values of this kind, or null if the values are not shown as colors, if no conversion
/// is chosen, or if the conversion is not possible.
[[nodiscard]] std::shared_ptr<const ColorTransform> shown_transform(const Display& display, const Meaning& meaning,
                                                                    const FileColors& colors);

/// Selects color conversions by tables on a device in place of OpenColorIO's processor.
struct TableUse {
    const Device& device;    ///< device that converts the colors
    ColorTableCache& cache;  ///< creates and keeps the tables
};

/// Converts values to pixels with the settings of a Display. A color conversion that color_transform() refuses is
/// ignored. Immutable: several threads may use it at once.
class Screen {
public:
    /// Prepares the conversion of values of this kind. `colors` are those of the file of the image. Null `tables`
    /// select exact colors. Throws the errors of ColorTables.
    Screen(const Display& display, const Meaning& meaning, const FileColors& colors = {},
           const TableUse* tables = nullptr);

    /// Converts rows of `width` values to pixels 0xffRRGGBB. (x, y) is the position of the first pixel. It determines
    /// the phase of the checkerboard behind transparent texels. With tables, all rows are converted at once. Throws the
    /// errors of ColorTables::apply().
    void show_rows(std::span<const Color> values, std::size_t width, int x, int y,
                   std::span<std::uint32_t> pixels) const;
    /// Converts one row.
    void show(std::span<const Color> values, int x, int y, std::span<std::uint32_t> pixels) const {
        show_rows(values, values.size(), x, y, pixels);
    }

private:
    static constexpr std::size_t kAtOnce = 256;

    void show_row(std::span<const Color> values, int x, int y, std::span<std::uint32_t> pixels) const;
    void show_steps(std::span<const Color> values, std::span<std::uint32_t> pixels) const;
    void show_levels(std::span<const Color> values, std::span<Color> levels, bool marks, int x, int y,
                     std::span<std::uint32_t> pixels) const;
    bool scale(std::span<const Color> values, std::span<Color> levels) const;
    std::uint32_t pixel(const Color& level) const;
    std::uint32_t mark(const Color& value, int x, int y) const;

    Display display_;
    std::shared_ptr<const ColorTransform> color_;  // null: no color management
    std::shared_ptr<const ColorTables> tables_;    // null: exact colors
    CodeCurve curve_;
    std::array<float, 4> weights_{};  // weights of the channels in the gray value, if gray is shown
    std::array<float, 4> units_{};
    std::array<std::uint32_t, 4> shown_{};   // all bits set for displayed channels
    std::array<std::uint32_t, 4> marked_{};  // the exponent bits for channels in which infinities and NaN are marked
    bool steps_ = false;
    bool gray_ = false;
    bool blends_ = false;
    bool marks_range_ = false;
    ToneCurve tone_curve_ = ToneCurve::none;
    float low_ = 0;
    float scale_ = 1;
    float offset_ = 0;
    std::vector<std::uint32_t> false_colors_;
};

/// Returns the 256 pixels of a color map, from 0 to 1. Empty for FalseColor::none.
[[nodiscard]] std::vector<std::uint32_t> false_colors(FalseColor map);

}  // namespace texton::viewer
