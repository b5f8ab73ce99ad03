#pragma once
#include <string>
#include <string_view>

namespace texton::viewer {

/// Returns true if the bytes are valid UTF-8. File names and metadata of old files may not be.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;
/// Returns the text with U+FFFD for each byte that is not part of valid UTF-8.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

}  // namespace texton::viewer
