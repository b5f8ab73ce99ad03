#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/batch.h>
#include <texton/error.h>

#include "viewer/batch/file_names.h"
#include "viewer/batch/jpeg_names.h"
#include "viewer/batch/ranks.h"
#include "viewer/cli/commands.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/slurm_script.h"
#include "viewer/cli/terminal.h"
#include "viewer/cli/typed_words.h"
#include "viewer/model/end_on_signals.h"
#include "viewer/text/utf8.h"

namespace texton::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    BatchOptions batch;
    std::string list;
    std::string shard;
    std::string max_failures;
    std::string jpeg = "full";
    std::string slurm;
    int tasks = 8;
    bool dry_run = false;
    bool json = false;
};

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton batch",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

const char* name(BatchReason reason) {
    switch (reason) {
        case BatchReason::done: return "done";
        case BatchReason::missing: return "missing";
        case BatchReason::changed: return "changed";
        case BatchReason::failed: break;
    }
    return "failed";
}

std::optional<std::size_t> whole_number(std::string_view text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return number;
}

BatchShard shard_of(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto index = whole_number(text.substr(0, slash));
    const auto count = slash == text.npos ? std::nullopt : whole_number(text.substr(slash + 1));
    if (!index || !count) refuse(fmt::format("--shard is '{}'", text), "Write INDEX/COUNT, for example 0/8.");
    return {*index, *count};
}

// Sets the number of failures of a text like "20", or the share of "5%".
void set_max_failures(const std::string& text, BatchOptions& options) {
    const bool is_share = text.ends_with('%');
    const auto number = whole_number(std::string_view(text).substr(0, text.size() - (is_share ? 1 : 0)));
    if (!number || (is_share && *number > 100))
        refuse(fmt::format("--max-failures is '{}'", text), "Write a number, for example 20, or a share: 5%.");
    if (is_share) {
        options.max_failure_share = static_cast<double>(*number) / 100;
    } else {
        options.max_failures = *number;
    }
}

void print_line(const Json& value) {
    fmt::print("{}\n", value.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::fflush(stdout);
}

Status print_plan(const Batch& batch, bool json) {
    for (const BatchItem& item : batch.items()) {
        if (json) {
            Json line{{"input", item.input.string()}, {"reason", name(item.reason)}, {"outputs", Json::array()}};
            for (const auto& output : item.outputs)
                if (!output.empty()) line["outputs"].push_back(output.string());
            print_line(line);
        } else if (item.reason != BatchReason::done) {
            fmt::print("{}: {}\n", viewer::to_utf8(item.input.native()), name(item.reason));
        }
    }
    return Status::good;
}

// Prints what happens, and remembers the failures.
class Report {
public:
    Report(const Batch& batch, bool json) : json_(json), bar_("computing", "images") {
        for (const BatchItem& item : batch.items()) total_ += item.reason == BatchReason::done ? 0 : 1;
        bar_.show(0, total_);
    }

    void add(const BatchEvent& event) {
        const std::string input = viewer::to_utf8(event.item.input.native());
        if (json_) {
            Json line{{"event", event.failure.empty() ? "done" : "failed"}, {"input", input}};
            if (event.failure.empty()) {
                for (const auto& file : event.files) line["files"].push_back(file.string());
            } else {
                line["cause"] = event.failure;
            }
            bar_.hide();
            line["attempts"] = event.attempts;
            line["seconds"] = event.seconds;
            if (!event.device.empty()) line["device"] = event.device;
            print_line(line);
        }
        if (!event.failure.empty()) {
            const bool is_named = event.failure.find(input) != std::string::npos;
            failures_.push_back(is_named ? event.failure : fmt::format("{}: {}", input, event.failure));
        }
        bar_.show(++events_, total_);
    }

    void print(const BatchSummary& summary) {
        bar_.hide();
        if (json_) {
            print_line({{"event", "summary"},
                        {"done", summary.done},
                        {"skipped", summary.skipped},
                        {"failed", summary.failed},
                        {"left", summary.left},
                        {"seconds", summary.seconds}});
            return;
        }
        for (const std::string& failure : failures_) fmt::print("failed: {}\n", failure);
        fmt::print("{} done, {} done before, {} failed", summary.done, summary.skipped, summary.failed);
        if (summary.left != 0) fmt::print(", {} left", summary.left);
        fmt::print(" in {:.1f} s\n", summary.seconds);
    }

private:
    bool json_;
    ProgressBar bar_;
    double total_ = 0;
    double events_ = 0;
    std::vector<std::string> failures_;
};

Status run(Options options, const std::vector<std::string>& words) {
    // A process with a shard has a batch of its own.
    const auto ranks = options.shard.empty() ? batch::join_ranks(options.batch.workers) : nullptr;
    if (ranks != nullptr && !ranks->is_first()) {
        ranks->serve();
        return Status::good;
    }
    if (!options.list.empty()) {
        for (std::string& line : batch::lines_of(options.list)) options.batch.inputs.push_back(std::move(line));
    }
    if (!options.shard.empty()) options.batch.shard = shard_of(options.shard);
    options.batch.jpeg = value_of(batch::kJpegDecodings, options.jpeg).value();
    if (!options.max_failures.empty()) set_max_failures(options.max_failures, options.batch);
    if (!options.slurm.empty() && (!options.shard.empty() || options.list == "-"))
        refuse("--slurm divides the batch among tasks, which read no standard input",
               "Leave out --shard, and write the list to a file.");
    Batch batch(options.batch);
    if (!options.slurm.empty()) {
        write_slurm_script(options.slurm, options.tasks, words);
        fmt::print("{}: {} tasks; submit it with `sbatch {}`\n", options.slurm, options.tasks, options.slurm);
        return Status::good;
    }
    if (options.dry_run) return print_plan(batch, options.json);
    BatchSummary summary;
    {
        const viewer::StopOnSignals signals;
        Report report(batch, options.json);
        summary = batch.run([&](const BatchEvent& event) { report.add(event); }, signals.token());
        report.print(summary);
        std::fflush(stdout);
        viewer::StopOnSignals::end_if_stopped();
    }
    return summary.failed == 0 && summary.left == 0 ? Status::good : Status::different;
}

}  // namespace

void add_batch(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    BatchOptions& batch = options->batch;
    command
        ->add_option("PIPELINE", batch.pipeline, "JSON file of the kernels, which `texton run --save-pipeline` writes")
        ->required();
    command->add_option("IN", batch.inputs,
                        "Image files, folders, numbered files (in_%03d.png), or patterns with *, ? or [...]");
    command->add_option("--list", options->list, "Read the names of more inputs, one per line; - is standard input")
        ->type_name("FILE");
    command
        ->add_option(
            "-o,--out", batch.output,
            "File to write for each input. {stem}, {name}, {extension}, {folder} and {number} are parts of the "
            "input's name. Default: the pipeline names it")
        ->type_name("NAME");
    command
        ->add_option(
            "--journal", batch.journal,
            "Folder of the journal, which names what is done. Default: .texton-batch in the folder of the outputs")
        ->type_name("FOLDER");
    command->add_option(
        "--device", batch.device,
        "Device: cpu, cpu:N, cuda or cuda:N, or all devices of a kind: cpu:all or cuda:all. Default: the "
        "first CUDA device, or else the CPU");
    command
        ->add_option("--workers", batch.workers,
                     "Processes that compute, distributed over the devices; for GPUs, threads that decode and encode. "
                     "Default: one for each processor")
        ->check(at_least(1))
        ->type_name("N");
    command->add_option("--seconds", batch.seconds, "Maximum time for an image. Default: 120")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    command
        ->add_option("--attempts", batch.attempts,
                     "Maximum number of attempts, if memory, the disk or the device failed. Default: 3")
        ->check(at_least(1))
        ->type_name("N");
    command
        ->add_option("--max-failures", options->max_failures, "End early after more failures than this number or share")
        ->type_name("N|P%");
    command->add_option("--shard", options->shard, "Compute only a part of the inputs: INDEX from 0 to COUNT - 1")
        ->type_name("INDEX/COUNT");
    command
        ->add_option("--jpeg", options->jpeg,
                     "Decoding of JPEG files: all texels (full); or, with other values, at a part of the size before "
                     "`resample` makes images smaller (shrink), or by nvJPEG on the CUDA device (gpu)")
        ->check(CLI::IsMember(all_names(batch::kJpegDecodings)))
        ->capture_default_str();
    command->add_flag("--checksum", batch.checksum,
                      "Recognize changed inputs by their contents, not by their size and time");
    command->add_flag("--allow-outside", batch.allow_outside,
                      "Allow the pipeline to name files outside of the folder of its JSON file");
    command
        ->add_option("--slurm", options->slurm,
                     "Write a script that computes the batch as a job array of Slurm, and compute nothing")
        ->type_name("FILE");
    command
        ->add_option("--tasks", options->tasks,
                     "Number of tasks of the job array, each of which is a shard. Default: 8")
        ->check(at_least(1))
        ->type_name("N");
    command->add_flag("--dry-run", options->dry_run, "Print what would be computed, and why");
    command->add_flag("--json", options->json, "Print one JSON object per line for each input, and a summary");
    command->footer(
        "The same command again computes only what is missing, changed or failed.\n"
        "\n"
        "Examples:\n"
        "  texton run resample photo.jpg -o small.jpg --size 1000x750 --save-pipeline small.json\n"
        "  texton batch small.json photos/*.jpg -o 'small/{stem}.jpg'\n"
        "  texton batch small.json photos -o 'small/{folder}/{stem}.png' --shard 0/4\n"
        "  texton batch small.json photos/*.jpg -o 'small/{stem}.jpg' --slurm job.sh --tasks 32 && sbatch job.sh\n"
        "  find . -name '*.exr' | texton batch grade.json --list - -o 'out/{stem}.png' --json\n"
        "\n"
        "Exit status:\n"
        "  0  all images are done\n"
        "  1  some images failed, or the batch ended early\n"
        "  2  an error: nothing was computed, or the journal cannot be written");
    command->callback([options, &status] { status = run(*options, typed_words()); });
}

}  // namespace texton::cli
