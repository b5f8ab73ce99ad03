#include <texton/kernel.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "core/request.h"

namespace texton {
namespace {

[[noreturn]] void refuse(const KernelInfo& kernel, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::" + kernel.name,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

const ParameterInfo* find_parameter(const KernelInfo& kernel, std::string_view name) {
    const auto found = std::ranges::find(kernel.parameters, name, &ParameterInfo::name);
    return found != kernel.parameters.end() ? &*found : nullptr;
}

std::string list_names(const KernelInfo& kernel) {
    std::vector<std::string_view> names;
    for (const ParameterInfo& parameter : kernel.parameters) names.push_back(parameter.name);
    return names.empty() ? "The kernel has no parameters."
                         : fmt::format("The kernel's parameters are {}.", fmt::join(names, ", "));
}

const char* kind_name(ParameterKind kind) {
    switch (kind) {
        case ParameterKind::flag: return "true or false";
        case ParameterKind::number: return "a number";
        case ParameterKind::integer: return "an integer of 32 bits";
        case ParameterKind::choice: return "the name of one of its choices";
        case ParameterKind::text: return "text";
        case ParameterKind::numbers: return "a list of numbers";
    }
    return "";
}

void check_range(const KernelInfo& kernel, const ParameterInfo& parameter, double value) {
    double lowest = parameter.lowest;
    double highest = parameter.highest;
    if (parameter.kind == ParameterKind::integer) {  // Arguments::integer() returns an int
        lowest = std::max<double>(lowest, std::numeric_limits<int>::min());
        highest = std::min<double>(highest, std::numeric_limits<int>::max());
    }
    if (value >= lowest && value <= highest) return;
    refuse(
        kernel, fmt::format("{} is {}", parameter.name, value),
        std::isinf(highest) ? fmt::format("Use {} or more.", lowest) : fmt::format("Use {} to {}.", lowest, highest));
}

bool is_int(double value) {
    return value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max() &&
           std::floor(value) == value;
}

bool has_kind(const ParameterValue& value, ParameterKind kind) {
    switch (kind) {
        case ParameterKind::flag: return std::holds_alternative<bool>(value);
        case ParameterKind::number: return std::holds_alternative<double>(value);
        case ParameterKind::integer:
            return std::holds_alternative<double>(value) &&
                   std::floor(std::get<double>(value)) == std::get<double>(value);
        case ParameterKind::choice:
        case ParameterKind::text: return std::holds_alternative<std::string>(value);
        case ParameterKind::numbers: return std::holds_alternative<std::vector<double>>(value);
    }
    return false;
}

std::string list_choices(const ParameterInfo& parameter) {
    return fmt::format("Use one of {}.", fmt::join(parameter.choices, ", "));
}

void check_value(const KernelInfo& kernel, const ParameterInfo& parameter, const ParameterValue& value) {
    const bool is_choice = parameter.kind == ParameterKind::choice;
    if (!has_kind(value, parameter.kind))
        refuse(kernel, fmt::format("{} has a value of the wrong kind", parameter.name),
               is_choice ? list_choices(parameter) : fmt::format("Pass {}.", kind_name(parameter.kind)));
    if (const auto* number = std::get_if<double>(&value)) check_range(kernel, parameter, *number);
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
        if (parameter.count != 0 && numbers->size() != parameter.count)
            refuse(kernel, fmt::format("{} has {} numbers", parameter.name, numbers->size()),
                   fmt::format("Pass {} numbers.", parameter.count));
        for (const double number : *numbers) check_range(kernel, parameter, number);
    }
    if (!is_choice) return;
    const std::string& choice = std::get<std::string>(value);
    if (std::ranges::find(parameter.choices, choice) == parameter.choices.end())
        refuse(kernel, fmt::format("{} is '{}'", parameter.name, choice), list_choices(parameter));
}

// Returns the value of a parameter as one of the types of ParameterValue.
template <class Type>
const Type& value_as(const KernelInfo& kernel, std::string_view name, const ParameterValue& value) {
    if (const auto* found = std::get_if<Type>(&value)) return *found;
    const ParameterInfo* parameter = find_parameter(kernel, name);
    refuse(kernel, fmt::format("{} was read as a value of another kind", name),
           fmt::format("Read {}.", kind_name(parameter->kind)));
}

void check_inputs(const Kernel& kernel, std::span<const Texture> inputs) {
    const KernelInfo& info = kernel.info;
    if (inputs.size() != info.inputs.size())
        refuse(info,
               fmt::format("{} textures were passed, but the kernel has {} inputs", inputs.size(), info.inputs.size()),
               "Pass one texture per input.");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::vector<ArrayKind>& kinds = info.inputs[i].kinds;
        if (std::ranges::find(kinds, inputs[i].kind()) != kinds.end()) continue;
        std::vector<std::string_view> names;
        for (const ArrayKind kind : kinds) names.push_back(name(kind));
        refuse(info, fmt::format("{} is a texture of kind {}", info.inputs[i].name, name(inputs[i].kind())),
               fmt::format("Pass a texture of kind {}.", fmt::join(names, " or ")));
    }
}

}  // namespace

Arguments::Arguments(const KernelInfo& kernel, const std::map<std::string, ParameterValue>& values) try
    : kernel_(&kernel) {
    for (const auto& [name, value] : values) {
        const ParameterInfo* parameter = find_parameter(kernel, name);
        if (parameter == nullptr) refuse(kernel, fmt::format("there is no parameter '{}'", name), list_names(kernel));
        check_value(kernel, *parameter, value);
        values_[name] = value;
    }
    for (const ParameterInfo& parameter : kernel.parameters) values_.try_emplace(parameter.name, parameter.standard);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(("texton::" + kernel.name).c_str());
}

const ParameterValue& Arguments::value(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) refuse(*kernel_, fmt::format("there is no parameter '{}'", name), list_names(*kernel_));
    return found->second;
}

bool Arguments::flag(std::string_view name) const { return value_as<bool>(*kernel_, name, value(name)); }
double Arguments::number(std::string_view name) const { return value_as<double>(*kernel_, name, value(name)); }
const std::string& Arguments::text(std::string_view name) const {
    return value_as<std::string>(*kernel_, name, value(name));
}
const std::vector<double>& Arguments::numbers(std::string_view name) const {
    return value_as<std::vector<double>>(*kernel_, name, value(name));
}

int Arguments::integer(std::string_view name) const {
    const double value = number(name);
    if (!is_int(value))
        refuse(*kernel_, fmt::format("{} is {}, but an integer was read", name, value),
               fmt::format("Pass {}.", kind_name(ParameterKind::integer)));
    return static_cast<int>(value);
}

std::size_t Arguments::choice_index(std::string_view name) const {
    const std::string& chosen = text(name);
    const std::vector<std::string>& choices = find_parameter(*kernel_, name)->choices;
    const auto found = std::ranges::find(choices, chosen);
    if (found == choices.end())
        refuse(*kernel_, fmt::format("{} is '{}', which is none of its choices", name, chosen),
               "Read it as text, or add the choice to the description of the kernel.");
    return static_cast<std::size_t>(found - choices.begin());
}

std::vector<ImageShape> shapes(const Kernel& kernel, const Arguments& arguments, std::span<const Texture> inputs) try {
    check_inputs(kernel, inputs);
    return kernel.shapes(arguments, inputs);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(("texton::" + kernel.info.name).c_str());
}

void enqueue(const Kernel& kernel, const Stream& stream, std::span<const View> images, const Arguments& arguments,
             std::span<const Texture> inputs) try {
    check_inputs(kernel, inputs);
    const std::size_t expected = kernel.shapes(arguments, inputs).size();
    if (images.size() != expected)
        refuse(kernel.info, fmt::format("{} images were passed, but the kernel writes {}", images.size(), expected),
               "Pass one image for each element of shapes().");
    kernel.enqueue(stream, images, arguments, inputs);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(("texton::" + kernel.info.name).c_str());
}

const Kernel& kernel_named(std::string_view name) try {
    const auto found = std::ranges::find(kernels(), name, [](const Kernel& kernel) { return kernel.info.name; });
    if (found != kernels().end()) return *found;
    std::vector<std::string_view> alike;
    for (const Kernel& kernel : kernels()) {
        const std::string& other = kernel.info.name;
        if (other.find(name) != std::string::npos || name.find(other) != std::string_view::npos ||
            (!name.empty() && other[0] == name[0]))
            alike.push_back(other);
    }
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::kernel_named",
                 .problem = fmt::format("there is no kernel '{}'", name),
                 .remedy = alike.empty() ? "List all kernels with kernels() or `texton run --list`."
                                         : fmt::format("Use {}.", fmt::join(alike, ", "))});
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::kernel_named");
}

}  // namespace texton
