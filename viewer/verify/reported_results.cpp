#include "viewer/verify/reported_results.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <texton/error.h>

#include "viewer/model/json_file.h"
#include "viewer/model/named_paths.h"
#include "viewer/verify/approval.h"
#include "viewer/verify/junit.h"
#include "viewer/verify/stored_reference.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr const char* kFile = "results.json";
constexpr const char* kName = "result.texref";

[[noreturn]] void refuse(const fs::path& path, const std::string& problem, std::string remedy) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::verify::read_results",
                 .problem = path.string() + " " + problem,
                 .remedy = std::move(remedy)});
}

// Returns the path of a reference in the folder of a case.
fs::path path_of(const fs::path& folder, const std::string& name_of_case, bool has_images) {
    return folder / file_name(name_of_case) / (std::string(kName) + (has_images ? ".json" : ""));
}

ReportedResult read_result(const fs::path& folder, const Json& value) {
    ReportedResult out;
    out.name = value.at("name").get<std::string>();
    out.outcome = value.at("outcome").get<std::string>();
    out.differing = value.at("differing").get<std::size_t>();
    const fs::path path = folder / value.at("result").get<std::string>();
    for (const bool has_images : {false, true})
        if (path == path_of(folder, out.name, has_images)) out.path = path;
    if (out.path.empty()) throw std::invalid_argument("result");
    return out;
}

}  // namespace

void write_results(const fs::path& folder, const Suite& suite, const Device& device,
                   const std::vector<const Case*>& cases, const std::vector<Result>& results) {
    Json out{{"texton_results", kVersion},
             {"suite", suite.name},
             {"suite_file", suite.file.string()},
             {"device", device.name()},
             {"has_all_cases", cases.size() == suite.cases.size()},
             {"cases", Json::array()}};
    FileUpdate files;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Result& result = results[i];
        Json row{{"name", cases[i]->name},
                 {"outcome", name(result.outcome)},
                 {"message", result.message},
                 {"differing", result.differing()},
                 {"max_ulp", result.max_ulp()},
                 {"reference", nullptr},
                 {"equal_fields", result.equal_fields},
                 {"seconds", result.seconds}};
        if (result.reference) row["reference"] = result.reference->path.filename().string();
        if (is_approvable(*cases[i], result) && !result.equal) {
            const StoredReference stored = stored_reference(reference_of(result, device), suite.image_references);
            add_files(files, stored, path_of(folder, cases[i]->name, false));
            const fs::path path = path_of(folder, cases[i]->name, stored.has_images());
            row["result"] = path.lexically_relative(folder).string();
        }
        out["cases"].push_back(std::move(row));
    }
    files.complete();
    write_text(folder / kFile, out.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
}

ReportedResults read_results(const fs::path& folder) { return read_results_file(folder / kFile); }

ReportedResults read_results_file(const fs::path& path) {
    const fs::path folder = path.parent_path();
    viewer::refuse_special_file(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, "cannot be read", "Give the folder of a report of `texton verify --report`.");
    std::string problem;
    const std::optional<Json> value = parse_json({std::istreambuf_iterator<char>(file), {}}, problem);
    if (!value) refuse(path, problem, "Make the report again.");
    ReportedResults out;
    try {
        if (value->at("texton_results") != kVersion) throw std::invalid_argument("version");
        out.suite_file = value->at("suite_file").get<std::string>();
        out.device = value->at("device").get<std::string>();
        out.has_all_cases = value->at("has_all_cases").get<bool>();
        for (const Json& each : value->at("cases"))
            if (each.contains("result")) out.results.push_back(read_result(folder, each));
    } catch (const std::exception&) {
        refuse(path, "does not list results of a report", "Make the report again.");
    }
    return out;
}

void approve_results(const Suite& suite, const std::vector<ReportedResult>& results, const std::string& variant,
                     const std::vector<fs::path>& unused) {
    FileUpdate files;
    for (const ReportedResult& each : results) {
        StoredReference stored = read_stored_reference(each.path, {.store = {}, .within = each.path.parent_path()});
        const Reference reference = decoded(stored, each.path);  // checks the texels
        if (stored.has_images() != suite.image_references) stored = stored_reference(reference, suite.image_references);
        add_files(files, stored, reference_path(suite.references, each.name, variant), places_of(suite));
    }
    for (const fs::path& path : unused)
        for (fs::path& file : files_of_reference(path)) files.remove(std::move(file));
    files.complete();
}

}  // namespace texton::verify
