#pragma once
// Conversions between R'G'B' and planes of luma and chroma. The value of a plane is a code divided by the largest code
// of the plane's format. Codes are Y', Cb and Cr, scaled and shifted according to the range (Rec. ITU-T H.273, 8.3).
// Y', Cb and Cr are weighted sums of R', G' and B'; all weights follow from the weights of red and blue in luma.
#include <cmath>

#include <texton/float4.h>
#include <texton/pixel.h>
#include <texton/planar.h>
#include <texton/source.h>

namespace texton::detail {

// --- standards -------------------------------------------------------------------------------------------------------

/// Weights of red and blue in luma. The three weights add up to 1.
struct LumaWeights {
    double red;
    double blue;
    double green() const { return 1 - red - blue; }
};

inline LumaWeights weights_of(LumaStandard standard) {
    switch (standard) {
        case LumaStandard::bt601: return {0.299, 0.114};
        case LumaStandard::bt709: return {0.2126, 0.0722};
        case LumaStandard::bt2020: return {0.2627, 0.0593};
    }
    return {};
}

/// Conversion of Y', Cb and Cr to codes: code = value * scale + shift.
struct Codes {
    double luma_scale;
    double luma_shift;
    double chroma_scale;
    double chroma_shift;
    double maximum;   // the largest code
    double of_plane;  // what a plane's value of 1 is in codes
};

inline Codes codes_of(const PlanarOptions& options) {
    const int stored_bits = info(plane_info(options.format, 0).format).bits;
    const int bits = options.format == Format::p010 ? 10 : stored_bits;
    const double step = 1 << (bits - 8);  // one step of an 8-bit code
    const double maximum = (1 << bits) - 1;
    const double below = 1 << (stored_bits - bits);  // the bits below the code are 0
    const double of_plane = ((1 << stored_bits) - 1) / below;
    if (options.range == CodeRange::full) return {maximum, 0, maximum, 128 * step, maximum, of_plane};
    return {219 * step, 16 * step, 224 * step, 128 * step, maximum, of_plane};
}

/// Whether chroma samples are located on a column and on a row of luma samples, or between two.
struct SitedAt {
    bool on_column;
    bool on_row;
};

inline SitedAt sited_at(const PlanarOptions& options) {
    return {options.siting != ChromaSiting::center,
            options.siting == ChromaSiting::top_left && options.format != Format::nv16};
}

// --- to RGB ----------------------------------------------------------------------------------------------------------

/// Converts the coordinate of a luma sample along an axis to texels of the chroma plane.
struct ChromaAxis {
    float scale;
    float shift;

    TEXTON_HD float position(float luma) const { return luma * scale + shift; }
};

inline ChromaAxis chroma_axis(int divide, bool on_sample) {
    return {1.0f / static_cast<float>(divide), on_sample ? 0.25f : 0.0f};
}

struct ToRgb {
    static constexpr bool kMayBeCalledWithZeros = true;
    ChromaAxis x;
    ChromaAxis y;
    float luma_scale;
    float luma_shift;
    float chroma_scale;
    float chroma_shift;
    float red_of_cr;
    float green_of_cb;
    float green_of_cr;
    float blue_of_cb;
    bool swapped;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& luma, const Source& chroma) const {
        const Float4 samples = chroma.at_texel(x.position(at.center_x()), y.position(at.center_y()));
        return color(luma.at_texel(at.center_x(), at.center_y()).x, swapped ? samples.y : samples.x,
                     swapped ? samples.x : samples.y);
    }
    /// Returns the color of the values of the planes. Each multiplication is fused with the addition, so only the sum
    /// is rounded.
    TEXTON_HD Float4 color(float luma, float blue, float red) const {
        const float y_prime = fmaf(luma, luma_scale, luma_shift);
        const float cb = fmaf(blue, chroma_scale, chroma_shift);
        const float cr = fmaf(red, chroma_scale, chroma_shift);
        return {fmaf(red_of_cr, cr, y_prime), fmaf(green_of_cr, cr, fmaf(green_of_cb, cb, y_prime)),
                fmaf(blue_of_cb, cb, y_prime), 1};
    }
};

inline ToRgb to_rgb_functor(const PlanarOptions& options) {
    const Codes codes = codes_of(options);
    const LumaWeights weights = weights_of(options.standard);
    const PlaneInfo chroma = plane_info(options.format, 1);
    const SitedAt sited = sited_at(options);
    const double red = 2 * (1 - weights.red);
    const double blue = 2 * (1 - weights.blue);
    return {chroma_axis(chroma.divide_width, sited.on_column),
            chroma_axis(chroma.divide_height, sited.on_row),
            static_cast<float>(codes.of_plane / codes.luma_scale),
            static_cast<float>(-codes.luma_shift / codes.luma_scale),
            static_cast<float>(codes.of_plane / codes.chroma_scale),
            static_cast<float>(-codes.chroma_shift / codes.chroma_scale),
            static_cast<float>(red),
            static_cast<float>(-blue * weights.blue / weights.green()),
            static_cast<float>(-red * weights.red / weights.green()),
            static_cast<float>(blue),
            options.swap_chroma};
}

// --- from RGB --------------------------------------------------------------------------------------------------------

/// Converts a color to the value of one channel of a plane, which is a weighted sum of red, green and blue.
struct Coded {
    float of_red;
    float of_green;
    float of_blue;
    float shift;
    float maximum;
    float of_plane;

    /// Returns the code clamped to 0 to `maximum`, not rounded to an integer.
    TEXTON_HD float code(const Float4& color) const {
        const float code = of_red * color.x + of_green * color.y + of_blue * color.z + shift;
        return code > 0 ? (code < maximum ? code : maximum) : 0.0f;
    }
    /// Returns the nearest code, divided by `of_plane`.
    TEXTON_HD float operator()(const Float4& color) const { return floorf(code(color) + 0.5f) / of_plane; }
};

struct LumaPlane {
    static constexpr bool kMayBeCalledWithZeros = true;
    Coded luma;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return {luma(source.at_texel(at.center_x(), at.center_y())), 0, 0, 0};
    }
};

/// The luma texels that a chroma sample averages along an axis. middle() returns the coordinate of a tap's center. A
/// texel before the first is replaced by the first.
struct ChromaTaps {
    std::int32_t divide;
    bool on_sample;

    TEXTON_HD int count() const { return divide == 1 ? 1 : on_sample ? 3 : 2; }
    TEXTON_HD float center(std::int32_t sample, int tap) const {
        const std::int32_t texel = sample * divide + tap - (count() == 3 ? 1 : 0);
        return (texel > 0 ? static_cast<float>(texel) : 0.0f) + 0.5f;
    }
    TEXTON_HD float weight(int tap) const {
        if (count() == 3) return tap == 1 ? 0.5f : 0.25f;
        return count() == 2 ? 0.5f : 1.0f;
    }
};

struct ChromaPlane {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    Coded cb;
    Coded cr;
    ChromaTaps x;
    ChromaTaps y;
    bool swapped;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        Float4 sum{};
        for (int j = 0; j < y.count(); ++j) {
            for (int i = 0; i < x.count(); ++i)
                sum += source.at_texel(x.center(at.x, i), y.center(at.y, j)) * (x.weight(i) * y.weight(j));
        }
        return swapped ? Float4{cr(sum), cb(sum), 0, 0} : Float4{cb(sum), cr(sum), 0, 0};
    }
};

/// Returns the conversion for a weighted sum of red, green and blue, with the weights multiplied by `scale`.
inline Coded coded(double red, double green, double blue, double scale, double shift, const Codes& codes) {
    const auto scaled = [scale](double weight) { return static_cast<float>(weight * scale); };
    return {scaled(red),
            scaled(green),
            scaled(blue),
            static_cast<float>(shift),
            static_cast<float>(codes.maximum),
            static_cast<float>(codes.of_plane)};
}

inline LumaPlane luma_plane(const PlanarOptions& options) {
    const Codes codes = codes_of(options);
    const LumaWeights weights = weights_of(options.standard);
    return {coded(weights.red, weights.green(), weights.blue, codes.luma_scale, codes.luma_shift, codes)};
}

inline ChromaPlane chroma_plane(const PlanarOptions& options) {
    const Codes codes = codes_of(options);
    const LumaWeights weights = weights_of(options.standard);
    const PlaneInfo plane = plane_info(options.format, 1);
    const SitedAt sited = sited_at(options);
    const double cb_scale = codes.chroma_scale / (2 * (1 - weights.blue));  // Cb = (B' - Y') / (2 (1 - blue))
    const double cr_scale = codes.chroma_scale / (2 * (1 - weights.red));
    return {coded(-weights.red, -weights.green(), 1 - weights.blue, cb_scale, codes.chroma_shift, codes),
            coded(1 - weights.red, -weights.green(), -weights.blue, cr_scale, codes.chroma_shift, codes),
            {plane.divide_width, sited.on_column},
            {plane.divide_height, sited.on_row},
            options.swap_chroma};
}

}  // namespace texton::detail
