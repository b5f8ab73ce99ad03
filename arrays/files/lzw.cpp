#include "arrays/files/lzw.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace texton::detail {
namespace {

constexpr unsigned kClear = 256, kEnd = 257, kFirst = 258;
constexpr unsigned kLeastBits = 9, kMostBits = 12;
constexpr unsigned kCodes = 1 << kMostBits;
constexpr unsigned kMostStrings = kCodes + 1022;  // libtiff refuses more before the next kClear

// Codes of a stream, which begin with the highest bit of a byte.
class Codes {
public:
    explicit Codes(std::span<const std::byte> stream) : stream_(stream) {}

    // Returns kEnd if too few bits are left.
    unsigned next(unsigned bits) {
        while (count_ < bits) {
            if (at_ == stream_.size()) return kEnd;
            buffer_ = buffer_ << 8 | std::to_integer<std::uint64_t>(stream_[at_++]);
            count_ += 8;
        }
        count_ -= bits;
        return static_cast<unsigned>(buffer_ >> count_) & ((1U << bits) - 1);
    }

private:
    std::span<const std::byte> stream_;
    std::size_t at_ = 0;
    std::uint64_t buffer_ = 0;
    unsigned count_ = 0;  // bits of the buffer that were not returned
};

// A string, as the place where it was written.
struct String {
    std::size_t at;
    std::size_t length;
};

// The string may continue into its copy.
void copy(const String& string, std::size_t to, std::size_t length, std::byte* out) {
    const std::byte* const from = out + string.at;
    if (string.at + length <= to) {
        std::memcpy(out + to, from, length);
    } else {
        for (std::size_t i = 0; i < length; ++i) out[to + i] = from[i];
    }
}

}  // namespace

bool has_old_bit_order(std::span<const std::byte> stream) {
    // The first code is kClear.
    return stream.size() >= 2 && stream[0] == std::byte{0} && (stream[1] & std::byte{1}) != std::byte{0};
}

bool decompress_lzw(std::span<const std::byte> stream, std::span<std::byte> out) {
    Codes codes(stream);
    std::array<String, kCodes> strings;
    unsigned next = kFirst, bits = kLeastBits;
    String previous{0, 0};  // empty after kClear
    for (std::size_t written = 0; written < out.size();) {
        const unsigned code = codes.next(bits);
        if (code == kEnd) return false;
        if (code == kClear) {
            next = kFirst;
            bits = kLeastBits;
            previous.length = 0;
            continue;
        }
        // A new string is the one before and the first byte of this one, which follows it.
        if (previous.length != 0) {
            if (next < kCodes) strings[next] = {previous.at, previous.length + 1};
            if (++next > kMostStrings) return false;
            if (next >= (1U << bits) - 1 && bits < kMostBits) ++bits;
        }
        const std::size_t begin = written;
        if (code < kClear) {
            out[written++] = static_cast<std::byte>(code);
            previous = {begin, 1};
        } else {
            if (code >= next) return false;
            const std::size_t length = std::min(strings[code].length, out.size() - written);
            copy(strings[code], written, length, out.data());
            written += length;
            previous = {begin, strings[code].length};
        }
    }
    return true;
}

}  // namespace texton::detail
