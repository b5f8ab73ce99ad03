#include "viewer/model/kernel_run.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "core/nearest_name.h"
#include "viewer/model/computed_images.h"
#include "viewer/model/old_names.h"
#include "viewer/text/enum_names.h"

namespace texton::verify {
namespace {

[[noreturn]] void refuse(const std::string& object, std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        if (end == text.size()) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<double> number_in(std::string_view text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return {};
    return value;
}

// Returns a boolean value, a number or a string.
Json scalar_in(const std::string& text) {
    if (text == "true" || text == "false") return text == "true";
    if (const std::optional<double> number = number_in(text)) return *number;
    return text;
}

const ParameterInfo* find_parameter(const KernelInfo& kernel, const std::string& name) {
    const auto found = std::ranges::find(kernel.parameters, name, &ParameterInfo::name);
    return found != kernel.parameters.end() ? &*found : nullptr;
}

// --- samplers ---

template <class Value, std::size_t count>
Value named(const JsonObject& object, const std::string& key, const Json& value,
            const viewer::Names<Value, count>& names) {
    const auto named = value.is_string() ? viewer::value_of(names, value.get<std::string>()) : std::nullopt;
    if (!named)
        object.refuse(key, "is " + json_text(value),
                      fmt::format("Use one of {}.", fmt::join(viewer::all_names(names), ", ")));
    return *named;
}

void read_address(JsonObject& object, Sampler& sampler) {
    const Json* value = object.find("address");
    if (value == nullptr) return;
    if (!value->is_array()) {
        std::ranges::fill(sampler.address, named(object, "address", *value, viewer::kAddressModes));
        return;
    }
    if (value->empty() || value->size() > 3)
        object.refuse("address", "is " + json_text(*value), "Use one mode or a list of up to three modes.");
    for (std::size_t i = 0; i < value->size(); ++i)
        sampler.address[i] = named(object, "address", (*value)[i], viewer::kAddressModes);
}

void read_border(JsonObject& object, Sampler& sampler) {
    const Json* value = object.find("border");
    if (value == nullptr) return;
    if (const std::optional<float> all = float_in(*value)) {
        std::ranges::fill(sampler.border, *all);
        return;
    }
    const bool four = value->is_array() && value->size() == 4 &&
                      std::ranges::all_of(*value, [](const Json& each) { return float_in(each).has_value(); });
    if (!four) object.refuse("border", "is " + json_text(*value), "Use a float32 number or a list of four of them.");
    for (std::size_t i = 0; i < 4; ++i) sampler.border[i] = *float_in((*value)[i]);
}

void read_number(JsonObject& object, const char* key, float& field) { field = object.number32(key).value_or(field); }

bool repeats(const Sampler& sampler) {
    return std::ranges::any_of(sampler.address, [](AddressMode mode) { return detail::address_rule(mode).repeats(); });
}

}  // namespace

std::vector<HostImage> run(const Device& device, const KernelRun& run, std::span<const Texture> inputs) {
    return host_images(compute(device, run, inputs).views);
}

ParameterValue parameter_value(const KernelInfo& kernel, const std::string& name, const Json& value) {
    if (value.is_boolean()) return value.get<bool>();
    const ParameterInfo* const parameter = find_parameter(kernel, name);
    const bool is_choice = parameter != nullptr && parameter->kind == ParameterKind::choice;
    if (value.is_number_integer() && is_choice) return value.dump();  // a window of 3 is the choice "3"
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    if (value.is_array() && std::ranges::all_of(value, [](const Json& each) { return each.is_number(); }))
        return value.get<std::vector<double>>();
    refuse("texton::" + kernel.name, fmt::format("{} is {}", name, json_text(value)),
           "Use true, false, a number, a string or a list of numbers.");
}

ParameterValue parameter_value(const KernelInfo& kernel, const std::string& name, std::string_view text) {
    const ParameterInfo* parameter = find_parameter(kernel, name);
    const std::string argument(text);
    if (parameter == nullptr) return argument;  // Arguments reports the unknown name and lists the parameters
    const auto refused = [&](const char* remedy) {
        refuse("texton::" + kernel.name, fmt::format("{} is '{}'", name, text), remedy);
    };
    switch (parameter->kind) {
        case ParameterKind::choice:
        case ParameterKind::text: return argument;
        case ParameterKind::flag:
            if (argument != "true" && argument != "false") refused("Use true or false.");
            return argument == "true";
        case ParameterKind::number:
        case ParameterKind::integer:
            if (const std::optional<double> number = number_in(text)) return *number;
            refused("Use a number.");
            break;
        case ParameterKind::numbers: break;
    }
    std::vector<double> row;
    for (const std::string& part : parts_of(text, ',')) {
        const std::optional<double> number = number_in(part);
        if (!number) refused("Use numbers separated by commas.");
        row.push_back(*number);
    }
    return row;
}

std::map<std::string, ParameterValue> parameters_of(const KernelInfo& kernel, std::span<const std::string> argument) {
    std::map<std::string, ParameterValue> out;
    for (const std::string& word : argument) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos)
            refuse("texton::" + kernel.name, fmt::format("the parameter '{}' has no '='", word), "Write name=value.");
        const std::string name(viewer::current_parameter(kernel.name, std::string_view(word).substr(0, equals)));
        out[name] = parameter_value(kernel, name, std::string_view(word).substr(equals + 1));
    }
    return out;
}

Sampler standard_sampler(const ArrayInfo& array, std::optional<Format> read_as) {
    const FormatInfo& row = info(read_as.value_or(array.format));
    const bool integers = row.kind == FormatKind::uint || row.kind == FormatKind::sint;
    Sampler sampler;
    sampler.filter = integers ? Filter::point : Filter::linear;
    sampler.mip_filter = sampler.filter;
    sampler.normalized_coordinates = array.levels > 1 || is_cube(array.kind);
    sampler.seamless_cubemap = is_cube(array.kind);
    return sampler;
}

Sampler sampler_of(const Json& value, const std::string& where, const ArrayInfo& array, std::optional<Format> read_as) {
    Sampler sampler = standard_sampler(array, read_as);
    JsonObject object(value, where);
    read_address(object, sampler);
    read_border(object, sampler);
    if (const Json* filter = object.find("filter")) {
        sampler.filter = named(object, "filter", *filter, viewer::kFilters);
        sampler.mip_filter = sampler.filter;
    }
    if (const Json* filter = object.find("mip_filter"))
        sampler.mip_filter = named(object, "mip_filter", *filter, viewer::kFilters);
    sampler.normalized_coordinates =
        object.flag("normalized_coordinates").value_or(sampler.normalized_coordinates || repeats(sampler));
    sampler.seamless_cubemap = object.flag("seamless_cubemap").value_or(sampler.seamless_cubemap);
    sampler.trilinear_optimization = object.flag("trilinear_optimization").value_or(sampler.trilinear_optimization);
    if (const std::optional<std::size_t> maximum = object.count("max_anisotropy", 1)) {
        if (*maximum > 16) object.refuse("max_anisotropy", fmt::format("is {}", *maximum), "Use 1 to 16.");
        sampler.max_anisotropy = static_cast<std::uint8_t>(*maximum);
    }
    read_number(object, "mip_bias", sampler.mip_bias);
    read_number(object, "mip_min", sampler.mip_min);
    read_number(object, "mip_max", sampler.mip_max);
    object.refuse_others();
    return sampler;
}

Json sampler_json(std::string_view text) {
    Json out = Json::object();
    if (text.empty()) return out;
    for (const std::string& part : parts_of(text, ',')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos)
            refuse_text("--sampler", fmt::format("'{}' has no '='", part), "Write key=value,key=value.");
        const std::string key = part.substr(0, equals);
        if (out.contains(key)) refuse_text("--sampler", fmt::format("'{}' is given twice", key), "Give each key once.");
        const std::vector<std::string> argument = parts_of(part.substr(equals + 1), '/');
        if (argument.size() == 1) {
            out[key] = scalar_in(argument[0]);
        } else {
            for (const std::string& word : argument) out[key].push_back(scalar_in(word));
        }
    }
    return out;
}

Format format_of(const std::string& name, const std::string& where) {
    if (const std::optional<Format> format = format_named(name)) return *format;
    std::vector<std::string_view> names;
    std::vector<std::string_view> alike;  // "rgba8_unorm", "rgba8_srgb" and others for "rgba8"
    for (const FormatInfo& format : formats()) {
        names.push_back(format.name);
        if (!name.empty() && format.name.starts_with(name + "_")) alike.push_back(format.name);
    }
    const std::string nearest = detail::nearest_name(name, names);
    const std::string likely = alike.empty() ? nearest : fmt::format("{}", fmt::join(alike, ", "));
    refuse_text(where, fmt::format("'{}' is not a format", name),
                fmt::format("Use a format name, for example {}. `texton devices --formats` lists all formats.",
                            likely.empty() ? "rgba8_unorm" : likely));
}

ArrayKind kind_of(const std::string& name, const std::string& where) {
    if (const std::optional<ArrayKind> kind = array_kind_named(name)) return *kind;
    refuse_text(where, fmt::format("'{}' is not a kind of array", name),
                "Use array_1d, array_2d, array_3d, layered_1d, layered_2d, cubemap or cubemap_layered.");
}

Extent size_of(std::string_view text, const std::string& where) {
    std::vector<std::size_t> sides;
    bool good = true;
    for (const std::string& part : parts_of(text, 'x')) {
        const std::optional<double> side = number_in(part);
        good = good && side && *side >= 1 && *side <= 1e9 && std::floor(*side) == *side;
        sides.push_back(good ? static_cast<std::size_t>(*side) : 0);
    }
    if (!good || sides.size() < 2 || sides.size() > 3)
        refuse_text(where, fmt::format("'{}' is not a size", text),
                    "Write WIDTHxHEIGHT, for example 640x480, or WIDTHxHEIGHTxSLICES.");
    return {sides[0], sides[1], sides.size() == 3 ? sides[2] : 0};
}

Extent ResultSize::of(const Extent& standard) const {
    const auto scaled = [](std::size_t side, double factor) {
        return static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(side) * factor)));
    };
    const auto ratio = [](std::size_t side, std::size_t of) {
        return static_cast<double>(side) / static_cast<double>(of);
    };
    double factor = percent / 100;
    if (factor == 0) {
        if (is_fixed()) return {texels.width, texels.height, texels.depth != 0 ? texels.depth : standard.depth};
        if (texels.width == 0)
            return {scaled(standard.width, ratio(texels.height, standard.height)), texels.height, standard.depth};
        if (texels.height == 0)
            return {texels.width, scaled(standard.height, ratio(texels.width, standard.width)), standard.depth};
        factor = std::min({1.0, ratio(texels.width, standard.width), ratio(texels.height, standard.height)});
    }
    return {scaled(standard.width, factor), scaled(standard.height, factor), standard.depth};
}

ResultSize result_size(std::string_view text, const std::string& where) {
    constexpr std::string_view kWithin = "within:";
    constexpr double kMaxPercent = 100'000;
    const auto refuse = [&] {
        refuse_text(
            where, fmt::format("'{}' is not a size", text),
            "Write WIDTHxHEIGHT, for example 640x480, WIDTHxHEIGHTxSLICES, 640x or x480 to keep the proportions, "
            "50%, or within:640x480.");
    };
    if (text.ends_with('%')) {
        const std::optional<double> percent = number_in(std::string(text.substr(0, text.size() - 1)));
        if (!percent || !(*percent > 0) || *percent > kMaxPercent) refuse();
        return {.percent = *percent};
    }
    const bool is_limit = text.starts_with(kWithin);
    const std::string_view sides = is_limit ? text.substr(kWithin.size()) : text;
    const bool keeps = !is_limit && (sides.ends_with('x') || sides.starts_with('x'));
    try {
        if (!keeps) {
            const Extent texels = size_of(sides, where);
            if (is_limit && texels.depth != 0) refuse();
            return {.texels = texels, .is_limit = is_limit};
        }
        const bool has_width = sides.ends_with('x');
        const std::string_view side = has_width ? sides.substr(0, sides.size() - 1) : sides.substr(1);
        if (side.find('x') != side.npos) refuse();
        const std::size_t length = size_of(fmt::format("{}x1", side), where).width;
        return {.texels = has_width ? Extent{length, 0, 0} : Extent{0, length, 0}};
    } catch (const Error&) {
        refuse();
        throw;  // not reached
    }
}

std::string text_of(const ResultSize& size) {
    if (size.percent != 0) return fmt::format("{}%", size.percent);
    const auto side = [](std::size_t length) { return length != 0 ? std::to_string(length) : std::string(); };
    return fmt::format("{}{}x{}{}", size.is_limit ? "within:" : "", side(size.texels.width), side(size.texels.height),
                       size.texels.depth != 0 ? fmt::format("x{}", size.texels.depth) : "");
}

}  // namespace texton::verify
