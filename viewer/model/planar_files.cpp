#include "viewer/model/planar_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/planar_array.h>

namespace texton::verify {
namespace {

bool is_planar(const ImageFile& image) { return info(image.info().format).layout == FormatLayout::planar; }

const ParameterInfo* find_parameter(const KernelRun& run, const std::string& name) {
    const auto& parameters = run.kernel->info.parameters;
    const auto found = std::ranges::find(parameters, name, &ParameterInfo::name);
    return found == parameters.end() ? nullptr : &*found;
}

void propose(KernelRun& run, const std::string& name, const std::string& value) {
    const ParameterInfo* const parameter = find_parameter(run, name);
    if (parameter != nullptr && std::ranges::find(parameter->choices, value) != parameter->choices.end())
        run.parameters.try_emplace(name, value);
}

// Returns the name of the parameter that chooses the planar format.
std::string format_parameter(const KernelRun& run) {
    for (const ParameterInfo& parameter : run.kernel->info.parameters)
        if (std::ranges::find(parameter.choices, "nv12") != parameter.choices.end()) return parameter.name;
    return {};
}

// Returns the value of a parameter that is a choice.
std::string choice_of(const KernelRun& run, const std::string& name) {
    const auto set = run.parameters.find(name);
    const ParameterValue& value = set != run.parameters.end() ? set->second : find_parameter(run, name)->standard;
    return std::get<std::string>(value);
}

}  // namespace

void refuse_planar(const ImageFile& image, const std::string& object) {
    if (!is_planar(image)) return;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = fmt::format("the image has the planar format {}", name(image.info().format)),
                 .remedy = "Convert it with to_rgb() first."});
}

std::vector<ImageFile> inputs_of(const ImageFile& image) {
    if (!is_planar(image)) return {image};
    return {image.plane(0), image.plane(1)};
}

void propose_planar(KernelRun& run, const ImageFile& image) {
    if (!is_planar(image)) return;
    propose(run, format_parameter(run), std::string(name(image.info().format)));
    constexpr std::pair<const char*, const char*> kAttributes[] = {{"siting", "chroma_siting"},
                                                                   {"range", "code_range"}};
    for (const auto& [parameter, attribute] : kAttributes)
        for (const ImageAttribute& each : image.metadata().attributes)
            if (each.name == attribute) propose(run, parameter, each.value);
}

bool writes_planes(const KernelRun& run) {
    return run.kernel->info.inputs.size() == 1 && !format_parameter(run).empty();
}

Format planar_format(const KernelRun& run) { return format_of(choice_of(run, format_parameter(run)), "the format"); }

ImageFile planar_image_of(const KernelRun& run, std::span<const HostImage> planes) {
    const PlanarArray array(Device::cpu(), format_of(choice_of(run, format_parameter(run)), "format"),
                            planes[0].extent);
    copy(array.frame().luma, planes[0].view());
    copy(array.frame().chroma, planes[1].view());
    return image_of(array);
}

std::vector<ImageAttribute> planar_attributes(const KernelRun& run) {
    return {{.name = "chroma_siting", .value = choice_of(run, "siting")},
            {.name = "code_range", .value = choice_of(run, "range")}};
}

}  // namespace texton::verify
