#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/kernel.h>

namespace texton::viewer {

/// "1, 0.5, 0".
[[nodiscard]] std::string list_words(std::span<const double> numbers);
/// Numbers with commas or spaces between them; none if one of them is no number.
[[nodiscard]] std::optional<std::vector<double>> list_of(std::string_view words);
/// "true", "0.5", "area", "1, 0, 0".
[[nodiscard]] std::string value_words(const ParameterValue& value);
/// Summary, range and standard value: "stops, -10 to 10; 0 if not said".
[[nodiscard]] std::string parameter_words(const ParameterInfo& parameter);
/// "base_level" as "Base level".
[[nodiscard]] std::string title_of_name(std::string_view name);

/// Kernels, by group, whose name, group or summary has each of the words, in any case; all of them if there are none.
[[nodiscard]] std::vector<const Kernel*> kernels_like(std::string_view words);

}  // namespace texton::viewer
