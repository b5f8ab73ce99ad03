// Luma and chroma. A plane's value is a code over the largest of its format; codes are Y' and the two differences,
// scaled and shifted as the range says (Rec. ITU-T H.273, 8.3); these are sums of R', G' and B' with weights that
// follow from two.
#include <texton/planar.h>

#include <texton/float_math.h>
#include <texton/launch.h>

#include "kernels/checks.h"
#include "kernels/own_texel.h"
#include "kernels/registry.h"

namespace texton {
namespace {

constexpr const char* kToRgb = "texton::to_rgb";
constexpr const char* kFromRgb = "texton::from_rgb";

// --- standards -------------------------------------------------------------------------------------------------------

/// What red and blue count in luma; green the rest.
struct LumaWeights {
    double red;
    double blue;
    double green() const { return 1 - red - blue; }
};

LumaWeights weights_of(LumaStandard standard) {
    switch (standard) {
        case LumaStandard::bt601: return {0.299, 0.114};
        case LumaStandard::bt709: return {0.2126, 0.0722};
        case LumaStandard::bt2020: return {0.2627, 0.0593};
    }
    return {};
}

/// How numbers become codes: code = value * scale + shift.
struct Codes {
    double luma_scale;
    double luma_shift;
    double chroma_scale;
    double chroma_shift;
    double most;      // the largest code
    double of_plane;  // codes of a plane's value of 1
};

Codes codes_of(const PlanarOptions& options) {
    const int stored_bits = info(plane_info(options.format, 0).format).bits;
    const int bits = options.format == Format::p010 ? 10 : stored_bits;
    const double step = 1 << (bits - 8);  // of a code of 8 bits
    const double most = (1 << bits) - 1;
    const double below = 1 << (stored_bits - bits);  // bits below the code are 0
    const double of_plane = ((1 << stored_bits) - 1) / below;
    if (options.range == CodeRange::full) return {most, 0, most, 128 * step, most, of_plane};
    return {219 * step, 16 * step, 224 * step, 128 * step, most, of_plane};
}

/// Whether a chroma sample lies on a column and a row of luma, or between two.
struct SitedAt {
    bool on_column;
    bool on_row;
};

SitedAt place_of(const PlanarOptions& options) {
    return {options.siting != ChromaSiting::center,
            options.siting == ChromaSiting::top_left && options.format != Format::nv16};
}

// --- to RGB ----------------------------------------------------------------------------------------------------------

/// A luma sample's place in texels of chroma.
struct ChromaAxis {
    float scale;
    float shift;

    TEXTON_HD float place(float luma) const { return luma * scale + shift; }
};

ChromaAxis chroma_axis(int divide, bool on_sample) {
    return {1.0f / static_cast<float>(divide), on_sample ? 0.25f : 0.0f};
}

struct ToRgb {
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
    TEXTON_HD Float4 operator()(PixelPlace at, const Source& luma, const Source& chroma) const {
        const float sample = luma.at_texel(at.middle_x(), at.middle_y()).x;
        const Float4 samples = chroma.at_texel(x.place(at.middle_x()), y.place(at.middle_y()));
        const float y_prime = sample * luma_scale + luma_shift;
        const float cb = (swapped ? samples.y : samples.x) * chroma_scale + chroma_shift;
        const float cr = (swapped ? samples.x : samples.y) * chroma_scale + chroma_shift;
        return {y_prime + red_of_cr * cr, y_prime + green_of_cb * cb + green_of_cr * cr, y_prime + blue_of_cb * cb, 1};
    }
};

ToRgb to_rgb_functor(const PlanarOptions& options) {
    const Codes codes = codes_of(options);
    const LumaWeights weights = weights_of(options.standard);
    const PlaneInfo chroma = plane_info(options.format, 1);
    const SitedAt sited = place_of(options);
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

/// A number that is a sum of red, green and blue -> what a plane holds.
struct Coded {
    float of_red;
    float of_green;
    float of_blue;
    float shift;
    float most;
    float of_plane;

    /// The nearest code, over those of 1.
    TEXTON_HD float operator()(const Float4& color) const {
        const float code = of_red * color.x + of_green * color.y + of_blue * color.z + shift;
        const float inside = code > 0 ? (code < most ? code : most) : 0.0f;
        return floorf(inside + 0.5f) / of_plane;
    }
};

struct LumaPlane {
    Coded luma;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPlace at, const Source& source) const {
        return {luma(source.at_texel(at.middle_x(), at.middle_y())), 0, 0, 0};
    }
};

/// Texels of luma that a chroma sample averages along an axis, by their places from its first on. A texel before the
/// edge is the one at the edge.
struct ChromaTaps {
    std::int32_t divide;
    bool on_sample;

    TEXTON_HD int count() const { return divide == 1 ? 1 : on_sample ? 3 : 2; }
    TEXTON_HD float middle(std::int32_t sample, int tap) const {
        const std::int32_t texel = sample * divide + tap - (count() == 3 ? 1 : 0);
        return (texel > 0 ? static_cast<float>(texel) : 0.0f) + 0.5f;
    }
    TEXTON_HD float weight(int tap) const {
        if (count() == 3) return tap == 1 ? 0.5f : 0.25f;
        return count() == 2 ? 0.5f : 1.0f;
    }
};

struct ChromaPlane {
    static constexpr unsigned kPixels = 1;
    Coded cb;
    Coded cr;
    ChromaTaps x;
    ChromaTaps y;
    bool swapped;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPlace at, const Source& source) const {
        Float4 sum{};
        for (int j = 0; j < y.count(); ++j) {
            for (int i = 0; i < x.count(); ++i)
                sum += source.at_texel(x.middle(at.x, i), y.middle(at.y, j)) * (x.weight(i) * y.weight(j));
        }
        return swapped ? Float4{cr(sum), cb(sum), 0, 0} : Float4{cb(sum), cr(sum), 0, 0};
    }
};

/// One of the sums, with its weights times `scale`.
Coded coded(double red, double green, double blue, double scale, double shift, const Codes& codes) {
    const auto scaled = [scale](double weight) { return static_cast<float>(weight * scale); };
    return {scaled(red),
            scaled(green),
            scaled(blue),
            static_cast<float>(shift),
            static_cast<float>(codes.most),
            static_cast<float>(codes.of_plane)};
}

LumaPlane luma_plane(const PlanarOptions& options) {
    const Codes codes = codes_of(options);
    const LumaWeights weights = weights_of(options.standard);
    return {coded(weights.red, weights.green(), weights.blue, codes.luma_scale, codes.luma_shift, codes)};
}

ChromaPlane chroma_plane(const PlanarOptions& options) {
    const Codes codes = codes_of(options);
    const LumaWeights weights = weights_of(options.standard);
    const PlaneInfo plane = plane_info(options.format, 1);
    const SitedAt sited = place_of(options);
    const double cb_scale = codes.chroma_scale / (2 * (1 - weights.blue));  // Cb = (B' - Y') / that
    const double cr_scale = codes.chroma_scale / (2 * (1 - weights.red));
    return {coded(-weights.red, -weights.green(), 1 - weights.blue, cb_scale, codes.chroma_shift, codes),
            coded(1 - weights.red, -weights.green(), -weights.blue, cr_scale, codes.chroma_shift, codes),
            {plane.divide_width, sited.on_column},
            {plane.divide_height, sited.on_row},
            options.swap_chroma};
}

// --- checks ----------------------------------------------------------------------------------------------------------

std::string describe(Format format, const Extent& extent) {
    return std::string(name(format)) + " with " + to_string(extent) + " texels";
}

/// Error{bad_argument} unless the plane of a picture of that extent has the format and sides that it must have.
void check_plane(const char* object, const PlanarOptions& options, int index, const Extent& picture, Format format,
                 const Extent& extent) {
    const PlaneInfo plane = plane_info(options.format, index);
    const Extent wanted{picture.width / plane.divide_width, picture.height / plane.divide_height};
    if (format == plane.format && extent == wanted) return;
    const char* what = index == 0 ? "luma" : "chroma";
    detail::refuse_argument(object, std::string(what) + " is " + describe(format, extent),
                            "A picture of " + to_string(picture) + " in " + std::string(name(options.format)) +
                                " takes " + describe(plane.format, wanted) + ".");
}

void check_options(const char* object, const PlanarOptions& options, const Extent& extent) {
    if (info(options.format).layout != FormatLayout::planar)
        detail::refuse_argument(object, "format is " + std::string(name(options.format)),
                                "Use nv12, p010, p016 or nv16.");
    if (extent.width % 2 != 0 || extent.height % 2 != 0)
        detail::refuse_argument(object, "the picture has " + to_string(extent) + " pixels",
                                "Width and height must be even.");
}

}  // namespace

// --- functions -------------------------------------------------------------------------------------------------------

void to_rgb(const Stream& stream, const View& picture, const Texture& luma, const Texture& chroma,
            const PlanarOptions& options) {
    detail::check_kind(kToRgb, "luma", luma, {ArrayKind::array_2d});
    detail::check_kind(kToRgb, "chroma", chroma, {ArrayKind::array_2d});
    check_options(kToRgb, options, luma.extent());
    check_plane(kToRgb, options, 0, luma.extent(), luma.format(), luma.extent());
    check_plane(kToRgb, options, 1, luma.extent(), chroma.format(), chroma.extent());
    detail::check_filter(kToRgb, "chroma", chroma, Filter::linear);
    detail::check_same_size(kToRgb, picture, "luma", luma);
    detail::check_slices(kToRgb, picture, luma);
    detail::launch_as(kToRgb, stream, picture, to_rgb_functor(options), luma, chroma);
}

void from_rgb(const Stream& stream, const Frame& planes, const Texture& texture, const PlanarOptions& options) {
    detail::check_kind(kFromRgb, "texture", texture, {ArrayKind::array_2d});
    detail::check_floats(kFromRgb, "texture", texture);
    check_options(kFromRgb, options, texture.extent());
    check_plane(kFromRgb, options, 0, texture.extent(), planes.luma.format(), planes.luma.extent());
    check_plane(kFromRgb, options, 1, texture.extent(), planes.chroma.format(), planes.chroma.extent());
    detail::launch_as(kFromRgb, stream, planes.luma, luma_plane(options), texture);
    detail::launch_as(kFromRgb, stream, planes.chroma, chroma_plane(options), texture);
}

// --- names -----------------------------------------------------------------------------------------------------------

namespace {

constexpr Format kFormats[] = {Format::nv12, Format::p010, Format::p016, Format::nv16};

std::vector<ParameterInfo> planar_parameters() {
    return {{.name = "format",
             .kind = ParameterKind::choice,
             .summary = "of the planes",
             .standard = "nv12",
             .choices = {"nv12", "p010", "p016", "nv16"}},
            {.name = "standard",
             .kind = ParameterKind::choice,
             .summary = "how luma weighs red and blue",
             .standard = "bt709",
             .choices = {"bt601", "bt709", "bt2020"}},
            {.name = "range",
             .kind = ParameterKind::choice,
             .summary = "which codes are black and white",
             .standard = "limited",
             .choices = {"limited", "full"}},
            {.name = "siting",
             .kind = ParameterKind::choice,
             .summary = "where chroma lies among its luma",
             .standard = "left",
             .choices = {"left", "center", "top_left"}},
            {.name = "swap_chroma",
             .kind = ParameterKind::flag,
             .summary = "Cr before Cb, as NV21 has it",
             .standard = false}};
}

PlanarOptions options_of(const Arguments& arguments) {
    return {kFormats[arguments.choice<std::size_t>("format")], arguments.choice<LumaStandard>("standard"),
            arguments.choice<CodeRange>("range"), arguments.choice<ChromaSiting>("siting"),
            arguments.flag("swap_chroma")};
}

}  // namespace

Kernel detail::to_rgb_kernel() {
    return {
        {"to_rgb",
         "planar",
         "luma and chroma to red, green and blue",
         {{"luma", "plane 0"}, {"chroma", "plane 1, with Filter::linear"}},
         planar_parameters()},
        [](const Arguments&, std::span<const Texture> inputs) {
            const bool wide = info(inputs[0].format()).bits > 8;
            return std::vector<PictureShape>{{inputs[0].extent(), wide ? Format::rgba16_unorm : Format::rgba8_unorm}};
        },
        [](const Stream& stream, std::span<const View> pictures, const Arguments& arguments,
           std::span<const Texture> inputs) {
            to_rgb(stream, pictures[0], inputs[0], inputs[1], options_of(arguments));
        }};
}

Kernel detail::from_rgb_kernel() {
    return {{"from_rgb",
             "planar",
             "red, green and blue to luma and chroma",
             {{"picture", "what is converted"}},
             planar_parameters()},
            [](const Arguments& arguments, std::span<const Texture> inputs) {
                const PlanarOptions options = options_of(arguments);
                const Extent extent = inputs[0].extent();
                std::vector<PictureShape> planes;
                for (int i = 0; i < 2; ++i) {
                    const PlaneInfo plane = plane_info(options.format, i);
                    planes.push_back(
                        {{extent.width / plane.divide_width, extent.height / plane.divide_height}, plane.format});
                }
                return planes;
            },
            [](const Stream& stream, std::span<const View> pictures, const Arguments& arguments,
               std::span<const Texture> inputs) {
                from_rgb(stream, {pictures[0], pictures[1]}, inputs[0], options_of(arguments));
            }};
}

}  // namespace texton
