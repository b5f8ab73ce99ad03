#pragma once
// Chunks of PNG files. Each one ends with a checksum of its kind and data, without which libpng refuses the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tests/fuzz/image_seeds.h"

namespace texton::fuzz {

constexpr std::size_t kPngSignature = 8;  // bytes before the first chunk

/// Returns the CRC-32 of the bytes.
inline std::uint32_t png_checksum(std::span<const std::uint8_t> bytes) {
    std::uint32_t sum = 0xffffffff;
    for (const std::uint8_t byte : bytes) {
        sum ^= byte;
        for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320U : 0U);
    }
    return ~sum;
}

/// Returns a chunk.
inline Input png_chunk(std::string_view kind, const Input& data) {
    FileBytes chunk;
    chunk.be32(data.size()).text(kind).add(data);
    return chunk.be32(png_checksum(std::span(chunk.bytes).subspan(4))).bytes;
}

/// Replaces the checksums of all chunks that fit in the file. The last chunk may end early.
inline void repair_png_checksums(Input& file) {
    for (std::size_t at = kPngSignature; at + 12 <= file.size();) {
        std::size_t size = 0;
        for (std::size_t i = 0; i < 4; ++i) size = size << 8 | file[at + i];
        if (size > file.size() - at - 12) return;
        const std::uint32_t sum = png_checksum(std::span(file).subspan(at + 4, 4 + size));
        for (std::size_t i = 0; i < 4; ++i) file[at + 8 + size + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
        at += 12 + size;
    }
}

}  // namespace texton::fuzz
