#pragma once
// Filling memory with a repeated pattern.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Fills every row of the view with a repeated pattern, and returns when the fill is done. Padding between rows is not
/// changed.
///
/// The fill runs after the work of the default stream, but does not wait for other streams; see Stream. Host memory that
/// belongs to no device is filled by the first CPU device.
///
/// In memory, rows must start at a multiple of the pattern's length and contain a whole number of patterns. In an
/// array, the length of the pattern must divide the bytes of a texel (of a block, for block-compressed formats).
/// Several threads may call this function at once.
///
/// Throws
/// - Error{bad_argument} if the view is empty or the pattern does not fit,
/// - Error{released} if the memory of the view was freed or unmapped,
/// - Error{not_registered} if only a part of a host range is pinned or registered,
/// - Error{not_mapped} if a deferred array has no memory,
/// - Error{capturing} if the calling thread records a graph.
void fill(const View& destination, std::uint8_t pattern);
/// Fills with a pattern of 2 bytes. Otherwise like the overload for 1 byte.
void fill(const View& destination, std::uint16_t pattern);
/// Fills with a pattern of 4 bytes. Otherwise like the overload for 1 byte.
void fill(const View& destination, std::uint32_t pattern);
/// Fills with a number of type int, for example a literal: fill(view, 255). A char, a short and a bool convert to int.
///
/// The number is stored in every channel. Channels must have 8 bits, so that each byte is the number, as with
/// cudaMemset(). Only 0 is accepted for all formats. Otherwise like the overload for 1 byte.
///
/// Also throws Error{bad_argument} if
/// - the channels do not have 8 bits, or the format is block-compressed, and the number is not 0: it could mean the
///   value of a byte or of a channel,
/// - the number is less than 0 or more than 255; for sint and snorm formats, less than -128 or more than 127.
void fill(const View& destination, int number);
/// Enqueues a fill on a stream. Pageable host memory is filled when the call returns. Otherwise the call can return
/// before the fill is done, and the caller must keep the memory until then. Host memory can be filled on a stream of
/// any device. If the stream is captured into a graph, each launch fills the memory, so the caller must keep it, also
/// pageable memory, until the last launch is done. Otherwise like the overload without a stream.
///
/// Throws the errors of that overload, and Error{wrong_device} if the stream belongs to another device than the memory.
/// Throws Error{capturing} if the capture was not started by Graph::capture() on this thread and the graph would have
/// to keep memory: this concerns sparse and deferred arrays, and arrays that CUDA can only fill through host memory.
void fill(const View& destination, std::uint8_t pattern, const Stream& stream);
/// Enqueues a fill with a pattern of 2 bytes. Otherwise like the overload for 1 byte.
void fill(const View& destination, std::uint16_t pattern, const Stream& stream);
/// Enqueues a fill with a pattern of 4 bytes. Otherwise like the overload for 1 byte.
void fill(const View& destination, std::uint32_t pattern, const Stream& stream);
/// Enqueues a fill with a number of type int. Otherwise like the overload for int and the one for 1 byte on a stream.
void fill(const View& destination, int number, const Stream& stream);
/// Fills with a texel of any format: 1, 2, 4, 8 or 16 bytes as they are stored. Otherwise like the overload for 1 byte.
void fill(const View& destination, std::span<const std::byte> texel);
/// Enqueues a fill with a texel of any format. The bytes are read during the call. Otherwise like the overload for 1
/// byte.
void fill(const View& destination, std::span<const std::byte> texel, const Stream& stream);

namespace detail {
/// Whether T is a number for which fill() has no overload: it is no pattern, and does not convert to int without loss.
template <class T>
concept NumberWithoutFill = std::floating_point<T> ||
    (std::integral<T> && !std::same_as<decltype(+T()), int> && !std::same_as<T, std::uint32_t>);
}  // namespace detail

/// Does not compile, and says why: numbers of other types are ambiguous. std::size_t and float are examples.
template <detail::NumberWithoutFill Number>
void fill(const View&, Number) {
    static_assert(!detail::NumberWithoutFill<Number>,
                  "texton::fill() repeats the bytes of a pattern, and a number of this type has no length that all "
                  "platforms and formats agree on. Convert it to std::uint8_t, std::uint16_t or std::uint32_t, or pass "
                  "the bytes of a texel, for example std::as_bytes(std::span(&texel, 1))");
}
/// Does not compile. Like the overload without a stream.
template <detail::NumberWithoutFill Number>
void fill(const View& destination, Number number, const Stream&) {
    fill(destination, number);
}

}  // namespace texton
