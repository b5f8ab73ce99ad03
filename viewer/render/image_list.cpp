#include "viewer/render/image_list.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include <texton/copy.h>

#include "viewer/model/file_reading.h"
#include "viewer/model/frames.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/reduced_image.h"
#include "viewer/render/render.h"
#include "viewer/render/stored_texels.h"

namespace texton::viewer {
namespace {

// Returns how often a large 2D image without levels is halved while it is read, so that it is not smaller than the
// thumbnail. Returns 0 for other images, and for formats whose range on the screen is their own.
int halvings_for(const ArrayInfo& array, int side) {
    constexpr std::size_t kLarge = std::size_t{4} << 20;  // bytes
    if (packed_bytes(array) < kLarge || array.kind != ArrayKind::array_2d || array.levels > 1 ||
        plane_count(array.format) > 1 || is_whole_numbers(array.format) || info(array.format).kind == FormatKind::snorm)
        return 0;
    const std::size_t longer = std::max(array.extent.width, array.extent.height);
    int halvings = 0;
    while (halvings < max_halvings(array) && longer >> (halvings + 1) >= static_cast<std::size_t>(side)) ++halvings;
    return halvings;
}

// The rows of an image that are read for a thumbnail: bands of `squares` squares of texels, of each of which `rows`
// rows are read, from row `first` on. A granule of the file is decoded once, and of large squares only one, near the
// center.
struct Bands {
    std::size_t square = 1;  // texels
    std::size_t squares = 1;
    std::size_t rows = 1;
    std::size_t first = 0;
};

Bands bands_of(const ImageFile& image, int halvings) {
    constexpr std::size_t kMinRows = 8;
    const std::size_t square = std::size_t{1} << halvings;
    const std::size_t granule = std::max<std::size_t>(image.access().granule.height, 1);
    if (granule > square) return {square, (granule + square - 1) / square, square};
    const std::size_t rows = std::min(square, std::max(granule, kMinRows));
    return {square, 1, rows, (square - rows) / 2 / granule * granule};
}

// Adds the values of texels to the sums of the squares that contain them.
void add_squares(std::span<const Color> texels, std::size_t width, std::size_t square, std::span<Color> sums) {
    for (std::size_t row = 0; row < texels.size(); row += width) {
        for (std::size_t x = 0; x < sums.size(); ++x) {
            Color sum = sums[x];
            for (std::size_t i = row + x * square; i < row + (x + 1) * square; ++i) {
                for (std::size_t channel = 0; channel < sum.size(); ++channel) sum[channel] += texels[i][channel];
            }
            sums[x] = sum;
        }
    }
}

// Returns an array with the means of an image of this format. It has as many channels, and is shown in the same way.
Array array_of(const std::vector<Color>& means, Format format, const Extent& extent) {
    const bool is_unorm = info(format).kind == FormatKind::unorm;
    const Format made = with_channels(is_unorm ? Format::r16_unorm : Format::r32_float, info(format).channels);
    const std::size_t channels = info(made).channels;
    std::vector<float> floats;
    std::vector<std::uint16_t> codes;
    for (const Color& mean : means) {
        for (std::size_t i = 0; i < channels; ++i) {
            if (is_unorm) {
                codes.push_back(static_cast<std::uint16_t>(std::lround(std::clamp(mean[i], 0.0f, 1.0f) * 65535)));
            } else {
                floats.push_back(mean[i]);
            }
        }
    }
    Array out(Device::cpu(), {.format = made, .extent = extent});
    const std::span<const std::byte> bytes =
        is_unorm ? std::as_bytes(std::span(codes)) : std::as_bytes(std::span(floats));
    copy(out.view(), host_view(bytes.data(), made, extent));
    return out;
}

// Returns a reduced copy of a 2D image. Each texel is the mean of texels of a square.
Array reduced(const ImageFile& image, int halvings, const Bands& bands, const CancellationToken& token) {
    const ArrayInfo& whole = image.info();
    const Extent extent = halved(whole.extent, halvings);
    std::vector<Color> means(extent.width * extent.height);
    std::vector<std::byte> bytes;
    std::vector<Color> texels;
    for (std::size_t y = 0; y < extent.height; y += bands.squares) {
        throw_if_canceled(token);
        const std::size_t squares = std::min(bands.squares, extent.height - y);
        const Extent band{whole.extent.width, squares * bands.rows};
        bytes.resize(packed_bytes(whole.format, band));
        texels.resize(band.width * band.height);
        Subresource part;
        part.region = Region{{0, y * bands.square + bands.first, 0}, band};
        image.read(part, bytes);
        decode(whole.format, bytes, texels);
        for (std::size_t i = 0; i < squares; ++i) {
            const std::size_t count = band.width * bands.rows;
            add_squares(std::span(texels).subspan(i * count, count), band.width, bands.square,
                        std::span(means).subspan((y + i) * extent.width, extent.width));
        }
    }
    const float count = static_cast<float>(bands.square * bands.rows);
    for (Color& mean : means) {
        for (float& channel : mean) channel /= count;
    }
    return array_of(means, whole.format, extent);
}

std::string description(const ArrayInfo& array, std::size_t frames) {
    std::string out = array_text(array);
    if (frames > 1) out += fmt::format("\n{} frames", frames);
    return out;
}

}  // namespace

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
    for (Annotation& annotation : session.annotations) annotation.image = moved(annotation.image);
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
    std::erase_if(session.annotations, [index](const Annotation& annotation) { return annotation.image == index; });
    for (Annotation& annotation : session.annotations) follow(annotation.image);
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
    if (document->live_frame() > 0) {
        // All texels of a 4K frame take longer to read than the next frame needs to arrive.
        const PlanePixel origin = canvas_origin(scene);
        const Values values = values_of(scene, {origin.x, origin.y, out.width, out.height}, Quality::quick);
        out.pixels.resize(values.values.size());
        show_values(values, scene.session.display, out.pixels);
    } else {
        out.pixels = render(scene, {0, 0, out.width, out.height});
    }
    out.text = description(document->file().info(), document->frames());
    return out;
}

Thumbnail thumbnail(const Source& source, int side, std::size_t max_bytes, const CancellationToken& token) {
    const FrameFiles files = files_of(source);
    for (const std::filesystem::path& path : files.source.paths) refuse_special_file(path);
    const ImageFile image = open_image(files.source.paths, files.source.options, file_reading());
    const int halvings = halvings_for(image.info(), side);
    const Bands bands = halvings > 0 ? bands_of(image, halvings) : Bands{};
    const Extent band{image.info().extent.width, bands.squares * bands.rows};
    if (halvings > 0 && packed_bytes(image.info().format, band) <= max_bytes) {
        Thumbnail out = thumbnail(Document::of(reduced(image, halvings, bands, token), title_of(source)), side);
        out.text = description(image.info(), std::max(files.frames, image.metadata().frames));
        return out;
    }
    if (packed_bytes(image.info()) > max_bytes) return {.text = array_text(image.info())};
    const OnImageProgress progress = [&token](const ImageProgress&) { return !token.canceled(); };
    return thumbnail(Document::open(source, Device::cpu(), progress), side);
}

std::string array_text(const ArrayInfo& array) {
    std::string out = fmt::format("{} of {}", to_string(array.extent), name(array.format));
    if (array.kind != ArrayKind::array_2d) out += fmt::format(", {}", name(array.kind));
    if (is_layered(array.kind)) out += fmt::format(" of {}", array.layers);
    if (array.levels > 1) out += fmt::format(", {} levels", array.levels);
    return out;
}

}  // namespace texton::viewer
