#pragma once
// Files that tests compose of numbers and texts.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace texton::test {

/// Contents of a file that is composed of numbers in one of the byte orders.
class FileBytes {
public:
    FileBytes& text(std::string_view text) {
        bytes.insert(bytes.end(), text.begin(), text.end());
        return *this;
    }
    FileBytes& add(const std::vector<std::uint8_t>& more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return *this;
    }
    FileBytes& zeros(std::size_t count) {
        bytes.resize(bytes.size() + count);
        return *this;
    }
    /// Appends zeros up to this size.
    FileBytes& pad_to(std::size_t size) { return zeros(size - bytes.size()); }
    /// Appends an integer, least significant byte first.
    FileBytes& le(std::uint64_t value, unsigned size) {
        for (unsigned i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
        return *this;
    }
    /// Appends an integer, most significant byte first.
    FileBytes& be(std::uint64_t value, unsigned size) {
        for (unsigned i = size; i-- > 0;) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
        return *this;
    }
    FileBytes& u8(unsigned value) { return le(value, 1); }
    FileBytes& le16(std::uint64_t value) { return le(value, 2); }
    FileBytes& le32(std::uint64_t value) { return le(value, 4); }
    FileBytes& be16(std::uint64_t value) { return be(value, 2); }
    FileBytes& be32(std::uint64_t value) { return be(value, 4); }
    /// Appends bytes that differ.
    FileBytes& pattern(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7 + i / 5));
        return *this;
    }

    std::vector<std::uint8_t> bytes;
};

}  // namespace texton::test
