#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/kernel.h>

namespace texton::viewer {

/// Returns numbers separated by commas: "1, 0.5, 0".
[[nodiscard]] std::string list_text(std::span<const double> numbers);
/// Parses numbers separated by commas, semicolons or white space. Returns nullopt if a part is not a number.
[[nodiscard]] std::optional<std::vector<double>> list_of(std::string_view text);
/// Returns the value of a parameter as text: "true", "0.5", "area" or "1, 0, 0".
[[nodiscard]] std::string value_text(const ParameterValue& value);
/// Returns the summary, range and default value of a parameter: "stops, -10 to 10; default 0".
[[nodiscard]] std::string parameter_text(const ParameterInfo& parameter);
/// Returns a name as a title: "Base level" for "base_level".
[[nodiscard]] std::string title_of_name(std::string_view name);

/// Returns the kernels whose group, name and summary together contain each of the words, in the order of kernels().
///
/// Upper and lower case are not distinguished. Without words it returns all kernels.
[[nodiscard]] std::vector<const Kernel*> kernels_like(std::string_view text);

}  // namespace texton::viewer
