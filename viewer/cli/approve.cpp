#include <filesystem>
#include <memory>
#include <regex>
#include <set>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/suite_options.h"
#include "viewer/cli/terminal.h"
#include "viewer/verify/approval.h"
#include "viewer/verify/reported_results.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using verify::Json;
using verify::ReportedResult;
using verify::ReportedResults;
using verify::Suite;

struct Options {
    std::string report;
    std::string suite;
    std::string filter;
    std::string variant;
    std::string store;
    bool yes = false;
    bool json = false;
    bool allow_outside = false;
};

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton approve",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

std::regex case_filter(const std::string& filter) {
    try {
        return std::regex(filter);
    } catch (const std::regex_error& error) {
        refuse(fmt::format("--filter '{}' is not a valid regular expression: {}", filter, error.what()),
               "Correct the expression.");
    }
}

// Returns the path of the suite that the report names. Another machine wrote it, so it must start here.
fs::path suite_of(const ReportedResults& reported) {
    const fs::path path = fs::path(reported.suite_file).lexically_normal();
    std::error_code failed;
    const bool starts_here = path.is_relative() && (path.empty() || *path.begin() != "..");
    if (!starts_here || !fs::is_regular_file(path, failed))
        refuse(fmt::format("the report was made with the suite {}, which is not here", reported.suite_file),
               "Give the path of the suite: texton approve REPORT SUITE.");
    return path;
}

// Returns the results that match the filter. Each must be that of a case of the suite.
std::vector<ReportedResult> chosen(const ReportedResults& reported, const Suite& suite, const std::string& filter) {
    std::set<std::string> names;
    for (const verify::Case& each : suite.cases) names.insert(each.name);
    std::vector<ReportedResult> out;
    const std::regex pattern = case_filter(filter);
    for (const ReportedResult& each : reported.results) {
        if (!std::regex_search(each.name, pattern)) continue;
        if (!names.contains(each.name))
            refuse(
                fmt::format("the report has a result of the case '{}', which {} does not have", each.name, suite.name),
                "Run the suite again, or leave the case out with --filter.");
        out.push_back(each);
    }
    return out;
}

Status run(const Options& options) {
    if (options.json && !options.yes) refuse("--json cannot ask for confirmation", "Add --yes, or omit --json.");
    const ReportedResults reported = verify::read_results(options.report);
    // Commands are not run.
    Suite suite = verify::read_suite(options.suite.empty() ? suite_of(reported) : fs::path(options.suite),
                                     options.allow_outside ? verify::Outside::allowed : verify::Outside::refused,
                                     verify::Commands::allowed);
    if (!options.store.empty()) suite.store = options.store;
    const std::vector<ReportedResult> results = chosen(reported, suite, options.filter);
    std::vector<fs::path> unused;
    if (options.filter.empty() && reported.has_all_cases) unused = verify::unused_references(suite);
    if (results.empty() && unused.empty() && !options.json) {
        fmt::print("Nothing to approve.\n");
        return Status::good;
    }
    if (!options.json) {
        Table table({"case", "", "differing texels"});
        for (const ReportedResult& each : results) table.add({each.name, each.outcome, std::to_string(each.differing)});
        for (const fs::path& path : unused) table.add({path.filename().string(), "no such case", "-"});
        fmt::print("Results on {}:\n{}", reported.device, table.of_text().text());
        if (!options.yes && !confirmed(results.size(), unused.size())) {
            fmt::print("Nothing was written.\n");
            return Status::different;
        }
    }
    verify::approve_results(suite, results, options.variant, unused);
    if (options.json) {
        Json out{{"approved", Json::array()}, {"removed", Json::array()}};
        for (const ReportedResult& each : results) out["approved"].push_back(each.name);
        for (const fs::path& path : unused) out["removed"].push_back(path.string());
        print_json(out);
        return Status::good;
    }
    if (!results.empty()) fmt::print("{} references written to {}\n", results.size(), suite.references.string());
    if (!unused.empty()) fmt::print("{} references removed from {}\n", unused.size(), suite.references.string());
    return Status::good;
}

}  // namespace

void add_approve(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("REPORT", options->report, "Folder that `texton verify --report` wrote, on any machine")
        ->required()
        ->type_name("FOLDER");
    command
        ->add_option("SUITE", options->suite,
                     "Suite whose references are written. Default: the path that the report names")
        ->type_name("FILE");
    command
        ->add_option("--filter", options->filter,
                     "Approve only the cases whose names contain a match of this regular expression")
        ->type_name("REGEX");
    command->add_flag("--yes", options->yes, "Do not ask for confirmation");
    command
        ->add_option("--as", options->variant,
                     "Keep existing references, and write variants with this name, such as sm_90")
        ->type_name("NAME");
    command
        ->add_option("--store", options->store,
                     "Folder of the texels of references by content hash, instead of the store that the suite names")
        ->type_name("FOLDER");
    command->add_flag("--allow-outside", options->allow_outside, "Let the suite use references outside of its folder");
    command->add_flag("--json", options->json, "Print one JSON object instead of text; needs --yes");
    command->footer(
        "Approves the results of a report as `texton verify --update` would have on the machine that made it: the\n"
        "references have the same bytes, and name that machine's device. Nothing is run. If a file cannot be read or\n"
        "written, no reference changes. References of cases that do not exist are removed if the report has all "
        "cases.\n"
        "\n"
        "Examples:\n"
        "  texton verify suite.json --report out                # on a machine with a GPU, such as a runner of a CI\n"
        "  texton approve out                                   # on a developer's machine, in the same folder\n"
        "  texton approve ~/Downloads/out tests/suite.json --filter '^blur/' --as sm_90\n"
        "\n"
        "Exit status:\n"
        "  0  the references were written, or there was nothing to approve\n"
        "  1  the approval was declined\n"
        "  2  a file cannot be read or written, or the report has cases that the suite does not have");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli
