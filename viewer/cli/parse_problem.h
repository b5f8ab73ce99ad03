#pragma once
// Messages about words of a command line that CLI11 refuses.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace texton::cli {

/// Returns what is wrong, without a period at the end.
[[nodiscard]] inline std::string problem_of(const CLI::ParseError& error) {
    std::string problem = error.what();
    problem.erase(problem.find_last_not_of(" .\n") + 1);
    // Options of other types than numbers have validators with messages of their own.
    constexpr std::string_view kConversion = "Could not convert: ", kEquals = " = ";
    const std::size_t equals = problem.find(kEquals);
    if (!problem.starts_with(kConversion) || equals == std::string::npos) return problem;
    return fmt::format("{}: '{}' is not a number that it takes",
                       problem.substr(kConversion.size(), equals - kConversion.size()),
                       problem.substr(equals + kEquals.size()));
}

}  // namespace texton::cli
