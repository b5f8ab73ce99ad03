#include "viewer/cli/kernel_options.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <texton/error.h>

#include "core/nearest_name.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/json_object.h"

namespace texton::cli {
namespace {

using verify::Json;

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

std::string option_name(const ParameterInfo& parameter) {
    std::string name = "--" + parameter.name;
    std::ranges::replace(name, '_', '-');
    return name;
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

}  // namespace

void print_kernels(bool json) {
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
        Table parameters({"option", "default", "values", ""});
        for (const ParameterInfo& parameter : kernel.parameters)
            parameters.add({option_name(parameter), std::visit(InText{}, parameter.standard), values_of(parameter),
                            parameter.summary});
        fmt::print("\n{}", parameters.of_text().text());
    }
    fmt::print("\ntexton run {}", kernel.name);
    for (const InputInfo& input : kernel.inputs) fmt::print(" {}", input.name);
    fmt::print(" -o OUT [OPTION...]\n");
    fmt::print("`texton run --help` lists the options of all kernels: --size, --format, --sampler, ...\n");
}

const Kernel& kernel_typed(const std::string& name) {
    std::vector<std::string_view> names, alike;  // `alike`: kernels that mention the name
    for (const Kernel& kernel : kernels()) {
        const KernelInfo& info = kernel.info;
        if (info.name == name) return kernel;
        names.push_back(info.name);
        const bool mentions = info.name.find(name) != std::string::npos || info.summary.find(name) != std::string::npos;
        if (name.size() > 2 && mentions) alike.push_back(info.name);
    }
    const std::string nearest = detail::nearest_name(name, names);
    const std::string likely =
        nearest.empty() ? fmt::format("{}", fmt::join(alike, ", ")) : fmt::format("'{}'", nearest);
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton",
                 .problem = fmt::format("there is no kernel '{}'", name),
                 .remedy = fmt::format("{}`texton run --list` lists all kernels.",
                                       likely.empty() ? "" : fmt::format("Did you mean {}? ", likely))});
}

std::string kernel_names() {
    std::vector<std::string_view> names;
    for (const Kernel& kernel : kernels()) names.push_back(kernel.info.name);
    return fmt::format("{}", fmt::join(names, ","));
}

void add_parameters(CLI::App& command, const KernelInfo& kernel, std::vector<std::string>& texts) {
    for (const ParameterInfo& parameter : kernel.parameters) {
        std::string names = option_name(parameter);
        if (names.substr(2) != parameter.name) names += ",--" + parameter.name;
        if (parameter.kind == ParameterKind::flag) {
            const auto add = [&texts, name = parameter.name](std::int64_t count) {
                texts.push_back(name + (count > 0 ? "=true" : "=false"));
            };
            command.add_flag_function(names, add, parameter.summary);
        } else {
            const auto add = [&texts, name = parameter.name](const std::string& value) {
                texts.push_back(name + "=" + value);
            };
            command.add_option_function<std::string>(names, add, parameter.summary)->type_name("VALUE");
        }
    }
}

}  // namespace texton::cli
