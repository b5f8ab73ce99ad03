#pragma once
#include <exception>
#include <string>

namespace texton::viewer {

/// Returns the message of an exception for display.
///
/// For an Error these are its problem, its remedy and the CUDA call that failed, if any, without the name of the
/// object. For std::bad_alloc it says that memory is missing. For other exceptions it is what().
[[nodiscard]] std::string error_text(const std::exception& error);

/// Returns a text of the library, for example one of ImageFile::conversions(), in which options of the programs replace
/// the names of the library that they set.
[[nodiscard]] std::string with_option_names(std::string text);

}  // namespace texton::viewer
