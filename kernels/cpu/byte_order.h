#pragma once
// Reorders bytes, on vectors.
#include <cstddef>
#include <cstdint>

#include <texton/pixel_encode.h>

namespace texton::detail {

/// For each byte of a group of 16: the index of the byte in the group that it is copied from, or 0x80 for 0; and the
/// bits that are set afterwards.
struct ByteOrder {
    alignas(16) std::uint8_t from[16];
    alignas(16) std::uint8_t set[16];
};

/// Reorders `count` bytes; the last group may be incomplete. Both pointers may be the same memory. `past_caches`
/// requests streaming stores, for images that are far larger than the caches.
using ReorderBytes = void (*)(const ByteOrder& order, const unsigned char* from, std::size_t count, unsigned char* to,
                              bool past_caches);

/// What becomes of floats besides NaN.
enum class StoredFloats : std::uint8_t {
    keep,
    positive_zeros,  ///< zeros become positive
    no_denormals     ///< denormal float32 become zeros of their sign
};

/// Returns null if the CPU has no vectors. If the channels of the format are floats, each NaN becomes the canonical one
/// of images.
[[nodiscard]] ReorderBytes byte_reorderer(const TexelFormat& format, StoredFloats floats = StoredFloats::keep);

}  // namespace texton::detail
