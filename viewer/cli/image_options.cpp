#include "viewer/cli/image_options.h"

#include "viewer/cli/commands.h"
#include "viewer/model/kernel_run.h"
#include "viewer/text/enum_names.h"

namespace texton::cli {

void PictureWords::add_to(CLI::App& command) {
    command.add_option("--kind", kind_, "The kind of array: array_2d, array_3d, layered_2d, cubemap, ...")
        ->type_name("KIND");
    command.add_option("--format", format_, "The format of its texels; values are converted where they must be")
        ->type_name("FORMAT");
    command.add_option("--color", color_, "What the numbers are taken for")
        ->check(CLI::IsMember(all_names(viewer::kPictureColors)))
        ->capture_default_str();
    command.add_option("--window", window_, "The texels that are stored, or the picture as it is to be shown")
        ->check(CLI::IsMember(all_names(viewer::kPictureWindows)))
        ->capture_default_str();
    command.add_flag("--as-stored", as_stored_, "Do not turn it as the file's orientation says");
    command.add_option("--cube", cube_, "How six faces lie in the picture")
        ->check(CLI::IsMember(all_names(viewer::kCubeLayouts)));
    command.add_option("--cube-side", cube_side_, "Of a face made of an equirectangular picture")->type_name("TEXELS");
    command.add_option("--part", part_, "Which of the pictures of a file")->check(at_least(0));
    command.add_option("--first-level", first_level_, "The level that becomes level 0")->check(at_least(0));
    command.add_option("--levels", levels_, "How many levels at most; 0 is all")->check(at_least(0));
    command
        .add_option("--raw", raw_, "The size of frames in a file without a header; their format is --format's, or nv12")
        ->type_name("WxH");
    command.add_option("--frame", frame_, "Which of those frames");
}

PictureOptions PictureWords::options() const {
    PictureOptions options;
    if (!kind_.empty()) options.kind = verify::kind_of(kind_, "--kind");
    if (!format_.empty()) options.format = verify::format_of(format_, "--format");
    options.color = value_of(viewer::kPictureColors, color_).value();
    options.window = value_of(viewer::kPictureWindows, window_).value();
    options.upright = !as_stored_;
    if (!cube_.empty()) options.cube = value_of(viewer::kCubeLayouts, cube_);
    options.cube_side = cube_side_;
    options.part = part_;
    options.first_level = first_level_;
    options.levels = levels_;
    if (!raw_.empty()) {
        Extent extent = verify::size_of(raw_, "--raw");
        extent.depth = 1;
        options.raw = {.format = options.format.value_or(Format::nv12), .extent = extent, .frame = frame_};
        options.format.reset();
    }
    return options;
}

}  // namespace texton::cli
