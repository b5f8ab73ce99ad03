#pragma once
// Random texels and coordinates that reach the special cases of fetches.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include <texton/pixel_encode.h>

namespace texton::test {

using Generator = std::mt19937;

inline int below(Generator& random, int count) { return std::uniform_int_distribution(0, count - 1)(random); }

// Returns a float in the given style: one magnitude with few fraction bits, whose sums fall halfway between two floats
// (0); any fraction (1); denormal and smallest values (2); all magnitudes with few fraction bits (3); zeros of both
// signs and special values (4); any bits.
inline std::uint32_t random_float(Generator& random, int style) {
    const auto any = static_cast<std::uint32_t>(random());
    switch (style) {
        case 0: return (any & 0x80000003u) | 0x3f800000u;
        case 1: return (any & 0x80ffffffu) | 0x3f000000u;
        case 2: return any & 0x81ffffffu;
        case 3: return (any & 0x80000007u) | static_cast<std::uint32_t>(below(random, 254)) << 23;
        case 4: {
            constexpr std::uint32_t kCodes[] = {0, 0, 0, 0, 1, 0x3f800000u, 0x7f800000u, 0x7fc00001u};
            return (any & 0x80000000u) | kCodes[below(random, below(random, 2) == 0 ? 5 : 8)];
        }
        default: return any;
    }
}

inline constexpr int kStyles = 6;

inline void fill_randomly(std::vector<unsigned char>& bytes, const detail::TexelFormat& format, Generator& random,
                          int style) {
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        auto word = static_cast<std::uint32_t>(random());
        if (format.encoding == detail::Encoding::floating && format.bits == 32) word = random_float(random, style);
        if (format.encoding == detail::Encoding::floating && format.bits == 16 && style < 4) {
            constexpr std::uint32_t kKept[] = {0x80038003u, 0x8fff8fffu, 0x83ff83ffu, 0xfc00fc00u};
            constexpr std::uint32_t kSet[] = {0x3c003c00u, 0x30003000u, 0, 0};
            word = (word & kKept[style]) | kSet[style];
        }
        std::memcpy(&bytes[i], &word, 4);
    }
}

inline float hostile_coordinate(Generator& random) {
    constexpr float kNumbers[] = {0.0f,   -0.0f,    1e-40f,    -1e-40f, 1e-30f,     -1e-30f, 1.0f,       -1.0f,
                                  0.5f,   2.0f,     -2.0f,     4.0f,    -4.5f,      1e6f,    -1e6f,      3e9f,
                                  -3e9f,  524288,   -524288,   524287,  2147483520, 1e20f,   -1e20f,     3e38f,
                                  -3e38f, INFINITY, -INFINITY, NAN,     32768,      131072,  -131071.5f, 65535.9f};
    return kNumbers[below(random, std::size(kNumbers))];
}

// Returns a coordinate for `size` texels: mostly in or near the texture, often between two steps of the hardware,
// sometimes any value.
inline float random_coordinate(Generator& random, int size, bool normalized) {
    const auto side = static_cast<float>(size);
    const float scale = normalized ? 1 / side : 1;
    switch (below(random, 8)) {
        case 0: return hostile_coordinate(random);
        case 1: return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        case 2: return scale * static_cast<float>(below(random, 512 * (size + 4)) - 1024) / 512;
        case 3: return scale * static_cast<float>(below(random, 2 * size + 8) - 4) / 2;
        case 4: return scale * std::uniform_real_distribution(-3 * side, 4 * side)(random);
        default: return scale * std::uniform_real_distribution(0.0f, side)(random);
    }
}

}  // namespace texton::test
