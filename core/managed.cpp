#include <texton/managed.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr const char* kManaged = "texton::Managed";

struct Bytes {
    std::byte* address;
    std::size_t count;
};

Bytes checked_range(const detail::Block& block, ByteRange range) {
    if (range.offset < block.bytes) {
        const std::size_t rest = block.bytes - range.offset;
        if (range.count <= rest) return {block.address + range.offset, range.count == 0 ? rest : range.count};
    }
    throw Error({.code = ErrorCode::out_of_bounds,
                 .object = kManaged,
                 .problem = fmt::format("{} bytes at offset {} exceed the memory of {} bytes", range.count,
                                        range.offset, block.bytes),
                 .remedy = "Use a range inside the memory.",
                 .numbers = {{"offset", range.offset}, {"count", range.count}, {"size", block.bytes}}});
}

[[noreturn]] void refuse_location(const char* what, const Location& location, const char* remedy) {
    throw Error({.code = ErrorCode::wrong_location,
                 .object = kManaged,
                 .problem = fmt::format("{} cannot be {}", what, to_string(location)),
                 .remedy = remedy});
}

void check_location(const char* what, const detail::Block& block, const Location& location, bool numa_allowed) {
    const char* remedy = numa_allowed ? "Use a device of the same kind as the memory, the host or a NUMA node."
                                      : "Use a device of the same kind as the memory, or the host.";
    switch (location.kind) {
        case LocationKind::none: refuse_location(what, location, remedy);
        case LocationKind::device:
            if (location.device_kind != block.backend->properties().kind) refuse_location(what, location, remedy);
            return;
        case LocationKind::host: return;
        case LocationKind::host_numa:
        case LocationKind::host_numa_current:
            if (!numa_allowed) refuse_location(what, location, remedy);
            return;
    }
}

void check_stream(const detail::Block& block, const Stream& stream) {
    const Device device(*block.backend);
    if (stream.device().kind() == device.kind()) return;
    throw Error(
        {.code = ErrorCode::wrong_device,
         .object = kManaged,
         .problem = fmt::format("memory of {} cannot be used on a stream of {}", device.name(), stream.device().name()),
         .remedy = "Use a stream of a device of the same kind as the memory."});
}

}  // namespace

Managed::Managed(const Device& device, std::size_t bytes, Attach attach) try {
    detail::check_bytes(bytes, kManaged);
    if (attach == Attach::single) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kManaged,
                     .problem = "memory cannot be attached to a single stream at its allocation",
                     .remedy = "Allocate it with Attach::host, and then call attach()."});
    }
    if (!device.properties().managed_memory) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = kManaged,
                     .problem = fmt::format("{} does not support managed memory", device.name()),
                     .remedy = "Use Linear and Pinned, and copy between them."});
    }
    detail::refuse_while_recording(kManaged, "allocating managed memory");
    detail::Backend& backend = device.backend();
    // CUDA accepts managed memory that is larger than the device, and its use then is very slow or hangs. Refuse it
    // like other memory.
    block_ = detail::make_block(backend, kManaged, MemoryKind::managed, bytes, &detail::Backend::free, [&] {
        if (bytes > backend.memory_info().free) {
            throw Error({.code = ErrorCode::out_of_memory, .problem = "the size exceeds the free memory"});
        }
        return backend.allocate_managed(bytes, attach);
    });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kManaged);
}

std::byte* Managed::data() const noexcept { return block_ ? block_->address : nullptr; }
std::size_t Managed::bytes() const noexcept { return block_ ? block_->bytes : 0; }
Device Managed::device() const { return Device(*detail::live(block_, kManaged).backend); }
View Managed::view() const { return detail::byte_view(block_, kManaged); }
View Managed::view(Format format, Extent extent) const { return detail::packed_view(block_, kManaged, format, extent); }

void Managed::advise(Advice advice, const Location& location, ByteRange range) const {
    detail::Block& block = detail::live(block_, kManaged);
    const Bytes part = checked_range(block, range);
    switch (advice) {
        case Advice::set_preferred_location: check_location("the preferred location", block, location, true); break;
        case Advice::set_accessed_by:
        case Advice::unset_accessed_by: check_location("the accessing location", block, location, false); break;
        case Advice::set_read_mostly:
        case Advice::unset_read_mostly:
        case Advice::unset_preferred_location: break;  // the location is ignored
    }
    detail::request(block.backend, kManaged, {{"bytes", part.count}},
                    [&] { block.backend->advise(part.address, part.count, advice, location); });
}

void Managed::prefetch(const Location& location, const Stream& stream, ByteRange range) const {
    detail::Block& block = detail::live(block_, kManaged);
    const Bytes part = checked_range(block, range);
    check_location("the target of a prefetch", block, location, true);
    check_stream(block, stream);
    detail::request(block.backend, kManaged, {{"bytes", part.count}}, [&] {
        stream.device().backend().prefetch(part.address, part.count, location, stream.state()->handle);
    });
}

void Managed::attach(const Stream& stream, Attach attach) const {
    detail::Block& block = detail::live(block_, kManaged);
    check_stream(block, stream);
    if (attach == Attach::single && stream.state()->handle == nullptr) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kManaged,
                     .problem = "memory cannot be attached to the default stream only",
                     .remedy = "Create a Stream and attach the memory to it, or use Attach::global."});
    }
    detail::request(block.backend, kManaged, {{"bytes", block.bytes}}, [&] {
        stream.device().backend().attach_managed(stream.state()->handle, block.address, block.bytes, attach);
    });
}

bool Managed::read_mostly(ByteRange range) const {
    detail::Block& block = detail::live(block_, kManaged);
    const Bytes part = checked_range(block, range);
    return detail::request(block.backend, kManaged, {},
                           [&] { return block.backend->read_mostly(part.address, part.count); });
}

std::optional<Location> Managed::preferred_location(ByteRange range) const {
    detail::Block& block = detail::live(block_, kManaged);
    const Bytes part = checked_range(block, range);
    return detail::request(block.backend, kManaged, {},
                           [&] { return block.backend->preferred_location(part.address, part.count); });
}

std::vector<Location> Managed::accessed_by(ByteRange range) const {
    detail::Block& block = detail::live(block_, kManaged);
    const Bytes part = checked_range(block, range);
    return detail::request(block.backend, kManaged, {},
                           [&] { return block.backend->accessed_by(part.address, part.count); });
}

std::optional<Location> Managed::last_prefetch(ByteRange range) const {
    detail::Block& block = detail::live(block_, kManaged);
    const Bytes part = checked_range(block, range);
    return detail::request(block.backend, kManaged, {},
                           [&] { return block.backend->last_prefetch(part.address, part.count); });
}

RangeAttributes Managed::attributes(ByteRange range) const {
    detail::Block& block = detail::live(block_, kManaged);
    const Bytes part = checked_range(block, range);
    return detail::request(block.backend, kManaged, {},
                           [&] { return block.backend->range_attributes(part.address, part.count); });
}

}  // namespace texton
