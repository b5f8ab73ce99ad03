#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/suite_options.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/document.h"
#include "viewer/model/end_on_signals.h"
#include "viewer/model/named_paths.h"
#include "viewer/verify/approval.h"
#include "viewer/verify/case_filter.h"
#include "viewer/verify/junit.h"
#include "viewer/verify/report.h"
#include "viewer/verify/run_history.h"
#include "viewer/verify/run_suite.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using verify::Case;
using verify::Json;
using verify::Outcome;
using verify::Result;
using verify::Suite;
using verify::Update;

struct Options {
    std::string suite;
    std::string device;
    std::string filter;
    std::string variant;
    std::string report;
    std::string junit;
    std::string store;
    unsigned jobs = 0;
    std::size_t repeat = 1;
    bool update = false;
    bool yes = false;
    bool list = false;
    bool quick = false;
    bool json = false;
    bool allow_outside = false;
    bool commands = false;
    bool single_file = false;
    std::string history;
    std::string label;

    verify::ReportOptions report_options() const { return {.single_file = single_file, .history = {}}; }
};

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton verify",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

std::string difference_of(const Result& result) {
    return result.comparisons.empty() ? "-" : std::to_string(result.differing());
}

std::string ulp_of(const Result& result) {
    if (result.comparisons.empty()) return "-";
    return result.max_ulp() == kFarthest ? "NaN" : std::to_string(result.max_ulp());
}

// --- approving -------------------------------------------------------------------------------------------------------

const char* change_of(const Result& result) {
    if (!result.reference) return "new";
    if (result.comparisons.empty())
        return result.images == result.reference->images ? "other inputs" : "other size or format";
    return result.outcome == Outcome::passed ? "changed within tolerance" : "changed";
}

// Returns the changes of an update. References of cases that no longer exist are only looked for if all cases were run.
Update update_of(const Options& options, const Suite& suite, const std::vector<const Case*>& cases,
                 const std::vector<Result>& results) {
    Update update = verify::update_of(cases, results);
    if (options.filter.empty() && !options.quick) update.unused = verify::unused_references(suite);
    return update;
}

Status ask_and_update(const Options& options, const Suite& suite, const Device& device,
                      const std::vector<const Case*>& cases, const std::vector<Result>& results) {
    const Update update = update_of(options, suite, cases, results);
    if (update.empty()) {
        fmt::print("Nothing to approve.\n");
        return Status::good;
    }
    Table table({"case", "", "differing texels", "max ulp"});
    for (const std::size_t i : update.changed)
        table.add({cases[i]->name, change_of(results[i]), difference_of(results[i]), ulp_of(results[i])});
    for (const fs::path& path : update.unused) table.add({path.filename().string(), "no such case", "-", "-"});
    fmt::print("{}", table.of_text().text());
    if (!options.yes && !confirmed(update.changed.size(), update.unused.size())) {
        fmt::print("Nothing was written.\n");
        return Status::different;
    }
    verify::write_update(suite, device, options.variant, cases, results, update);
    if (!update.changed.empty())
        fmt::print("{} references written to {}\n", update.changed.size(), suite.references.string());
    if (!update.unused.empty())
        fmt::print("{} references removed from {}\n", update.unused.size(), suite.references.string());
    return Status::good;
}

// --- printing --------------------------------------------------------------------------------------------------------

using Counts = std::array<std::size_t, verify::kOutcomes>;  // indexed by Outcome

std::size_t count_of(const Counts& counts, Outcome outcome) { return counts[static_cast<std::size_t>(outcome)]; }

std::string words_of(const Counts& counts) {
    std::string out = fmt::format("{} passed", count_of(counts, Outcome::passed));
    if (const std::size_t n = count_of(counts, Outcome::skipped)) out += fmt::format(", {} skipped", n);
    if (const std::size_t n = count_of(counts, Outcome::differs)) out += fmt::format(", {} differ", n);
    if (const std::size_t n = count_of(counts, Outcome::no_reference)) out += fmt::format(", {} without reference", n);
    if (const std::size_t n = count_of(counts, Outcome::failed)) out += fmt::format(", {} failed", n);
    return out;
}

void print_names(const std::vector<const Case*>& cases, bool json) {
    Json names = Json::array();
    for (const Case* each : cases) {
        names.push_back(each->name);
        if (!json) fmt::print("{}\n", each->name);
    }
    if (json) print_json({{"cases", names}});
}

// Prints the last lines of a command.
void print_output(const Result& result) {
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) fmt::print("    {}\n", line);
}

void print_results(const Suite& suite, const std::vector<const Case*>& cases, const std::vector<Result>& results,
                   const Counts& counts, const Options& options) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::optional<verify::Repetition>& repetition = results[i].repetition;
        if (repetition && repetition->varies()) fmt::print("varies: {}: {}\n", cases[i]->name, repetition->text());
        if (results[i].outcome == Outcome::passed) continue;
        fmt::print("{}: {}: {}\n", name(results[i].outcome), cases[i]->name, results[i].message);
        print_output(results[i]);
    }
    fmt::print("{}: {} {}: {}\n", suite.name, cases.size(), cases.size() == 1 ? "case" : "cases", words_of(counts));
    if (options.report.empty()) return;
    const fs::path report = options.report;
    fmt::print("report: {}\n", (options.single_file ? report : report / "index.html").string());
}

Json json_of(const Suite& suite, const Device& device, const std::vector<const Case*>& cases,
             const std::vector<Result>& results, const Counts& counts) {
    Json out{{"suite", suite.name},
             {"device", device.name()},
             {"total",
              {{"cases", cases.size()},
               {"passed", count_of(counts, Outcome::passed)},
               {"skipped", count_of(counts, Outcome::skipped)},
               {"differs", count_of(counts, Outcome::differs)},
               {"no_reference", count_of(counts, Outcome::no_reference)},
               {"failed", count_of(counts, Outcome::failed)}}},
             {"cases", Json::array()}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Result& result = results[i];
        Json row{{"name", cases[i]->name},          {"outcome", name(result.outcome)}, {"message", result.message},
                 {"differing", result.differing()}, {"max_ulp", result.max_ulp()},     {"reference", nullptr},
                 {"seconds", result.seconds}};
        if (result.reference) row["reference"] = result.reference->path.string();
        if (result.reference) row["equal_fields"] = result.equal_fields;
        if (!result.output.empty()) row["output"] = result.output;
        if (const std::optional<verify::Repetition>& repetition = result.repetition)
            row["repetition"] = {{"runs", repetition->runs},
                                 {"failed", repetition->failed},
                                 {"distinct", repetition->distinct},
                                 {"varying", repetition->varying},
                                 {"other_shapes", repetition->other_shapes},
                                 {"has_reference", repetition->has_reference}};
        out["cases"].push_back(row);
    }
    return out;
}

// Refuses a path of the report that cannot be written, before the cases run.
void check_report(const Options& options) {
    if (options.single_file && (viewer::is_same_file(options.report, options.suite) ||
                                (!options.junit.empty() && viewer::is_same_file(options.report, options.junit))))
        refuse(fmt::format("--report would overwrite {}", options.report), "Write to another file.");
    verify::prepare_report(options.report, options.report_options());
}

// Refuses a history that cannot be written, before the cases run.
void check_history(const Options& options) {
    for (const std::string* other : {&options.suite, &options.junit, &options.report})
        if (!other->empty() && viewer::is_same_file(options.history, *other))
            refuse(fmt::format("--history would change {}", *other), "Give the path of another file.");
    verify::prepare_history(options.history);
}

void write_report(const Options& options, const Suite& suite, const Device& device,
                  const std::vector<const Case*>& cases, const std::vector<Result>& results) {
    verify::ReportOptions report = options.report_options();
    if (!options.history.empty()) report.history = verify::read_history(options.history, suite);
    verify::write_report(options.report, suite, device, cases, results, report);
}

Status run(const Options& options) {
    const bool allows_commands = options.commands || options.list;  // a list of the cases runs nothing
    Suite suite =
        verify::read_suite(options.suite, options.allow_outside ? verify::Outside::allowed : verify::Outside::refused,
                           allows_commands ? verify::Commands::allowed : verify::Commands::refused);
    if (!options.store.empty()) suite.store = options.store;
    if (!options.junit.empty() && viewer::is_same_file(options.junit, options.suite))
        refuse(fmt::format("--junit would overwrite the suite {}", options.suite), "Write to another file.");
    const std::vector<const Case*> cases = verify::matching_cases(suite, options.filter, options.quick);
    if (options.list) {
        print_names(cases, options.json);
        return Status::good;
    }
    if (options.update && options.json && !options.yes)
        refuse("--update cannot ask for confirmation if --json is given", "Add --yes, or omit --json.");
    if (!options.report.empty()) check_report(options);
    if (!options.history.empty()) check_history(options);
    const Device device = viewer::device_named(options.device);
    std::vector<Result> results;
    {
        ProgressBar bar("verifying", "cases");
        bar.show(0, static_cast<double>(cases.size()));
        std::size_t done = 0;
        // Commands do not receive the signals of the terminal, and their folders must be removed.
        std::optional<viewer::StopOnSignals> stop;
        if (options.commands) stop.emplace();
        const auto show = [&](std::size_t) {
            bar.show(static_cast<double>(++done), static_cast<double>(cases.size()));
        };
        results = verify::run_cases(cases, suite, device,
                                    {.jobs = options.jobs,
                                     .repeat = options.repeat,
                                     .done = show,
                                     .stop = stop ? stop->token() : std::stop_token()});
        viewer::StopOnSignals::end_if_stopped();
    }
    Counts counts{};
    for (const Result& result : results) ++counts[static_cast<std::size_t>(result.outcome)];
    if (!options.junit.empty()) verify::write_junit(options.junit, suite, cases, results);
    if (!options.history.empty()) verify::append_history(options.history, suite, device, options.label, cases, results);
    if (!options.report.empty()) write_report(options, suite, device, cases, results);

    const bool errors = count_of(counts, Outcome::failed) > 0;
    bool folders_differ = false;  // an update does not change folders
    for (std::size_t i = 0; i < cases.size(); ++i)
        folders_differ |= results[i].outcome == Outcome::differs && !verify::has_references(*cases[i]);
    if (options.update && options.json) {
        const Update update = update_of(options, suite, cases, results);
        verify::write_update(suite, device, options.variant, cases, results, update);
        Json json = json_of(suite, device, cases, results, counts);
        json["approved"] = json["removed"] = Json::array();
        for (const std::size_t i : update.changed) json["approved"].push_back(cases[i]->name);
        for (const fs::path& path : update.unused) json["removed"].push_back(path.string());
        print_json(json);
        if (errors) return Status::failed;
        return folders_differ ? Status::different : Status::good;
    }
    if (options.update) {
        for (std::size_t i = 0; i < cases.size(); ++i)
            if (!verify::is_approvable(*cases[i], results[i]) && results[i].outcome != Outcome::passed) {
                fmt::print("{}: {}: {}\n", name(results[i].outcome), cases[i]->name, results[i].message);
                print_output(results[i]);
            }
        const Status status = ask_and_update(options, suite, device, cases, results);
        if (errors) return Status::failed;
        return folders_differ ? Status::different : status;
    }
    if (options.json) {
        print_json(json_of(suite, device, cases, results, counts));
    } else {
        print_results(suite, cases, results, counts, options);
    }
    if (errors) return Status::failed;
    const std::size_t good = count_of(counts, Outcome::passed) + count_of(counts, Outcome::skipped);
    return good == cases.size() ? Status::good : Status::different;
}

}  // namespace

void add_verify(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("SUITE", options->suite, "Suite of regression tests, a JSON file")
        ->required()
        ->type_name("FILE");
    command->add_option("--device", options->device,
                        "Device: cpu, cpu:N, cuda or cuda:N. Default: the first CUDA device, or else the CPU");
    command
        ->add_option("--filter", options->filter,
                     "Run only the cases whose names contain a match of this regular expression")
        ->type_name("REGEX");
    command->add_flag("--quick", options->quick,
                      "Of the cases of each matrix, run only as many as are needed for every pair of values of two "
                      "keys of the matrix");
    command->add_flag("--list", options->list, "Print the names of the cases without running them");
    CLI::Option* update = command->add_flag(
        "--update", options->update,
        "Approve the current results as references, and remove references of cases that no longer exist; lists the "
        "changes and asks for confirmation");
    command->add_flag("--yes", options->yes, "With --update: do not ask for confirmation")->needs(update);
    command
        ->add_option("--as", options->variant,
                     "With --update: keep existing references, and write variants with this name, such as sm_90")
        ->type_name("NAME")
        ->needs(update);
    CLI::Option* report =
        command
            ->add_option("--report", options->report,
                         "Write an HTML report to this folder, with images of the cases that do not pass")
            ->type_name("FOLDER");
    command
        ->add_flag("--single-file", options->single_file,
                   "With --report: write the report to one HTML file, which contains all images, instead of a folder")
        ->needs(report);
    command
        ->add_option("--store", options->store,
                     "Folder of the texels of references by content hash, instead of the store that the suite names. "
                     "Several machines can share it")
        ->type_name("FOLDER");
    CLI::Option* history = command
                               ->add_option("--history", options->history,
                                            "Append a line of JSON with the result of each case to this file; the "
                                            "report plots each case over time")
                               ->type_name("FILE");
    command
        ->add_option("--label", options->label,
                     "With --history: text that is kept with the results, for example a commit")
        ->type_name("TEXT")
        ->needs(history);
    command->add_option("--junit", options->junit, "Write the results to this file as JUnit XML")->type_name("FILE");
    command
        ->add_option("--jobs", options->jobs,
                     "Maximum number of cases that run at a time. Default: the number of hardware threads")
        ->check(at_least(1))
        ->type_name("N");
    command
        ->add_option(
            "--repeat", options->repeat,
            "Run each kernel and each command N times, and tell how many distinct results there were, how many "
            "texels vary, and whether a reference is among the results")
        ->check(at_least(1))
        ->type_name("N")
        ->excludes(update);
    command->add_flag("--allow-outside", options->allow_outside,
                      "Let the suite read files and use references outside of its folder");
    command->add_flag("--commands", options->commands,
                      "Run the commands of the suite. They can do anything that you can do, so use it only with suites "
                      "that you trust");
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
    command->footer(
        "A case passes if its images match one of its references within the tolerance of the case. Images are results\n"
        "of a kernel, files that a command writes, or files that exist. Two folders can be compared with each other.\n"
        "tests/regress/README.md in Texton's sources describes the formats of suites and references.\n"
        "Without --allow-outside, a suite that names a path outside of its own folder is refused. Without --commands,\n"
        "a suite that contains a command is refused. With --repeat, the result of a case is that of its worst run.\n"
        "\n"
        "Examples:\n"
        "  texton verify suite.json                            # on the GPU, if there is one\n"
        "  texton verify suite.json --filter '^blur/' --report out\n"
        "  texton verify suite.json --report out.html --single-file\n"
        "  texton verify suite.json --update                   # approve the results\n"
        "  texton verify suite.json --device cuda --update --as sm_90 --yes\n"
        "  texton verify suite.json --history history.jsonl --label \"$(git rev-parse --short HEAD)\" --report out\n"
        "  texton verify renderer.json --commands              # runs the programs that the suite names\n"
        "\n"
        "Exit status:\n"
        "  0  all cases pass or may be skipped, or the update is complete\n"
        "  1  a case differs or has no reference, or the update was declined\n"
        "  2  a case cannot be run or its images are missing, a file cannot be read or written, or the device does not "
        "exist");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli
