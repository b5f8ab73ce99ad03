#include <texton/fill.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/transfer.h"

namespace texton {
namespace {

constexpr const char* kFill = "texton::fill";

void check_pattern(const detail::Place& place, const detail::Box& box, std::size_t pattern_bytes) {
    const auto fits = [pattern_bytes](std::size_t bytes) { return bytes % pattern_bytes == 0; };
    const auto address = reinterpret_cast<std::uintptr_t>(place.address);
    const bool rows_fit = box.rows == 1 || fits(place.pitch);
    const bool slices_fit = box.slices == 1 || fits(place.slice_pitch);
    if (fits(address) && fits(box.row_bytes) && rows_fit && slices_fit) return;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kFill,
                 .problem = fmt::format("rows of {} bytes, {} apart, were asked to hold a pattern of {} bytes",
                                        box.row_bytes, place.pitch, pattern_bytes),
                 .remedy = "Rows must start at multiples of the pattern and hold it a whole number of times.",
                 .numbers = {{"row", box.row_bytes}, {"pitch", place.pitch}, {"pattern", pattern_bytes}}});
}

void fill_with(const View& destination, std::uint32_t pattern, int pattern_bytes, const Stream* stream) {
    detail::check_live(destination.place(), kFill);
    if (destination.kind() == MemoryKind::array) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = kFill,
                     .problem = "an array was asked to be filled with a byte pattern",
                     .remedy = "Fill linear memory and copy it into the array."});
    }
    const auto locked = detail::page_locked(destination.place(), kFill);
    const detail::Place& place = locked ? *locked : destination.place();
    const detail::FillRequest request{&place, detail::box_of(place), pattern, pattern_bytes};
    check_pattern(place, request.box, static_cast<std::size_t>(pattern_bytes));
    detail::Backend* owner = detail::home(place);
    const detail::Number bytes{"bytes", request.box.row_bytes * request.box.rows * request.box.slices};
    if (stream == nullptr) {
        detail::refuse_while_recording(kFill, "filling without a stream");
        detail::Backend& backend = owner != nullptr ? *owner : Device::cpu().backend();
        detail::request(&backend, kFill, {bytes}, [&] { backend.fill(request, nullptr); });
        return;
    }
    detail::check_stream(*stream, owner, nullptr, kFill);
    detail::Backend& backend = stream->device().backend();
    const detail::StreamHandle handle = stream->state()->handle;
    detail::request(&backend, kFill, {bytes}, [&] { backend.fill(request, &handle); });
}

}  // namespace

void fill(const View& destination, std::uint8_t pattern) { fill_with(destination, pattern, 1, nullptr); }
void fill(const View& destination, std::uint16_t pattern) { fill_with(destination, pattern, 2, nullptr); }
void fill(const View& destination, std::uint32_t pattern) { fill_with(destination, pattern, 4, nullptr); }
void fill(const View& destination, std::uint8_t pattern, const Stream& stream) {
    fill_with(destination, pattern, 1, &stream);
}
void fill(const View& destination, std::uint16_t pattern, const Stream& stream) {
    fill_with(destination, pattern, 2, &stream);
}
void fill(const View& destination, std::uint32_t pattern, const Stream& stream) {
    fill_with(destination, pattern, 4, &stream);
}

}  // namespace texton
