#pragma once
#include <cstddef>
#include <span>

namespace texton::detail {

/// Returns true if a file contains what every JPEG decoder agrees on, as its markers say: gray or YCbCr samples of 8 bits
/// in Huffman codes, and a marker at the end of the file. The samples can be sequential or progressive. The codes are not
/// examined, so that they can still be damaged.
[[nodiscard]] bool is_plain_jpeg(std::span<const std::byte> file) noexcept;

}  // namespace texton::detail
