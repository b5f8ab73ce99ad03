#pragma once
#include <string>
#include <vector>

namespace texton::cli {

/// Returns the words of the command line of this process, from the name of the program on.
[[nodiscard]] std::vector<std::string> typed_words();

}  // namespace texton::cli
