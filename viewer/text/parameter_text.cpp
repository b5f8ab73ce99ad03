#include "viewer/text/parameter_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace texton::viewer {
namespace {

bool between(char letter) { return letter == ',' || letter == ';' || std::isspace(static_cast<unsigned char>(letter)); }

std::vector<std::string> parts_of(std::string_view text) {
    std::vector<std::string> parts(1);
    for (const char letter : text) {
        if (!between(letter)) {
            parts.back() += letter;
        } else if (!parts.back().empty()) {
            parts.emplace_back();
        }
    }
    if (parts.back().empty()) parts.pop_back();
    return parts;
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return text;
}

}  // namespace

std::string list_text(std::span<const double> numbers) {
    std::string out;
    for (const double number : numbers) out += fmt::format("{}{}", out.empty() ? "" : ", ", number);
    return out;
}

std::optional<std::vector<double>> list_of(std::string_view text) {
    std::vector<double> numbers;
    for (const std::string& part : parts_of(text)) {
        double number = 0;
        const char* end = part.data() + part.size();
        const auto [stop, error] = std::from_chars(part.data(), end, number);
        if (error != std::errc{} || stop != end) return {};
        numbers.push_back(number);
    }
    return numbers;
}

std::string value_text(const ParameterValue& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return list_text(std::get<std::vector<double>>(value));
}

std::string parameter_text(const ParameterInfo& parameter) {
    std::string out = parameter.summary;
    const bool has_lowest = std::isfinite(parameter.lowest);
    const bool has_highest = std::isfinite(parameter.highest);
    if (has_lowest && has_highest) {
        out += fmt::format(", {} to {}", parameter.lowest, parameter.highest);
    } else if (has_lowest) {
        out += fmt::format(", at least {}", parameter.lowest);
    } else if (has_highest) {
        out += fmt::format(", at most {}", parameter.highest);
    }
    const std::string standard = value_text(parameter.standard);
    if (!standard.empty()) out += fmt::format("; default {}", standard);
    return out;
}

std::string title_of_name(std::string_view name) {
    std::string out(name);
    std::ranges::replace(out, '_', ' ');
    if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
    return out;
}

std::vector<const Kernel*> kernels_like(std::string_view text) {
    const std::vector<std::string> parts = parts_of(lower(std::string(text)));
    std::vector<const Kernel*> out;
    for (const Kernel& kernel : kernels()) {
        const std::string all =
            lower(fmt::format("{} {} {}", kernel.info.group, kernel.info.name, kernel.info.summary));
        if (std::ranges::all_of(parts, [&](const std::string& part) { return all.find(part) != std::string::npos; }))
            out.push_back(&kernel);
    }
    return out;
}

}  // namespace texton::viewer
