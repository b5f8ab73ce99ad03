#include "tests/support/decode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace texton::test {
namespace {

std::uint32_t bits_of(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

double half(std::uint32_t code) {
    const int exponent = static_cast<int>(code >> 10 & 31);
    const double fraction = static_cast<double>(code & 1023) / 1024;
    const double size = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
    return (code & 0x8000) != 0 ? -size : size;
}

std::uint32_t channel(FormatKind kind, unsigned bits, std::uint32_t code) {
    const double maximum = std::ldexp(1, static_cast<int>(bits)) - 1;
    const auto extended = static_cast<std::int32_t>(code << (32 - bits)) >> (32 - bits);
    switch (kind) {
        case FormatKind::uint: return code;
        case FormatKind::sint: return static_cast<std::uint32_t>(extended);
        case FormatKind::floating: return bits == 32 ? code : bits_of(half(code));
        case FormatKind::unorm: return bits_of(code / maximum);
        case FormatKind::snorm: {
            const double largest = (maximum - 1) / 2;
            return bits_of(std::max(extended / largest, -1.0));
        }
        case FormatKind::srgb: break;
    }
    return 0;
}

}  // namespace

bool can_decode(Format format) {
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::packed) return row.kind != FormatKind::floating && row.kind != FormatKind::srgb;
    return row.layout == FormatLayout::plain && row.kind != FormatKind::srgb;
}

std::array<std::uint32_t, 4> decode(Format format, std::span<const std::byte> texel) {
    std::array<std::uint32_t, 4> channels{};
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::packed) {
        std::uint64_t word = 0;
        std::memcpy(&word, texel.data(), row.bytes);
        for (std::size_t c = 0; c < row.channels; word >>= row.cuda.bits[c++]) {
            const unsigned bits = row.cuda.bits[c];
            channels[c] = channel(row.kind, bits, static_cast<std::uint32_t>(word & ((std::uint64_t{1} << bits) - 1)));
        }
        if (row.channels == 3) channels[3] = row.kind == FormatKind::uint ? 1 : bits_of(1);
        return channels;
    }
    const std::size_t bytes = row.bits / 8;
    for (std::size_t c = 0; c < row.channels; ++c) {
        std::uint32_t code = 0;
        std::memcpy(&code, texel.data() + c * bytes, bytes);
        channels[c] = channel(row.kind, row.bits, code);
    }
    return channels;
}

}  // namespace texton::test
