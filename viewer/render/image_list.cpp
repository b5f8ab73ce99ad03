#include "viewer/render/image_list.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "viewer/model/file_reading.h"
#include "viewer/model/frames.h"
#include "viewer/render/render.h"

namespace texton::viewer {

void move_image(Session& session, std::size_t from, std::size_t to) {
    if (from == to || from >= session.images.size() || to >= session.images.size()) return;
    const auto subresource = [&](std::size_t index) {
        return session.images.begin() + static_cast<std::ptrdiff_t>(index);
    };
    if (from < to) {
        std::rotate(subresource(from), subresource(from + 1), subresource(to + 1));
    } else {
        std::rotate(subresource(to), subresource(from), subresource(from + 1));
    }
    const auto moved = [&](std::size_t index) {
        if (index == from) return to;
        if (from < index && index <= to) return index - 1;
        return to <= index && index < from ? index + 1 : index;
    };
    session.current = moved(session.current);
    if (session.reference) session.reference = moved(*session.reference);
    for (std::size_t& input : session.kernel.more_inputs) input = moved(input);
}

void close_image(Session& session, std::size_t index) {
    if (index >= session.images.size()) return;
    session.images.erase(session.images.begin() + static_cast<std::ptrdiff_t>(index));
    const auto follow = [index](std::size_t& named) {
        if (named > index) --named;
    };
    // The next image becomes the current one, or the previous one if the last image was closed.
    follow(session.current);
    if (session.current >= session.images.size() && session.current > 0) --session.current;
    if (session.reference == index) session.reference.reset();
    if (session.reference) follow(*session.reference);
    auto& inputs = session.kernel.more_inputs;
    if (session.images.empty() || std::ranges::find(inputs, index) != inputs.end()) session.kernel = {};
    for (std::size_t& input : inputs) follow(input);
}

Thumbnail thumbnail(const std::shared_ptr<const Document>& document, int side) {
    const std::shared_ptr<const Document> loaded =
        document->as_loaded();  // sufficient for a thumbnail, and reads no files
    const Extent extent = loaded->extent({});
    const double zoom = static_cast<double>(side) / static_cast<double>(std::max(extent.width, extent.height));
    const auto pixels = [zoom](std::size_t texels) {
        return std::max(1, static_cast<int>(std::lround(static_cast<double>(texels) * zoom)));
    };
    Thumbnail out{.width = pixels(extent.width), .height = pixels(extent.height)};
    Scene scene;
    scene.shown = loaded;
    scene.width = out.width;
    scene.height = out.height;
    scene.session.view = {zoom, {static_cast<double>(extent.width) / 2, static_cast<double>(extent.height) / 2}};
    scene.session.fits = false;
    out.pixels = render(scene, {0, 0, out.width, out.height});
    out.text = array_text(document->file().info());
    if (document->frames() > 1) out.text += fmt::format("\n{} frames", document->frames());
    return out;
}

Thumbnail thumbnail(const Source& source, int side, std::size_t max_bytes) {
    const Source files = files_of(source).source;
    const ImageFile image = open_image(files.paths, files.options, file_reading());
    if (packed_bytes(image.info()) > max_bytes) return {.text = array_text(image.info())};
    return thumbnail(Document::open(source, Device::cpu()), side);
}

std::string array_text(const ArrayInfo& array) {
    std::string out = fmt::format("{} of {}", to_string(array.extent), name(array.format));
    if (array.kind != ArrayKind::array_2d) out += fmt::format(", {}", name(array.kind));
    if (is_layered(array.kind)) out += fmt::format(" of {}", array.layers);
    if (array.levels > 1) out += fmt::format(", {} levels", array.levels);
    return out;
}

}  // namespace texton::viewer
