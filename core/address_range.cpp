#include <fmt/format.h>

#include <map>
#include <mutex>

#include <texton/error.h>
#include <texton/physical.h>

#include "core/block.h"
#include "core/mapped_memory.h"
#include "core/request.h"

// Address ranges and their mappings. Each view of a range owns a Cover, which keeps the range alive. unmap() marks the
// covers that overlap with the mapping as released.

namespace texton {
namespace {

constexpr const char* kRange = "texton::AddressRange";

// Memory that is mapped at an offset. `accessible`: the device can read and write it.
struct Mapping {
    std::size_t bytes = 0;
    std::shared_ptr<detail::Block> memory;
    bool accessible = false;
};

struct RangeBlock;

struct Cover : detail::Block {
    Cover(std::shared_ptr<RangeBlock> range, std::size_t offset, std::size_t bytes) noexcept;
    ~Cover() override { attached.reset(); }
    std::shared_ptr<RangeBlock> range;
    std::size_t offset;
};

struct RangeBlock : detail::Block {
    RangeBlock(detail::Backend& backend, std::size_t bytes) noexcept
        : Block(backend, MemoryKind::mapped, nullptr, bytes) {}
    ~RangeBlock() override {
        if (address == nullptr) return;
        detail::outside_recording([on = backend, begin = address, count = bytes, mapped = std::move(mappings)] {
            for (const auto& [offset, mapping] : mapped) on->unmap_physical(begin + offset, mapping.bytes);
            on->free_addresses(begin, count);
        });
    }
    std::mutex mutex;
    std::map<std::size_t, Mapping> mappings;  // by offset
    std::vector<std::weak_ptr<Cover>> covers;
    std::size_t unit = 0;  // granularity in bytes
};

Cover::Cover(std::shared_ptr<RangeBlock> owner, std::size_t at, std::size_t count) noexcept
    : Block(*owner->backend, MemoryKind::mapped, owner->address + at, count), range(std::move(owner)), offset(at) {}

RangeBlock& live_range(const std::shared_ptr<detail::Block>& block) {
    return static_cast<RangeBlock&>(detail::live(block, kRange));
}

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy,
                         std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = code,
                 .object = kRange,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

bool touches(std::size_t a, std::size_t a_bytes, std::size_t b, std::size_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

detail::MappedMemory detail::mapped_memory(const Block& block, const std::byte* address, std::size_t bytes) {
    const auto& cover = static_cast<const Cover&>(block);
    RangeBlock& range = *cover.range;
    const auto offset = static_cast<std::size_t>(address - range.address);
    const std::lock_guard lock(range.mutex);
    for (const auto& [at, mapping] : range.mappings) {
        if (at <= offset && offset - at < mapping.bytes && bytes <= mapping.bytes - (offset - at))
            return {mapping.memory, offset - at};
    }
    return {};
}

AddressRange::AddressRange(const Device& device, std::size_t bytes, std::size_t alignment) try {
    detail::check_bytes(bytes, kRange);
    detail::Backend& backend = device.backend();
    const std::size_t unit = Physical::granularity(device);
    if (bytes % unit != 0 || alignment % unit != 0 || (alignment & (alignment - 1)) != 0) {
        refuse(ErrorCode::bad_argument,
               fmt::format("{} bytes with an alignment of {} were requested, but the granularity is {}", bytes,
                           alignment, unit),
               "Use a size that is a multiple of Physical::granularity(), and an alignment of 0 or a power of two "
               "times it.",
               {{"bytes", bytes}, {"alignment", alignment}, {"granularity", unit}});
    }
    auto block = std::make_shared<RangeBlock>(backend, bytes);
    block->unit = unit;
    block->address = detail::request(&backend, kRange, {{"bytes", bytes}},
                                     [&] { return backend.reserve_addresses(bytes, alignment); });
    block_ = std::move(block);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kRange);
}

void AddressRange::map(std::size_t offset, const Physical& memory) try {
    RangeBlock& range = live_range(block_);
    const detail::PhysicalHandle handle = memory.handle();
    const std::size_t bytes = memory.bytes();
    const std::vector<ErrorNumber> numbers{{"offset", offset}, {"bytes", bytes}};
    if (offset >= range.bytes || bytes > range.bytes - offset) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("{} bytes of memory do not fit at offset {} of a range of {} bytes", bytes, offset,
                           range.bytes),
               "Use a smaller offset or reserve a larger range.", numbers);
    }
    if (offset % range.unit != 0) {
        refuse(ErrorCode::bad_argument,
               fmt::format("the mapping offset {} is not a multiple of the granularity {}", offset, range.unit),
               "Use a multiple of Physical::granularity().", numbers);
    }
    if (memory.info().tile_pool) {
        refuse(ErrorCode::not_permitted, "memory of a tile pool cannot be mapped to addresses",
               "Create the memory without PhysicalInfo::tile_pool.");
    }
    if (memory.device() != Device(*range.backend)) {
        refuse(ErrorCode::wrong_device,
               fmt::format("memory of {} cannot be mapped to addresses of {}", memory.device().name(),
                           Device(*range.backend).name()),
               "Reserve addresses on the device of the memory, and grant the other device access with set_access().");
    }
    const std::lock_guard lock(range.mutex);
    for (const auto& [at, mapping] : range.mappings) {
        if (!touches(offset, bytes, at, mapping.bytes)) continue;
        refuse(ErrorCode::overlap, fmt::format("{} bytes at offset {} are already mapped", mapping.bytes, at),
               "Call unmap() first.", numbers);
    }
    const auto entry = range.mappings.emplace(offset, Mapping{bytes, memory.block(), false}).first;
    try {
        detail::request(range.backend, kRange, {{"bytes", bytes}},
                        [&] { range.backend->map_physical(range.address + offset, bytes, handle); });
    } catch (...) {
        range.mappings.erase(entry);
        throw;
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kRange);
}

void AddressRange::unmap(std::size_t offset) {
    RangeBlock& range = live_range(block_);
    detail::refuse_while_recording(kRange, "unmapping memory");
    const std::lock_guard lock(range.mutex);
    const auto entry = range.mappings.find(offset);
    if (entry == range.mappings.end()) {
        refuse(ErrorCode::bad_argument, fmt::format("no mapping starts at offset {}", offset),
               "Pass the same offset as to map().", {{"offset", offset}});
    }
    std::erase_if(range.covers, [&](const std::weak_ptr<Cover>& weak) {
        const auto cover = weak.lock();
        if (cover == nullptr) return true;
        if (touches(cover->offset, cover->bytes, offset, entry->second.bytes)) cover->alive.store(false);
        return !cover->alive.load();
    });
    range.backend->unmap_physical(range.address + offset, entry->second.bytes);
    range.mappings.erase(entry);
}

void AddressRange::set_access(std::span<const AccessGrant> grants) const {
    RangeBlock& range = live_range(block_);
    if (grants.empty()) refuse(ErrorCode::bad_argument, "the list of grants is empty", "Pass at least one grant.");
    const DeviceKind kind = range.backend->properties().kind;
    for (const AccessGrant& grant : grants) {
        const bool fits = grant.location.kind == LocationKind::device ? grant.location.device_kind == kind
                                                                      : grant.location.kind == LocationKind::host_numa;
        if (!fits) {
            refuse(ErrorCode::wrong_location, fmt::format("access cannot be granted to {}", to_string(grant.location)),
                   "Use a device of the same kind as the address range, or a NUMA node.");
        }
    }
    const Location own = Location::device(Device(*range.backend));
    const std::lock_guard lock(range.mutex);
    for (auto& entry : range.mappings) {
        std::byte* const address = range.address + entry.first;
        auto& mapping = entry.second;
        detail::request(range.backend, kRange, {{"bytes", mapping.bytes}},
                        [&] { range.backend->set_mapped_access(address, mapping.bytes, grants); });
        for (const AccessGrant& grant : grants) {
            if (grant.location == own) mapping.accessible = grant.access == Access::read_write;
        }
    }
}

void AddressRange::set_access() const {
    const AccessGrant own{Location::device(device()), Access::read_write};
    set_access({&own, 1});
}

std::byte* AddressRange::data() const noexcept { return block_ ? block_->address : nullptr; }
std::size_t AddressRange::bytes() const noexcept { return block_ ? block_->bytes : 0; }
Device AddressRange::device() const { return Device(*detail::live(block_, kRange).backend); }

View AddressRange::view(Format format, Extent extent, std::size_t offset) const try {
    RangeBlock& range = live_range(block_);
    const std::size_t bytes = packed_bytes(format, extent);
    if (bytes == 0 || offset > range.bytes || bytes > range.bytes - offset) {
        detail::packed_view(block_, kRange, format, extent, offset);  // throws with the reason
    }
    const auto cover = std::make_shared<Cover>(std::static_pointer_cast<RangeBlock>(block_), offset, bytes);
    View view = detail::packed_view(cover, kRange, format, extent);
    const std::lock_guard lock(range.mutex);
    std::size_t reached = offset;  // everything before this offset is mapped and accessible
    for (const auto& [at, mapping] : range.mappings) {
        if (mapping.accessible && at <= reached && reached < at + mapping.bytes) reached = at + mapping.bytes;
    }
    if (reached < offset + bytes) {
        refuse(
            ErrorCode::not_permitted,
            fmt::format("{} bytes at offset {} were requested, but the device has no access to the byte at offset {}",
                        bytes, offset, reached),
            "Call map() and set_access() for all of them first.",
            {{"offset", offset}, {"bytes", bytes}, {"first", reached}});
    }
    std::erase_if(range.covers, [](const std::weak_ptr<Cover>& weak) { return weak.expired(); });
    range.covers.push_back(cover);
    return view;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kRange);
}

}  // namespace texton
