#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_load.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/kernel_options.h"
#include "viewer/cli/run_steps.h"
#include "viewer/cli/saved_images.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/computed_images.h"
#include "viewer/model/document.h"
#include "viewer/model/file_reading.h"
#include "viewer/verify/table_file.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using verify::ComputedImages;
using verify::HostImage;
using verify::Json;
using verify::PipelineStep;

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton run",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

std::string count_of(std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

class Watch {
public:
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Runs the steps one after the other. The images between them stay in memory of the device.
class Runner {
public:
    Runner(const RunOptions& options, const RunSteps& steps)
        : options_(options), steps_(steps), device_(viewer::device_named(options.device)) {}

    void run() {
        ComputedImages images;
        for (std::size_t i = 0; i < steps_.pipeline.size(); ++i) images = run_step(i, std::move(images));
        if (options_.json) print_json(json());
    }

private:
    ComputedImages run_step(std::size_t index, ComputedImages before) {
        PipelineStep step = steps_.pipeline[index];
        const KernelInfo& kernel = step.run.kernel->info;
        const std::size_t computed = kernel.inputs.size() - step.files.size();
        std::vector<Array> arrays;
        if (index == 0) {
            arrays.push_back(read(steps_.input, step, 0));
        } else {
            arrays = arrays_of(before, kernel, computed);
        }
        before = {};
        for (const fs::path& file : step.files) arrays.push_back(read(file, step, arrays.size()));
        std::vector<Texture> textures;
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const Json none = Json::object();
            const Json& sampler = step.samplers.empty() ? none : step.samplers[step.samplers.size() > 1 ? i : 0];
            textures.emplace_back(arrays[i], verify::sampler_of(sampler, "--sampler", arrays[i].info()));
        }
        ComputedImages images = verify::compute(device_, step.run, textures);
        if (options_.timing) fmt::print(stderr, "{}: {:.2f} ms\n", kernel.name, images.milliseconds);
        kind_ = textures.front().kind();
        if (!step.out.empty()) save(step, verify::host_images(images.views));
        return images;
    }

    // Returns the first inputs of a kernel, which are the images of the step before.
    std::vector<Array> arrays_of(const ComputedImages& images, const KernelInfo& next, std::size_t count) const {
        std::vector<Array> arrays;
        const std::span<const View> views(images.views);
        if (views.size() == count) {
            for (std::size_t i = 0; i < count; ++i)
                arrays.push_back(verify::array_of(device_, views.subspan(i, 1), next.inputs[i].kinds, kind_));
        } else if (count == 1 && verify::is_mip_chain(views)) {
            arrays.push_back(verify::array_of(device_, views, next.inputs[0].kinds, kind_));
        } else {
            refuse(fmt::format("{} needs {}, but the kernel before it writes {}", next.name, count_of(count, "image"),
                               count_of(views.size(), "image")),
                   fmt::format("`texton run {} --help` lists the inputs.", next.name));
        }
        return arrays;
    }

    // Reads a file for an input of the step's kernel.
    Array read(const fs::path& path, PipelineStep& step, std::size_t input) {
        if (verify::is_table_file(path)) return verify::read_table(device_, path, step.run, input);
        const InputInfo& expected = step.run.kernel->info.inputs[input];
        ImageOptions how;
        if (!options_.kind.empty()) {
            how.kind = verify::kind_of(options_.kind, "--kind");
        } else if (expected.kinds.size() == 1) {
            how.kind = expected.kinds.front();
        }
        const ImageFile image = open_image(path, how, viewer::file_reading());
        files_.push_back(image);
        LoadTiming timing;
        Array array =
            load(device_, image, {.usage = verify::usage_for_kernels(device_, image.info()), .timing = &timing});
        if (options_.timing) fmt::print(stderr, "{}\n{}\n", path.string(), to_string(timing));
        return array;
    }

    void save(const PipelineStep& step, const std::vector<HostImage>& images) {
        const Watch watch;
        const KernelInfo& kernel = step.run.kernel->info;
        const bool cubes = kernel.group == "cubemap" || is_cube(kind_);
        const std::vector<fs::path> paths =
            save_images(step.out, images, cubes, saved_alpha(options_.drop_alpha, files_));
        if (options_.timing) fmt::print(stderr, "saved in {:.2f} ms\n", watch.milliseconds());
        Json saved{{"kernel", kernel.name}, {"images", Json::array()}};
        for (const HostImage& image : images)
            saved["images"].push_back({{"format", name(image.format)},
                                       {"width", image.extent.width},
                                       {"height", image.extent.height},
                                       {"depth", image.extent.depth}});
        for (const fs::path& path : paths) saved["files"].push_back(path.string());
        saved_.push_back(std::move(saved));
        if (options_.json) return;
        for (std::size_t i = 0; i < paths.size(); ++i)
            fmt::print("{}: {}{}\n", paths[i].string(), images[i].text(),
                       paths.size() < images.size() ? fmt::format(", {} levels", images.size()) : "");
    }

    // Describes what was saved: by a single kernel, or by each step that saved images.
    Json json() const {
        if (steps_.pipeline.size() > 1) return {{"device", device_.name()}, {"steps", saved_}};
        Json out{{"kernel", saved_.front()["kernel"]}, {"device", device_.name()}};
        out.update(saved_.front());
        return out;
    }

    const RunOptions& options_;
    const RunSteps& steps_;
    Device device_;
    ArrayKind kind_ = ArrayKind::array_2d;  // of the first input of the step that was run last
    std::vector<ImageFile> files_;
    std::vector<Json> saved_;
};

// Throws Error if the steps cannot be run with the files that are named.
void check(const RunSteps& steps) {
    const PipelineStep& first = steps.pipeline.front();
    const KernelInfo& kernel = first.run.kernel->info;
    const std::size_t named = first.files.size() + (steps.input.empty() ? 0 : 1);
    if (named != kernel.inputs.size())
        refuse(fmt::format("{} needs {}, but {} {} given", kernel.name, count_of(kernel.inputs.size(), "input file"),
                           named, named == 1 ? "was" : "were"),
               fmt::format("`texton run {} --help` lists the inputs.", kernel.name));
    if (steps.pipeline.back().out.empty()) refuse("no output file was named", "Name the file to write with -o OUT.");
    verify::check(steps.pipeline);
}

struct Options {
    RunOptions run;
    StepOptions first;
};

Status run(Options& options, const std::vector<std::string>& words) {
    if (options.run.list) {
        print_kernels(options.run.json);
        return Status::good;
    }
    if (words.empty()) refuse("no kernel was named", "`texton run --list` lists all kernels.");
    if (words.front().starts_with('-'))
        refuse(fmt::format("there is no option {}", words.front()),
               "Options of a kernel follow its name; `texton run --help` lists the others.");
    const RunSteps steps = parse_steps(words, options.first, options.run);
    if (steps.helped != nullptr) {
        print_kernel(*steps.helped, options.run.json);
        return Status::good;
    }
    check(steps);
    if (!options.run.save_pipeline.empty()) verify::write_pipeline(options.run.save_pipeline, steps.pipeline);
    Runner(options.run, steps).run();
    return Status::good;
}

class UsageOfRun final : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: texton run KERNEL IN... -o OUT [OPTIONS] [--then KERNEL [IN...] [-o OUT] [OPTIONS]]...\n"
               "       texton run PIPELINE.json IN -o OUT [OPTIONS]\n";
    }
};

}  // namespace

void add_run(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    // The words from the name of the kernel on are parsed for this kernel.
    command->prefix_command();
    command->formatter(std::make_shared<UsageOfRun>());
    command->add_flag("--list", options->run.list, "List all kernels");
    add_step_options(*command, options->first);
    add_run_options(*command, options->run);
    command->footer(
        "Kernels:\n"
        "  Each parameter of a kernel is an option after its name: gaussian a.png -o b.png --sigma 2.\n"
        "  `texton run KERNEL --help` lists the inputs and the parameters of a kernel.\n"
        "  --then runs another kernel on the images of the one before. Its first inputs are these images; files are\n"
        "  read for the others. The images stay in memory of the device, and each kernel may write them with -o.\n"
        "  --save-pipeline writes the kernels and their options to a JSON file, which can be run in place of a "
        "kernel.\n"
        "\n"
        "Output:\n"
        "  A mip chain is written to one file if the file type stores levels (.dds, .ktx2, .exr, .tif, .tx), and a cubemap "
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
        "  The table of lut_1d and lut_3d may be a .cube file. The kernel uses the domain of the file, unless\n"
        "  --domain-min or --domain-max is given.\n"
        "\n"
        "Examples:\n"
        "  texton run --list\n"
        "  texton run resample --help\n"
        "  texton run resample card.png -o small.png --size 240x160 --filter area\n"
        "  texton run resample card.png -o tiled.exr --format rgba16_float --crop -240,0,960,320 \\\n"
        "      --sampler address=wrap\n"
        "  texton run gaussian card.png --sigma 2 --then lut_3d film.cube --filter exact -o graded.png\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  a kernel, parameter or device does not exist, an option is invalid, or a file cannot be read or written");
    command->callback([options, command, &status] { status = run(*options, command->remaining()); });
}

}  // namespace texton::cli
