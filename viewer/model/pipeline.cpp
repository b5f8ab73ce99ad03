#include "viewer/model/pipeline.h"

#include <fmt/format.h>

#include <texton/error.h>

#include "core/new_file.h"
#include "viewer/model/json_file.h"
#include "viewer/model/kernel_json.h"
#include "viewer/model/named_paths.h"
#include "viewer/text/utf8.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRead = "texton::verify::read_pipeline";

// The folder from which paths in a file start, and whether other folders may be named.
struct Folder {
    fs::path path;
    bool allows_outside = false;

    fs::path named(const JsonObject& object, const std::string& key, const Json& name) const {
        if (!name.is_string() || name.get_ref<const std::string&>().empty())
            object.refuse(key, "contains " + json_text(name), "Give the path of a file.");
        const fs::path named = path / name.get<std::string>();
        if (!allows_outside) viewer::refuse_outside(path, named);
        return named;
    }
};

PipelineStep read_step(const Json& value, const std::string& where, const Folder& folder) {
    JsonObject object(value, where);
    PipelineStep step{.run = read_kernel_run(object)};
    if (const Json* files = object.find("files")) {
        if (!files->is_array()) object.refuse("files", "is " + json_text(*files), "Give a list of paths.");
        for (const Json& file : *files) step.files.push_back(folder.named(object, "files", file));
    }
    if (const Json* sampler = object.find("sampler")) {
        if (sampler->is_array()) {
            step.samplers.assign(sampler->begin(), sampler->end());
        } else {
            step.samplers.push_back(*sampler);
        }
        for (const Json& each : step.samplers) (void)sampler_of(each, where + ", 'sampler'", ArrayInfo{});
    }
    if (const Json* out = object.find("out")) step.out = folder.named(object, "out", *out);
    object.refuse_others();
    return step;
}

[[noreturn]] void refuse_file(const fs::path& path, const std::string& problem) {
    throw Error({.code = ErrorCode::io,
                 .object = kRead,
                 .problem = path.string() + " " + problem,
                 .remedy = "Give the path of a pipeline, which `texton run --save-pipeline` writes."});
}

}  // namespace

void check(const Pipeline& pipeline) {
    for (std::size_t i = 0; i < pipeline.size(); ++i) {
        const PipelineStep& step = pipeline[i];
        const KernelInfo& kernel = step.run.kernel->info;
        const auto refuse = [&](std::string problem, std::string remedy) {
            throw Error({.code = ErrorCode::bad_argument,
                         .object = "texton::" + kernel.name,
                         .problem = fmt::format("step {}, {}, {}", i + 1, kernel.name, problem),
                         .remedy = std::move(remedy)});
        };
        if (step.files.size() >= kernel.inputs.size())
            refuse(fmt::format("reads {} image{}, but the first is the result of the step before, and {} more file{} "
                               "named",
                               kernel.inputs.size(), kernel.inputs.size() == 1 ? "" : "s", step.files.size(),
                               step.files.size() == 1 ? " is" : "s are"),
                   "Name only the files of the other inputs.");
        if (step.samplers.size() > 1 && step.samplers.size() != kernel.inputs.size())
            refuse(fmt::format("has {} samplers, but reads {} images", step.samplers.size(), kernel.inputs.size()),
                   "Give one sampler for all inputs, or one for each input.");
    }
}

Pipeline read_pipeline(const fs::path& path, bool allow_outside) {
    std::string problem;
    const std::optional<std::string> text = read_json_text(path, problem);
    if (!text) refuse_file(path, problem);
    return parse_pipeline(*text, path, allow_outside);
}

Pipeline parse_pipeline(const std::string& text, const fs::path& path, bool allow_outside) {
    std::string problem;
    const std::optional<Json> value = parse_json(text, problem);
    if (!value) refuse_file(path, problem);
    const std::string where = path.filename().string();
    JsonObject object(*value, where);
    const Json& steps = object.at("steps");
    if (!steps.is_array() || steps.empty())
        object.refuse("steps", "is " + json_text(steps), "Give a list of at least one step.");
    object.refuse_others();
    Pipeline pipeline;
    for (std::size_t i = 0; i < steps.size(); ++i)
        pipeline.push_back(
            read_step(steps[i], fmt::format("{}, step {}", where, i + 1), {path.parent_path(), allow_outside}));
    check(pipeline);
    return pipeline;
}

void write_pipeline(const fs::path& path, const Pipeline& pipeline) {
    const auto relative = [&](const fs::path& file) {
        if (!viewer::is_utf8(file.native()))
            throw Error({.code = ErrorCode::unsupported,
                         .object = "texton::verify::write_pipeline",
                         .problem = fmt::format("the name of {} is not valid UTF-8, so a pipeline cannot contain it",
                                                viewer::to_utf8(file.native())),
                         .remedy = "Rename the file."});
        const fs::path folder = fs::absolute(path).parent_path();
        std::error_code refused;  // for example because the name is too long
        const fs::path near = fs::proximate(file, folder, refused);
        return (refused ? fs::absolute(file).lexically_proximate(folder) : near).string();
    };
    Json steps = Json::array();
    for (const PipelineStep& step : pipeline) {
        Json object = Json::object();
        write_kernel_run(object, step.run);
        for (const fs::path& file : step.files) object["files"].push_back(relative(file));
        if (step.samplers.size() == 1) {
            object["sampler"] = step.samplers.front();
        } else if (!step.samplers.empty()) {
            object["sampler"] = step.samplers;
        }
        if (!step.out.empty()) object["out"] = relative(step.out);
        steps.push_back(std::move(object));
    }
    detail::write_file("texton::verify::write_pipeline", path, Json{{"steps", std::move(steps)}}.dump(2) + '\n');
}

}  // namespace texton::verify
