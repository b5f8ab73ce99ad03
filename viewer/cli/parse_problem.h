#pragma once
// Messages about words of a command line that CLI11 refuses.
#include <algorithm>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

namespace texton::cli {

/// Returns what is wrong, without a period at the end.
[[nodiscard]] inline std::string problem_of(const CLI::ParseError& error) {
    std::string problem = error.what();
    problem.erase(problem.find_last_not_of(" .\n") + 1);
    // The words after an option that is not known may be its value or files. CLI11 names the last one first.
    constexpr std::string_view kUnexpected = "not expected: ";
    if (const std::size_t list = problem.find(kUnexpected); list != std::string::npos) {
        std::istringstream words(problem.substr(list + kUnexpected.size()));
        std::vector<std::string> unexpected;
        for (std::string word; words >> word;) unexpected.insert(unexpected.begin(), word);
        const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
        if (std::ranges::any_of(unexpected, is_option)) std::erase_if(unexpected, std::not_fn(is_option));
        return fmt::format("The following argument{} not expected: {}", unexpected.size() > 1 ? "s were" : " was",
                           fmt::join(unexpected, " "));
    }
    // Options of other types than numbers have validators with messages of their own.
    constexpr std::string_view kConversion = "Could not convert: ", kEquals = " = ";
    const std::size_t equals = problem.find(kEquals);
    if (!problem.starts_with(kConversion) || equals == std::string::npos) return problem;
    return fmt::format("{}: '{}' is not a number that it takes",
                       problem.substr(kConversion.size(), equals - kConversion.size()),
                       problem.substr(equals + kEquals.size()));
}

}  // namespace texton::cli
