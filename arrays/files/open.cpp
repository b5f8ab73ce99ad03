#include <texton/image_file.h>
#include <texton/image_list.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/channels.h"
#include "arrays/files/convert.h"
#include "arrays/files/formats.h"
#include "arrays/files/frames.h"
#include "arrays/files/layout.h"
#include "arrays/files/oiio.h"
#include "arrays/files/reduced_jpeg.h"

// An image is opened in steps. Each step wraps the ImageSource of the previous step:
// 1. open each image of the files,
// 2. apply its window and its orientation,
// 3. cut cube layouts into faces,
// 4. stack all images,
// 5. select the levels, the layer and the face,
// 6. convert the format.

namespace texton {
namespace {

using detail::fail_file;
using detail::ImageSourcePtr;
using detail::OpenedImage;
using Paths = std::span<const std::filesystem::path>;

constexpr const char* kOpen = "texton::open_image";

[[noreturn]] void unsupported(const std::filesystem::path& path, const std::string& why, std::string remedy) {
    fail_file(kOpen, path, why, std::move(remedy), ErrorCode::unsupported);
}

// --- a single image ---

Extent sides(const ImageFrame& frame) {
    return {static_cast<std::size_t>(std::max(frame.width, 1)), static_cast<std::size_t>(std::max(frame.height, 1))};
}

// Returns the pieces of one level in its display window: the data window, surrounded by zeros.
std::vector<detail::Piece> display_pieces(const ImageSourcePtr& file, int level, const ImageFrame& data,
                                          const ImageFrame& display) {
    const std::size_t depth = file->level(level).depth;
    const std::int64_t x = std::int64_t{data.x} - display.x;
    const std::int64_t y = std::int64_t{data.y} - display.y;
    const auto [width, height, unused] = sides(display);
    const auto inside = [](std::int64_t at, std::size_t side) {
        return static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, static_cast<std::int64_t>(side)));
    };
    const std::size_t left = inside(x, width), right = inside(x + data.width, width);
    const std::size_t top = inside(y, height), bottom = inside(y + data.height, height);
    std::vector<detail::Piece> pieces;
    const auto zeros = [&](Offset to, std::size_t across, std::size_t down) {
        if (across > 0 && down > 0) pieces.push_back({.file = nullptr, .from = {{}, {across, down, depth}}, .to = to});
    };
    if (left == right || top == bottom) {
        zeros({}, width, height);
        return pieces;
    }
    zeros({}, width, top);
    zeros({0, top}, left, bottom - top);
    const Offset from{left - static_cast<std::size_t>(x), top - static_cast<std::size_t>(y)};
    pieces.push_back(
        {.file = file, .level = level, .from = {from, {right - left, bottom - top, depth}}, .to = {left, top}});
    zeros({right, top}, width - right, bottom - top);
    zeros({0, bottom}, width, height - bottom);
    return pieces;
}

ImageSourcePtr in_display_window(const OpenedImage& opened) {
    std::vector<Extent> levels;
    std::vector<std::vector<detail::Piece>> pieces;
    for (std::size_t level = 0; level < opened.data.size(); ++level) {
        const int index = static_cast<int>(level);
        pieces.push_back(display_pieces(opened.file, index, opened.data[level], opened.displays[level]));
        levels.push_back(sides(opened.displays[level]));
        levels.back().depth = opened.file->level(index).depth;
    }
    return detail::assemble(opened.file->format(), opened.file->srgb(), std::move(levels), std::move(pieces));
}

std::string words(const ImageFrame& frame) {
    return fmt::format("{} x {} at ({}, {})", frame.width, frame.height, frame.x, frame.y);
}

// Applies the window and the orientation.
OpenedImage shown(OpenedImage opened, const ImageOptions& options) {
    const ImageFrame& data = opened.metadata.data;
    const ImageFrame& display = opened.metadata.display;
    if (data != display) {
        const bool whole = options.window == ImageWindow::display;
        if (whole) opened.file = in_display_window(opened);
        opened.conversions.push_back(
            whole ? fmt::format("Texels of the display window, {}, that lie outside the data window, {}, are 0.",
                                words(display), words(data))
                  : fmt::format("Only the data window, {}, of the display window, {}, is read.", words(data),
                                words(display)));
    }
    const detail::Turn turn = detail::upright_turn(opened.metadata.orientation);
    if (options.upright && turn != detail::Turn{}) {
        opened.file = detail::turned(std::move(opened.file), turn);
        opened.conversions.push_back(
            fmt::format("The image is turned upright from Exif orientation {}.", opened.metadata.orientation));
    }
    return opened;
}

// --- all images ---

bool takes_parts(const std::optional<ArrayKind>& kind) {
    return kind && *kind != ArrayKind::array_1d && *kind != ArrayKind::array_2d;
}

// Returns the part with the name that the options contain. `first` is part 0.
std::pair<int, OpenedImage> named_part(detail::FileOpener& files, const std::filesystem::path& path, OpenedImage first,
                                       std::size_t parts, const ImageOptions& options) {
    std::vector<std::string> names;
    for (int part = 0; std::cmp_less(part, parts); ++part) {
        OpenedImage opened = part == 0 ? std::move(first) : files.open_file(path, {part, options.color});
        const auto& attributes = opened.metadata.attributes;
        const auto named = std::ranges::find(attributes, "oiio:subimagename", &ImageAttribute::name);
        if (named == attributes.end()) continue;
        if (named->value == options.part_name) {
            if (options.channels.empty()) return {part, std::move(opened)};
            return {part, files.open_file(path, {part, options.color, false, options.channels})};
        }
        names.push_back(named->value);
    }
    fail_file(kOpen, path, "has no part with the name " + detail::quoted(options.part_name),
              names.empty() ? "Its parts have no names." : detail::names_to_use("parts", options.part_name, names));
}

// Planar texels are not converted, and belong to no other kind of array.
void require_planar_options(const std::filesystem::path& path, bool is_only_file, const OpenedImage& opened,
                            const ImageOptions& options) {
    const std::string format{name(*opened.planar)};
    if (!is_only_file) {
        unsupported(path, fmt::format("contains {}, but was passed together with other files", format),
                    "Open one planar image at a time.");
    }
    if (!options.channels.empty() || (options.format && *options.format != *opened.planar)) {
        unsupported(path, fmt::format("contains {}, whose channels and format are not converted", format),
                    "Read the image as it is, and convert it with to_rgb().");
    }
    const bool planes_only = options.kind.value_or(ArrayKind::array_2d) == ArrayKind::array_2d && !options.cube &&
                             options.first_level == 0 && options.layer.value_or(0) == 0 && !options.face;
    if (!planes_only) {
        unsupported(path, fmt::format("contains {}, which is an array_2d without levels, layers and faces", format),
                    "Open the image without options that select other images.");
    }
}

// Returns what is opened of a file first.
detail::FilePart first_part(bool is_only_file, const ImageOptions& options) {
    const bool is_chosen = (!is_only_file || !takes_parts(options.kind)) && options.part_name.empty();
    // Other parts than the one with the name may lack the channels.
    return {is_chosen ? options.part : 0, options.color, is_only_file,
            options.part_name.empty() ? options.channels : std::vector<std::string>()};
}

// Opens one part of a file, or all parts if the kind of array takes several images.
void open_parts(detail::FileOpener& files, const std::filesystem::path& path, bool is_only_file,
                const ImageOptions& options, std::vector<OpenedImage>& all) {
    const detail::FilePart wanted = first_part(is_only_file, options);
    int part = wanted.part;
    OpenedImage opened = files.open_file(path, wanted);
    const std::size_t parts = opened.metadata.parts;
    const auto add = [&](OpenedImage image) {
        image.metadata.parts = parts;
        if (image.planar) {
            require_planar_options(path, is_only_file, image, options);
        } else if (!image.has_parts) {
            detail::choose_channels(path, image, options.channels);
        }
        all.push_back(shown(std::move(image), options));
    };
    const bool together = takes_parts(options.kind) && parts > 1;
    if (!together && opened.has_parts) {
        if (!options.part_name.empty()) {
            std::tie(part, opened) = named_part(files, path, std::move(opened), parts, options);
        } else if (part != options.part) {
            part = options.part;
            opened = files.open_file(path, {part, options.color, false, options.channels});
        }
    }
    add(std::move(opened));
    if (parts > 1 && !together)
        all.back().conversions.push_back(fmt::format("Only part {} of {} parts is read.", part, parts));
    for (part = 1; together && std::cmp_less(part, parts); ++part)
        add(files.open_file(path, {part, options.color, false, options.channels}));
}

std::vector<OpenedImage> open_all(detail::FileOpener& files, Paths paths, const ImageOptions& options) {
    std::vector<OpenedImage> all;
    if (paths.size() > 1) files.expect({paths.begin(), paths.end()}, first_part(false, options), true);
    for (const std::filesystem::path& path : paths) open_parts(files, path, paths.size() == 1, options, all);
    return all;
}

void require_alike(Paths paths, const std::vector<OpenedImage>& all) {
    const detail::ImageSource& first = *all.front().file;
    for (std::size_t index = 1; index < all.size(); ++index) {
        const detail::ImageSource& file = *all[index].file;
        const Extent extent = file.level(0);
        const bool alike = file.format() == first.format() && extent.width == first.level(0).width &&
                           extent.height == first.level(0).height;
        if (alike) continue;
        const bool parts = paths.size() == 1;
        fail_file(kOpen, paths[parts ? 0 : index],
                  fmt::format("{}has {} texels of {}, but the first image has {} texels of {}",
                              parts ? fmt::format("(part {}) ", index) : "", to_string(extent), name(file.format()),
                              to_string(first.level(0)), name(first.format())),
                  "All images must have the same width, height and format. Open only images that match.");
    }
}

// --- the resulting array ---

ImageSourcePtr stack_of(const std::vector<ImageSourcePtr>& files) {
    std::size_t levels = files.front()->levels().size();
    for (const ImageSourcePtr& file : files) {
        levels = std::min(levels, file->levels().size());
        for (std::size_t level = 1; level < levels; ++level) {
            const Extent here = file->levels()[level];
            const Extent there = files.front()->levels()[level];
            if (here.width != there.width || here.height != there.height) levels = level;
        }
    }
    return detail::stacked(files, static_cast<int>(levels));
}

struct Made {
    ImageSourcePtr file;
    ArrayInfo info;
    std::vector<std::string> conversions;
};

std::size_t slices_of(const Made& made) { return made.file->level(0).depth; }

CubeLayout cube_layout(const std::filesystem::path& path, const OpenedImage& first, const ImageOptions& options) {
    if (options.cube) return *options.cube;
    if (first.cube) return *first.cube;
    const Extent extent = first.file->level(0);
    if (extent.width == extent.height) return CubeLayout::faces;
    if (const auto layout = detail::layout_of(extent)) return *layout;
    unsupported(path, fmt::format("has a size of {}, which matches no cube layout", to_string(extent)),
                "Use six square images, a strip, a cross or an equirectangular image.");
}

ImageSourcePtr cut_into_faces(const std::filesystem::path& path, const OpenedImage& opened, CubeLayout layout,
                              std::size_t side) {
    const Extent extent = opened.file->level(0);
    if (layout == CubeLayout::faces) {
        if (extent.width == extent.height) return opened.file;
        unsupported(path, fmt::format("has a size of {}, but a face must be square", to_string(extent)),
                    "Specify the layout of the image.");
    }
    if (block_side(opened.file->format()) > 1) {
        unsupported(path, fmt::format("contains {}, which cannot be cut into faces", name(opened.file->format())),
                    "Store the image as a cubemap.");
    }
    const bool around = layout == CubeLayout::equirectangular || layout == CubeLayout::openexr_latlong;
    ImageSourcePtr faces =
        around ? detail::faces_around(opened.file, layout, side, path.string()) : detail::faces_of(opened.file, layout);
    if (!faces->levels().empty()) return faces;
    unsupported(
        path,
        fmt::format("has a size of {}, which is not a {} of six square faces", to_string(extent), detail::name(layout)),
        "Specify the layout of the image.");
}

void make_cube(Paths paths, const std::vector<OpenedImage>& all, const ImageOptions& options, Made& made) {
    const CubeLayout layout = cube_layout(paths[0], all.front(), options);
    std::vector<ImageSourcePtr> files;
    for (std::size_t index = 0; index < all.size(); ++index) {
        const std::filesystem::path& path = paths[paths.size() == 1 ? 0 : index];  // one file can have several parts
        files.push_back(cut_into_faces(path, all[index], layout, options.cube_side));
    }
    made.file = stack_of(files);
    if (layout != CubeLayout::faces) {
        const bool around = layout == CubeLayout::equirectangular || layout == CubeLayout::openexr_latlong;
        made.conversions.push_back(fmt::format("An image with the layout {} {} six faces.", detail::name(layout),
                                               around ? "is resampled to" : "is cut into"));
    }
    const std::size_t slices = slices_of(made);
    const bool fits = made.info.kind == ArrayKind::cubemap ? slices == 6 : slices % 6 == 0;
    if (!fits) {
        const std::string remedy = "A cubemap has six faces, and a cubemap_layered has a multiple of six.";
        const std::size_t first = files.front()->level(0).depth;
        for (std::size_t index = 1; index < files.size() && paths.size() > 1; ++index) {
            const std::size_t own = files[index]->level(0).depth;
            if (own != first)
                unsupported(paths[index], fmt::format("has {} faces, but {} has {}", own, paths[0].string(), first),
                            remedy);
        }
        unsupported(paths[0],
                    fmt::format("and the files opened with it have {} faces, but {} was requested", slices,
                                name(made.info.kind)),
                    remedy);
    }
    made.info.layers = slices / 6;
}

void make_flat(Paths paths, Made& made) {
    const Extent extent = made.file->level(0);
    const bool layered = made.info.kind == ArrayKind::layered_1d;
    if (extent.height > 1 && layered && extent.depth == 1 && block_side(made.file->format()) == 1) {
        made.file = detail::rows_as_slices(made.file);
        made.conversions.emplace_back("Each row becomes a layer.");
    } else if (extent.height > 1 || (!layered && extent.depth > 1)) {
        unsupported(paths[0],
                    fmt::format("has a size of {}, but {} was requested", to_string(extent), name(made.info.kind)),
                    "Request array_2d, layered_2d or array_3d.");
    }
    made.info.layers = slices_of(made);
}

void make(Paths paths, const std::vector<OpenedImage>& all, const ImageOptions& options, Made& made) {
    if (is_cube(made.info.kind)) {
        make_cube(paths, all, options, made);
        return;
    }
    std::vector<ImageSourcePtr> files;
    for (const OpenedImage& opened : all) files.push_back(opened.file);
    made.file = stack_of(files);
    if (is_flat(made.info.kind)) {
        make_flat(paths, made);
    } else if (made.info.kind == ArrayKind::layered_2d) {
        made.info.layers = slices_of(made);
    } else if (made.info.kind == ArrayKind::array_2d && slices_of(made) != 1) {
        unsupported(
            paths[0],
            fmt::format("and the files opened with it have {} slices, but array_2d was requested", slices_of(made)),
            "Request layered_2d or array_3d.");
    }
}

ArrayKind kind_of(Paths paths, const std::vector<OpenedImage>& all, const ImageOptions& options) {
    if (options.kind) return *options.kind;
    if (options.cube)
        return all.size() == 1 || *options.cube == CubeLayout::faces ? ArrayKind::cubemap : ArrayKind::cubemap_layered;
    if (paths.size() > 1) return ArrayKind::layered_2d;
    return all.front().kind.value_or(ArrayKind::array_2d);
}

// Removes levels that are not requested or that do not have half the size of the previous level.
void choose_levels(Paths paths, const ImageOptions& options, Made& made) {
    const auto there = static_cast<int>(made.file->levels().size());
    const int fit = detail::fitting_levels(made.file->levels(), made.info.kind == ArrayKind::array_3d);
    if (fit < there) {
        made.conversions.push_back(fmt::format("Levels from {} on are omitted: {} is not half of the previous level.",
                                               fit, to_string(made.file->level(fit))));
    }
    if (options.first_level < 0 || options.first_level >= fit) {
        fail_file(
            kOpen, paths[0],
            fmt::format("has {} levels, but level {} was requested as the first level", fit, options.first_level),
            "Levels are counted from 0.", ErrorCode::out_of_bounds,
            {{"level", static_cast<std::uint64_t>(options.first_level)}, {"count", static_cast<std::uint64_t>(fit)}});
    }
    const int left = fit - options.first_level;
    made.info.levels = options.levels > 0 ? std::min(options.levels, left) : left;
    made.file = detail::with_levels(made.file, options.first_level, made.info.levels);
}

// Returns the kind of a single layer, or of a slice of a volume.
ArrayKind kind_of_layer(ArrayKind kind) noexcept {
    switch (kind) {
        case ArrayKind::array_1d:
        case ArrayKind::layered_1d: return ArrayKind::array_1d;
        case ArrayKind::array_2d:
        case ArrayKind::layered_2d:
        case ArrayKind::array_3d: return ArrayKind::array_2d;
        case ArrayKind::cubemap:
        case ArrayKind::cubemap_layered: return ArrayKind::cubemap;
    }
    return kind;
}

// Keeps only the requested layer and face.
void choose_layer(Paths paths, const ImageOptions& options, Made& made) {
    if (!options.layer && !options.face) return;
    const ArrayKind kind = made.info.kind;
    const std::size_t faces = is_cube(kind) ? 6 : 1, count = slices_of(made) / faces;
    const bool volume = kind == ArrayKind::array_3d;
    const char* const item = volume ? "slice" : faces == 6 ? "cube" : "layer";
    const std::size_t layer = options.layer.value_or(0);
    if (layer >= count) {
        fail_file(kOpen, paths[0], fmt::format("has {} {}s, but {} {} was requested", count, item, item, layer),
                  "Indices start at 0.", ErrorCode::out_of_bounds, {{item, layer}, {"count", count}});
    }
    if (volume) made.file = detail::with_levels(made.file, 0, made.info.levels = 1);
    if (count > 1 && options.layer) {
        made.conversions.push_back(fmt::format("Only {} {} of {} {}s is read.", item, layer, count, item));
    }
    if (!options.face) {
        made.file = detail::slice_of(made.file, layer * faces, faces);
        made.info.kind = kind_of_layer(kind);
        return;
    }
    if (faces == 1) {
        unsupported(paths[0], fmt::format("is read as {}, which has no faces", name(kind)),
                    "Request faces of cubemaps only.");
    }
    if (count > 1 && !options.layer) {
        unsupported(paths[0], fmt::format("has {} cubes, but a single face was requested", count),
                    "Select the cube with ImageOptions::layer.");
    }
    if (*options.face < 0 || *options.face > 5) {
        fail_file(kOpen, paths[0], fmt::format("has 6 faces, but face {} was requested", *options.face),
                  "Faces are counted from 0 to 5: +x -x +y -y +z -z.", ErrorCode::out_of_bounds,
                  {{"face", static_cast<std::uint64_t>(*options.face)}, {"count", 6}});
    }
    made.file = detail::slice_of(made.file, layer * 6 + static_cast<std::size_t>(*options.face));
    made.info.kind = ArrayKind::array_2d;
    made.conversions.push_back(fmt::format("Only face {} of the cubemap is read.", *options.face));
}

void require_possible(Paths paths, const ArrayInfo& info) {
    std::size_t bytes = detail::kMaxImageBytes;
    try {
        bytes = packed_bytes(info);
    } catch (const Error&) {
        // The size does not fit in 64 bits, so the limit is exceeded.
    }
    if (bytes >= detail::kMaxImageBytes) detail::fail_too_large(kOpen, paths[0], info.extent);
}

// Returns an image of two planes.
ImageFile planar_image(const std::filesystem::path& path, const ArrayInfo& info, const ImageSourcePtr& luma,
                       const ImageSourcePtr& chroma, const ImageMetadata& metadata,
                       const std::vector<std::string>& conversions) {
    const auto plane = [&](const ImageSourcePtr& file) {
        auto state = std::make_shared<detail::ImageState>();
        state->info = {.format = file->format(), .extent = file->level(0)};
        state->file = file;
        state->metadata = metadata;
        state->name = path.string();
        return ImageFile(std::move(state));
    };
    auto state = std::make_shared<detail::ImageState>();
    state->info = info;
    state->planes = {plane(luma), plane(chroma)};
    state->conversions = conversions;
    state->metadata = metadata;
    state->name = path.string();
    return ImageFile(std::move(state));
}

// --- video files ---

bool is_video(const std::filesystem::path& path, const ImageOptions& options) {
    return options.raw || detail::has_y4m_extension(path) || detail::has_raw_extension(path);
}

// Returns the description of raw frames that the options or the name of the file contain.
RawFrames raw_frames(const std::filesystem::path& path, const ImageOptions& options) {
    if (options.raw) return *options.raw;
    std::optional<RawFrames> named = raw_frames_in_name(path);
    if (!named) {
        fail_file(kOpen, path, "has no header, and its name does not contain the size of its frames",
                  "Use ImageOptions::raw = 1920x1080:nv12, or a name like clip_1920x1080_nv12.yuv.",
                  ErrorCode::bad_argument);
    }
    named->frame = options.frame;
    return *named;
}

detail::OpenedFrame open_frame(detail::FileOpener& files, const std::filesystem::path& path,
                               const ImageOptions& options) {
    detail::OpenedFrame opened;
    std::size_t frame = options.frame;
    if (!options.raw && detail::has_y4m_extension(path)) {
        opened = files.open_y4m_frame(path, frame);
    } else {
        RawFrames raw = raw_frames(path, options);
        opened = files.open_raw_frame(path, raw);
        frame = std::exchange(raw.frame, 0);
        if (!options.raw) {
            opened.conversions.push_back(
                fmt::format("The file has no header; it is read as {}, from its name.", to_string(raw)));
        }
    }
    if (const std::size_t all = opened.metadata.frames; all > 1)
        opened.conversions.push_back(fmt::format("Only frame {} of {} frames is read.", frame, all));
    return opened;
}

ImageFile open_video(detail::FileOpener& files, Paths paths, const ImageOptions& options) {
    if (paths.size() != 1) {
        fail_file(kOpen, paths[1], "was passed together with a video file", "Open one video file at a time.",
                  ErrorCode::bad_argument);
    }
    const detail::OpenedFrame opened = open_frame(files, paths[0], options);
    if (!options.channels.empty() || (options.format && *options.format != opened.format)) {
        unsupported(paths[0],
                    fmt::format("has frames of {}, whose channels and format are not converted", name(opened.format)),
                    "Read the frames as they are, and convert them with to_rgb().");
    }
    return planar_image(paths[0], {.format = opened.format, .extent = opened.luma->level(0)}, opened.luma,
                        opened.chroma, opened.metadata, opened.conversions);
}

ImageFile open_files(detail::FileOpener& files, Paths paths, const ImageOptions& options) {
    if (is_video(paths[0], options)) return open_video(files, paths, options);
    const std::vector<OpenedImage> all = open_all(files, paths, options);
    const OpenedImage& first = all.front();
    if (first.planar) {
        return planar_image(paths[0], {.format = *first.planar, .extent = first.file->level(0)}, first.file,
                            first.chroma, first.metadata, first.conversions);
    }
    require_alike(paths, all);

    Made made;
    made.conversions = first.conversions;
    made.info.kind = kind_of(paths, all, options);
    make(paths, all, options, made);
    choose_levels(paths, options, made);
    choose_layer(paths, options, made);
    if (options.format) {
        const bool has_alpha = first.metadata.alpha != ImageAlpha::none;
        made.file =
            detail::converted(made.file, *options.format, options.bc, has_alpha, paths[0].string(), made.conversions);
    }
    made.info.format = made.file->format();
    made.info.extent = made.file->level(0);
    if (made.info.kind != ArrayKind::array_3d) made.info.extent.depth = 1;
    if (!is_layered(made.info.kind)) made.info.layers = 1;
    require_possible(paths, made.info);

    auto state = std::make_shared<detail::ImageState>();
    const bool untouched = !options.layer && !options.face &&
                           (!options.upright || detail::upright_turn(first.metadata.orientation) == detail::Turn{});
    state->in_place = made.info.kind == ArrayKind::array_2d && untouched && options.first_level == 0 &&
                      (options.window == ImageWindow::data || first.metadata.data == first.metadata.display);
    state->info = made.info;
    state->file = std::move(made.file);
    state->conversions = std::move(made.conversions);
    state->metadata = first.metadata;
    state->name = paths[0].string();
    return ImageFile(std::move(state));
}

}  // namespace

ImageFile open_image(const std::filesystem::path& path, const ImageOptions& options, const ReadOptions& reading) {
    return open_image(Paths(&path, 1), options, reading);
}

ImageFile open_image(Paths paths, const ImageOptions& options, const ReadOptions& reading) {
    if (paths.empty()) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kOpen,
                     .problem = "the list of paths is empty",
                     .remedy = "Pass at least one path."});
    }
    return detail::guarded(kOpen, paths[0], [&] { return open_files(*detail::file_opener(reading), paths, options); });
}

void detail::require_libjpeg(const char* object) {
    if (detail::has_libjpeg()) return;
    throw Error({.code = ErrorCode::unsupported,
                 .object = object,
                 .problem = "JPEG files cannot be decoded at a part of their size, because this build of Texton lacks "
                            "libjpeg",
                 .remedy = "Build Texton with TEXTON_JPEG=ON, or decode them in full (--jpeg full)."});
}

namespace {

// Opens JPEG files at a part of their size, in this process.
class ReducedFiles : public detail::FileOpener {
public:
    explicit ReducedFiles(Extent target) : target_(target) {}

    OpenedImage open_file(const std::filesystem::path& path, const detail::FilePart& wanted) override {
        OpenedImage opened = FileOpener::open_file(path, wanted);
        const Extent whole = opened.file->level(0);
        if (!wanted.channels.empty()) return opened;
        const unsigned divisor = detail::reduce_jpeg(path, target_, opened);
        if (divisor == 1 || (whole.width % divisor == 0 && whole.height % divisor == 0)) return opened;
        const detail::Turn turn = detail::upright_turn(opened.metadata.orientation);
        Extent size = opened.file->level(0);
        double width = static_cast<double>(whole.width) / divisor, height = static_cast<double>(whole.height) / divisor;
        if (turn.transposed) {
            std::swap(size.width, size.height);
            std::swap(width, height);
        }
        region_.emplace({turn.reversed_x ? static_cast<double>(size.width) - width : 0,
                         turn.reversed_y ? static_cast<double>(size.height) - height : 0, width, height});
        return opened;
    }
    // Returns ReducedImage::region of the file that was opened last.
    const std::optional<std::vector<double>>& region() const noexcept { return region_; }

private:
    Extent target_;
    std::optional<std::vector<double>> region_;
};

}  // namespace

detail::ReducedImage detail::open_reduced(const std::filesystem::path& path, ImageOptions options, Extent target) {
    require_libjpeg(kOpen);
    options.upright = true;
    ReducedFiles files(target);
    return guarded(kOpen, path, [&] {
        ImageFile image = open_files(files, Paths(&path, 1), options);
        return ReducedImage{std::move(image), files.region()};
    });
}

struct ImageList::State {
    std::vector<std::filesystem::path> paths;
    ImageOptions options;
    std::unique_ptr<detail::FileOpener> files;
    std::size_t opened = 0;
};

ImageList::ImageList(Paths paths, const ImageOptions& options, const ReadOptions& reading) {
    const std::string_view first = paths.empty() ? std::string_view() : paths[0].native();
    detail::guarded(kOpen, first, [&] {
        state_ = std::make_unique<State>(State{{paths.begin(), paths.end()}, options, detail::file_opener(reading)});
        const bool has_video = std::ranges::any_of(paths, [&](const auto& path) { return is_video(path, options); });
        if (!has_video && paths.size() > 1) state_->files->expect(state_->paths, first_part(true, options), false);
    });
}

ImageList::~ImageList() = default;
ImageList::ImageList(ImageList&&) noexcept = default;
ImageList& ImageList::operator=(ImageList&&) noexcept = default;

std::size_t ImageList::left() const noexcept { return state_ == nullptr ? 0 : state_->paths.size() - state_->opened; }

ImageFile ImageList::open_next() {
    if (left() == 0) {
        throw Error({.code = ErrorCode::out_of_bounds,
                     .object = kOpen,
                     .problem = "all files of the list were opened",
                     .remedy = "Call left() before open_next().",
                     .numbers = {{"count", state_ == nullptr ? 0 : state_->paths.size()}}});
    }
    const std::filesystem::path& path = state_->paths[state_->opened++];
    return detail::guarded(kOpen, path, [&] { return open_files(*state_->files, Paths(&path, 1), state_->options); });
}

}  // namespace texton
