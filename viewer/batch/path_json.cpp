#include "viewer/batch/path_json.h"

#include <charconv>
#include <string>

#include <fmt/format.h>

#include "viewer/text/utf8.h"

namespace texton::batch {

verify::Json json_of(const std::filesystem::path& path) {
    if (viewer::is_utf8(path.native())) return path.native();
    std::string digits;
    for (const char byte : path.native()) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return {{"bytes", digits}};
}

std::optional<std::filesystem::path> path_in(const verify::Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_object() || !value.contains("bytes") || !value["bytes"].is_string()) return {};
    const auto& digits = value["bytes"].get_ref<const std::string&>();
    std::string bytes;
    for (std::size_t i = 0; i + 2 <= digits.size(); i += 2) {
        unsigned char byte = 0;
        if (std::from_chars(&digits[i], &digits[i] + 2, byte, 16).ptr != &digits[i] + 2) return {};
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

}  // namespace texton::batch
