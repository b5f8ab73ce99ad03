#include "viewer/text/utf8.h"

#include <cstddef>
#include <cstdint>

namespace texton::viewer {
namespace {

// Returns the number of bytes of the valid UTF-8 sequence at the beginning, or 0 if there is none.
std::size_t sequence(std::string_view bytes) noexcept {
    const auto byte = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || bytes.size() < size) return 0;
    std::uint32_t code = lead & (0x7Fu >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3F);
    }
    const bool is_shortest = code >= (size == 4 ? 0x10000u : size == 3 ? 0x800u : 0x80u);
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    return is_shortest && !is_surrogate && code <= 0x10FFFF ? size : 0;
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const std::size_t size = sequence(bytes);
        if (size == 0) return false;
        bytes.remove_prefix(size);
    }
    return true;
}

std::string to_utf8(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
        const std::size_t size = sequence(bytes);
        out += size == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, size);
        bytes.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

}  // namespace texton::viewer
