#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>
#include <texton/image_load.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/saved_images.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/document.h"
#include "viewer/model/file_reading.h"
#include "viewer/model/kernel_run.h"
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

Array read_file(const Options& options, std::size_t index, const Device& device, const InputInfo& expected,
                std::vector<ImageFile>& files) {
    ImageOptions image_options;
    if (!options.kind.empty()) {
        image_options.kind = verify::kind_of(options.kind, "--kind");
    } else if (expected.kinds.size() == 1) {
        image_options.kind = expected.kinds.front();
    }
    const ImageFile image = open_image(options.inputs[index], image_options, viewer::file_reading());
    files.push_back(image);
    LoadTiming timing;
    Array array = load(device, image, {.usage = verify::usage_for_kernels(device, image.info()), .timing = &timing});
    if (options.timing) fmt::print(stderr, "{}\n{}\n", options.inputs[index], to_string(timing));
    return array;
}

Texture read_texture(const Options& options, std::size_t index, const Device& device, verify::KernelRun& asked,
                     std::vector<ImageFile>& files) {
    const Array array = verify::is_table_file(options.inputs[index])
                            ? verify::read_table(device, options.inputs[index], asked, index)
                            : read_file(options, index, device, asked.kernel->info.inputs[index], files);
    const std::size_t sampler = options.samplers.size() > 1 ? index : 0;
    const std::string text = options.samplers.empty() ? "" : options.samplers[sampler];
    return Texture(array, verify::sampler_of(verify::sampler_json(text), "--sampler", array.info()));
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
    if (options.inputs.size() != kernel.info.inputs.size())
        refuse(fmt::format("{} needs {} input file{}, but {} {} given", kernel.info.name, kernel.info.inputs.size(),
                           kernel.info.inputs.size() == 1 ? "" : "s", options.inputs.size(),
                           options.inputs.size() == 1 ? "was" : "were"),
               fmt::format("`texton run {} --help` lists the inputs.", kernel.info.name));
    if (options.samplers.size() > 1 && options.samplers.size() != options.inputs.size())
        refuse(fmt::format("--sampler was given {} times, but there are {} input files", options.samplers.size(),
                           options.inputs.size()),
               "Give one sampler for all inputs, or one for each input.");
    verify::KernelRun asked{.kernel = &kernel, .parameters = verify::parameters_of(kernel.info, options.values)};
    if (!options.size.empty()) asked.size = verify::size_of(options.size, "--size");
    if (!options.format.empty()) asked.format = verify::format_of(options.format, "--format");

    const Device device = viewer::device_named(options.device);
    std::vector<Texture> textures;
    std::vector<ImageFile> inputs;
    for (std::size_t i = 0; i < options.inputs.size(); ++i)
        textures.push_back(read_texture(options, i, device, asked, inputs));
    const Watch kernel_watch;
    const std::vector<HostImage> images = verify::run(device, asked, textures);
    if (options.timing)
        fmt::print(stderr, "{}, including copies of the images to the host: {:.2f} ms\n", kernel.info.name,
                   kernel_watch.milliseconds());
    const Watch save_watch;
    const bool cubes = kernel.info.group == "cubemap" || (!textures.empty() && is_cube(textures.front().kind()));
    const std::vector<fs::path> files =
        save_images(options.out, images, cubes, saved_alpha(options.drop_alpha, inputs));
    if (options.timing) fmt::print(stderr, "saved in {:.2f} ms\n", save_watch.milliseconds());

    if (options.json) {
        Json out{{"kernel", kernel.info.name}, {"device", device.name()}, {"images", Json::array()}};
        for (const HostImage& image : images)
            out["images"].push_back({{"format", name(image.format)},
                                     {"width", image.extent.width},
                                     {"height", image.extent.height},
                                     {"depth", image.extent.depth}});
        for (const fs::path& file : files) out["files"].push_back(file.string());
        print_json(out);
    } else {
        for (std::size_t i = 0; i < files.size(); ++i)
            fmt::print("{}: {}{}\n", files[i].string(), images[i].text(),
                       files.size() < images.size() ? fmt::format(", {} levels", images.size()) : "");
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
    add_drop_alpha(*command, options->drop_alpha);
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
    command->add_flag("--timing", options->timing,
                      "Print the times of decoding, copying, computing and saving on standard error");
    command->footer(
        "Output:\n"
        "  A mip chain is written to one file if the file type stores levels (.dds, .ktx2, .exr, .tif, .tx), and a "
        "cubemap "
        "is\n"
        "  written to one file. Other kernels with several results write numbered files.\n"
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
