#pragma once
#include <exception>
#include <string>

namespace texton::viewer {

/// What an exception says to people: of the library's own the problem and the remedy, without the object's name.
[[nodiscard]] std::string error_words(const std::exception& error);

}  // namespace texton::viewer
