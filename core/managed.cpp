#include <texton/managed.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"

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
    throw Error(
        {.code = ErrorCode::out_of_bounds,
         .object = kManaged,
         .problem = fmt::format("{} bytes from byte {} do not lie in its {}", range.count, range.offset, block.bytes),
         .remedy = "Ask for a range inside it.",
         .numbers = {{"offset", range.offset}, {"count", range.count}, {"size", block.bytes}}});
}

[[noreturn]] void refuse_location(const char* what, const Location& location, const char* remedy) {
    throw Error({.code = ErrorCode::wrong_location,
                 .object = kManaged,
                 .problem = fmt::format("{} cannot be {}", what, to_string(location)),
                 .remedy = remedy});
}

void check_location(const char* what, const detail::Block& block, const Location& location, bool numa_allowed) {
    const char* remedy = numa_allowed ? "Name a device of the memory's kind, the host or one of its NUMA nodes."
                                      : "Name a device of the memory's kind or the host.";
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
         .problem = fmt::format("memory of {} was used on a stream of {}", device.name(), stream.device().name()),
         .remedy = "Use a stream of the memory's device."});
}

}  // namespace

Managed::Managed(const Device& device, std::size_t bytes, Attach attach) {
    detail::check_bytes(bytes, kManaged);
    if (attach == Attach::single) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kManaged,
                     .problem = "memory cannot begin attached to a single stream",
                     .remedy = "Make it with Attach::host, then call attach()."});
    }
    if (!device.properties().managed_memory) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = kManaged,
                     .problem = fmt::format("{} has no managed memory", device.name()),
                     .remedy = "Use Linear and Pinned, and copy between them."});
    }
    detail::refuse_while_recording(kManaged, "allocating managed memory");
    detail::Backend& backend = device.backend();
    // A managed block larger than the device would be accepted and thrash, or hang: refuse it as plain memory is refused.
    block_ = detail::make_block(backend, kManaged, MemoryKind::managed, bytes, &detail::Backend::free, [&] {
        if (bytes > backend.memory_info().free) {
            throw Error({.code = ErrorCode::out_of_memory, .problem = "more than is free"});
        }
        return backend.allocate_managed(bytes, attach);
    });
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
        case Advice::unset_accessed_by: check_location("what accesses memory", block, location, false); break;
        case Advice::set_read_mostly:
        case Advice::unset_read_mostly:
        case Advice::unset_preferred_location: break;  // the location means nothing
    }
    detail::request(block.backend, kManaged, {{"bytes", part.count}},
                    [&] { block.backend->advise(part.address, part.count, advice, location); });
}

void Managed::prefetch(const Location& location, const Stream& stream, ByteRange range) const {
    detail::Block& block = detail::live(block_, kManaged);
    const Bytes part = checked_range(block, range);
    check_location("the place to prefetch to", block, location, true);
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
                     .problem = "memory cannot be attached to the default stream alone",
                     .remedy = "Attach it to a Stream of your own, or use Attach::global."});
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
