#pragma once
// Kernels with inputs and parameters, for tests of all kernels.
#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <texton/array.h>
#include <texton/kernel.h>
#include <texton/texture.h>

#include "tests/support/arrays.h"
#include "tests/support/texels.h"

namespace texton::test {

using KernelValues = std::map<std::string, ParameterValue>;

/// Inputs and parameters of a kernel. It may refuse them.
struct KernelExperiment {
    std::vector<ArrayInfo> inputs;
    Sampler sampler;
    KernelValues values;
};

/// Formats of the first input and of the other inputs. `halves` gives the other inputs half the size, for chroma.
struct InputFormats {
    Format first;
    Format others;
    bool halves = false;
    Extent extent{24, 20};  // of 2D inputs
};

inline ArrayInfo input_info(ArrayKind kind, Format format, Extent extent, int levels) {
    ArrayInfo info{.format = format,
                   .extent = extent,
                   .kind = kind,
                   .usage = {.surface = true, .gather = kind == ArrayKind::array_2d}};
    if (is_flat(kind)) info.extent = {24};
    if (kind == ArrayKind::array_3d) info.extent = {9, 8, 7};
    if (is_cube(kind)) info.extent = {12, 12};
    if (is_layered(kind)) info.layers = 3;
    info.levels = levels == 0 ? full_levels(info) : levels;
    return info;
}

/// Returns the default values, and variants with each choice and flag changed once.
inline std::vector<KernelValues> variations(const KernelInfo& kernel) {
    KernelValues standard;
    for (const ParameterInfo& parameter : kernel.parameters) {
        if (parameter.name == "samples") standard["samples"] = 40.0;  // the default number takes long
    }
    std::vector<KernelValues> all{standard};
    const auto add = [&](const std::string& name, const ParameterValue& value) {
        all.push_back(standard);
        all.back()[name] = value;
    };
    for (const ParameterInfo& parameter : kernel.parameters) {
        for (const std::string& choice : parameter.choices) {
            if (parameter.standard != ParameterValue(choice)) add(parameter.name, choice);
        }
        if (const bool* flag = std::get_if<bool>(&parameter.standard)) add(parameter.name, !*flag);
    }
    return all;
}

inline std::vector<ArrayInfo> inputs_of(const KernelInfo& kernel, const InputFormats& formats, std::size_t kind,
                                        int levels) {
    std::vector<ArrayInfo> all;
    for (const InputInfo& input : kernel.inputs) {
        const ArrayKind of_input = input.kinds[std::min(kind, input.kinds.size() - 1)];
        ArrayInfo info = input_info(of_input, all.empty() ? formats.first : formats.others, formats.extent, levels);
        if (!all.empty() && formats.halves && of_input == ArrayKind::array_2d) info.extent = {12, 10};
        all.push_back(info);
    }
    return all;
}

/// Returns experiments of several kinds of input, formats and samplers, with each choice and flag of the kernel changed
/// once.
inline std::vector<KernelExperiment> kernel_experiments(const KernelInfo& kernel) {
    const Sampler samplers[] = {
        {},
        {.filter = Filter::linear},
        {.filter = Filter::linear,
         .mip_filter = Filter::linear,
         .normalized_coordinates = true,
         .seamless_cubemap = true,
         .max_anisotropy = 4},
    };
    const InputFormats formats[] = {{Format::rgba8_unorm, Format::rgba8_unorm},
                                    {Format::rgba32_float, Format::rgba32_float},
                                    {Format::r32_float, Format::rg32_float},
                                    {Format::rg16_unorm, Format::rgba16_float},
                                    {Format::r8_unorm, Format::rg8_unorm, true},
                                    {Format::rgba8_unorm, Format::r8_unorm, false, {24, 18}},   // a cross
                                    {Format::rgba16_float, Format::r8_unorm, false, {30, 5}}};  // a strip of six faces
    std::size_t kinds = 1;
    for (const InputInfo& input : kernel.inputs) kinds = std::max(kinds, input.kinds.size());
    std::vector<KernelExperiment> all;
    for (const KernelValues& values : variations(kernel)) {
        for (const Sampler& sampler : samplers) {
            for (const InputFormats& format : formats) {
                for (std::size_t kind = 0; kind < kinds; ++kind)
                    all.push_back(
                        {inputs_of(kernel, format, kind, sampler.normalized_coordinates ? 0 : 1), sampler, values});
            }
        }
    }
    return all;
}

inline std::string describe(const KernelExperiment& experiment) {
    std::string text;
    for (const ArrayInfo& info : experiment.inputs) text += describe(info) + "; ";
    text += experiment.sampler.filter == Filter::linear ? "linear" : "point";
    for (const auto& [name, value] : experiment.values) {
        const auto* choice = std::get_if<std::string>(&value);
        text += ", " + name + (choice != nullptr ? " " + *choice : " changed");
    }
    return text;
}

/// Returns an array of random texels.
inline Array random_array(const Device& device, const ArrayInfo& info, unsigned seed) {
    Random random(seed);
    const Array array(device, info);
    for (int level = 0; level < info.levels; ++level) {
        const Bytes texels = random_texels(random, info.format, box_bytes(info.format, level_box(info, level)));
        upload(array.view({.level = level}), texels);
    }
    return array;
}

/// Returns the sampler for an input of this kind.
inline Sampler sampler_for(const KernelExperiment& experiment, ArrayKind kind) {
    Sampler fitting = experiment.sampler;
    fitting.seamless_cubemap &= is_cube(kind);
    return fitting;
}

}  // namespace texton::test
