#include "viewer/render/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arrays/unit/cube_map.h"
#include "viewer/model/reduced_image.h"
#include "viewer/model/streamed_image.h"
#include "viewer/render/differences.h"
#include "viewer/render/planar_color.h"
#include "viewer/render/render_parts.h"
#include "viewer/render/streamed_texels.h"

namespace texton::viewer {
namespace {

using detail::Axis;
using detail::Source;

constexpr int kEndless = 1 << 29;

bool is_wipe(const Scene& scene) {
    return scene.session.compare.mode == CompareMode::wipe && scene.against && scene.shown;
}

bool is_difference(const Scene& scene) {
    const CompareMode mode = scene.session.compare.mode;
    return mode != CompareMode::none && mode != CompareMode::wipe && scene.against && scene.shown;
}

bool is_sphere(const Scene& scene) { return layout_of(scene.session, *scene.shown) == Layout::sphere; }

// A perspective plane is available for 2D images only.
bool is_plane(const Scene& scene) {
    const ArrayKind kind = scene.shown->info().kind;
    return scene.session.lod_plane.shown && scene.session.layout == Layout::single &&
           (kind == ArrayKind::array_2d || kind == ArrayKind::layered_2d);
}

std::shared_ptr<const Document> in_color(const std::shared_ptr<const Document>& document, const Session& session) {
    const bool color = document->is_planar() && session.subresource.plane == 0 && !session.display.luminance;
    return color ? color_of(document) : document;
}

Source source_of(const Scene& scene, bool of_against) {
    const Session& session = scene.session;
    const bool samplers = scene.session.compare.against == Against::sampler && is_difference(scene);
    Source out;
    out.document = in_color(of_against ? scene.against : scene.shown, session);
    const std::optional<Sampler>& chosen = samplers && of_against ? session.second_sampler : session.sampler;
    out.sampler =
        chosen.value_or(out.document->standard_sampler(out.document->is_planar() ? session.subresource.plane : 0));
    out.reading = samplers || is_plane(scene) ? Reading::sampled : session.reading;
    if (!chosen && is_sphere(scene)) out.sampler.seamless_cubemap = true;
    if (!chosen && is_plane(scene)) {
        out.sampler.normalized_coordinates = true;
        out.sampler.address[0] = out.sampler.address[1] = AddressMode::wrap;
    }
    return out;
}

Format format_of(const Source& source, const Session& session) {
    return source.document->info(source.document->is_planar() ? session.subresource.plane : 0).format;
}

Values empty_values(const PixelBox& part, Quality quality) {
    const auto pixels = static_cast<std::size_t>(part.width) * static_cast<std::size_t>(part.height);
    Values out;
    out.part = part;
    out.values.resize(pixels);
    out.seen.resize(pixels);
    out.quality = quality;
    return out;
}

struct Axes {
    Axis across, down;
    bool is_empty() const { return across.pixels.empty() || down.pixels.empty(); }
};

Axes axes_of(const Part& part, double zoom, const PixelBox& box, Extent texels, Quality quality) {
    return {detail::axis_of({box.x, box.width, zoom, part.at.x, part.texels_across(), texels.width}, quality),
            detail::axis_of({box.y, box.height, zoom, part.at.y, part.texels_down(), texels.height}, quality)};
}

// Returns the halved extent of a subresource, or the extent in the array if the array is halved as often or less.
Extent halved_extent(const Document& document, const SubresourceIndex& subresource, int times) {
    if (times < document.halvings(subresource)) return halved(document.extent(subresource), times);
    return document.as_loaded()->extent(document.in_array(subresource));
}

// Returns the part with halved texels. Texels beyond the last whole one are excluded.
Part halved_part(const Document& document, const Part& part, int times) {
    if (times == 0) return part;
    Part out = part;
    out.extent = halved_extent(document, part.subresource, times);
    const auto stretched = [times](double length, std::size_t before, std::size_t now) {
        return length * static_cast<double>(now << times) / static_cast<double>(before);
    };
    out.width = stretched(part.width, part.extent.width, out.extent.width);
    out.height = stretched(part.height, part.extent.height, out.extent.height);
    return out;
}

// Returns the level of a streamed image, relative to the subresource of the part, of which a pixel covers one texel to
// almost two in the direction with more detail. Returns nothing if the array has this level.
std::optional<int> streamed_level(const Document& document, const Part& part, double zoom) {
    if (document.streamed() == nullptr) return {};
    const double texels = std::min(part.texels_across(), part.texels_down()) / zoom;
    const int coarser = texels < 2 ? 0 : std::ilogb(texels);
    return coarser < document.halvings(part.subresource) ? std::optional(coarser) : std::nullopt;
}

// Returns true if a pixel covers less than one texel of the array and the files have more texels. Streamed images are
// not read as a whole: comparisons use their array.
bool needs_files(const Document& document, const Part& part, double zoom) {
    if (document.streamed() != nullptr) return false;
    const double texels = std::min(part.texels_across(), part.texels_down()) / zoom;
    return document.is_finer_in_files(part.subresource) &&
           texels < std::ldexp(1.0, document.halvings(part.subresource));
}

// Two documents that are not halved alike have common texels only in the files.
bool needs_files(const Document& shown, const Document* against, const Part& part, double zoom) {
    if (needs_files(shown, part, zoom)) return true;
    if (against == nullptr || shown.streamed() != nullptr || against->streamed() != nullptr) return false;
    return needs_files(*against, part, zoom) || shown.halvings(part.subresource) != against->halvings(part.subresource);
}

class Fetching {
public:
    Fetching(const Scene& scene, const CancellationToken& token, Values& out)
        : session_(scene.session), token_(token), out_(out), shown_(source_of(scene, false)) {
        out.meaning = meaning_of(format_of(shown_, session_));
        out.colors = file_colors(*scene.shown);
        if (!is_difference(scene)) return;
        against_ = source_of(scene, true);
        const bool as_stored = shown_.reading == Reading::stored && !is_sphere(scene) && !is_plane(scene);
        differences_.emplace(session_.compare.mode, format_of(shown_, session_), format_of(*against_, session_),
                             as_stored);
        out.meaning = differences_->meaning();
    }

    void sphere() {
        sampled([&](const Source& source, Values& values) { sample_sphere(source, session_, values); });
    }
    void plane() {
        sampled([&](const Source& source, Values& values) { sample_plane(source, session_, values); });
    }
    void part(const Part& part) {
        if (against_ && against_->document->clamped(part.subresource) != part.subresource)
            return;  // the other side has no such subresource
        if (shown_.reading == Reading::stored) return stored(part);
        sampled([&](const Source& source, Values& values) {
            const Document& document = *source.document;
            Part of_array = halved_part(document, part, document.halvings(part.subresource));
            of_array.subresource = document.in_array(part.subresource);
            const double zoom = session_.view.zoom;
            const Axes axes = axes_of(of_array, zoom, values.part, of_array.extent, Quality::quick);
            if (!axes.is_empty()) sample_part(source, of_array, axes.across, axes.down, zoom, values);
        });
    }

private:
    // Uses the texels of the files, or those of the array with the higher resolution.
    void stored(const Part& part) {
        const double zoom = session_.view.zoom;
        if (const auto level = streamed_level(*shown_.document, part, zoom); level && !against_)
            return streamed(part, *level);
        const Document& shown = *shown_.document;
        const Document* const against = against_ ? against_->document.get() : nullptr;
        const bool finer = needs_files(shown, against, part, zoom);
        const bool from_files = finer && out_.quality == Quality::full;
        int times = from_files ? 0 : shown.halvings(part.subresource);
        if (against != nullptr) times = std::min(times, against->halvings(part.subresource));
        const Part seen = halved_part(shown, part, times);
        Extent texels = seen.extent;
        if (against != nullptr) {
            const Extent other = halved_extent(*against, part.subresource, times);
            texels = {std::min(texels.width, other.width), std::min(texels.height, other.height)};
        }
        const Axes axes = axes_of(seen, zoom, out_.part, texels, out_.quality);
        if (axes.is_empty()) return;
        if (axes.across.scale <= 1 && axes.down.scale <= 1 && (!finer || from_files)) out_.quality = Quality::full;
        const auto of_shown = rows_of(shown_, part.subresource, times, from_files);
        if (against == nullptr) return reduce_rows(*of_shown, axes.across, axes.down, false, out_);
        const auto of_other = rows_of(*against_, part.subresource, times, from_files);
        const DifferingTexels both(*of_shown, *of_other, *differences_);
        reduce_rows(both, axes.across, axes.down, out_.meaning.kind == ValueKind::steps, out_);
    }

    void streamed(const Part& part, int coarser) {
        const Part seen = halved_part(*shown_.document, part, coarser);
        const Axes axes = axes_of(seen, session_.view.zoom, out_.part, seen.extent, Quality::full);
        if (axes.is_empty()) return;
        SubresourceIndex level = part.subresource;
        level.level += coarser;
        const StreamedTexels texels(shown_.document, level);
        const Quality former = streams_ ? out_.quality : Quality::full;
        streams_ = true;
        out_.quality = Quality::full;
        reduce_rows(texels, axes.across, axes.down, false, out_);
        out_.quality = texels.is_final() ? former : Quality::quick;
    }

    std::unique_ptr<TexelRows> rows_of(const Source& source, const SubresourceIndex& subresource, int times,
                                       bool from_files) const {
        if (from_files) return std::make_unique<StoredTexels>(source.document, subresource, token_);
        return std::make_unique<RepeatedTexels>(*source.document, subresource,
                                                source.document->halvings(subresource) - times);
    }

    template <class Sample>
    void sampled(const Sample& sample) {
        if (!against_) return sample(shown_, out_);
        // Each side needs its own values, because `out_` already contains the values of other parts.
        Values shown = empty_values(out_.part, out_.quality), other = shown;
        sample(shown_, shown);
        sample(*against_, other);
        differences_->apply(shown.values, other.values);
        for (std::size_t i = 0; i < shown.values.size(); ++i) {
            if (!shown.seen[i] || !other.seen[i]) continue;
            out_.values[i] = shown.values[i];
            out_.seen[i] = 1;
        }
        out_.quality = std::min(shown.quality, other.quality);
    }

    const Session& session_;
    const CancellationToken& token_;
    Values& out_;
    Source shown_;
    std::optional<Source> against_;
    std::optional<Differences> differences_;
    bool streams_ = false;  // a part was streamed
};

bool touches(const PixelBox& box, const Part& part, double zoom) {
    return part.at.x * zoom < box.x + box.width && (part.at.x + part.width) * zoom > box.x &&
           part.at.y * zoom < box.y + box.height && (part.at.y + part.height) * zoom > box.y;
}

int tile_of(int pixel) { return pixel >= 0 ? pixel / kTileSide : -((kTileSide - 1 - pixel) / kTileSide); }

// Renders a box of the canvas plane to rows that are `pitch` pixels apart.
void render_side(const Scene& scene, const PixelBox& box, const CancellationToken& token, std::uint32_t* out,
                 std::size_t pitch) {
    std::vector<std::uint32_t> pixels(std::size_t{kTileSide} * kTileSide);
    for (int y = tile_of(box.y); y * kTileSide < box.y + box.height; ++y) {
        for (int x = tile_of(box.x); x * kTileSide < box.x + box.width; ++x) {
            const PixelBox tile{x * kTileSide, y * kTileSide, kTileSide, kTileSide};
            show_values(values_of(scene, tile, Quality::full, token), scene.session.display, pixels);
            const int left = std::max(tile.x, box.x), right = std::min(tile.x + kTileSide, box.x + box.width);
            for (int row = std::max(tile.y, box.y); row < std::min(tile.y + kTileSide, box.y + box.height); ++row) {
                const auto from = pixels.begin() + static_cast<long>(row - tile.y) * kTileSide + (left - tile.x);
                std::copy_n(from, right - left, out + static_cast<std::size_t>(row - box.y) * pitch + (left - box.x));
            }
        }
    }
}

}  // namespace

std::vector<std::uint32_t> render(const Scene& scene, const PixelBox& part, const CancellationToken& token) {
    const auto width = static_cast<std::size_t>(part.width);
    std::vector<std::uint32_t> out(width * static_cast<std::size_t>(part.height), kBackground);
    if (!scene.shown || part.width <= 0 || part.height <= 0) return out;
    const PlanePixel origin = canvas_origin(scene);
    const int column = std::clamp(wipe_column(scene), part.x, part.x + part.width);
    const int left = column - part.x;
    if (left > 0)
        render_side(shown_side(scene), {origin.x + part.x, origin.y + part.y, left, part.height}, token, out.data(),
                    width);
    if (left < part.width)
        render_side(against_side(scene), {origin.x + column, origin.y + part.y, part.width - left, part.height}, token,
                    out.data() + left, width);
    return out;
}

bool reads_files(const Scene& scene) {
    if (!scene.shown || is_plane(scene) || is_sphere(scene)) return false;
    const detail::Source shown = source_of(scene, false);
    std::shared_ptr<const Document> against;
    if (is_difference(scene)) against = source_of(scene, true).document;
    if (shown.reading == Reading::sampled) return false;
    if (shown.document->halvings() == 0 && (!against || against->halvings() == 0)) return false;
    const std::vector<Part> parts = parts_of(scene.session, *scene.shown);
    return std::ranges::any_of(parts, [&](const Part& part) {
        return needs_files(*shown.document, against.get(), part, scene.session.view.zoom);
    });
}

std::vector<StreamedPart> streamed_parts(const Scene& scene) {
    if (!scene.shown || scene.shown->streamed() == nullptr || is_plane(scene) || is_sphere(scene) ||
        is_difference(scene) || scene.session.reading != Reading::stored)
        return {};
    const PlanePixel origin = canvas_origin(scene);
    // Tiles of the canvas are rendered as a whole.
    const auto along = [](int first, int count) {
        const int begin = tile_of(first) * kTileSide;
        return std::pair(begin, (tile_of(first + std::max(count, 1) - 1) + 1) * kTileSide - begin);
    };
    const auto [x, width] = along(origin.x, scene.width);
    const auto [y, height] = along(origin.y, scene.height);
    const PixelBox tiles{x, y, width, height};
    const double zoom = scene.session.view.zoom;
    std::vector<StreamedPart> out;
    for (const Part& part : parts_of(scene.session, *scene.shown)) {
        const std::optional<int> coarser = streamed_level(*scene.shown, part, zoom);
        if (!coarser || !touches(tiles, part, zoom)) continue;
        const Part seen = halved_part(*scene.shown, part, *coarser);
        const Axes axes = axes_of(seen, zoom, tiles, seen.extent, Quality::full);
        if (axes.is_empty()) continue;
        const TexelBox box{axes.across.first_texel(), axes.down.first_texel(),
                           axes.across.end_texel() - axes.across.first_texel(),
                           axes.down.end_texel() - axes.down.first_texel()};
        out.push_back({part.subresource.level + *coarser, streamed_layer(scene.shown->whole(), part.subresource), box});
    }
    return out;
}

Values values_of(const Scene& scene, const PixelBox& plane_part, Quality quality, const CancellationToken& token) {
    Values out = empty_values(plane_part, quality);
    if (!scene.shown) return out;
    Fetching fetching(scene, token, out);
    if (is_plane(scene)) {
        fetching.plane();
    } else if (is_sphere(scene)) {
        fetching.sphere();
    } else {
        for (const Part& part : parts_of(scene.session, *scene.shown)) {
            if (touches(plane_part, part, scene.session.view.zoom)) fetching.part(part);
        }
    }
    return out;
}

void show_values(const Values& values, const Display& display, std::span<std::uint32_t> pixels,
                 const TableUse* tables) {
    const Screen screen(display, values.meaning, values.colors, tables);
    screen.show_rows(values.values, static_cast<std::size_t>(values.part.width), values.part.x, values.part.y, pixels);
    for (std::size_t i = 0; i < values.seen.size(); ++i) {
        if (!values.seen[i]) pixels[i] = kBackground;
    }
}

Scene shown_side(const Scene& scene) {
    Scene out = scene;
    if (!is_wipe(scene)) return out;
    out.against = nullptr;
    out.session.compare.mode = CompareMode::none;
    if (scene.session.compare.against == Against::sampler) out.session.reading = Reading::sampled;
    return out;
}

Scene against_side(const Scene& scene) {
    Scene out = shown_side(scene);
    if (!is_wipe(scene)) return out;
    out.shown = scene.against;
    if (scene.session.compare.against == Against::sampler) out.session.sampler = scene.session.second_sampler;
    return out;
}

int wipe_column(const Scene& scene) {
    if (!is_wipe(scene)) return scene.width;
    return static_cast<int>(std::lround(std::clamp(scene.session.compare.wipe, 0.0, 1.0) * scene.width));
}

PlanePixel canvas_origin(const Scene& scene) {
    const ViewState& view = scene.session.view;
    // A view of a session file may lie far outside of the image.
    const auto pixel = [](double at) {
        return static_cast<int>(std::llround(std::clamp<double>(at, -kEndless, kEndless)));
    };
    return {pixel(view.center.x * view.zoom - scene.width / 2.0),
            pixel(view.center.y * view.zoom - scene.height / 2.0)};
}

PixelBox plane_box(const Scene& scene) {
    if (!scene.shown) return {};
    if (is_plane(scene) || is_sphere(scene)) return {-kEndless, -kEndless, 2 * kEndless, 2 * kEndless};
    const Extent extent = canvas_extent(scene);
    const double zoom = scene.session.view.zoom;
    const auto pixels = [zoom](std::size_t texels) {
        return static_cast<int>(std::min(std::ceil(static_cast<double>(texels) * zoom), 2.0 * kEndless));
    };
    return {0, 0, pixels(extent.width), pixels(extent.height)};
}

Extent canvas_extent(const Scene& scene) { return scene.shown ? extent_of(scene.session, *scene.shown) : Extent{1, 1}; }

std::optional<SeenTexel> texel_at(const Scene& scene, Position pixel) {
    if (!scene.shown) return std::nullopt;
    const Session& session = scene.session;
    const PlanePixel origin = canvas_origin(scene);
    const int x = origin.x + static_cast<int>(std::floor(pixel.x)),
              y = origin.y + static_cast<int>(std::floor(pixel.y));
    SubresourceIndex subresource = scene.shown->clamped(session.subresource);
    const Extent extent = scene.shown->extent(subresource);
    if (is_plane(scene)) {
        const auto shares = detail::plane_shares(session.lod_plane, extent, session.view.zoom, x, y);
        if (!shares) return std::nullopt;
        const auto within = [](double share, std::size_t texels) {
            return (share - std::floor(share)) * static_cast<double>(texels);
        };
        return SeenTexel{subresource, {within(shares->x, extent.width), within(shares->y, extent.height)}};
    }
    if (is_sphere(scene)) {
        const std::array<float, 3> d = detail::sphere_direction(session, x, y);
        const texton::detail::CubePoint point = texton::detail::project_to_cube(d[0], d[1], d[2]);
        subresource.face = point.face;
        const auto along = [&](float u) {
            const auto side = static_cast<double>(extent.width);
            return std::clamp((static_cast<double>(u) + 1) / 2, 0.0, 1 - 1e-9) * side;
        };
        return SeenTexel{subresource, {along(point.u), along(point.v)}};
    }
    for (const Part& part : parts_of(session, *scene.shown)) {
        const Position at{((x + 0.5) / session.view.zoom - part.at.x) * part.texels_across(),
                          ((y + 0.5) / session.view.zoom - part.at.y) * part.texels_down()};
        if (at.x >= 0 && at.y >= 0 && at.x < static_cast<double>(part.extent.width) &&
            at.y < static_cast<double>(part.extent.height))
            return SeenTexel{part.subresource, at};
    }
    return std::nullopt;
}

Color value_at(const Document& document, const SubresourceIndex& subresource, std::size_t x, std::size_t y) {
    const Extent extent = document.extent(subresource);
    Color out{};
    StoredTexels(document.shared_from_this(), subresource)
        .read({std::min(x, extent.width - 1), std::min(y, extent.height - 1), 1, 1}, {&out, 1});
    return out;
}

std::string words_of(const Document& document, const SubresourceIndex& subresource, std::size_t x, std::size_t y) {
    const SubresourceIndex there = document.clamped(subresource);
    const Extent extent = document.extent(there);
    const TexelBox texel{std::min(x, extent.width - 1), std::min(y, extent.height - 1), 1, 1};
    Color value{};
    const bool is_exact = StoredTexels(document.shared_from_this(), there).read_at_hand(texel, {&value, 1});
    if (!is_exact && document.streamed() != nullptr) {
        StreamedTexels(document.shared_from_this(), there).read(texel, {&value, 1});
    } else if (!is_exact) {
        StoredTexels(document.as_loaded(), document.in_array(there))
            .read(in_array(document, there, texel), {&value, 1});
    }
    const FormatInfo& format = info(document.info(there.plane).format);
    const bool integers = format.kind == FormatKind::uint || format.kind == FormatKind::sint;
    std::string out = is_exact ? "" : "about ";
    for (std::size_t i = 0; i < format.channels; ++i)
        out += fmt::format(fmt::runtime(integers ? "{}{:.0f}" : "{}{:.4f}"), i == 0 ? "" : "  ", value[i]);
    return out;
}

}  // namespace texton::viewer
