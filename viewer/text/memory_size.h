#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace texton::viewer {

/// Returns the bytes of a text like "512MiB", "2GiB" or "1.5GiB", with the unit KiB, MiB, GiB or TiB. Throws
/// Error{bad_argument} for other texts, with `where` in the message.
[[nodiscard]] std::size_t memory_size(std::string_view text, const std::string& where);

}  // namespace texton::viewer
