#include "viewer/cli/run_steps.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/nearest_name.h"
#include "viewer/cli/kernel_options.h"
#include "viewer/cli/parse_problem.h"
#include "viewer/cli/progress.h"
#include "viewer/model/reading_options.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using verify::Pipeline;
using verify::PipelineStep;
using Words = std::span<const std::string>;

constexpr const char* kThen = "--then";

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton run",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

// Parses words and throws Error for invalid ones.
void parse(CLI::App& app, Words words) {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        std::vector<std::string> names;
        for (const CLI::Option* option : app.get_options()) {
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        }
        const std::vector<std::string> left = app.remaining();
        std::string question = left.empty() ? "" : detail::did_you_mean(left.front(), names);
        if (!question.empty()) question = question.substr(1) + " ";
        refuse(problem_of(error), question + "Run `" + app.get_name() + " --help` for more information.");
    }
}

struct Step {
    PipelineStep step;
    std::vector<std::string> files;  // all of the step
    bool helped = false;
};

// Parses the words of a step, of which the first one is the kernel's name.
Step parse_step(Words words, const StepOptions& before, RunOptions& options) {
    const Kernel& kernel = kernel_typed(words.front());
    StepOptions typed;
    Step parsed;
    CLI::App app("", "texton run " + kernel.info.name);
    app.set_help_flag();
    app.add_flag("-h,--help", parsed.helped);
    app.add_option("IN", typed.files);
    add_run_options(app, options);
    add_progress_options(app);
    viewer::add_reading_options(app);
    add_step_options(app, typed);
    std::vector<std::string> values;
    add_parameters(app, kernel.info, values);
    parse(app, words.subspan(1));
    if (parsed.helped) options.help = true;

    const auto either = [](const auto& own, const auto& other) { return own.empty() ? other : own; };
    values.insert(values.begin(), typed.parameters.begin(), typed.parameters.end());
    values.insert(values.begin(), before.parameters.begin(), before.parameters.end());
    PipelineStep& step = parsed.step;
    step.run = {.kernel = &kernel, .parameters = verify::parameters_of(kernel.info, values)};
    const Arguments checked(kernel.info, step.run.parameters);
    if (const std::string size = either(typed.size, before.size); !size.empty())
        step.run.size = verify::result_size(size, "--size");
    if (const std::string format = either(typed.format, before.format); !format.empty())
        step.run.format = verify::format_of(format, "--format");
    for (const std::string& sampler : either(typed.samplers, before.samplers))
        step.samplers.push_back(verify::sampler_json(sampler));
    step.out = typed.out;
    parsed.files = std::move(typed.files);
    return parsed;
}

// Parses the words after the path of a pipeline: the file to which it is applied, and the file to write.
Pipeline parse_pipeline(Words words, RunOptions& options, std::string& input) {
    std::string out;
    CLI::App app("", "texton run");
    app.set_help_flag();
    app.add_option("IN", input);
    app.add_option("-o,--out", out);
    add_run_options(app, options);
    add_progress_options(app);
    viewer::add_reading_options(app);
    parse(app, words.subspan(1));
    Pipeline pipeline = verify::read_pipeline(words.front(), options.allow_outside);
    if (!out.empty()) pipeline.back().out = out;
    return pipeline;
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options) {
    command
        .add_option("--kind", options.kind,
                    "Array kind that the files are read as. Default: from the kernel and the files")
        ->type_name("KIND");
    command.add_option(
        "--device", options.device,
        "Device: cpu, cpu:N, cuda or cuda:N; or all devices of a kind, each of which computes parts of the "
        "image: cpu:all or cuda:all. Default: the first CUDA device, or else the CPU");
    options.selection.add_selection_to(command);
    add_drop_alpha(command, options.drop_alpha);
    command.add_option("--save-pipeline", options.save_pipeline, "Write the kernels and their options to a JSON file")
        ->type_name("FILE");
    command
        .add_option("--memory", options.memory,
                    "Compute the image in parts, on the CPU device, with at most this memory for texels: 512MiB, 2GiB. "
                    "Default: the whole image at once; on all devices of a kind a quarter of the machine's memory")
        ->type_name("SIZE");
    command.add_flag("--resume", options.resume,
                     "With --memory or all devices of a kind: keep finished rows in OUT.rows, and continue with those "
                     "of a run that was "
                     "interrupted");
    command.add_flag(
        "--mips", options.mips,
        "With --memory or all devices of a kind: write the image with all its mip levels, as `texton mips` "
        "computes them");
    command
        .add_option("--seconds", options.seconds,
                    "With all devices of a kind: end a process that gives no sign of life for this time, and let the "
                    "others compute its rows. Default: 60")
        ->check(CLI::Range(1.0, 86400.0))
        ->type_name("SECONDS");
    command.add_flag("--allow-outside", options.allow_outside,
                     "Allow a pipeline to name files outside of the folder of its JSON file");
    command.add_flag("--json", options.json, "Print one JSON object instead of text");
    command.add_flag("--timing", options.timing,
                     "Print the times of decoding, copying, computing and saving on standard error");
}

void add_step_options(CLI::App& command, StepOptions& options) {
    command
        .add_option("-o,--out", options.out, "File to write; several results get numbered files, OUT_0.png, OUT_1.png")
        ->type_name("FILE");
    command.add_option("--set", options.parameters, "Set a parameter; the same as --NAME VALUE after KERNEL")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    command
        .add_option(
            "--size", options.size,
            "Size of the result, for kernels that write images of any size: 640x480; 640x or x480, which keep the "
            "proportions; 50%; or within:640x480, which keeps them and enlarges no image")
        ->type_name("WxH");
    command.add_option("--format", options.format, "Texel format of the result. Default: chosen by the kernel")
        ->type_name("FORMAT");
    command
        .add_option("--sampler", options.samplers,
                    "Sampler of the inputs; give it once for all inputs, or once for each input")
        ->type_name("KEY=VALUE,...")
        ->allow_extra_args(false);
}

RunSteps parse_steps(const std::vector<std::string>& words, const StepOptions& before, RunOptions& options) {
    RunSteps steps;
    for (auto begin = words.begin(); begin != words.end();) {
        const auto end = std::find(begin, words.end(), kThen);
        const bool first = begin == words.begin();
        if (begin == end) refuse("there is no kernel before or after --then", "Write KERNEL --then KERNEL.");
        const Words step(begin, end);
        if (first && fs::path(*begin).extension() == ".json") {
            steps.pipeline = parse_pipeline(step, options, steps.input);
        } else {
            Step parsed = parse_step(step, first ? before : StepOptions{}, options);
            if (parsed.helped) steps.helped = &parsed.step.run.kernel->info;
            auto& files = parsed.files;
            if (first && !files.empty()) {
                steps.input = files.front();
                files.erase(files.begin());
            }
            parsed.step.files.assign(files.begin(), files.end());
            steps.pipeline.push_back(std::move(parsed.step));
        }
        if (end == words.end()) break;
        begin = end + 1;
        if (begin == words.end()) refuse("there is no kernel after --then", "Write KERNEL --then KERNEL.");
    }
    if (!before.out.empty()) steps.pipeline.back().out = before.out;
    return steps;
}

RunSteps parse_run(const std::vector<std::string>& words, RunOptions& options) {
    StepOptions before;
    CLI::App app("", "texton run");
    app.prefix_command();
    app.set_help_flag();
    add_step_options(app, before);
    add_run_options(app, options);
    add_progress_options(app);
    viewer::add_reading_options(app);
    parse(app, words);
    return parse_steps(app.remaining(), before, options);
}

}  // namespace texton::cli
