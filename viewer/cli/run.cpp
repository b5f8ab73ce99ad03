#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_load.h>

#include "viewer/batch/ranks.h"
#include "viewer/cli/commands.h"
#include "viewer/cli/frame_sequence.h"
#include "viewer/cli/kernel_options.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/run_in_strips.h"
#include "viewer/cli/run_steps.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/document.h"
#include "viewer/model/pipeline_images.h"
#include "viewer/model/planar_files.h"
#include "viewer/model/saved_images.h"
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

[[noreturn]] void refuse_inputs(const KernelInfo& kernel, std::size_t named) {
    refuse(fmt::format("{} needs {}, but {} {} given", kernel.name, count_of(kernel.inputs.size(), "input file"), named,
                       named == 1 ? "was" : "were"),
           fmt::format("`texton run {} --help` lists the inputs.{}", kernel.name,
                       named > kernel.inputs.size() ? " `texton batch` applies kernels to each of many images." : ""));
}

class Watch {
public:
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A file that is an input of a kernel: a table, or images.
struct OpenedInput {
    fs::path path;
    std::optional<FrameInput> images;  // unset for a table

    std::size_t frames() const { return images ? images->frames() : 1; }
    // Planar images have two planes, which are two inputs of the kernel.
    std::size_t planes() const { return images ? verify::inputs_of(images->first()).size() : 1; }
};

// A step with its files. The parameters are completed from the files.
struct OpenedStep {
    const PipelineStep& step;
    verify::KernelRun run;
    std::vector<OpenedInput> files;
    std::size_t computed;  // number of inputs that the step before computes
    std::optional<FrameOutput> out;
    Json saved{};  // describes the images of the first frame and all files
};

// Runs the steps one after the other, for each frame of the inputs. The images between them stay in memory of the
// device.
class Runner {
public:
    Runner(const RunOptions& options, const RunSteps& steps)
        : options_(options), device_(viewer::device_named(options.device)), stream_(device_) {
        for (const PipelineStep& step : steps.pipeline) open(step, steps.input);
    }

    void run() {
        const std::size_t frames = frame_count();
        first_number_ = first_number();
        for (std::size_t frame = 0; frame < frames; ++frame) {
            files_.clear();
            ComputedImages images;
            for (std::size_t i = 0; i < steps_.size(); ++i) {
                const double part = static_cast<double>(i) / static_cast<double>(steps_.size());
                bar_.show(static_cast<double>(frame) + part, static_cast<double>(frames));
                images = run_step(steps_[i], frame, std::move(images));
            }
            if (frame == 0) note_what_is_left_out(frames);
        }
        for (OpenedStep& step : steps_) {
            if (step.out) step.out->complete();
        }
        bar_.hide();
        if (options_.json) return print_json(json(frames));
        if (frames > 1) fmt::print("  {} frames\n", frames);
        for (const std::string& note : notes_) fmt::print("  {}\n", note);
    }

private:
    void open(const PipelineStep& step, const fs::path& input) {
        const bool is_first = steps_.empty();
        OpenedStep opened{.step = step, .run = step.run, .files = {}, .computed = 0, .out = {}};
        if (!step.out.empty()) opened.out.emplace(step.out);
        const KernelInfo& kernel = step.run.kernel->info;
        std::size_t images = is_first ? 0 : kernel.inputs.size() - step.files.size();
        bool planar = false;
        const auto add = [&](const fs::path& path) {
            const InputInfo expected = images < kernel.inputs.size() ? kernel.inputs[images] : InputInfo{};
            opened.files.push_back({path, {}});
            if (!verify::is_table_file(path))
                opened.files.back().images.emplace(path, options_.selection, image_options(expected));
            const std::size_t planes = opened.files.back().planes();
            planar = planar || planes > 1;
            images += planes;
        };
        if (is_first) add(input);
        for (const fs::path& file : step.files) add(file);
        if (images > kernel.inputs.size() && planar)
            refuse(fmt::format("{} cannot read planar images", kernel.name), "Convert them with to_rgb() first.");
        if (images != kernel.inputs.size()) refuse_inputs(kernel, opened.files.size());
        opened.computed = is_first ? 0 : kernel.inputs.size() - step.files.size();
        steps_.push_back(std::move(opened));
    }

    ImageOptions image_options(const InputInfo& expected) const {
        ImageOptions how = options_.selection.options();
        if (!options_.kind.empty()) {
            how.kind = verify::kind_of(options_.kind, "--kind");
        } else if (expected.kinds.size() == 1) {
            how.kind = expected.kinds.front();
        }
        return how;
    }

    // Returns the number of frames that are computed. Inputs that are no sequences are the same for all frames.
    std::size_t frame_count() const {
        const FrameOutput& out = *steps_.back().out;
        const OpenedInput* first = nullptr;
        for (const OpenedStep& step : steps_) {
            for (const OpenedInput& input : step.files) {
                if (input.frames() == 1) continue;
                if (first != nullptr && first->frames() != input.frames())
                    refuse(fmt::format("{} has {} frames, but {} has {}", first->path.string(), first->frames(),
                                       input.path.string(), input.frames()),
                           "Use sequences with the same number of frames.");
                if (first == nullptr) first = &input;
                if (input.images->is_numbered() && !out.takes_all())
                    refuse(fmt::format("{} stands for {} files, but one file is written", input.path.string(),
                                       input.frames()),
                           "Write numbered files, for example -o out_%03d.png, or a video file.");
            }
        }
        return first != nullptr && out.takes_all() ? first->frames() : 1;
    }

    std::size_t first_number() const {
        for (const OpenedStep& step : steps_) {
            for (const OpenedInput& input : step.files) {
                if (input.images && input.images->is_numbered()) return input.images->first_number();
            }
        }
        return 0;
    }

    ComputedImages run_step(OpenedStep& step, std::size_t frame, ComputedImages before) {
        const KernelInfo& kernel = step.run.kernel->info;
        std::vector<Array> arrays;
        std::vector<std::size_t> samplers;  // of the files and computed images, of which each plane has the same
        if (step.computed > 0) arrays = verify::next_inputs(device_, before, kernel, step.computed, kind_);
        for (std::size_t i = 0; i < arrays.size(); ++i) samplers.push_back(i);
        before = {};
        for (OpenedInput& input : step.files) {
            const std::size_t sampler = samplers.empty() ? 0 : samplers.back() + 1;
            read(input, frame, step.run, arrays);
            samplers.resize(arrays.size(), sampler);
        }
        std::vector<const Array*> inputs;
        for (const Array& array : arrays) inputs.push_back(&array);
        ComputedImages images = verify::compute(stream_, step.run, inputs, step.step.samplers, samplers);
        if (options_.timing) print_time(fmt::format("{}: {:.2f} ms", kernel.name, images.milliseconds));
        kind_ = arrays.front().info().kind;
        if (step.out) save(step, frame, verify::host_images(images.views));
        return images;
    }

    // Appends the table, the image or the planes of a frame.
    void read(OpenedInput& input, std::size_t frame, verify::KernelRun& run, std::vector<Array>& arrays) {
        if (!input.images) {
            arrays.push_back(verify::read_table(device_, input.path, run, arrays.size()));
            return;
        }
        const ImageFile image = input.images->open(input.frames() == 1 ? 0 : frame);
        files_.push_back(image);
        verify::propose_planar(run, image);
        for (const ImageFile& plane : verify::inputs_of(image)) {
            LoadTiming timing;
            arrays.push_back(
                load(device_, plane, {.usage = verify::usage_for_kernels(device_, plane.info()), .timing = &timing}));
            if (options_.timing) print_time(fmt::format("{}\n{}", input.path.string(), to_string(timing)));
        }
    }

    void save(OpenedStep& step, std::size_t frame, const std::vector<HostImage>& images) {
        const Watch watch;
        const KernelInfo& kernel = step.run.kernel->info;
        const bool cubes = verify::writes_cubes(kernel, kind_);
        const std::vector<fs::path> paths = step.out->write(step.run, images, first_number_ + frame, cubes,
                                                            verify::saved_alpha(options_.drop_alpha, files_));
        if (options_.timing) print_time(fmt::format("saved in {:.2f} ms", watch.milliseconds()));
        if (frame > 0 && paths.front() == step.step.out) return;  // a video file is listed once
        if (frame == 0) {
            step.saved = {{"kernel", kernel.name}, {"images", Json::array()}};
            for (const HostImage& image : images)
                step.saved["images"].push_back({{"format", name(image.format)},
                                                {"width", image.extent.width},
                                                {"height", image.extent.height},
                                                {"depth", image.extent.depth}});
        }
        for (const fs::path& path : paths) step.saved["files"].push_back(path.string());
        if (options_.json) return;
        bar_.hide();
        print_files(step.run, paths, images);
    }

    void print_time(const std::string& text) {
        bar_.hide();
        fmt::print(stderr, "{}\n", text);
    }

    static void print_files(const verify::KernelRun& run, const std::vector<fs::path>& paths,
                            const std::vector<HostImage>& images) {
        if (verify::writes_planes(run) && is_video_name(paths.front())) {
            fmt::print("{}: {} of {}\n", paths.front().string(), to_string(images.front().extent),
                       name(verify::planar_format(run)));
            return;
        }
        for (std::size_t i = 0; i < paths.size(); ++i)
            fmt::print("{}: {}{}\n", paths[i].string(), images[i].text(),
                       paths.size() < images.size() ? fmt::format(", {} levels", images.size()) : "");
    }

    void note_what_is_left_out(std::size_t frames) {
        for (const ImageFile& image : files_) {
            for (const std::string& sentence : left_out(image)) {
                if (frames == 1 || !sentence.starts_with("Only frame")) notes_.push_back(sentence);
            }
        }
    }

    // Describes what was saved: by a single kernel, or by each step that saved images.
    Json json(std::size_t frames) const {
        Json out{{"device", device_.name()}, {"frames", frames}};
        if (steps_.size() == 1) {
            out.update(steps_.front().saved);
        } else {
            for (const OpenedStep& step : steps_) {
                if (step.out) out["steps"].push_back(step.saved);
            }
        }
        out["notes"] = notes_;
        return out;
    }

    const RunOptions& options_;
    Device device_;
    Stream stream_;
    std::vector<OpenedStep> steps_;
    ArrayKind kind_ = ArrayKind::array_2d;  // of the first input of the step that was run last
    std::size_t first_number_ = 0;          // of numbered files
    std::vector<ImageFile> files_;          // of the current frame
    std::vector<std::string> notes_;
    ProgressBar bar_{"computing", "frames"};
};

// Throws Error if the steps cannot be run with the files that are named. Files of planes are counted when they are
// opened.
void check(const RunSteps& steps) {
    const PipelineStep& first = steps.pipeline.front();
    if (steps.pipeline.back().out.empty()) refuse("no output file was named", "Name the file to write with -o OUT.");
    const KernelInfo& kernel = first.run.kernel->info;
    if (steps.input.empty()) refuse_inputs(kernel, 0);
    if (first.files.size() + 1 > kernel.inputs.size()) refuse_inputs(kernel, first.files.size() + 1);
    verify::check(steps.pipeline);
}

// Returns true if neither an input nor an output is named: the pipeline is written, but not run.
bool only_saves_pipeline(const RunOptions& options, const RunSteps& steps) {
    const auto writes = [](const PipelineStep& step) { return !step.out.empty(); };
    return !options.save_pipeline.empty() && steps.input.empty() && std::ranges::none_of(steps.pipeline, writes);
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
    if (only_saves_pipeline(options.run, steps)) {
        verify::check(steps.pipeline);
        verify::write_pipeline(options.run.save_pipeline, steps.pipeline);
        if (options.run.json)
            print_json({{"path", options.run.save_pipeline.string()}});
        else
            fmt::print("{}: {}\n", options.run.save_pipeline.string(), count_of(steps.pipeline.size(), "kernel"));
        return Status::good;
    }
    const bool in_strips = !options.run.memory.empty() || names_all_devices(options.run.device);
    const auto ranks = in_strips ? batch::join_ranks(devices_for(options.run).size()) : nullptr;
    if (ranks != nullptr && !ranks->is_first()) {
        ranks->serve();
        return Status::good;
    }
    check(steps);
    if (!options.run.save_pipeline.empty()) verify::write_pipeline(options.run.save_pipeline, steps.pipeline);
    if (options.run.resume && !in_strips)
        refuse("--resume was given without --memory", "Add --memory, for example --memory 2GiB.");
    if (options.run.mips && !in_strips)
        refuse("--mips was given without --memory",
               "Add --memory, for example --memory 2GiB, or use `texton mips` on the output.");
    if (in_strips) {
        run_in_strips(options.run, steps);
    } else {
        Runner(options.run, steps).run();
    }
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
    command->set_help_flag();
    command->add_flag("-h,--help", options->run.help,
                      "Print this help and exit; after KERNEL, print the inputs and parameters of the kernel");
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
        "  Without an input and -o, nothing is computed.\n"
        "\n"
        "Output:\n"
        "  A mip chain is written to one file if the file type stores levels (.dds, .ktx2, .exr, .tif, .tx), and a "
        "cubemap "
        "is\n"
        "  written to one file. Other kernels with several results write numbered files.\n"
        "\n"
        "Images that fit no memory:\n"
        "  --memory computes the image in strips of rows while the files are read and written, on the CPU device\n"
        "  unless --device names another. The result has the same bits. Tiled files are read fastest. TIFF and\n"
        "  OpenEXR files are written in tiles. Kernels that need the whole image, such as statistics, are refused.\n"
        "  --mips writes the image with its levels, which are computed on the CPU device from the finished rows.\n"
        "  --device cpu:all or cuda:all starts a process for each device, and divides the memory among them. If one\n"
        "  ends, the others compute its rows. `mpirun -n N texton run ... --memory SIZE` does so with N processes, of\n"
        "  which each has the memory, if Texton was built with MPI; the same command continues after an interruption.\n"
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
        "  texton run resample map.tif -o small.tif --size 4000x4000 --filter area --memory 2GiB\n"
        "  texton run gaussian map.tif -o blurred.tif --sigma 8 --device cuda:all --resume\n"
        "  texton run to_rgb clip_1920x1080_i420.yuv -o frame_%04d.png\n"
        "  texton run from_rgb frame_%04d.png -o clip.y4m\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  a kernel, parameter or device does not exist, an option is invalid, or a file cannot be read or written");
    command->callback([options, command, &status] {
        if (options->run.help) {
            fmt::print("{}", command->help());
        } else {
            status = run(*options, command->remaining());
        }
    });
}

}  // namespace texton::cli
