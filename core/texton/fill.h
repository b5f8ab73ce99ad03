#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Repeats a pattern of 1, 2 or 4 bytes over every row of the view; padding between rows stays. A row must be a whole number
/// of patterns and start at a multiple of one: Error{bad_argument}. In an array the pattern must be as long as a texel is
/// (a block, for BC formats), or divide it; one without memory is Error{not_mapped}.
///
/// Without a stream the fill is done when the call returns.
void fill(const View& destination, std::uint8_t pattern);
void fill(const View& destination, std::uint16_t pattern);
void fill(const View& destination, std::uint32_t pattern);
void fill(const View& destination, std::uint8_t pattern, const Stream& stream);
void fill(const View& destination, std::uint16_t pattern, const Stream& stream);
void fill(const View& destination, std::uint32_t pattern, const Stream& stream);
/// A texel of any format as the pattern: 1, 2, 4, 8 or 16 bytes, as they are stored.
void fill(const View& destination, std::span<const std::byte> texel);
void fill(const View& destination, std::span<const std::byte> texel, const Stream& stream);

}  // namespace texton
