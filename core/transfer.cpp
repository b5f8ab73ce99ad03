#include "core/transfer.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/host_ranges.h"

namespace texton::detail {
namespace {

constexpr const char* kCopy = "texton::copy";

bool is_host(MemoryKind kind) noexcept {
    return kind == MemoryKind::host || kind == MemoryKind::pinned || kind == MemoryKind::registered;
}

// Returns the address after the last byte.
const std::byte* end_of(const MemoryLocation& location, const Box& box) noexcept {
    return location.address + (box.slices - 1) * location.slice_pitch + (box.rows - 1) * location.pitch + box.row_bytes;
}

void check_pair(const MemoryLocation& destination, const MemoryLocation& source) {
    check_live(destination, kCopy);
    check_live(source, kCopy);
    if (destination.extent != source.extent) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kCopy,
                     .problem = fmt::format("a copy of {} texels to {} texels was requested", to_string(source.extent),
                                            to_string(destination.extent)),
                     .remedy = "Use views of the same size.",
                     .numbers = {{"source_width", source.extent.width},
                                 {"source_height", source.extent.height},
                                 {"source_depth", source.extent.depth},
                                 {"destination_width", destination.extent.width},
                                 {"destination_height", destination.extent.height},
                                 {"destination_depth", destination.extent.depth}}});
    }
    const FormatInfo& to = info(destination.format);
    const FormatInfo& from = info(source.format);
    if (to.bytes != from.bytes || block_side(to.format) != block_side(from.format)) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kCopy,
                     .problem = fmt::format("a copy of {} texels to {} texels was requested", from.name, to.name),
                     .remedy = "Both formats must have the same bytes per texel and the same block size, because "
                               "copy() does not convert.",
                     .numbers = {{"source_bytes", from.bytes}, {"destination_bytes", to.bytes}}});
    }
    if (source.owner != nullptr && source.owner->host_reads_slowly && is_host(destination.kind)) {
        throw Error({.code = ErrorCode::not_permitted,
                     .object = kCopy,
                     .problem = "the host would read write-combined memory, which is very slow",
                     .remedy = "To copy anyway, copy from host_view(pinned.read(SlowReads::allowed))."});
    }
}

// Returns the size of both locations, with rows or slices merged if they have no gaps in both locations.
Box shared_box(const MemoryLocation& a, const MemoryLocation& b) noexcept {
    Box box{row_bytes(a.format, a.extent.width), row_count(a.format, a.extent.height), a.extent.depth};
    if (a.kind == MemoryKind::array || b.kind == MemoryKind::array) return box;
    const auto rows_touch = [&](const MemoryLocation& p) { return p.pitch == box.row_bytes; };
    const auto slices_touch = [&](const MemoryLocation& p) { return p.slice_pitch == p.pitch * box.rows; };
    if (box.slices > 1 && slices_touch(a) && slices_touch(b)) {
        box.rows *= box.slices;
        box.slices = 1;
    }
    if (box.rows > 1 && box.slices == 1 && rows_touch(a) && rows_touch(b)) {
        box.row_bytes *= box.rows;
        box.rows = 1;
    }
    return box;
}

}  // namespace

Box box_of(const MemoryLocation& location) noexcept { return shared_box(location, location); }

void check_live(const MemoryLocation& location, const char* object) {
    if (location.extent.width == 0) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = "the view is empty",
                     .remedy = "Use a view of an object that has memory."});
    }
    refuse_if_lost(location.backend, object);
    if (location.owner != nullptr && !location.owner->alive.load(std::memory_order_acquire)) {
        throw Error({.code = ErrorCode::released,
                     .object = object,
                     .problem = fmt::format("the {} memory of the view was freed or unmapped", name(location.kind)),
                     .remedy = "Create a new view after you allocate or map memory again."});
    }
}

std::optional<MemoryLocation> page_locked(const MemoryLocation& location, const char* object) {
    if (location.kind != MemoryKind::host) return std::nullopt;
    const Box box = box_of(location);
    const auto bytes = static_cast<std::size_t>(end_of(location, box) - location.address);
    const HostRange range = find_host_range(location.address, bytes);
    switch (range.cover) {
        case HostCover::none: return std::nullopt;
        case HostCover::partly:
            throw Error(
                {.code = ErrorCode::not_registered,
                 .object = object,
                 .problem = fmt::format("{} bytes at {} are only partly in a range of {} bytes that is {}", bytes,
                                        static_cast<const void*>(location.address), range.bytes, name(range.kind)),
                 .remedy = "Register the whole range, or use one view for each part.",
                 .numbers = {{"bytes", bytes}, {"registered", range.bytes}}});
        case HostCover::whole: break;
    }
    MemoryLocation locked = location;
    locked.kind = range.kind;
    locked.backend = range.backend;
    locked.owner = range.owner;
    return locked;
}

Backend* home(const MemoryLocation& location) noexcept { return is_host(location.kind) ? nullptr : location.backend; }

void wait_for_default_stream(const MemoryLocation& location, const Backend& runs) {
    if (location.backend != nullptr && location.backend != &runs) location.backend->synchronize_stream(nullptr);
}

void check_stream(const Stream& stream, const Backend* destination, const Backend* source, const char* object) {
    const Backend* runs = &stream.device().backend();
    if (runs == destination && runs == source) return;
    const Backend* mixed = nullptr;  // a CUDA device and a CPU device: only the CUDA device can copy
    if (destination != nullptr && source != nullptr && destination->properties().kind != source->properties().kind) {
        mixed = destination->properties().kind == DeviceKind::cuda ? destination : source;
    }
    const bool fits = mixed != nullptr
                          ? runs == mixed
                          : (destination == nullptr && source == nullptr) || runs == destination || runs == source;
    if (fits) return;
    const Backend* other_device = mixed != nullptr ? mixed : destination != nullptr ? destination : source;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = object,
                 .problem = fmt::format("a stream of {} cannot be used for memory of {}", stream.device().name(),
                                        other_device->properties().name),
                 .remedy = mixed != nullptr ? "Use a stream of the CUDA device."
                                            : "Use a stream of the device that holds the destination or the source."});
}

bool share_texels(const MemoryLocation& a, const MemoryLocation& b) noexcept {
    if (a.array == nullptr || a.array != b.array || a.array_part != b.array_part) return false;
    const auto meet = [](std::size_t at, std::size_t length, std::size_t other, std::size_t other_length) {
        return at < other + other_length && other < at + length;
    };
    const Offset& p = a.array_offset;
    const Offset& q = b.array_offset;
    return meet(p.x, a.extent.width, q.x, b.extent.width) && meet(p.y, a.extent.height, q.y, b.extent.height) &&
           meet(p.z, a.extent.depth, q.z, b.extent.depth);
}

bool overlap(const MemoryLocation& a, const MemoryLocation& b, const Box& box) noexcept {
    if (a.array != nullptr && a.array == b.array) return share_texels(a, b);
    if (a.address == nullptr || b.address == nullptr) return false;
    if (end_of(a, box) <= b.address || end_of(b, box) <= a.address) return false;
    if (box.rows == 1 && box.slices == 1) return true;
    // The ranges overlap, but the rows can still be disjoint, for example in adjacent parts of one block. For each row
    // of `a` and each slice of `b`, only the nearest rows of `b` below and above can share a byte. With equal pitches
    // the result depends only on the differences of row and slice indices, so a loop over these differences is enough.
    const auto length = static_cast<std::ptrdiff_t>(box.row_bytes);
    const auto rows = static_cast<std::ptrdiff_t>(box.rows);
    const auto slices = static_cast<std::ptrdiff_t>(box.slices);
    const auto pitch = static_cast<std::ptrdiff_t>(b.pitch);
    const auto slice_pitch = static_cast<std::ptrdiff_t>(b.slice_pitch);
    const auto meets = [&](std::ptrdiff_t row_of_a, std::ptrdiff_t slice_of_b, std::ptrdiff_t lowest) {
        const std::ptrdiff_t distance = row_of_a - slice_of_b * slice_pitch;
        const std::ptrdiff_t below = rows > 1 || lowest < 0 ? distance / pitch - (distance % pitch < 0) : 0;
        for (std::ptrdiff_t row = below; row <= below + 1; ++row) {
            if (row < lowest || row >= rows) continue;
            if (std::abs(distance - row * pitch) < length) return true;
        }
        return false;
    };
    const std::ptrdiff_t start = a.address - b.address;
    if (a.pitch == b.pitch && (box.slices == 1 || a.slice_pitch == b.slice_pitch)) {
        for (std::ptrdiff_t slice = -(slices - 1); slice < slices; ++slice) {
            if (meets(start, slice, -(rows - 1))) return true;
        }
        return false;
    }
    for (std::ptrdiff_t z = 0; z < slices; ++z) {
        for (std::ptrdiff_t y = 0; y < rows; ++y) {
            const std::ptrdiff_t row =
                start + z * static_cast<std::ptrdiff_t>(a.slice_pitch) + y * static_cast<std::ptrdiff_t>(a.pitch);
            for (std::ptrdiff_t slice = 0; slice < slices; ++slice) {
                if (meets(row, slice, 0)) return true;
            }
        }
    }
    return false;
}

Transfer::Transfer(const ConstView& destination, const ConstView& source) {
    const MemoryLocation* to = &destination.location();
    const MemoryLocation* from = &source.location();
    check_pair(*to, *from);
    if ((destination_ = page_locked(*to, kCopy))) to = &*destination_;
    if ((source_ = page_locked(*from, kCopy))) from = &*source_;
    request = {to, from, shared_box(*to, *from)};
    if (overlap(*to, *from, request.box)) {
        throw Error({.code = ErrorCode::overlap,
                     .object = kCopy,
                     .problem = fmt::format("source and destination, each of {} texels, share {}",
                                            to_string(to->extent), to->array != nullptr ? "texels" : "bytes"),
                     .remedy = "Copy to other memory first, and from there to the destination.",
                     .numbers = {{"bytes", request.box.row_bytes * request.box.rows * request.box.slices}}});
    }
}

}  // namespace texton::detail
