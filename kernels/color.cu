// Color operations: each functor computes a pixel from the texel at the same position.
#include <texton/color.h>

#include <type_traits>

#include <texton/float_division.h>
#include <texton/float_math.h>
#include <texton/launch.h>

#include "kernels/functors/pointwise.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

/// Applies `Operation`, which has the function Float4 operator()(const Float4&), to the texel at the pixel's position.
/// Operations on single channels declare kByChannel and kSameForColors.
template <class Operation>
struct Pointwise {
    static constexpr bool kPointwise = true;
    static constexpr bool kByTexel = true;
    static constexpr bool kByChannel = detail::is_by_channel<Operation>();
    static constexpr bool kSameForColors = detail::is_same_for_colors<Operation>();
    detail::PointwiseTexel texel;
    Operation operation;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return operation(texel(at, source));
    }
};

/// Enqueues the device's implementation, or the functor if there is none. `implementation` is a function of the
/// device's kernels and of the launch that calls a function of DeviceKernels and returns its result.
template <class Operation, class Implementation>
void enqueue_pointwise(const char* object, const Stream& stream, const View& image, const Texture& texture,
                       const Operation& operation, const Implementation& implementation) {
    const Pointwise<Operation> functor{detail::pointwise_texel(object, image, "texture", texture), operation};
    detail::Launch launch(object, stream, image, {&texture, 1}, detail::overlap_of<Pointwise<Operation>>());
    if (!implementation(detail::device_kernels(launch), launch)) detail::run<1>(launch, functor);
}

template <class Operation>
void enqueue_pointwise(const char* object, const Stream& stream, const View& image, const Texture& texture,
                       const Operation& operation) {
    enqueue_pointwise(object, stream, image, texture, operation,
                      [](const detail::DeviceKernels&, detail::Launch&) { return false; });
}

/// Enqueues an operation. CUDA devices apply `general`, which computes the same: several operations share its kernels,
/// since the code for all formats is large. The loops of the CPU device are only vectorized if the operation is known.
template <class Operation, class General>
void enqueue_shared(const char* object, const Stream& stream, const View& image, const Texture& texture,
                    const Operation& operation, const General& general) {
    const detail::PointwiseTexel texel = detail::pointwise_texel(object, image, "texture", texture);
    detail::Launch launch(object, stream, image, {&texture, 1}, detail::overlap_of<Pointwise<Operation>>());
    if (launch.on_cpu())
        detail::run_for_cpu<1>(launch, Pointwise<Operation>{texel, operation});
    else
        detail::run_for_cuda<1>(launch, Pointwise<General>{texel, general});
}

// --- matrix ----------------------------------------------------------------------------------------------------------

struct ByMatrix {
    ColorMatrix matrix;

    TEXTON_HD float channel(int index, const Float4& color) const {
        const float* row = matrix.row[index];
        return row[0] * color.x + row[1] * color.y + row[2] * color.z + row[3];
    }
    TEXTON_HD Float4 operator()(const Float4& color) const {
        return {channel(0, color), channel(1, color), channel(2, color), color.w};
    }
};

// --- IEC 61966-2-1 ---------------------------------------------------------------------------------------------------

struct ToLinear {
    static constexpr bool kByChannel = true;
    static constexpr bool kSameForColors = true;
    TEXTON_HD static float of(float value) {
        const float size = fabsf(value);
        const float linear = size <= 0.04045f ? lowest(size) : pow_of(base_of(size), 2.4f);
        return value < 0 ? -linear : linear;
    }
    TEXTON_HD Float4 operator()(const Float4& color) const { return {of(color.x), of(color.y), of(color.z), color.w}; }

private:
    TEXTON_HD static float lowest(float size) {
        return size >= 0x1p-60f ? detail::quotient_by(size, 12.92f) : size / 12.92f;
    }
    TEXTON_HD static float base_of(float size) {
        const float moved = size + 0.055f;
        return size <= 0x1p60f ? detail::quotient_by(moved, 1.055f) : moved / 1.055f;
    }
};

struct ToSrgb {
    static constexpr bool kByChannel = true;
    static constexpr bool kSameForColors = true;
    TEXTON_HD static float of(float value) {
        const float size = fabsf(value);
        const float encoded = size <= 0.0031308f ? size * 12.92f : 1.055f * pow_of(size, 1.0f / 2.4f) - 0.055f;
        return value < 0 ? -encoded : encoded;
    }
    TEXTON_HD Float4 operator()(const Float4& color) const { return {of(color.x), of(color.y), of(color.z), color.w}; }
};

struct Transferred {
    static constexpr bool kByChannel = true;
    static constexpr bool kSameForColors = true;
    Transfer direction;

    TEXTON_HD float of(float value) const {
        return direction == Transfer::to_linear ? ToLinear::of(value) : ToSrgb::of(value);
    }
    TEXTON_HD Float4 operator()(const Float4& color) const { return {of(color.x), of(color.y), of(color.z), color.w}; }
};

// --- light -----------------------------------------------------------------------------------------------------------

struct Scaled {
    static constexpr bool kByChannel = true;
    float by;

    TEXTON_HD Float4 operator()(const Float4& color) const {
        return {color.x * by, color.y * by, color.z * by, color.w};
    }
};

struct Graded {
    Grade grade;

    TEXTON_HD Float4 operator()(const Float4& color) const {
        const float red = contrasted(color.x);
        const float green = contrasted(color.y);
        const float blue = contrasted(color.z);
        const float luminance = 0.2126f * red + 0.7152f * green + 0.0722f * blue;  // BT.709
        return {saturated(red, luminance), saturated(green, luminance), saturated(blue, luminance), color.w};
    }

private:
    TEXTON_HD float contrasted(float value) const { return grade.gray + (value - grade.gray) * grade.contrast; }
    TEXTON_HD float saturated(float value, float luminance) const {
        return luminance + (value - luminance) * grade.saturation;
    }
};

// --- tone curves -----------------------------------------------------------------------------------------------------

struct Reinhard {
    float white;

    TEXTON_HD float operator()(float value) const { return value * (1.0f + value / (white * white)) / (1.0f + value); }
};

struct Filmic {
    float scale;  // 1 / curve(white)

    TEXTON_HD static float curve(float x) {
        constexpr float kShoulder = 0.15f;
        constexpr float kLinear = 0.5f;
        constexpr float kLinearAngle = 0.1f;
        constexpr float kToe = 0.2f;
        constexpr float kToeDenominator = 0.3f;
        constexpr float kToeAngle = 0.02f / kToeDenominator;
        // Hable subtracts kToeAngle from the quotient. Over a common denominator the constant terms cancel: 0 stays 0.
        const float above = x * (kShoulder * (1.0f - kToeAngle) * x + kLinear * (kLinearAngle - kToeAngle));
        return above / (x * (kShoulder * x + kLinear) + kToe * kToeDenominator);
    }
    TEXTON_HD float operator()(float value) const { return curve(value) * scale; }
};

struct Aces {
    TEXTON_HD float operator()(float value) const {
        const float mapped = value * (2.51f * value + 0.03f) / (value * (2.43f * value + 0.59f) + 0.14f);
        return mapped > 1.0f ? 1.0f : mapped;
    }
};

struct AnyCurve {
    ToneCurve curve;
    float number;  ///< the member of Reinhard or Filmic

    TEXTON_HD float operator()(float value) const {
        if (curve == ToneCurve::reinhard) return Reinhard{number}(value);
        return curve == ToneCurve::filmic ? Filmic{number}(value) : Aces{}(value);
    }
};

/// Applies a curve to each color channel. `Curve` has the function float operator()(float) for values that are not
/// negative. Values are clamped to 0 to 2^40, whose square is still a finite float.
template <class Curve>
struct ToneMapped {
    static constexpr bool kByChannel = true;
    static constexpr bool kSameForColors = true;
    Curve curve;

    TEXTON_HD float of(float value) const {
        constexpr float kMax = 1099511627776.0f;
        return curve(value < 0 ? 0.0f : value > kMax ? kMax : value);
    }
    TEXTON_HD Float4 operator()(const Float4& color) const { return {of(color.x), of(color.y), of(color.z), color.w}; }
};

// --- alpha and channels ----------------------------------------------------------------------------------------------

struct Premultiplied {
    bool has_alpha;

    TEXTON_HD Float4 operator()(const Float4& color) const {
        const float alpha = has_alpha ? color.w : 1.0f;
        return {color.x * alpha, color.y * alpha, color.z * alpha, alpha};
    }
};

struct Unpremultiplied {
    bool has_alpha;

    TEXTON_HD Float4 operator()(const Float4& color) const {
        const float alpha = has_alpha ? color.w : 1.0f;
        if (alpha == 0) return {};
        return {color.x / alpha, color.y / alpha, color.z / alpha, alpha};
    }
};

struct AlphaChanged {
    AlphaChange change;
    bool has_alpha;

    TEXTON_HD Float4 operator()(const Float4& color) const {
        return change == AlphaChange::premultiply ? Premultiplied{has_alpha}(color) : Unpremultiplied{has_alpha}(color);
    }
};

constexpr std::string_view kLetters = "rgba01";

struct Swizzled {
    std::uint8_t from[4];  // indices into kLetters

    TEXTON_HD float channel(int index, const Float4& color) const {
        switch (from[index]) {
            case 0: return color.x;
            case 1: return color.y;
            case 2: return color.z;
            case 3: return color.w;
            case 4: return 0;
        }
        return 1;
    }
    TEXTON_HD Float4 operator()(const Float4& color) const {
        return {channel(0, color), channel(1, color), channel(2, color), channel(3, color)};
    }
};

}  // namespace

// --- functions -------------------------------------------------------------------------------------------------------

void color_matrix(const Stream& stream, const View& image, const Texture& texture, const ColorMatrix& matrix) try {
    constexpr const char* kObject = "texton::color_matrix";
    for (const auto& row : matrix.row) {
        for (const float number : row) detail::check_finite(kObject, "matrix", number);
    }
    enqueue_pointwise(kObject, stream, image, texture, ByMatrix{matrix},
                      [&](const detail::DeviceKernels& kernels, detail::Launch& launch) {
                          return kernels.color_matrix(launch, matrix);
                      });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::color_matrix");
}

void transfer(const Stream& stream, const View& image, const Texture& texture, Transfer direction) try {
    constexpr const char* kObject = "texton::transfer";
    switch (direction) {
        case Transfer::to_linear:
            return enqueue_shared(kObject, stream, image, texture, ToLinear{}, Transferred{direction});
        case Transfer::to_srgb:
            return enqueue_shared(kObject, stream, image, texture, ToSrgb{}, Transferred{direction});
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::transfer");
}

void exposure(const Stream& stream, const View& image, const Texture& texture, float stops) try {
    constexpr const char* kObject = "texton::exposure";
    detail::check_range(kObject, "stops", stops, -64, 64);
    const float by = exp2_of(stops);
    enqueue_pointwise(
        kObject, stream, image, texture, Scaled{by},
        [&](const detail::DeviceKernels& kernels, detail::Launch& launch) { return kernels.scale_colors(launch, by); });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::exposure");
}

void grade(const Stream& stream, const View& image, const Texture& texture, const Grade& grade) try {
    constexpr const char* kObject = "texton::grade";
    detail::check_finite(kObject, "contrast", grade.contrast);
    detail::check_finite(kObject, "saturation", grade.saturation);
    detail::check_finite(kObject, "gray", grade.gray);
    enqueue_pointwise(kObject, stream, image, texture, Graded{grade});
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::grade");
}

void tone_curve(const Stream& stream, const View& image, const Texture& texture, ToneCurve curve, float white) try {
    constexpr const char* kObject = "texton::tone_curve";
    detail::check_range(kObject, "white", white, 0.01, 1e6);
    const auto enqueue = [&](const auto& known, float number) {
        using Curve = std::remove_cvref_t<decltype(known)>;
        enqueue_shared(kObject, stream, image, texture, ToneMapped<Curve>{known},
                       ToneMapped<AnyCurve>{{curve, number}});
    };
    const float scale = 1.0f / Filmic::curve(white);
    switch (curve) {
        case ToneCurve::reinhard: return enqueue(Reinhard{white}, white);
        case ToneCurve::filmic: return enqueue(Filmic{scale}, scale);
        case ToneCurve::aces: return enqueue(Aces{}, 0);
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::tone_curve");
}

void change_alpha(const Stream& stream, const View& image, const Texture& texture, AlphaChange change) try {
    constexpr const char* kObject = "texton::change_alpha";
    const bool has_alpha = detail::has_alpha(texture.format());
    switch (change) {
        case AlphaChange::premultiply:
            return enqueue_shared(kObject, stream, image, texture, Premultiplied{has_alpha},
                                  AlphaChanged{change, has_alpha});
        case AlphaChange::unpremultiply:
            return enqueue_shared(kObject, stream, image, texture, Unpremultiplied{has_alpha},
                                  AlphaChanged{change, has_alpha});
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::change_alpha");
}

void swizzle(const Stream& stream, const View& image, const Texture& texture, std::string_view channels) try {
    constexpr const char* kObject = "texton::swizzle";
    Swizzled swizzled{};
    bool known = channels.size() == 4;
    for (std::size_t i = 0; known && i < 4; ++i) {
        const std::size_t position = kLetters.find(channels[i]);
        known = position != std::string_view::npos;
        swizzled.from[i] = static_cast<std::uint8_t>(position);
    }
    if (!known)
        detail::refuse_argument(kObject, "channels is '" + std::string(channels) + "'",
                                "Use four letters of r, g, b, a, 0 and 1.");
    enqueue_pointwise(kObject, stream, image, texture, swizzled,
                      [&](const detail::DeviceKernels& kernels, detail::Launch& launch) {
                          return kernels.swizzle(launch, swizzled.from);
                      });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::swizzle");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

namespace {

KernelInfo color_info(const char* name, const char* summary, std::vector<ParameterInfo> parameters) {
    return {name,
            "color",
            summary,
            {{"image", "image whose colors are changed", {ArrayKind::array_2d, ArrayKind::layered_2d}}},
            std::move(parameters)};
}

std::vector<ImageShape> like_input(const Arguments&, std::span<const Texture> inputs) {
    return {detail::shape_like(inputs[0])};
}

}  // namespace

Kernel detail::color_matrix_kernel() {
    return {color_info(
                "color_matrix", "multiplies the colors by a matrix",
                {{.name = "matrix",
                  .kind = ParameterKind::numbers,
                  .summary = "one row each for red, green and blue: the factors of red, green and blue, and a constant",
                  .standard = std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                  .count = 12}}),
            like_input,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                const std::vector<double>& numbers = arguments.numbers("matrix");
                ColorMatrix matrix;
                for (std::size_t i = 0; i < 12; ++i) matrix.row[i / 4][i % 4] = static_cast<float>(numbers[i]);
                color_matrix(stream, images[0], inputs[0], matrix);
            }};
}

Kernel detail::transfer_kernel() {
    return {color_info("transfer", "converts sRGB to linear light, or linear light to sRGB",
                       {{.name = "direction",
                         .kind = ParameterKind::choice,
                         .summary = "direction of the conversion",
                         .standard = "to_linear",
                         .choices = {"to_linear", "to_srgb"}}}),
            like_input,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                transfer(stream, images[0], inputs[0], arguments.choice<Transfer>("direction"));
            }};
}

Kernel detail::exposure_kernel() {
    return {color_info("exposure", "makes an image brighter or darker",
                       {{.name = "stops",
                         .summary = "exposure in stops; each stop doubles the brightness",
                         .standard = 0.0,
                         .lowest = -64,
                         .highest = 64}}),
            like_input,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                exposure(stream, images[0], inputs[0], static_cast<float>(arguments.number("stops")));
            }};
}

Kernel detail::grade_kernel() {
    constexpr Grade kStandard;
    return {color_info("grade", "changes contrast and saturation",
                       {{.name = "contrast",
                         .summary = "factor of the difference from the gray value; 1 changes nothing",
                         .standard = 1.0},
                        {.name = "saturation",
                         .summary = "factor of the difference from the luminance; 0 removes all color",
                         .standard = 1.0},
                        {.name = "gray",
                         .summary = "gray value that contrast does not change",
                         .standard = static_cast<double>(kStandard.gray)}}),
            like_input,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                grade(
                    stream, images[0], inputs[0],
                    {static_cast<float>(arguments.number("contrast")),
                     static_cast<float>(arguments.number("saturation")), static_cast<float>(arguments.number("gray"))});
            }};
}

Kernel detail::tone_curve_kernel() {
    return {color_info("tone_curve", "maps light of any brightness to the range 0 to 1",
                       {{.name = "curve",
                         .kind = ParameterKind::choice,
                         .summary = "tone curve",
                         .standard = "reinhard",
                         .choices = {"reinhard", "filmic", "aces"}},
                        {.name = "white",
                         .summary = "value that is mapped to 1; aces ignores it",
                         .standard = 11.2,
                         .lowest = 0.01,
                         .highest = 1e6}}),
            like_input,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                tone_curve(stream, images[0], inputs[0], arguments.choice<ToneCurve>("curve"),
                           static_cast<float>(arguments.number("white")));
            }};
}

Kernel detail::change_alpha_kernel() {
    return {color_info("change_alpha", "multiplies the colors by alpha, or divides them by alpha",
                       {{.name = "change",
                         .kind = ParameterKind::choice,
                         .summary = "whether to multiply or to divide",
                         .standard = "premultiply",
                         .choices = {"premultiply", "unpremultiply"}}}),
            like_input,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                change_alpha(stream, images[0], inputs[0], arguments.choice<AlphaChange>("change"));
            }};
}

Kernel detail::swizzle_kernel() {
    return {color_info("swizzle", "rearranges the channels",
                       {{.name = "order",
                         .kind = ParameterKind::text,
                         .summary = "four letters, one for each resulting channel: r, g, b, a, 0 or 1",
                         .standard = "rgba"}}),
            like_input,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) { swizzle(stream, images[0], inputs[0], arguments.text("order")); }};
}

}  // namespace texton
