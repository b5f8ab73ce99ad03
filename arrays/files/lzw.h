#pragma once
// LZW as TIFF 6.0 defines it.
#include <cstddef>
#include <span>

namespace texton::detail {

/// Returns true for streams of writers before TIFF 6.0, whose bits have another order.
[[nodiscard]] bool has_old_bit_order(std::span<const std::byte> stream);
/// Decompresses a stream until `out` is full. Returns false, and some bytes may be written, if the stream is damaged or
/// ends before.
[[nodiscard]] bool decompress_lzw(std::span<const std::byte> stream, std::span<std::byte> out);

}  // namespace texton::detail
