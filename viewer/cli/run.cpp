#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>
#include <texton/image_load.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/frame_sequence.h"
#include "viewer/cli/saved_images.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/document.h"
#include "viewer/model/file_reading.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/planar_files.h"
#include "viewer/verify/table_file.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using verify::HostImage;
using verify::Json;

constexpr const char* kRun = "texton run";

struct Options {
    std::string kernel;
    std::vector<std::string> inputs;
    std::string out;
    std::vector<std::string> values;
    std::string size;
    std::string format;
    std::vector<std::string> samplers;
    std::string kind;
    std::string device;
    ImageOptionText selection;
    bool drop_alpha = false;
    bool list = false;
    bool help = false;
    bool json = false;
    bool timing = false;
};

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error(
        {.code = ErrorCode::bad_argument, .object = kRun, .problem = std::move(problem), .remedy = std::move(remedy)});
}

// --- descriptions of kernels -----------------------------------------------------------------------------------------

const char* word_of(ParameterKind kind) {
    switch (kind) {
        case ParameterKind::flag: return "flag";
        case ParameterKind::number: return "number";
        case ParameterKind::integer: return "integer";
        case ParameterKind::choice: return "choice";
        case ParameterKind::text: return "text";
        case ParameterKind::numbers: return "numbers";
    }
    return "";
}

struct InText {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const std::vector<double>& value) const { return fmt::format("{}", fmt::join(value, ",")); }
};

std::string values_of(const ParameterInfo& parameter) {
    if (parameter.kind == ParameterKind::choice) return fmt::format("{}", fmt::join(parameter.choices, " "));
    if (parameter.kind == ParameterKind::flag) return "true false";
    if (std::isfinite(parameter.lowest) && std::isfinite(parameter.highest))
        return fmt::format("{} to {}", parameter.lowest, parameter.highest);
    if (std::isfinite(parameter.lowest)) return fmt::format("at least {}", parameter.lowest);
    if (std::isfinite(parameter.highest)) return fmt::format("at most {}", parameter.highest);
    if (parameter.count != 0) return fmt::format("{} numbers", parameter.count);
    return word_of(parameter.kind);
}

std::string kinds_of(const InputInfo& input) {
    std::vector<std::string_view> names;
    for (const ArrayKind kind : input.kinds) names.push_back(name(kind));
    return fmt::format("{}", fmt::join(names, " "));
}

Json json_of(const KernelInfo& kernel) {
    Json out{{"name", kernel.name}, {"group", kernel.group}, {"summary", kernel.summary}};
    out["inputs"] = Json::array();
    for (const InputInfo& input : kernel.inputs) {
        Json kinds = Json::array();
        for (const ArrayKind kind : input.kinds) kinds.push_back(name(kind));
        out["inputs"].push_back({{"name", input.name}, {"summary", input.summary}, {"kinds", kinds}});
    }
    out["parameters"] = Json::array();
    for (const ParameterInfo& parameter : kernel.parameters) {
        Json row{{"name", parameter.name}, {"kind", word_of(parameter.kind)}, {"summary", parameter.summary}};
        std::visit([&row](const auto& value) { row["standard"] = value; }, parameter.standard);
        if (std::isfinite(parameter.lowest)) row["lowest"] = parameter.lowest;
        if (std::isfinite(parameter.highest)) row["highest"] = parameter.highest;
        if (!parameter.choices.empty()) row["choices"] = parameter.choices;
        if (parameter.count != 0) row["count"] = parameter.count;
        out["parameters"].push_back(row);
    }
    return out;
}

void print_list(bool json) {
    if (json) {
        Json all = Json::array();
        for (const Kernel& kernel : kernels()) all.push_back(json_of(kernel.info));
        print_json({{"kernels", all}});
        return;
    }
    Table table({"kernel", "group", "inputs", "description"});
    for (const Kernel& kernel : kernels()) {
        std::vector<std::string> inputs;
        for (const InputInfo& input : kernel.info.inputs) inputs.push_back(input.name);
        table.add(
            {kernel.info.name, kernel.info.group, fmt::format("{}", fmt::join(inputs, " ")), kernel.info.summary});
    }
    fmt::print("{}", table.of_text().text());
}

void print_kernel(const KernelInfo& kernel, bool json) {
    if (json) return print_json(json_of(kernel));
    fmt::print("{}: {}\n", kernel.name, kernel.summary);
    if (!kernel.inputs.empty()) {
        Table inputs({"input", "kinds", ""});
        for (const InputInfo& input : kernel.inputs) inputs.add({input.name, kinds_of(input), input.summary});
        fmt::print("\n{}", inputs.of_text().text());
    }
    if (!kernel.parameters.empty()) {
        Table parameters({"--set", "default", "values", ""});
        for (const ParameterInfo& parameter : kernel.parameters)
            parameters.add(
                {parameter.name, std::visit(InText{}, parameter.standard), values_of(parameter), parameter.summary});
        fmt::print("\n{}", parameters.of_text().text());
    }
    fmt::print("\ntexton run {}", kernel.name);
    for (const InputInfo& input : kernel.inputs) fmt::print(" {}", input.name);
    fmt::print(" -o OUT\n");
}

class Watch {
public:
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// --- running a kernel ------------------------------------------------------------------------------------------------

// An input of the kernel: a table, or images.
struct OpenedInput {
    fs::path path;
    std::optional<FrameInput> images;  // unset for a table
};

ImageOptions image_options(const Options& options, const InputInfo& expected) {
    ImageOptions how = options.selection.options();
    if (!options.kind.empty()) {
        how.kind = verify::kind_of(options.kind, "--kind");
    } else if (expected.kinds.size() == 1) {
        how.kind = expected.kinds.front();
    }
    return how;
}

// Opens the inputs. A planar image has two planes, which are two inputs of the kernel.
std::vector<OpenedInput> open_inputs(const Options& options, const KernelInfo& kernel) {
    std::vector<OpenedInput> inputs;
    std::size_t images = 0;
    bool planar = false;
    for (const std::string& path : options.inputs) {
        const InputInfo expected = images < kernel.inputs.size() ? kernel.inputs[images] : InputInfo{};
        inputs.push_back({path, {}});
        if (!verify::is_table_file(path))
            inputs.back().images.emplace(path, options.selection, image_options(options, expected));
        const std::size_t planes = inputs.back().images ? verify::inputs_of(inputs.back().images->open(0)).size() : 1;
        planar = planar || planes > 1;
        images += planes;
    }
    if (images == kernel.inputs.size()) return inputs;
    if (planar && options.inputs.size() == kernel.inputs.size())
        refuse(fmt::format("{} cannot read planar images", kernel.name), "Convert them with to_rgb() first.");
    refuse(fmt::format("{} needs {} input file{}, but {} {} given", kernel.name, kernel.inputs.size(),
                       kernel.inputs.size() == 1 ? "" : "s", options.inputs.size(),
                       options.inputs.size() == 1 ? "was" : "were"),
           fmt::format("`texton run {} --help` lists the inputs.", kernel.name));
}

// Returns the number of frames that are computed. Inputs that are no sequences are the same for all frames.
std::size_t frames_of(const std::vector<OpenedInput>& inputs, const FrameOutput& out) {
    const OpenedInput* first = nullptr;
    for (const OpenedInput& input : inputs) {
        if (!input.images || input.images->frames() == 1) continue;
        if (first != nullptr && first->images->frames() != input.images->frames())
            refuse(fmt::format("{} has {} frames, but {} has {}", first->path.string(), first->images->frames(),
                               input.path.string(), input.images->frames()),
                   "Use sequences with the same number of frames.");
        if (first == nullptr) first = &input;
        if (input.images->is_numbered() && !out.takes_all())
            refuse(fmt::format("{} stands for {} files, but one file is written", input.path.string(),
                               input.images->frames()),
                   "Write numbered files, for example -o out_%03d.png, or a video file.");
    }
    return first != nullptr && out.takes_all() ? first->images->frames() : 1;
}

std::size_t first_number(const std::vector<OpenedInput>& inputs) {
    for (const OpenedInput& input : inputs)
        if (input.images && input.images->is_numbered()) return input.images->first_number();
    return 0;
}

// Adds the textures of a frame of an input. Appends the image that was read to `files`.
void add_textures(const Options& options, std::size_t index, const OpenedInput& input, std::size_t frame,
                  const Device& device, verify::KernelRun& asked, std::vector<Texture>& textures,
                  std::vector<ImageFile>& files) {
    const std::size_t sampler = options.samplers.size() > 1 ? index : 0;
    const std::string text = options.samplers.empty() ? "" : options.samplers[sampler];
    const auto add = [&](const Array& array) {
        textures.emplace_back(array, verify::sampler_of(verify::sampler_json(text), "--sampler", array.info()));
    };
    if (!input.images) return add(verify::read_table(device, input.path, asked, textures.size()));
    const ImageFile image = input.images->open(input.images->frames() == 1 ? 0 : frame);
    files.push_back(image);
    verify::propose_planar(asked, image);
    for (const ImageFile& plane : verify::inputs_of(image)) {
        LoadTiming timing;
        add(load(device, plane, {.usage = verify::usage_for_kernels(device, plane.info()), .timing = &timing}));
        if (options.timing) fmt::print(stderr, "{}\n{}\n", input.path.string(), to_string(timing));
    }
}

void print_files(const verify::KernelRun& run, const std::vector<fs::path>& files,
                 const std::vector<HostImage>& images) {
    if (verify::writes_planes(run) && is_video_name(files.front())) {
        fmt::print("{}: {} of {}\n", files.front().string(), to_string(images.front().extent),
                   name(verify::planar_format(run)));
        return;
    }
    for (std::size_t i = 0; i < files.size(); ++i)
        fmt::print("{}: {}{}\n", files[i].string(), images[i].text(),
                   files.size() < images.size() ? fmt::format(", {} levels", images.size()) : "");
}

Status run(const Options& options) {
    if (options.list) {
        print_list(options.json);
        return Status::good;
    }
    if (options.kernel.empty()) refuse("no kernel was named", "`texton run --list` lists all kernels.");
    const Kernel& kernel = kernel_named(options.kernel);
    if (options.help) {
        print_kernel(kernel.info, options.json);
        return Status::good;
    }
    if (options.out.empty()) refuse("no output file was named", "Name the file to write with -o OUT.");
    if (options.samplers.size() > 1 && options.samplers.size() != options.inputs.size())
        refuse(fmt::format("--sampler was given {} times, but there are {} input files", options.samplers.size(),
                           options.inputs.size()),
               "Give one sampler for all inputs, or one for each input.");
    verify::KernelRun asked{.kernel = &kernel, .parameters = verify::parameters_of(kernel.info, options.values)};
    if (!options.size.empty()) asked.size = verify::size_of(options.size, "--size");
    if (!options.format.empty()) asked.format = verify::format_of(options.format, "--format");

    const Device device = viewer::device_named(options.device);
    const std::vector<OpenedInput> inputs = open_inputs(options, kernel.info);
    FrameOutput out(options.out);
    const std::size_t frames = frames_of(inputs, out), first = first_number(inputs);
    Json json{{"kernel", kernel.info.name}, {"device", device.name()}, {"frames", frames}, {"images", Json::array()}};
    std::vector<std::string> notes;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        std::vector<Texture> textures;
        std::vector<ImageFile> read;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            add_textures(options, i, inputs[i], frame, device, asked, textures, read);
        const Watch kernel_watch;
        const std::vector<HostImage> images = verify::run(device, asked, textures);
        if (options.timing)
            fmt::print(stderr, "{}, including copies of the images to the host: {:.2f} ms\n", kernel.info.name,
                       kernel_watch.milliseconds());
        const Watch save_watch;
        const bool cubes = kernel.info.group == "cubemap" || (!textures.empty() && is_cube(textures.front().kind()));
        const std::vector<fs::path> files =
            out.write(asked, images, first + frame, cubes, saved_alpha(options.drop_alpha, read));
        if (options.timing) fmt::print(stderr, "saved in {:.2f} ms\n", save_watch.milliseconds());
        const bool is_listed = frame == 0 || files.front() != options.out;  // a video file is listed once
        if (frame == 0) {
            for (const HostImage& image : images)
                json["images"].push_back({{"format", name(image.format)},
                                          {"width", image.extent.width},
                                          {"height", image.extent.height},
                                          {"depth", image.extent.depth}});
            for (const ImageFile& image : read)
                for (const std::string& sentence : left_out(image))
                    if (frames == 1 || !sentence.starts_with("Only frame")) notes.push_back(sentence);
        }
        for (const fs::path& file : files)
            if (is_listed) json["files"].push_back(file.string());
        if (!options.json && is_listed) print_files(asked, files, images);
    }
    out.complete();
    if (options.json) {
        json["notes"] = notes;
        print_json(json);
    } else {
        if (frames > 1) fmt::print("  {} frames\n", frames);
        for (const std::string& note : notes) fmt::print("  {}\n", note);
    }
    return Status::good;
}

std::string kernel_names() {
    std::vector<std::string_view> names;
    for (const Kernel& kernel : kernels()) names.push_back(kernel.info.name);
    return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

void add_run(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->set_help_flag();  // replaced by a flag that also describes a kernel
    command->add_flag("-h,--help", options->help,
                      "Print this help and exit; after KERNEL, print the inputs and parameters of the kernel");
    command->add_flag("--list", options->list, "List all kernels");
    command->add_option("KERNEL", options->kernel, "Kernel to run")->type_name("{" + kernel_names() + "}");
    command->add_option("IN", options->inputs, "Image files, one for each input of the kernel")->type_name("FILE");
    command
        ->add_option("-o,--out", options->out,
                     "File to write; several results get numbered files, OUT_0.png, OUT_1.png")
        ->type_name("FILE");
    command->add_option("--set", options->values, "Set a parameter; repeat the option for more parameters")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    command->add_option("--size", options->size, "Size of the result, for kernels that write images of any size")
        ->type_name("WxH");
    command->add_option("--format", options->format, "Texel format of the result. Default: chosen by the kernel")
        ->type_name("FORMAT");
    command
        ->add_option("--sampler", options->samplers,
                     "Sampler of the inputs; give it once for all inputs, or once for each input")
        ->type_name("KEY=VALUE,...")
        ->allow_extra_args(false);
    command
        ->add_option("--kind", options->kind,
                     "Array kind that the files are read as. Default: from the kernel and the files")
        ->type_name("KIND");
    command->add_option("--device", options->device,
                        "Device: cpu, cpu:N, cuda or cuda:N. Default: the first CUDA device, or else the CPU");
    options->selection.add_selection_to(*command);
    add_drop_alpha(*command, options->drop_alpha);
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
    command->add_flag("--timing", options->timing,
                      "Print the times of decoding, copying, computing and saving on standard error");
    command->footer(
        "Output:\n"
        "  A mip chain is written to one file if the file type stores levels (.dds, .exr, .tif, .tx), and a cubemap "
        "is\n"
        "  written to one file. Other kernels with several results write numbered files.\n"
        "\n"
        "Frames:\n"
        "  to_rgb reads both planes of a frame, and from_rgb writes them, in video files (.y4m, .yuv, .raw). "
        "in_%03d.png\n"
        "  stands for numbered files, as an input and as OUT. The kernel runs for all frames if OUT is a video file "
        "or\n"
        "  numbered files; otherwise for the first one, or for that of --frame.\n"
        "\n"
        "Sampler fields, as KEY=VALUE pairs separated by commas:\n"
        "  filter, mip_filter       point or linear. Default: linear, or point for integer formats\n"
        "  address                  wrap, clamp, mirror or border; or one for each axis: wrap/clamp/clamp. Default: "
        "clamp\n"
        "  border                   border color, such as 0/0/0/1\n"
        "  normalized_coordinates   true or false\n"
        "  seamless_cubemap         true or false\n"
        "  trilinear_optimization   true or false\n"
        "  max_anisotropy           1 to 16\n"
        "  mip_bias, mip_min, mip_max\n"
        "\n"
        "Lookup tables:\n"
        "  The table of lut_1d and lut_3d may be a .cube file. The kernel uses the domain of the file, unless --set "
        "sets\n"
        "  domain_min or domain_max.\n"
        "\n"
        "Examples:\n"
        "  texton run --list\n"
        "  texton run resample --help\n"
        "  texton run resample card.png -o small.png --size 240x160 --set filter=area\n"
        "  texton run resample card.png -o tiled.exr --format rgba16_float --set crop=-240,0,960,320 \\\n"
        "      --sampler address=wrap\n"
        "  texton run lut_3d card.png film.cube -o graded.png --set filter=exact\n"
        "  texton run to_rgb clip_1920x1080_i420.yuv -o frame_%04d.png\n"
        "  texton run from_rgb frame_%04d.png -o clip.y4m\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  a kernel, parameter or device does not exist, an option is invalid, or a file cannot be read or written");
    command->callback([options, command, &status] {
        if (options->help && options->kernel.empty()) {
            fmt::print("{}", command->help(command->get_parent()->get_name()));
        } else {
            status = run(*options);
        }
    });
}

}  // namespace texton::cli
