// How pictures of luma and chroma are converted: which way, and what is refused.
#include <texton/planar.h>

#include <texton/launch.h>

#include "arrays/unit/texture_address.h"
#include "kernels/functors/planar_functors.h"
#include "kernels/launch/checks.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/registry.h"
#if defined(__CUDACC__)
#include "kernels/cuda/planar.h"
#include "kernels/cuda/stored_texels.h"
#endif

namespace texton {
namespace {

constexpr const char* kToRgb = "texton::to_rgb";
constexpr const char* kFromRgb = "texton::from_rgb";

#if defined(__CUDACC__)
// --- 8 bits on a CUDA device -----------------------------------------------------------------------------------------

/// Memory whose rows are written in pieces of 16 bytes.
bool takes_four_pixels(const detail::PixelTarget& picture) {
    return picture.address != nullptr && picture.width % 4 == 0 &&
           (reinterpret_cast<std::uintptr_t>(picture.address) | picture.pitch) % 16 == 0;
}

/// False, with nothing done, where the planes and the picture are not such as bytes_to_rgba() takes.
bool launch_bytes(const Stream& stream, const View& picture, const Texture& luma, const Texture& chroma,
                  const PlanarOptions& options) {
    if (stream.device().kind() == DeviceKind::cpu || picture.format() != Format::rgba8_unorm ||
        info(luma.format()).bits != 8 || !detail::clamps_rows(chroma.sampler()))
        return false;
    const Texture planes[] = {luma, chroma};
    const detail::Launch launch(kToRgb, stream, picture, planes, false);
    if (!takes_four_pixels(launch.target())) return false;
    const auto luma_texels = detail::stored_texels(luma);
    const auto chroma_texels = detail::stored_texels(chroma);
    if (!luma_texels || !chroma_texels) return false;
    const detail::StoredIn in = detail::stored_in(*luma_texels);
    if (in != detail::stored_in(*chroma_texels)) return false;
    const detail::SitedAt sited = detail::sited_at(options);
    detail::BytesToRgba job{launch.target(),
                            *luma_texels,
                            *chroma_texels,
                            options.swap_chroma ? 1u : 0u,
                            options.swap_chroma ? 0u : 1u,
                            detail::to_rgb_functor(options)};
    job.to_rgb.luma_scale *= detail::kOfShare;
    const detail::ChromaRows rows = plane_info(options.format, 1).divide_height == 1 ? detail::ChromaRows::own
                                    : sited.on_row                                   ? detail::ChromaRows::on_luma
                                                                                     : detail::ChromaRows::between;
    const void* kernel = in == detail::StoredIn::memory
                             ? detail::bytes_to_rgba_kernel<detail::StoredIn::memory>(sited.on_column, rows)
                             : detail::bytes_to_rgba_kernel<detail::StoredIn::plane>(sited.on_column, rows);
    launch.run_kernel(kernel, &job, {128, 8 * detail::kPlanarRows, 1});
    return true;
}

bool takes_words(const detail::PixelTarget& plane) {
    return plane.address != nullptr && (reinterpret_cast<std::uintptr_t>(plane.address) | plane.pitch) % 4 == 0;
}

/// False, with nothing done, where the picture and the planes are not such as rgba_to_bytes() takes.
bool launch_bytes(const Stream& stream, const Frame& planes, const Texture& texture, const PlanarOptions& options) {
    if (stream.device().kind() == DeviceKind::cpu || texture.format() != Format::rgba8_unorm ||
        info(planes.luma.format()).bits != 8 || texture.extent().width % 4 != 0)
        return false;
    const detail::Launch luma(kFromRgb, stream, planes.luma, std::span(&texture, 1), false);
    const detail::Launch chroma(kFromRgb, stream, planes.chroma, std::span(&texture, 1), false);
    const auto texels = detail::stored_texels(texture);
    if (!texels || !takes_words(luma.target()) || !takes_words(chroma.target())) return false;
    const detail::ChromaPlane of_chroma = detail::chroma_plane(options);
    const detail::Coded cb = detail::of_shares(of_chroma.cb);
    const detail::Coded cr = detail::of_shares(of_chroma.cr);
    detail::RgbaToBytes job{*texels,
                            luma.target(),
                            chroma.target(),
                            detail::of_shares(detail::luma_plane(options).luma),
                            options.swap_chroma ? cr : cb,
                            options.swap_chroma ? cb : cr};
    const void* kernel = detail::stored_in(*texels) == detail::StoredIn::memory
                             ? detail::rgba_to_bytes_kernel<detail::StoredIn::memory>(of_chroma)
                             : detail::rgba_to_bytes_kernel<detail::StoredIn::plane>(of_chroma);
    luma.run_kernel(kernel, &job, {128, 8 * detail::kPlanarRows, 1});
    return true;
}
#endif

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
    if (detail::to_rgb_on_cpu(kToRgb, stream, picture, luma, chroma, options)) return;
#if defined(__CUDACC__)
    if (launch_bytes(stream, picture, luma, chroma, options)) return;
#endif
    detail::launch_as(kToRgb, stream, picture, detail::to_rgb_functor(options), luma, chroma);
}

void from_rgb(const Stream& stream, const Frame& planes, const Texture& texture, const PlanarOptions& options) {
    detail::check_kind(kFromRgb, "texture", texture, {ArrayKind::array_2d});
    detail::check_floats(kFromRgb, "texture", texture);
    check_options(kFromRgb, options, texture.extent());
    check_plane(kFromRgb, options, 0, texture.extent(), planes.luma.format(), planes.luma.extent());
    check_plane(kFromRgb, options, 1, texture.extent(), planes.chroma.format(), planes.chroma.extent());
    if (detail::from_rgb_on_cpu(kFromRgb, stream, planes, texture, options)) return;
#if defined(__CUDACC__)
    if (launch_bytes(stream, planes, texture, options)) return;
#endif
    detail::launch_as(kFromRgb, stream, planes.luma, detail::luma_plane(options), texture);
    detail::launch_as(kFromRgb, stream, planes.chroma, detail::chroma_plane(options), texture);
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
