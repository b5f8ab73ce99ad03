// Conversions between images of luma and chroma and of red, green and blue.
#include <texton/planar.h>

#include <texton/launch.h>

#include "arrays/texture_state.h"
#include "kernels/functors/planar_functors.h"
#include "kernels/launch/checks.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

constexpr const char* kToRgb = "texton::to_rgb";
constexpr const char* kFromRgb = "texton::from_rgb";

// --- checks ----------------------------------------------------------------------------------------------------------

std::string plane_name(std::size_t index) { return index == 0 ? "luma" : "chroma"; }

std::string describe(Format format, const Extent& extent) {
    return std::string(name(format)) + " with " + to_string(extent) + " texels";
}

/// Throws Error{bad_argument} unless a plane has the format and extent that the planar format requires for an image of
/// this extent.
void check_plane(const char* object, const PlanarOptions& options, int index, const Extent& image, Format format,
                 const Extent& extent) {
    const PlaneInfo plane = plane_info(options.format, index);
    const Extent expected{image.width / plane.divide_width, image.height / plane.divide_height};
    if (format == plane.format && extent == expected) return;
    detail::refuse_argument(object, plane_name(static_cast<std::size_t>(index)) + " is " + describe(format, extent),
                            "For an image of " + to_string(image) + " pixels in " + std::string(name(options.format)) +
                                ", pass " + describe(plane.format, expected) + ".");
}

void check_options(const char* object, const PlanarOptions& options, const Extent& extent) {
    if (info(options.format).layout != FormatLayout::planar)
        detail::refuse_argument(object, "format is " + std::string(name(options.format)),
                                "Use nv12, p010, p016 or nv16.");
    if (extent.width % 2 != 0 || extent.height % 2 != 0)
        detail::refuse_argument(object, "the image has " + to_string(extent) + " pixels",
                                "Use an image whose width and height are even.");
}

}  // namespace

// --- functions -------------------------------------------------------------------------------------------------------

void to_rgb(const Stream& stream, const View& image, const Texture& luma, const Texture& chroma,
            const PlanarOptions& options) try {
    detail::check_kind(kToRgb, "luma", luma, {ArrayKind::array_2d});
    detail::check_kind(kToRgb, "chroma", chroma, {ArrayKind::array_2d});
    check_options(kToRgb, options, luma.extent());
    check_plane(kToRgb, options, 0, luma.extent(), luma.format(), luma.extent());
    check_plane(kToRgb, options, 1, luma.extent(), chroma.format(), chroma.extent());
    detail::check_filter(kToRgb, "chroma", chroma, Filter::linear);
    detail::check_same_size(kToRgb, image, "luma", luma);
    detail::check_slices(kToRgb, image, luma);
    const Texture textures[] = {detail::by_points(luma), chroma};
    detail::Launch launch(kToRgb, stream, image, textures, detail::Overlap::refused);
    if (!detail::device_kernels(launch).to_rgb(launch, options))
        detail::run<2>(launch, detail::to_rgb_functor(options));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::to_rgb");
}

void from_rgb(const Stream& stream, const Frame& planes, const Texture& texture, const PlanarOptions& options) try {
    detail::check_kind(kFromRgb, "texture", texture, {ArrayKind::array_2d});
    detail::check_floats(kFromRgb, "texture", texture);
    check_options(kFromRgb, options, texture.extent());
    check_plane(kFromRgb, options, 0, texture.extent(), planes.luma.format(), planes.luma.extent());
    check_plane(kFromRgb, options, 1, texture.extent(), planes.chroma.format(), planes.chroma.extent());
    detail::Launch launches[] = {{kFromRgb, stream, planes.luma, {&texture, 1}, detail::Overlap::refused},
                                 {kFromRgb, stream, planes.chroma, {&texture, 1}, detail::Overlap::refused}};
    detail::check_distinct(launches, plane_name);
    auto& [luma, chroma] = launches;
    if (detail::device_kernels(luma).from_rgb(luma, chroma, options)) return;
    detail::run<1>(luma, detail::luma_plane(options));
    detail::run<1>(chroma, detail::chroma_plane(options));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::from_rgb");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

namespace {

constexpr Format kFormats[] = {Format::nv12, Format::p010, Format::p016, Format::nv16};

std::vector<ParameterInfo> planar_parameters() {
    return {
        {.name = "layout",
         .kind = ParameterKind::choice,
         .summary = "planar format",
         .standard = "nv12",
         .choices = {"nv12", "p010", "p016", "nv16"}},
        {.name = "standard",
         .kind = ParameterKind::choice,
         .summary = "standard that defines the weights of red, green and blue in luma",
         .standard = "bt709",
         .choices = {"bt601", "bt709", "bt2020"}},
        {.name = "range",
         .kind = ParameterKind::choice,
         .summary = "code values of black and white: video range or full range",
         .standard = "limited",
         .choices = {"limited", "full"}},
        {.name = "siting",
         .kind = ParameterKind::choice,
         .summary = "location of the chroma samples relative to the luma samples",
         .standard = "left",
         .choices = {"left", "center", "top_left"}},
        {.name = "swap_chroma", .kind = ParameterKind::flag, .summary = "Cr before Cb, as in NV21", .standard = false}};
}

PlanarOptions options_of(const Arguments& arguments) {
    return {kFormats[arguments.choice<std::size_t>("layout")], arguments.choice<LumaStandard>("standard"),
            arguments.choice<CodeRange>("range"), arguments.choice<ChromaSiting>("siting"),
            arguments.flag("swap_chroma")};
}

}  // namespace

Kernel detail::to_rgb_kernel() {
    return {{"to_rgb",
             "planar",
             "converts luma and chroma planes to red, green and blue",
             {{"luma", "plane 0"}, {"chroma", "plane 1, read with Filter::linear"}},
             planar_parameters()},
            [](const Arguments&, std::span<const Texture> inputs) {
                const bool wide = info(inputs[0].format()).bits > 8;
                return std::vector<ImageShape>{{inputs[0].extent(), wide ? Format::rgba16_unorm : Format::rgba8_unorm}};
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                to_rgb(stream, images[0], inputs[0], inputs[1], options_of(arguments));
            }};
}

Kernel detail::from_rgb_kernel() {
    return {{"from_rgb",
             "planar",
             "converts red, green and blue to luma and chroma planes",
             {{"image", "image to convert"}},
             planar_parameters()},
            [](const Arguments& arguments, std::span<const Texture> inputs) {
                const PlanarOptions options = options_of(arguments);
                const Extent extent = inputs[0].extent();
                std::vector<ImageShape> planes;
                for (int i = 0; i < 2; ++i) {
                    const PlaneInfo plane = plane_info(options.format, i);
                    planes.push_back(
                        {{extent.width / plane.divide_width, extent.height / plane.divide_height}, plane.format});
                }
                return planes;
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                from_rgb(stream, {images[0], images[1]}, inputs[0], options_of(arguments));
            }};
}

}  // namespace texton
