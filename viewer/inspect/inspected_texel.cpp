#include "viewer/inspect/inspected_texel.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/sample.h>

#include "kernels/functors/cube_direction.h"
#include "viewer/model/streamed_image.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

// Returns the block that contains a texel: of other formats than block-compressed ones the texel itself.
TexelBox block_at(const Document& document, const SubresourceIndex& subresource, std::size_t x, std::size_t y) {
    const Extent whole = document.extent(subresource);
    const std::size_t side = block_side(document.info(subresource.plane).format);
    const std::size_t left = x / side * side, top = y / side * side;
    return {left, top, std::min(side, whole.width - left), std::min(side, whole.height - top)};
}

Texel sampled(const Document& document, const Sampler& sampler, const SeenTexel& of_files) {
    const auto [subresource, at] = in_array(document, of_files);
    const ArrayInfo& array = document.info(subresource.plane);
    const Extent extent = level_extent(array, subresource.level);
    FetchPoint point;
    point.layer = static_cast<std::int32_t>(subresource.layer);
    point.lod = static_cast<float>(subresource.level) - sampler.mip_bias;
    const auto center_x = static_cast<float>(at.x);
    const auto center_y = static_cast<float>(at.y);
    if (is_cube(array.kind)) {
        const auto side = static_cast<std::int32_t>(extent.width);
        const detail::CubeDirection direction = detail::direction_on_face(subresource.face, center_x, center_y, side);
        point.x = direction.x;
        point.y = direction.y;
        point.z = direction.z;
    } else {
        const auto coordinate = [&](float texel, std::size_t size) {
            return sampler.normalized_coordinates ? texel / static_cast<float>(size) : texel;
        };
        point.x = coordinate(center_x, extent.width);
        point.y = coordinate(center_y, extent.height);
        point.z = coordinate(static_cast<float>(subresource.slice) + 0.5f, extent.depth);
    }
    const FetchOperation operation = array.levels > 1 ? FetchOperation::lod : FetchOperation::plain;
    return sample(document.texture(sampler, subresource.plane), std::span(&point, 1), {.operation = operation})
        .texels.front();
}

std::array<int, 3> displayed(Scene scene, const SubresourceIndex& subresource, std::size_t x, std::size_t y,
                             const CancellationToken& token) {
    scene.session.subresource = subresource;
    scene.session.layout = Layout::single;
    scene.session.compare.mode = CompareMode::none;
    scene.session.lod_plane.shown = false;
    scene.session.view = {1, {static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5}};
    scene.session.fits = false;
    scene.width = scene.height = 1;
    const std::uint32_t pixel = render(scene, {0, 0, 1, 1}, token).front();
    return {static_cast<int>(pixel >> 16 & 255), static_cast<int>(pixel >> 8 & 255), static_cast<int>(pixel & 255)};
}

}  // namespace

Sampler sampler_of(const Session& session, const Document& document) {
    return session.sampler ? *session.sampler : document.standard_sampler(session.subresource.plane);
}

InspectedTexel inspect_texel(const Scene& scene, const SubresourceIndex& subresource, std::size_t x, std::size_t y,
                             const CancellationToken& token) {
    const Document& document = *scene.shown;
    InspectedTexel out{.subresource = document.clamped(subresource)};
    out.extent = document.extent(out.subresource);
    out.x = std::min(x, out.extent.width - 1);
    out.y = std::min(y, out.extent.height - 1);
    const ArrayInfo& array = document.info(out.subresource.plane);
    out.kind = array.kind;
    out.format = array.format;
    out.channels = info(array.format).channels;
    out.halvings = document.halvings(out.subresource);
    const std::vector<std::byte> bytes =
        document.texels(out.subresource, block_at(document, out.subresource, out.x, out.y), token);
    out.stored = stored_channels(array.format, bytes);
    out.bytes = byte_text(bytes);
    try {
        const Position center{static_cast<double>(out.x) + 0.5, static_cast<double>(out.y) + 0.5};
        out.sampled = sampled(document, sampler_of(scene.session, document), {out.subresource, center});
    } catch (const std::exception& error) {
        out.sampling_problem = error_text(error);
    }
    const bool shows_coarser =
        document.streamed() != nullptr && document.is_finer_in_files(out.subresource) &&
        !document.streamed()->texels({out.subresource.level, streamed_layer(document.whole(), out.subresource),
                                      block_at(document, out.subresource, out.x, out.y)});
    if (shows_coarser) {
        out.display_problem =
            "The canvas shows a coarser texel here, because this one is not resident. Zoom in until it covers a pixel.";
        return out;
    }
    try {
        out.displayed = displayed(scene, out.subresource, out.x, out.y, token);
    } catch (const std::exception& error) {
        out.display_problem = error_text(error);
    }
    return out;
}

const char* face_name(int face) {
    constexpr std::array<const char*, 6> kNames{"+x", "-x", "+y", "-y", "+z", "-z"};
    return kNames[static_cast<std::size_t>(std::clamp(face, 0, 5))];
}

std::string subresource_text(const Document& document, const SubresourceIndex& subresource, std::size_t x,
                             std::size_t y) {
    const ArrayInfo& array = document.whole(subresource.plane);
    std::string out = fmt::format("({}, {})", x, y);
    if (array.levels > 1) out += fmt::format(", level {}", subresource.level);
    if (is_layered(array.kind))
        out += fmt::format(", {} {}", is_cube(array.kind) ? "cube" : "layer", subresource.layer);
    if (is_cube(array.kind)) out += fmt::format(", face {}", face_name(subresource.face));
    if (array.kind == ArrayKind::array_3d) out += fmt::format(", slice {}", subresource.slice);
    if (document.is_planar()) out += subresource.plane == 0 ? ", luma" : ", chroma";
    return out;
}

std::string to_string(const InspectedTexel& texel) {
    std::string out = fmt::format("{}, bytes {}\n", name(texel.format), texel.bytes);
    for (int channel = 0; channel < texel.channels; ++channel) {
        out += channel_letter(channel);
        const auto index = static_cast<std::size_t>(channel);
        if (index < texel.stored.size())
            out += fmt::format("  stored {} {}", texel.stored[index].decimal, texel.stored[index].hexadecimal);
        if (texel.sampling_problem.empty()) {
            out += fmt::format("  sampled {} {}", channel_text(texel.sampled, channel, texel.format),
                               channel_hexadecimal(texel.sampled, channel));
        }
        if (texel.display_problem.empty() && channel < 3) out += fmt::format("  shown {}", texel.displayed[index]);
        out += '\n';
    }
    return out;
}

}  // namespace texton::viewer
