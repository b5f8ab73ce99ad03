#pragma once
// Bytes in another order, on vectors.
#include <cstddef>
#include <cstdint>

namespace texton::detail {

/// Of each byte of a group of 16: where it comes from in the group, or 0x80: nowhere; and the bits that are set then.
struct ByteOrder {
    alignas(16) std::uint8_t from[16];
    alignas(16) std::uint8_t set[16];
};

/// Both may be the same memory. The last group may be a part of one. `past_caches`: what is made is written to memory, as of
/// pictures that are far larger than caches.
using ReorderBytes = void (*)(const ByteOrder& order, const unsigned char* from, std::size_t count, unsigned char* to,
                              bool past_caches);

/// Null without vectors. Of float32, no number becomes the one that pictures have.
[[nodiscard]] ReorderBytes byte_reorderer(bool floats);

}  // namespace texton::detail
