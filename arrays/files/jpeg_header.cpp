#include "arrays/files/jpeg_header.h"

#include <cstring>

namespace texton::detail {
namespace {

constexpr unsigned kStart = 0xd8, kEnd = 0xd9, kScan = 0xda, kAdobe = 0xee;
constexpr unsigned kFirstFrame = 0xc0, kLastHuffmanFrame = 0xc2;  // baseline, extended, progressive
constexpr std::size_t kAdobeBytes = 12;                           // the last byte is the color transform

unsigned byte_at(std::span<const std::byte> bytes, std::size_t index) noexcept {
    return std::to_integer<unsigned>(bytes[index]);
}

// Returns true if the segment of a frame describes gray samples or YCbCr. Three components whose names are R, G and B
// are RGB.
bool is_plain_frame(std::span<const std::byte> segment) noexcept {
    constexpr std::size_t kFixed = 6, kComponent = 3;
    if (segment.size() < kFixed || byte_at(segment, 0) != 8) return false;
    const unsigned components = byte_at(segment, 5);
    if ((components != 1 && components != 3) || segment.size() < kFixed + components * kComponent) return false;
    return components == 1 || byte_at(segment, kFixed) != 'R' || byte_at(segment, kFixed + kComponent) != 'G' ||
           byte_at(segment, kFixed + 2 * kComponent) != 'B';
}

// Returns true if the segment says that three components are RGB.
bool is_adobe_rgb(std::span<const std::byte> segment) noexcept {
    return segment.size() >= kAdobeBytes && std::memcmp(segment.data(), "Adobe", 5) == 0 &&
           byte_at(segment, kAdobeBytes - 1) == 0;
}

}  // namespace

bool is_plain_jpeg(std::span<const std::byte> file) noexcept {
    constexpr std::size_t kMarker = 2, kLength = 2;
    const std::size_t size = file.size();
    if (size < 2 * kMarker || byte_at(file, 0) != 0xff || byte_at(file, 1) != kStart) return false;
    if (byte_at(file, size - 2) != 0xff || byte_at(file, size - 1) != kEnd) return false;
    bool has_frame = false;
    for (std::size_t at = kMarker; size - at >= kMarker + kLength;) {
        if (byte_at(file, at) != 0xff) return false;
        const unsigned marker = byte_at(file, at + 1);
        if (marker == 0xff) {  // fill byte
            ++at;
            continue;
        }
        if (marker == kScan) return has_frame;
        const std::size_t length = byte_at(file, at + 2) << 8 | byte_at(file, at + 3);
        if (length < kLength || length > size - at - kMarker) return false;
        const auto segment = file.subspan(at + kMarker + kLength, length - kLength);
        // C4, C8 and CC are no frames: tables of codes, reserved, and conditions of arithmetic codes.
        const bool is_frame =
            marker >= kFirstFrame && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (is_frame && (has_frame || marker > kLastHuffmanFrame || !is_plain_frame(segment))) return false;
        if (marker == kAdobe && is_adobe_rgb(segment)) return false;
        has_frame = has_frame || is_frame;
        at += kMarker + length;
    }
    return false;
}

}  // namespace texton::detail
