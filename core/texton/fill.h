#pragma once
#include <cstdint>

#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Repeats a pattern of 1, 2 or 4 bytes over every row of the view; padding between rows stays. A row must be a whole number
/// of patterns and start at a multiple of one: Error{bad_argument}. Arrays: Error{unsupported}.
///
/// Without a stream the fill is done when the call returns.
void fill(const View& destination, std::uint8_t pattern);
void fill(const View& destination, std::uint16_t pattern);
void fill(const View& destination, std::uint32_t pattern);
void fill(const View& destination, std::uint8_t pattern, const Stream& stream);
void fill(const View& destination, std::uint16_t pattern, const Stream& stream);
void fill(const View& destination, std::uint32_t pattern, const Stream& stream);

}  // namespace texton
