#include <texton/fill.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/backing.h"
#include "core/block.h"
#include "core/request.h"
#include "core/transfer.h"

namespace texton {
namespace {

constexpr const char* kFill = "texton::fill";

// Sets the pattern of a request. For memory it is used unchanged; for arrays it is repeated to the size of a texel or
// block.
void set_pattern(detail::FillRequest& request, std::span<const std::byte> pattern) {
    const detail::MemoryLocation& location = *request.destination;
    const bool array = location.kind == MemoryKind::array;
    const std::size_t whole = array ? info(location.format).bytes : pattern.size();
    if (array ? pattern.empty() || whole % pattern.size() != 0
              : whole != 1 && whole != 2 && whole != 4 && whole != 8 && whole != 16) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kFill,
                     .problem = array ? fmt::format("the pattern has {} bytes, but a texel of {} has {}",
                                                    pattern.size(), name(location.format), whole)
                                      : fmt::format("the pattern has {} bytes", whole),
                     .remedy = array ? "The length of the pattern must divide the bytes of a texel or block."
                                     : "Use a pattern of 1, 2, 4, 8 or 16 bytes.",
                     .numbers = {{"pattern", pattern.size()}, {"texel", whole}}});
    }
    for (std::size_t at = 0; at < whole; at += pattern.size()) {
        std::memcpy(request.pattern.data() + at, pattern.data(), pattern.size());
    }
    request.pattern_bytes = static_cast<int>(whole);
}

void check_rows(const detail::MemoryLocation& location, const detail::Box& box, std::size_t pattern_bytes) {
    const auto fits = [pattern_bytes](std::size_t bytes) { return bytes % pattern_bytes == 0; };
    const auto address = reinterpret_cast<std::uintptr_t>(location.address);
    const bool rows_fit = box.rows == 1 || fits(location.pitch);
    const bool slices_fit = box.slices == 1 || fits(location.slice_pitch);
    if (fits(address) && fits(box.row_bytes) && rows_fit && slices_fit) return;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kFill,
                 .problem = fmt::format("rows of {} bytes with a pitch of {} bytes do not fit a pattern of {} bytes",
                                        box.row_bytes, location.pitch, pattern_bytes),
                 .remedy = "The first address, the row length and the pitch must be multiples of the pattern's length.",
                 .numbers = {{"row", box.row_bytes}, {"pitch", location.pitch}, {"pattern", pattern_bytes}}});
}

void fill_with(const View& destination, std::span<const std::byte> pattern, const Stream* stream) try {
    detail::check_live(destination.location(), kFill);
    const auto locked = detail::page_locked(destination.location(), kFill);
    const detail::MemoryLocation& location = locked ? *locked : destination.location();
    detail::FillRequest request{.destination = &location, .box = detail::box_of(location)};
    set_pattern(request, pattern);
    if (location.kind != MemoryKind::array) check_rows(location, request.box, pattern.size());
    detail::Backend* owner = detail::home(location);
    const detail::Number bytes{"bytes", request.box.row_bytes * request.box.rows * request.box.slices};
    if (stream == nullptr) {
        detail::refuse_while_recording(kFill, "filling without a stream");
        detail::Backend& backend = owner != nullptr ? *owner : Device::cpu().backend();
        const detail::BackingUse use(kFill, location.owner);
        detail::request(&backend, kFill, {bytes}, [&] {
            detail::wait_for_default_stream(location, backend);
            backend.fill(request, nullptr);
        });
        return;
    }
    detail::check_stream(*stream, owner, nullptr, kFill);
    detail::Backend& backend = stream->device().backend();
    const detail::StreamHandle handle = stream->state()->handle;
    detail::BackingUse use(kFill, *stream, location.owner);
    detail::request(&backend, kFill, {bytes}, [&] { backend.fill(request, &handle); });
    use.enqueued();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kFill);
}

template <class Pattern>
std::span<const std::byte> bytes_of(const Pattern& pattern) {
    return std::as_bytes(std::span(&pattern, 1));
}

// Returns the byte that stores a number in every channel.
std::uint8_t byte_of(const View& destination, int number) {
    const FormatInfo& format = info(destination.format());
    const bool has_bytes = format.layout == FormatLayout::plain && format.bits == 8;
    if (number != 0 && !has_bytes) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = kFill,
             .problem = fmt::format("the number {} of type int could mean a byte or a channel, but the channels "
                                    "of {} are not bytes",
                                    number, name(format.format)),
             .remedy = "Pass the stored bits as std::uint8_t, std::uint16_t or std::uint32_t, or the bytes of a "
                       "texel.",
             .numbers = {{"number", number}}});
    }
    const bool is_signed = format.kind == FormatKind::sint || format.kind == FormatKind::snorm;
    const int lowest = is_signed ? -128 : 0, highest = is_signed ? 127 : 255;
    if (number < lowest || number > highest) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kFill,
                     .problem = fmt::format("the number {} is outside of the range of a channel of {}", number,
                                            name(format.format)),
                     .remedy = fmt::format("Use a number from {} to {}.", lowest, highest)});
    }
    return static_cast<std::uint8_t>(number);
}

}  // namespace

void fill(const View& destination, std::uint8_t pattern) { fill_with(destination, bytes_of(pattern), nullptr); }
void fill(const View& destination, std::uint16_t pattern) { fill_with(destination, bytes_of(pattern), nullptr); }
void fill(const View& destination, std::uint32_t pattern) { fill_with(destination, bytes_of(pattern), nullptr); }
void fill(const View& destination, std::uint8_t pattern, const Stream& stream) {
    fill_with(destination, bytes_of(pattern), &stream);
}
void fill(const View& destination, std::uint16_t pattern, const Stream& stream) {
    fill_with(destination, bytes_of(pattern), &stream);
}
void fill(const View& destination, std::uint32_t pattern, const Stream& stream) {
    fill_with(destination, bytes_of(pattern), &stream);
}
void fill(const View& destination, int number) { fill(destination, byte_of(destination, number)); }
void fill(const View& destination, int number, const Stream& stream) {
    fill(destination, byte_of(destination, number), stream);
}
void fill(const View& destination, std::span<const std::byte> texel) { fill_with(destination, texel, nullptr); }
void fill(const View& destination, std::span<const std::byte> texel, const Stream& stream) {
    fill_with(destination, texel, &stream);
}

}  // namespace texton
