#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/error.h>
#include <texton/frame_writer.h>
#include <texton/image_save.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/frame_sequence.h"
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
    std::string out;                 // the file to write, if it is not the last of `files`
    ImageOptionText image;
    std::string tile;
    std::string compression;
    std::string cube_out = "vertical_strip";
    std::optional<int> plane;
    bool drop_alpha = false;
    bool json = false;
};

// Returns true if files with this name store all kinds of array.
bool stores_arrays(const fs::path& out) { return out.extension() == ".dds" || out.extension() == ".ktx2"; }

// Adds what is different in the new file. Three channels are widened in memory only.
void add_conversions(const ImageFile& image, const fs::path& out, bool all_frames,
                     std::vector<std::string>& conversions) {
    const auto is_reverted = [&](const std::string& sentence) {
        if (sentence.starts_with("Three channels are widened"))
            return !stores_arrays(out) && image.metadata().read_channels.size() == 3;
        return all_frames && sentence.starts_with("Only frame");
    };
    for (const std::string& sentence : image.conversions()) {
        std::string text = viewer::with_option_names(sentence);
        if (!is_reverted(sentence) && std::ranges::find(conversions, text) == conversions.end())
            conversions.push_back(std::move(text));
    }
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

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton convert",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

// Writes the images of one command line, and remembers what was written.
class Conversion {
public:
    explicit Conversion(const Options& options)
        : options_(options),
          how_(options.image.options()),
          out_(options.files.back()),
          saving_{.compression = options.compression,
                  .cube = value_of(viewer::kCubeLayouts, options.cube_out).value()} {
        if (!options.tile.empty()) {
            saving_.tile = verify::size_of(options.tile, "--tile");
            saving_.tile->depth = std::max<std::size_t>(1, saving_.tile->depth);
        }
    }

    void run() {
        const std::span<const std::string> names(options_.files.data(), options_.files.size() - 1);
        std::error_code unreadable;
        const bool numbers_files = viewer::is_numbered(out_) && !fs::exists(out_, unreadable);
        if (is_video_name(out_) && options_.plane)
            refuse(fmt::format("{} is a video file, but a plane is not a frame", out_.string()),
                   "Write an image file, or all planes without --plane.");
        if (numbers_files && names.size() > 1)
            refuse(fmt::format("{} stands for numbered files, but {} inputs were named", out_.string(), names.size()),
                   "Name one video file, or numbered files like in_%03d.png.");
        const bool reads_sequence =
            names.size() == 1 && viewer::is_numbered(names.front()) && !fs::exists(names.front(), unreadable);
        if (numbers_files || (is_video_name(out_) && names.size() == 1)) {
            FrameInput input(names.front(), options_.image, how_);
            if (numbers_files) return write_files(input);
            if (input.frames() > 1 || reads_sequence) return write_video(input);
        }
        std::vector<fs::path> inputs;
        for (const std::string& name : names) {
            for (fs::path& file : viewer::named_files(name)) inputs.push_back(std::move(file));
        }
        ProgressBar bar("converting", "bytes");
        saving_.progress = [&bar](const ImageProgress& progress) {
            bar.show(static_cast<double>(progress.done), static_cast<double>(progress.total));
            return true;
        };
        const ImageFile image = plane_of(opened(inputs, out_, how_));
        bar.show(0, static_cast<double>(packed_bytes(image.info())));
        write(image, out_);
        if (how_.levels > 1 && image.info().levels == 1)
            conversions_.push_back("The image has one level. `texton mips` computes the other levels.");
    }

    void print() const {
        const std::string first = files_.empty() ? out_.string() : files_.front().string();
        if (options_.json) {
            nlohmann::ordered_json json{{"path", out_.string()}};
            json.update(json_of(info_));
            json["frames"] = frames_;
            if (files_.size() > 1 || first != out_.string()) {
                json["files"] = nlohmann::ordered_json::array();
                for (const fs::path& file : files_) json["files"].push_back(file.string());
            }
            json["conversions"] = conversions_;
            return print_json(json);
        }
        fmt::print("{}{}: {} of {}, {}{}\n", first, files_.size() > 1 ? " to " + files_.back().string() : "",
                   to_string(info_.extent), name(info_.format), name(info_.kind),
                   frames_ > 1         ? fmt::format(", {} frames", frames_)
                   : files_.size() > 1 ? fmt::format(", {} files", files_.size())
                                       : "");
        for (const std::string& sentence : conversions_) fmt::print("  {}\n", sentence);
    }

private:
    ImageFile plane_of(ImageFile image) const { return options_.plane ? image.plane(*options_.plane) : image; }

    void note(const ImageFile& image) {
        if (frames_++ == 0) info_ = image.info();
    }

    // Writes an image to a file of its own.
    void write(const ImageFile& image, const fs::path& path, bool all_frames = false) {
        saving_.alpha = verify::saved_alpha(options_.drop_alpha, std::span(&image, 1));
        save(path, image, saving_);
        note(image);
        add_conversions(image, path, all_frames, conversions_);
        if (is_cube(info_.kind) && !stores_arrays(path) && frames_ == 1)
            conversions_.push_back(fmt::format("The faces are written as {}.", options_.cube_out));
        files_.push_back(path);
    }

    // Writes each frame to a file with its number, or each layer, slice or face of an image that is not one of several.
    void write_files(const FrameInput& input) {
        const bool is_alone = input.frames() == 1 && !input.is_numbered();
        if (is_alone && slice_count(input.first().info(), 0) > 1) return write_slices(input);
        ProgressBar bar("converting", "frames");
        for (std::size_t frame = 0; frame < input.frames(); ++frame) {
            bar.show(static_cast<double>(frame), static_cast<double>(input.frames()));
            const auto [path, how] = input.file(frame);
            const fs::path out = viewer::numbered_path(out_, input.first_number() + frame);
            write(plane_of(opened(std::span(&path, 1), out, how)), out, input.frames() > 1);
        }
    }

    void write_slices(const FrameInput& input) {
        const ArrayInfo whole = input.first().info();
        const std::size_t count = slice_count(whole, 0), faces = is_cube(whole.kind) ? 6 : 1;
        ProgressBar bar("converting", "files");
        for (std::size_t slice = 0; slice < count; ++slice) {
            bar.show(static_cast<double>(slice), static_cast<double>(count));
            auto [path, how] = input.file(0);
            if (count > faces) how.layer = slice / faces;
            if (faces > 1) how.face = static_cast<int>(slice % faces);
            const fs::path out = viewer::numbered_path(out_, slice);
            write(plane_of(opened(std::span(&path, 1), out, how)), out, true);
        }
        frames_ = 1;
    }

    // Writes all frames to a video file.
    void write_video(FrameInput& input) {
        ProgressBar bar("converting", "frames");
        FrameWriter writer(out_);
        for (std::size_t frame = 0; frame < input.frames(); ++frame) {
            bar.show(static_cast<double>(frame), static_cast<double>(input.frames()));
            const ImageFile image = input.open(frame);
            writer.write(image);
            note(image);
            add_conversions(image, out_, true, conversions_);
        }
        writer.complete();
    }

    const Options& options_;
    ImageOptions how_;
    fs::path out_;
    SaveOptions saving_;
    ArrayInfo info_;                        // of the first image
    std::size_t frames_ = 0;                // that were written
    std::vector<fs::path> files_;           // that were written, except a video file
    std::vector<std::string> conversions_;  // of all images
};

// Refuses what another command computes.
[[noreturn]] void refuse_computing(const std::string& option, const char* problem, const char* command) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton convert " + option,
                 .problem = std::string("this command ") + problem,
                 .remedy = fmt::format("Use `{}`.", command)});
}

Status run(const Options& options) {
    Conversion conversion(options);
    conversion.run();
    conversion.print();
    return Status::good;
}

}  // namespace

void add_convert(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("FILE", options->files, "Image files to read, and last the file to write")
        ->required()
        ->type_name("IN... OUT");
    command->add_option("-o,--out", options->out, "The file to write. Then all FILEs are read")->type_name("FILE");
    const CLI::Option* const mips = command->add_flag("--mips")->group("");  // refused below, with a proposal
    const CLI::Option* const size = command->add_option("--size,--resize")->group("");  // likewise
    options->image.add_to(*command);
    command
        ->add_option("--plane", options->plane,
                     "Write one plane of a planar image: 0 is luma (r8 or r16), 1 is chroma (rg8 or rg16)")
        ->type_name("INDEX");
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
        "If writing fails, an existing OUT is unchanged. No levels are computed: `texton mips` does that.\n"
        "\n"
        "Values change only if --format or --color requires it, or if OUT cannot hold BC, snorm or packed texels.\n"
        "These are converted to the nearest format that OUT can hold, and the output says so. Integers take the\n"
        "nearest code, with halves rounded away from zero; half floats take the nearest value, with ties to the even\n"
        "code; integers clamp values outside their range. BC texels are those that a GPU reads, bit for bit;\n"
        "--bc exact computes the fractions of the specification instead. --levels 1, --layer and --face select what\n"
        "OUT can hold of an image with levels, layers or faces.\n"
        "\n"
        "All frames of a video file (.y4m, .yuv) are written to another one, unless --frame selects one of them.\n"
        "A name like in_%03d.png stands for numbered files. They are several input files, unless OUT is a video file,\n"
        "of which each file becomes a frame. If OUT stands for numbered files, each file or frame is written to its "
        "own;\n"
        "of one image, each layer, slice or face is.\n"
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
        "  texton convert clip.y4m luma_%04d.png --plane 0             # one file for each frame\n"
        "  texton convert slice_%03d.png volume.dds --kind array_3d\n"
        "  texton convert cube.dds face_%d.png                         # six files\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  a file cannot be read with these options, or OUT cannot be written");
    command->callback([options, mips, size, &status] {
        if (*mips) refuse_computing("--mips", "computes no levels", "texton mips IN OUT");
        if (*size) refuse_computing("--size", "does not change sizes", "texton run resample IN -o OUT --size WxH");
        if (!options->out.empty()) options->files.push_back(options->out);
        if (options->files.size() < 2) throw CLI::RequiredError("OUT");
        status = run(*options);
    });
}

}  // namespace texton::cli
