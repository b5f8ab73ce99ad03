#pragma once
// DDS files that tests write word by word.
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "tests/support/texels.h"

namespace texton::test::dds {

constexpr std::uint32_t four(const char* text) {
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(text[i]);
    return value;
}

/// 32-bit words of the headers, named as in the documentation of DDS. Those from kDxgi on are the DX10 header.
enum Word {
    kSize = 1,
    kFlags,
    kHeight,
    kWidth,
    kPitch,
    kDepth,
    kMipMapCount,
    kPfSize = 19,
    kPfFlags,
    kFourCC,
    kBits,
    kR,
    kG,
    kB,
    kA,
    kCaps,
    kCaps2,
    kDxgi = 32,
    kDimension,
    kMisc,
    kArraySize,
    kMisc2
};

/// Returns a header without a pixel format.
inline std::vector<std::uint32_t> header(std::uint32_t width, std::uint32_t height) {
    std::vector<std::uint32_t> words(32);
    words[0] = four("DDS ");
    words[kSize] = 124;
    words[kFlags] = 0x1007;
    words[kHeight] = height;
    words[kWidth] = width;
    words[kPfSize] = 32;
    words[kCaps] = 0x1000;
    return words;
}

/// Channel masks of a header.
struct Masks {
    std::uint32_t flags, bits, r, g, b, a;
};

inline std::vector<std::uint32_t> masked_header(std::uint32_t width, std::uint32_t height, const Masks& masks) {
    auto words = header(width, height);
    words[kPfFlags] = masks.flags;
    words[kBits] = masks.bits;
    words[kR] = masks.r;
    words[kG] = masks.g;
    words[kB] = masks.b;
    words[kA] = masks.a;
    return words;
}

/// Returns the headers of a 2D image with a DXGI format.
inline std::vector<std::uint32_t> dxgi_header(std::uint32_t width, std::uint32_t height, std::uint32_t format) {
    auto words = header(width, height);
    words.resize(37);
    words[kPfFlags] = 4;
    words[kFourCC] = four("DX10");
    words[kDxgi] = format;
    words[kDimension] = 3;
    words[kArraySize] = 1;
    return words;
}

inline Bytes file(const std::vector<std::uint32_t>& words, const Bytes& texels) {
    Bytes bytes(words.size() * 4);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    bytes.insert(bytes.end(), texels.begin(), texels.end());
    return bytes;
}

inline Bytes of(std::initializer_list<int> values) {
    Bytes bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

}  // namespace texton::test::dds
