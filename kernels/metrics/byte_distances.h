// Vector code for distances of channels with 8 bits, which are compared as the bytes that they are.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/metrics/code_rows.h"

namespace texton::detail {

/// Does what add_distances() does, for at most kMaxDistances texels that are not packed and have channels of 8 bits. Returns
/// the largest distance.
std::uint32_t add_byte_distances(FormatKind kind, const std::byte* a, const std::byte* b, std::size_t count,
                                 std::size_t channels, std::size_t compared, CodeDistances& sums);

}  // namespace texton::detail
