#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/error.h>
#include <texton/picture_save.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/kernel_run.h"
#include "viewer/text/enum_names.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::vector<std::string> files;  // the last is written
    PictureWords picture;
    std::string tile;
    std::string compression;
    std::string cube_out = "vertical_strip";
    bool json = false;
};

Status run(const Options& options) {
    const std::vector<fs::path> inputs(options.files.begin(), options.files.end() - 1);
    const fs::path out = options.files.back();
    const PictureOptions how = options.picture.options();
    const Picture picture = inputs.size() == 1 ? open_picture(inputs.front(), how) : open_picture(inputs, how);
    SaveOptions saving{.compression = options.compression,
                       .cube = value_of(viewer::kCubeLayouts, options.cube_out).value()};
    if (!options.tile.empty()) {
        saving.tile = verify::size_of(options.tile, "--tile");
        saving.tile->depth = std::max<std::size_t>(1, saving.tile->depth);
    }
    {
        ProgressBar bar("converting");
        saving.progress = [&bar](const PictureProgress& progress) {
            bar.show(static_cast<double>(progress.done) /
                     static_cast<double>(std::max<std::size_t>(1, progress.total)));
            return true;
        };
        save(out, picture, saving);
    }
    const ArrayInfo& array = picture.info();
    if (options.json) {
        nlohmann::ordered_json json{{"path", out.string()}};
        json.update(json_of(array));
        json["conversions"] = picture.conversions();
        print_json(json);
        return Status::good;
    }
    fmt::print("{}: {} of {}, {}\n", out.string(), to_string(array.extent), name(array.format), name(array.kind));
    for (const std::string& sentence : picture.conversions()) fmt::print("  {}\n", sentence);
    return Status::good;
}

}  // namespace

void add_convert(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("FILE", options->files, "The files to read, and last the one to write")
        ->required()
        ->expected(2, CLI::detail::expected_max_vector_size)
        ->type_name("IN... OUT");
    options->picture.add_to(*command);
    command->add_option("--tile", options->tile, "Tiles of that size; without it, where the file has levels, of 64x64")
        ->type_name("WxH");
    command->add_option("--compression", options->compression, "As OpenImageIO names it: zip, none, ...");
    command->add_option("--cube-out", options->cube_out, "How faces are laid out, where the file has none of its own")
        ->check(CLI::IsMember(all_names(viewer::kCubeLayouts)))
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print one JSON object instead");
    command->footer(
        "The ending of OUT says which kind of file it is: .dds holds every kind of array with all levels. Several "
        "files\n"
        "are layers, faces with --kind cubemap, or slices with --kind array_3d. Alpha, colour space and other words "
        "of\n"
        "the file are kept; a premultiplied alpha stays one. Values change only where --format or --color say so.\n"
        "\n"
        "Examples:\n"
        "  texton convert sky.exr sky.png --format rgba8_srgb\n"
        "  texton convert px.png nx.png py.png ny.png pz.png nz.png sky.dds --kind cubemap\n"
        "  texton convert sky.exr cross.exr --kind cubemap --cube-out horizontal_cross\n"
        "  texton convert frames.yuv first.yuv --raw 1920x1080 --format nv12\n"
        "\n"
        "Exit status: 0; 2 if a file cannot be read as that, or written. A file that was there is then kept.");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli
