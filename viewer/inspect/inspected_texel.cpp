#include "viewer/inspect/inspected_texel.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/sample.h>

#include "kernels/functors/cube_direction.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

std::vector<std::byte> stored_bytes(const Document& document, const Place& place, std::size_t x, std::size_t y,
                                    const StillWanted& wanted) {
    const Extent whole = document.extent(place);
    const std::size_t side = block_side(document.info(place.plane).format);
    const std::size_t left = x / side * side, top = y / side * side;
    return document.texels(place, {left, top, std::min(side, whole.width - left), std::min(side, whole.height - top)},
                           wanted);
}

Texel sampled(const Document& document, const Sampler& sampler, const SeenTexel& of_files) {
    const auto [place, at] = in_array(document, of_files);
    const ArrayInfo& array = document.info(place.plane);
    const Extent extent = level_extent(array, place.level);
    FetchPoint point;
    point.layer = static_cast<std::int32_t>(place.layer);
    point.lod = static_cast<float>(place.level) - sampler.mip_bias;
    const auto middle_x = static_cast<float>(at.x);
    const auto middle_y = static_cast<float>(at.y);
    if (is_cube(array.kind)) {
        const auto side = static_cast<std::int32_t>(extent.width);
        const detail::CubeDirection direction = detail::direction_on_face(place.face, middle_x, middle_y, side);
        point.x = direction.x;
        point.y = direction.y;
        point.z = direction.z;
    } else {
        const auto coordinate = [&](float texel, std::size_t size) {
            return sampler.normalized_coordinates ? texel / static_cast<float>(size) : texel;
        };
        point.x = coordinate(middle_x, extent.width);
        point.y = coordinate(middle_y, extent.height);
        point.z = coordinate(static_cast<float>(place.slice) + 0.5f, extent.depth);
    }
    const FetchOperation operation = array.levels > 1 ? FetchOperation::lod : FetchOperation::plain;
    return sample(document.texture(sampler, place.plane), std::span(&point, 1), {.operation = operation})
        .texels.front();
}

std::array<int, 3> displayed(Scene scene, const Place& place, std::size_t x, std::size_t y, const StillWanted& wanted) {
    scene.session.place = place;
    scene.session.layout = Layout::single;
    scene.session.compare.mode = CompareMode::none;
    scene.session.lod_plane.shown = false;
    scene.session.view = {1, {static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5}};
    scene.session.fits = false;
    scene.width = scene.height = 1;
    const std::uint32_t pixel = render(scene, {0, 0, 1, 1}, wanted).front();
    return {static_cast<int>(pixel >> 16 & 255), static_cast<int>(pixel >> 8 & 255), static_cast<int>(pixel & 255)};
}

}  // namespace

Sampler sampler_of(const Session& session, const Document& document) {
    return session.sampler ? *session.sampler : document.standard_sampler(session.place.plane);
}

InspectedTexel inspect_texel(const Scene& scene, const Place& place, std::size_t x, std::size_t y,
                             const StillWanted& wanted) {
    const Document& document = *scene.shown;
    InspectedTexel out{.place = document.clamped(place)};
    out.extent = document.extent(out.place);
    out.x = std::min(x, out.extent.width - 1);
    out.y = std::min(y, out.extent.height - 1);
    const ArrayInfo& array = document.info(out.place.plane);
    out.kind = array.kind;
    out.format = array.format;
    out.channels = info(array.format).channels;
    out.halvings = document.halvings(out.place);
    const std::vector<std::byte> bytes = stored_bytes(document, out.place, out.x, out.y, wanted);
    out.stored = stored_channels(array.format, bytes);
    out.bytes = byte_words(bytes);
    try {
        const Position middle{static_cast<double>(out.x) + 0.5, static_cast<double>(out.y) + 0.5};
        out.sampled = sampled(document, sampler_of(scene.session, document), {out.place, middle});
    } catch (const std::exception& error) {
        out.sampling_problem = error_words(error);
    }
    try {
        out.displayed = displayed(scene, out.place, out.x, out.y, wanted);
    } catch (const std::exception& error) {
        out.display_problem = error_words(error);
    }
    return out;
}

const char* face_name(int face) {
    constexpr std::array<const char*, 6> kNames{"+x", "-x", "+y", "-y", "+z", "-z"};
    return kNames[static_cast<std::size_t>(std::clamp(face, 0, 5))];
}

std::string place_words(const Document& document, const Place& place, std::size_t x, std::size_t y) {
    const ArrayInfo& array = document.whole(place.plane);
    std::string out = fmt::format("({}, {})", x, y);
    if (array.levels > 1) out += fmt::format(", level {}", place.level);
    if (is_layered(array.kind)) out += fmt::format(", {} {}", is_cube(array.kind) ? "cube" : "layer", place.layer);
    if (is_cube(array.kind)) out += fmt::format(", face {}", face_name(place.face));
    if (array.kind == ArrayKind::array_3d) out += fmt::format(", slice {}", place.slice);
    if (document.is_planar()) out += place.plane == 0 ? ", luma" : ", chroma";
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
            out += fmt::format("  sampled {} {}", channel_words(texel.sampled, channel, texel.format),
                               channel_hexadecimal(texel.sampled, channel));
        }
        if (texel.display_problem.empty() && channel < 3) out += fmt::format("  shown {}", texel.displayed[index]);
        out += '\n';
    }
    return out;
}

}  // namespace texton::viewer
