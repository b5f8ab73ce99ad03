#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <texton/image_list.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/frame_sequence.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/several_files.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/file_reading.h"
#include "viewer/text/error_text.h"
#include "viewer/text/value_text.h"

namespace texton::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::vector<std::string> files;
    ImageOptionText image;
    bool json = false;
};

const char* name(ImageAlpha alpha) {
    switch (alpha) {
        case ImageAlpha::none: return "none";
        case ImageAlpha::straight: return "straight";
        case ImageAlpha::premultiplied: return "premultiplied";
    }
    return "";
}

std::vector<std::string> conversions_of(const ImageFile& image) {
    std::vector<std::string> sentences;
    for (const std::string& sentence : image.conversions()) sentences.push_back(viewer::with_option_names(sentence));
    return sentences;
}

// Returns the names of all channels. Names that are not the usual ones have their types.
std::string channels_of(const ImageMetadata& metadata) {
    static const std::set<std::string> kUsual{"R", "G", "B", "A", "Y", "Cb", "Cr"};
    const std::vector<std::string>& names = metadata.channels;
    const bool usual = std::ranges::all_of(names, [](const std::string& name) { return kUsual.contains(name); });
    if (usual || metadata.channel_types.size() != names.size()) return fmt::format("{}", fmt::join(names, " "));
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", names[i], metadata.channel_types[i]);
    return text;
}

// Returns the value, or the first elements of a long list.
std::string short_value(const ImageAttribute& attribute) {
    constexpr std::size_t kLong = 256;
    if (!attribute.type.ends_with(']') || attribute.value.size() <= kLong) return attribute.value;
    return fmt::format("{}, ... ({})", attribute.value.substr(0, attribute.value.rfind(", ", kLong)), attribute.type);
}

Json json_of(const ImageFrame& frame) {
    return {{"x", frame.x}, {"y", frame.y}, {"width", frame.width}, {"height", frame.height}};
}

Json json_of(const std::string& path, const ImageFile& image) {
    const ImageMetadata& metadata = image.metadata();
    Json attributes = Json::array();
    for (const ImageAttribute& attribute : metadata.attributes)
        attributes.push_back({{"name", attribute.name}, {"type", attribute.type}, {"value", attribute.value}});
    Json out{{"path", path}, {"file_kind", metadata.file_kind}};
    out.update(cli::json_of(image.info()));
    out.update({{"conversions", conversions_of(image)},
                {"channels", metadata.channels},
                {"channel_types", metadata.channel_types},
                {"read_channels", metadata.read_channels},
                {"color_space", metadata.color_space},
                {"alpha", name(metadata.alpha)},
                {"orientation", metadata.orientation},
                {"data", json_of(metadata.data)},
                {"display", json_of(metadata.display)},
                {"parts", metadata.parts},
                {"frames", metadata.frames},
                {"attributes", attributes}});
    return out;
}

std::string text(const ImageFrame& frame) {
    return fmt::format("{} x {} at ({}, {})", frame.width, frame.height, frame.x, frame.y);
}

void print_text(const std::string& path, const ImageFile& image) {
    const ArrayInfo& array = image.info();
    const ImageMetadata& metadata = image.metadata();
    fmt::print("{}: {} of {}, {}\n", path, to_string(array.extent), texton::name(array.format),
               texton::name(array.kind));
    Table table({});
    const auto add = [&table](const char* title, std::string cell) {
        table.add({"  " + std::string(title), std::move(cell)});
    };
    add("file", metadata.file_kind);
    if (is_layered(array.kind)) add("layers", std::to_string(array.layers));
    add("levels", std::to_string(array.levels));
    add("bytes", viewer::size_text(packed_bytes(array)));
    add("channels", channels_of(metadata));
    add("color space", metadata.color_space.empty() ? "unspecified" : metadata.color_space);
    add("alpha", name(metadata.alpha));
    if (metadata.orientation != 1) add("orientation", std::to_string(metadata.orientation));
    if (metadata.display != metadata.data) {
        add("data", text(metadata.data));
        add("display", text(metadata.display));
    }
    if (metadata.parts > 1) add("parts", std::to_string(metadata.parts));
    if (metadata.frames > 1) add("frames", std::to_string(metadata.frames));
    for (const ImageAttribute& attribute : metadata.attributes) add(attribute.name.c_str(), short_value(attribute));
    fmt::print("{}", table.of_text().text());
    for (const std::string& sentence : conversions_of(image)) fmt::print("  {}\n", sentence);
}

Status run(const Options& options) {
    const ImageOptions how = options.image.options();
    Json all = Json::array();
    Status status = Status::good;
    const std::vector<std::string> files = all_named_files(options.files, "texton info", status);
    const std::vector<std::filesystem::path> paths(files.begin(), files.end());
    ImageList images(paths, how, viewer::file_reading());
    const auto describe = [&](const std::string& file, ProgressBar& bar) {
        const ImageFile image = images.open_next();
        if (options.json) {
            all.push_back(json_of(file, image));
        } else {
            bar.hide();
            print_text(file, image);
        }
    };
    status = worse(status, for_each_file("texton info", "reading", files, describe));
    if (options.json) print_json({{"files", all}});
    return status;
}

}  // namespace

void add_info(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("FILE", options->files, "Image files; in_%03d.png stands for numbered files")
        ->required()
        ->type_name("FILE");
    options->image.add_to(*command);
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
    command->footer(
        "Prints the array that a load with the same options would create, and the conversions that the load would do.\n"
        "Only the headers of the files are read.\n"
        "\n"
        "Examples:\n"
        "  texton info *.exr\n"
        "  texton info sky.exr --kind cubemap\n"
        "  texton info render.exr --channels diffuse.R,diffuse.G,diffuse.B\n"
        "  texton info frames.yuv --raw 1920x1080:i420\n"
        "  texton info card.png --json | jq '.files[].width'\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  a file cannot be read with these options; the other files are printed nevertheless");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli
