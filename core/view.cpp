#include <texton/view.h>

#include <cstdint>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/backend.h"
#include "core/request.h"
#include "core/transfer.h"

namespace texton {
namespace {

constexpr const char* kView = "texton::View";

detail::MemoryLocation checked_location(const char* object, std::byte* data, Format format, Extent extent,
                                        std::size_t pitch, std::size_t slice_pitch) {
    const auto refuse = [&](std::string problem, std::string remedy, std::vector<ErrorNumber> numbers) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = std::move(problem),
                     .remedy = std::move(remedy),
                     .numbers = std::move(numbers)});
    };
    if (data == nullptr) refuse("the pointer is null", "Pass the address of the first texel.", {});
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        refuse(fmt::format("a view of {} texels was requested", to_string(extent)),
               "Every dimension must be at least 1.",
               {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}});
    }
    if (info(format).layout == FormatLayout::planar) {
        refuse(fmt::format("{} has two planes of different sizes", name(format)),
               "Create a view of each plane with the format of plane_info().", {});
    }
    const std::size_t row = row_bytes(format, extent.width);
    if (pitch == 0) pitch = row;
    if (pitch < row) {
        refuse(fmt::format("the pitch of {} bytes is shorter than a row of {}", pitch, row),
               "Pass the bytes from one row to the next, or 0 for packed rows.", {{"pitch", pitch}, {"row", row}});
    }
    const std::size_t slice = checked_product(pitch, row_count(format, extent.height), object, "pitch * height");
    if (slice_pitch == 0) slice_pitch = slice;
    if (extent.depth > 1 && (slice_pitch < slice || slice_pitch % pitch != 0)) {
        refuse(fmt::format("the slice pitch of {} bytes is {} {}", slice_pitch,
                           slice_pitch < slice ? "shorter than a slice of" : "not a multiple of the pitch",
                           slice_pitch < slice ? slice : pitch),
               "Pass a multiple of the pitch that is at least pitch * rows, or 0 for packed slices.",
               {{"slice_pitch", slice_pitch}, {"pitch", pitch}});
    }
    const std::size_t bytes = checked_product(slice_pitch, extent.depth, object, "slice pitch * depth");
    if (bytes > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(data)) {
        throw Error(
            {.code = ErrorCode::overflow,
             .object = object,
             .problem = fmt::format("{} bytes at {} exceed the address space", bytes, static_cast<const void*>(data)),
             .remedy = "Pass the extent and the pitch of existing memory.",
             .numbers = {{"bytes", bytes}}});
    }
    detail::MemoryLocation location;
    location.address = data;
    location.pitch = pitch;
    location.slice_pitch = slice_pitch;
    location.format = format;
    location.extent = extent;
    return location;
}

}  // namespace

std::string_view name(MemoryKind kind) noexcept {
    switch (kind) {
        case MemoryKind::host: return "host";
        case MemoryKind::pinned: return "pinned";
        case MemoryKind::registered: return "registered";
        case MemoryKind::managed: return "managed";
        case MemoryKind::linear: return "linear";
        case MemoryKind::pitched: return "pitched";
        case MemoryKind::mapped: return "mapped";
        case MemoryKind::symbol: return "symbol";
        case MemoryKind::array: return "array";
    }
    return "unknown";
}

std::optional<Device> ConstView::device() const noexcept {
    if (location_.backend == nullptr) return std::nullopt;
    return Device(*location_.backend);
}

detail::MemoryLocation detail::region_of(const MemoryLocation& whole, const Region& region, const char* object) {
    if (!contains(whole.extent, region)) {
        throw Error({.code = ErrorCode::out_of_bounds,
                     .object = object,
                     .problem = fmt::format("the region {} is empty or exceeds the extent {}", to_string(region),
                                            to_string(whole.extent)),
                     .remedy = "Use a region of at least one texel inside the view.",
                     .numbers = {{"x", region.offset.x},
                                 {"y", region.offset.y},
                                 {"z", region.offset.z},
                                 {"width", region.extent.width},
                                 {"height", region.extent.height},
                                 {"depth", region.extent.depth}}});
    }
    const std::size_t side = block_side(whole.format);
    const auto on_blocks = [side](std::size_t offset, std::size_t length, std::size_t whole_length) {
        return offset % side == 0 && (length % side == 0 || offset + length == whole_length);
    };
    if (!on_blocks(region.offset.x, region.extent.width, whole.extent.width) ||
        !on_blocks(region.offset.y, region.extent.height, whole.extent.height)) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = fmt::format("the region {} does not consist of whole 4 x 4 blocks of {}",
                                            to_string(region), name(whole.format)),
                     .remedy = "Use offsets and sizes that are multiples of 4, or a size that reaches the edge."});
    }
    MemoryLocation part = whole;
    part.extent = region.extent;
    if (whole.kind == MemoryKind::array) {
        part.array_offset.x += region.offset.x;
        part.array_offset.y += region.offset.y;
        part.array_offset.z += region.offset.z;
        return part;
    }
    const std::size_t bytes = region.offset.x / side * info(whole.format).bytes + region.offset.y / side * whole.pitch +
                              region.offset.z * whole.slice_pitch;
    part.address += bytes;
    part.symbol_offset += bytes;
    return part;
}

ConstView ConstView::region(Region region) const { return ConstView(detail::region_of(location_, region, kView)); }
View View::region(Region region) const { return View(detail::region_of(location_, region, kView)); }

View host_view(void* data, Format format, Extent extent, std::size_t pitch, std::size_t slice_pitch) {
    return View(
        checked_location("texton::host_view", static_cast<std::byte*>(data), format, extent, pitch, slice_pitch));
}

ConstView host_view(const void* data, Format format, Extent extent, std::size_t pitch, std::size_t slice_pitch) {
    auto* bytes = const_cast<std::byte*>(static_cast<const std::byte*>(data));  // Texton never writes to a ConstView
    return ConstView(checked_location("texton::host_view", bytes, format, extent, pitch, slice_pitch));
}

View borrowed_view(const Device& device, void* data, Format format, Extent extent, std::size_t pitch,
                   std::size_t slice_pitch) {
    constexpr const char* kObject = "texton::borrowed_view";
    detail::MemoryLocation location =
        checked_location(kObject, static_cast<std::byte*>(data), format, extent, pitch, slice_pitch);
    detail::Backend& backend = device.backend();
    const std::size_t last_row =
        location.slice_pitch * (extent.depth - 1) + location.pitch * (row_count(format, extent.height) - 1);
    const std::size_t bytes = last_row + row_bytes(format, extent.width);
    const bool known = detail::request(&backend, kObject, {}, [&] { return backend.knows(data, bytes); });
    if (!known) {
        throw Error({.code = ErrorCode::not_registered,
                     .object = kObject,
                     .problem = fmt::format("{} does not know the whole range as its own memory", device.name()),
                     .remedy = "Pass memory that the device allocated, and an extent that fits. For host memory use "
                               "host_view()."});
    }
    location.backend = &backend;
    location.kind = MemoryKind::linear;
    return View(std::move(location));
}

}  // namespace texton
