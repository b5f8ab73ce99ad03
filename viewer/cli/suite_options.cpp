#include "viewer/cli/suite_options.h"

#include <cstdio>
#include <iostream>
#include <string>

#include <fmt/format.h>

namespace texton::cli {

bool confirmed(std::size_t written, std::size_t removed) {
    std::string text;
    if (written > 0) text = fmt::format("Write {} references", written);
    if (removed > 0) text += fmt::format("{} {}", text.empty() ? "Remove" : " and remove", removed);
    fmt::print("{}? [y/N] ", text);
    std::fflush(stdout);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace texton::cli
