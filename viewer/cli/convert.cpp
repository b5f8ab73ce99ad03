#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/error.h>
#include <texton/frame_writer.h>
#include <texton/image_save.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/file_reading.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/saved_images.h"
#include "viewer/text/enum_names.h"
#include "viewer/text/error_text.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::vector<std::string> files;  // the files to read, and last the file to write
    ImageOptionText image;
    std::string tile;
    std::string compression;
    std::string cube_out = "vertical_strip";
    bool drop_alpha = false;
    bool json = false;
};

// Returns what is different in the new file. Three channels are widened in memory only.
std::vector<std::string> conversions_of(const ImageFile& image, const fs::path& out, std::size_t frames) {
    const auto is_reverted = [&](const std::string& sentence) {
        if (sentence.starts_with("Three channels are widened"))
            return out.extension() != ".dds" && out.extension() != ".ktx2" &&
                   image.metadata().read_channels.size() == 3;
        return frames > 1 && sentence.starts_with("Only frame");
    };
    std::vector<std::string> conversions;
    for (const std::string& sentence : image.conversions())
        if (!is_reverted(sentence)) conversions.push_back(viewer::with_option_names(sentence));
    return conversions;
}

// Writes all frames of a video file to another one.
void save_frames(const fs::path& in, const fs::path& out, ImageOptions how, std::size_t frames, ProgressBar& bar) {
    FrameWriter writer(out);
    for (std::size_t frame = 0; frame < frames; ++frame) {
        bar.show(static_cast<double>(frame), static_cast<double>(frames));
        (how.raw ? how.raw->frame : how.frame) = frame;
        writer.write(open_image(in, how, viewer::file_reading()));
    }
    writer.complete();
}

// Image files have no formats like these. Texels of other formats are written as they are, or not at all: the user
// decides whether values change.
bool is_decoded(const FormatInfo& format) {
    return format.layout == FormatLayout::block || format.layout == FormatLayout::packed ||
           format.kind == FormatKind::snorm;
}

// Opens the files. Texels that the output cannot hold are read in the nearest format that it can hold.
ImageFile opened(std::span<const fs::path> inputs, const fs::path& out, ImageOptions how) {
    const ReadOptions& reading = viewer::file_reading();
    ImageFile image = open_image(inputs, how, reading);
    const Format format = image.info().format;
    if (how.format || !is_decoded(info(format))) return image;
    how.format = savable_format(out, format);
    return how.format.value_or(format) == format ? image : open_image(inputs, how, reading);
}

Status run(const Options& options) {
    const std::vector<fs::path> inputs(options.files.begin(), options.files.end() - 1);
    const fs::path out = options.files.back();
    const ImageOptions how = options.image.options();
    const ImageFile image = opened(inputs, out, how);
    SaveOptions saving{.compression = options.compression,
                       .cube = value_of(viewer::kCubeLayouts, options.cube_out).value(),
                       .alpha = verify::saved_alpha(options.drop_alpha, std::span(&image, 1))};
    if (!options.tile.empty()) {
        saving.tile = verify::size_of(options.tile, "--tile");
        saving.tile->depth = std::max<std::size_t>(1, saving.tile->depth);
    }
    const bool all_frames = is_video_name(out) && !options.image.selects_frame();
    const std::size_t frames = all_frames ? image.metadata().frames : 1;
    if (frames > 1) {
        ProgressBar bar("converting", "frames");
        save_frames(inputs.front(), out, how, frames, bar);
    } else {
        ProgressBar bar("converting", "bytes");
        bar.show(0, static_cast<double>(packed_bytes(image.info())));
        saving.progress = [&bar](const ImageProgress& progress) {
            bar.show(static_cast<double>(progress.done), static_cast<double>(progress.total));
            return true;
        };
        save(out, image, saving);
    }
    const ArrayInfo& array = image.info();
    if (options.json) {
        nlohmann::ordered_json json{{"path", out.string()}};
        json.update(json_of(array));
        json["frames"] = frames;
        json["conversions"] = conversions_of(image, out, frames);
        print_json(json);
        return Status::good;
    }
    fmt::print("{}: {} of {}, {}{}\n", out.string(), to_string(array.extent), name(array.format), name(array.kind),
               frames > 1 ? fmt::format(", {} frames", frames) : "");
    for (const std::string& sentence : conversions_of(image, out, frames)) fmt::print("  {}\n", sentence);
    return Status::good;
}

}  // namespace

void add_convert(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("FILE", options->files, "Image files to read, and last the file to write")
        ->required()
        ->expected(2, CLI::detail::expected_max_vector_size)
        ->type_name("IN... OUT");
    options->image.add_to(*command);
    command->add_option("--tile", options->tile, "Tile size. Default: 64x64 if the file has levels, else no tiles")
        ->type_name("WxH");
    command->add_option(
        "--compression", options->compression,
        "Compression, as OpenImageIO names it: zip, none, ...; for .ktx2: none, zstd, or zstd:1 to zstd:22. "
        "Default: the usual one of the file type (.ktx2: none)");
    command
        ->add_option("--cube-out", options->cube_out,
                     "Layout of cube faces in OUT, for file types other than .dds and .ktx2")
        ->check(CLI::IsMember(all_names(viewer::kCubeLayouts)))
        ->capture_default_str();
    add_drop_alpha(*command, options->drop_alpha);
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
    command->footer(
        "The extension of OUT selects the file type. .dds and .ktx2 files store every array kind with all levels.\n"
        "Several input files become the layers of an array, the faces of a cubemap (--kind cubemap) or the slices\n"
        "of a volume (--kind array_3d). Color space and metadata are kept; premultiplied alpha stays premultiplied.\n"
        "If writing fails, an existing OUT is unchanged.\n"
        "\n"
        "Values change only if --format or --color requires it, or if OUT cannot hold BC, snorm or rgb10a2 texels.\n"
        "These are converted to the nearest format that OUT can hold, and the output says so. Integers take the\n"
        "nearest code, with halves rounded away from zero; half floats take the nearest value, with ties to the even\n"
        "code; integers clamp values outside their range. BC texels are those that a GPU reads, bit for bit;\n"
        "--bc exact computes the fractions of the specification instead. --levels 1, --layer and --face select what\n"
        "OUT can hold of an image with levels, layers or faces.\n"
        "\n"
        "All frames of a video file (.y4m, .yuv) are written to another one, unless --frame selects one of them.\n"
        "`texton run to_rgb` and `texton run from_rgb` convert between frames and colors.\n"
        "\n"
        "Examples:\n"
        "  texton convert sky.exr sky.png --format rgba8_srgb\n"
        "  texton convert px.png nx.png py.png ny.png pz.png nz.png sky.dds --kind cubemap\n"
        "  texton convert layers.dds layers.ktx2 --compression zstd\n"
        "  texton convert sky.exr cross.exr --kind cubemap --cube-out horizontal_cross\n"
        "  texton convert levels.dds first.png --levels 1\n"
        "  texton convert blocks.dds wide.tif --bc exact --format rgba16_unorm\n"
        "  texton convert render.exr depth.exr --channels Z\n"
        "  texton convert clip.y4m clip_1920x1080_i420.yuv            # all frames\n"
        "  texton convert frames.yuv first.y4m --raw 1920x1080:nv12@0  # one frame\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  a file cannot be read with these options, or OUT cannot be written");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli
