#pragma once
// Attributes of image files that hold bytes, such as ICC profiles. Their values are texts.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace texton::detail {

/// Returns the bytes of a text like "0, 17, 255". Other texts have none.
inline std::vector<std::uint8_t> bytes_in(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        std::uint8_t byte = 0;
        const auto [next, error] = std::from_chars(at, end, byte);
        if (error != std::errc()) return {};
        bytes.push_back(byte);
        at = std::find_if(next, end, [](char c) { return c != ',' && c != ' '; });
    }
    return bytes;
}

}  // namespace texton::detail
