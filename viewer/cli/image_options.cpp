#include "viewer/cli/image_options.h"

#include "viewer/cli/commands.h"
#include "viewer/model/kernel_run.h"
#include "viewer/text/enum_names.h"
#include "viewer/text/error_text.h"

namespace texton::cli {

void ImageOptionText::add_to(CLI::App& command) {
    command
        .add_option("--kind", kind_, "Array kind: array_2d, array_3d, layered_2d, cubemap, ... Default: from the files")
        ->type_name("KIND");
    command.add_option("--format", format_, "Texel format; values are converted if necessary. Default: from the files")
        ->type_name("FORMAT");
    command
        .add_option("--bc", bc_,
                    "Decoding of BC1 to BC5 for another --format: as a GPU decodes them (gpu), or the exact fractions "
                    "of the specification (exact)")
        ->check(CLI::IsMember(all_names(viewer::kBlockDecodings)))
        ->capture_default_str();
    command.add_option("--color", color_, "Color encoding of the values in the file")
        ->check(CLI::IsMember(all_names(viewer::kImageColors)))
        ->capture_default_str();
    command
        .add_option("--window", window_,
                    "OpenEXR and TIFF: read the stored texels (data) or the displayed image (display)")
        ->check(CLI::IsMember(all_names(viewer::kImageWindows)))
        ->capture_default_str();
    command.add_flag("--as-stored", as_stored_,
                     "Do not rotate or mirror the image according to the file's orientation");
    command.add_option("--cube", cube_, "Layout of the six cube faces in the image")
        ->check(CLI::IsMember(all_names(viewer::kCubeLayouts)));
    command
        .add_option("--cube-side", cube_side_,
                    "Width of a cube face of an equirectangular image. Default: a quarter of the image's width")
        ->type_name("TEXELS");
    command.add_option("--first-level", first_level_, "Level of the file that becomes level 0")->check(at_least(0));
    command.add_option("--levels", levels_, "Maximum number of levels; 0 reads all levels")->check(at_least(0));
    command
        .add_option("--layer", layer_,
                    "Index of the only layer to read: a layer, a cube of several, or a slice of a volume")
        ->type_name("INDEX");
    command.add_option("--face", face_, "Index of the only face of a cubemap to read: 0 to 5 are +x -x +y -y +z -z")
        ->type_name("INDEX");
    add_selection_to(command);
}

ImageOptions ImageOptionText::options() const {
    ImageOptions options;
    if (!kind_.empty()) options.kind = verify::kind_of(kind_, "--kind");
    if (!format_.empty()) options.format = verify::format_of(format_, "--format");
    options.bc = value_of(viewer::kBlockDecodings, bc_).value();
    options.color = value_of(viewer::kImageColors, color_).value();
    options.window = value_of(viewer::kImageWindows, window_).value();
    options.upright = !as_stored_;
    if (!cube_.empty()) options.cube = value_of(viewer::kCubeLayouts, cube_);
    options.cube_side = cube_side_;
    options.first_level = first_level_;
    options.levels = levels_;
    options.layer = layer_;
    options.face = face_;
    selection_.apply(options);
    return options;
}

std::vector<std::string> left_out(const ImageFile& image) {
    std::vector<std::string> out;
    for (const std::string& sentence : image.conversions()) {
        if (sentence.starts_with("Only ") || sentence.starts_with("Levels from"))
            out.push_back(viewer::with_option_names(sentence));
    }
    return out;
}

void add_drop_alpha(CLI::App& command, bool& drops) {
    command.add_flag(
        "--drop-alpha", drops,
        "Write only the colors of four channels. Alpha that is 1 in all texels is not written if the files "
        "that were read have three channels, or if the file type cannot hold alpha");
}

}  // namespace texton::cli
