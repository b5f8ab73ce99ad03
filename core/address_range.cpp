#include <fmt/format.h>

#include <map>
#include <mutex>

#include <texton/error.h>
#include <texton/physical.h>

#include "core/block.h"

// An address range and what is mapped into it. Each view of it owns a Cover, which keeps the range, and which unmap() marks
// dead if it touches what goes.

namespace texton {
namespace {

constexpr const char* kRange = "texton::AddressRange";

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
        for (const auto& [offset, mapping] : mappings) backend->unmap_physical(address + offset, mapping.bytes);
        backend->free_addresses(address, bytes);
    }
    std::mutex mutex;
    std::map<std::size_t, Mapping> mappings;  // by offset
    std::vector<std::weak_ptr<Cover>> covers;
    std::size_t unit = 0;
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

AddressRange::AddressRange(const Device& device, std::size_t bytes, std::size_t alignment) {
    detail::check_bytes(bytes, kRange);
    detail::Backend& backend = device.backend();
    const std::size_t unit = Physical::granularity(device);
    if (bytes % unit != 0 || alignment % unit != 0 || (alignment & (alignment - 1)) != 0) {
        refuse(ErrorCode::bad_argument,
               fmt::format("{} bytes at multiples of {} were asked for, but addresses come in units of {}", bytes,
                           alignment, unit),
               "Ask for a multiple of Physical::granularity(), and for an alignment of 0 or a power of two times it.",
               {{"bytes", bytes}, {"alignment", alignment}, {"granularity", unit}});
    }
    auto block = std::make_shared<RangeBlock>(backend, bytes);
    block->unit = unit;
    block->address = detail::request(&backend, kRange, {{"bytes", bytes}},
                                     [&] { return backend.reserve_addresses(bytes, alignment); });
    block_ = std::move(block);
}

void AddressRange::map(std::size_t offset, const Physical& memory) {
    RangeBlock& range = live_range(block_);
    const detail::PhysicalHandle handle = memory.handle();
    const std::size_t bytes = memory.bytes();
    const std::vector<ErrorNumber> numbers{{"offset", offset}, {"bytes", bytes}};
    if (offset >= range.bytes || bytes > range.bytes - offset) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("{} bytes of memory do not fit at byte {} of {} addresses", bytes, offset, range.bytes),
               "Map what lies inside the range.", numbers);
    }
    if (offset % range.unit != 0) {
        refuse(ErrorCode::bad_argument,
               fmt::format("memory was mapped at byte {}, but mapping goes in units of {}", offset, range.unit),
               "Use multiples of Physical::granularity().", numbers);
    }
    if (memory.info().tile_pool) {
        refuse(ErrorCode::not_permitted, "memory of a tile pool cannot be mapped to addresses",
               "Make the memory without tile_pool.");
    }
    if (memory.device() != Device(*range.backend)) {
        refuse(ErrorCode::wrong_device,
               fmt::format("memory of {} was mapped into addresses of {}", memory.device().name(),
                           Device(*range.backend).name()),
               "Reserve addresses on the memory's device, and grant the other one access.");
    }
    const std::lock_guard lock(range.mutex);
    for (const auto& [at, mapping] : range.mappings) {
        if (!touches(offset, bytes, at, mapping.bytes)) continue;
        refuse(ErrorCode::overlap, fmt::format("{} bytes at byte {} are mapped already", mapping.bytes, at),
               "Unmap them first.", numbers);
    }
    const auto entry = range.mappings.emplace(offset, Mapping{bytes, memory.block(), false}).first;
    try {
        detail::request(range.backend, kRange, {{"bytes", bytes}},
                        [&] { range.backend->map_physical(range.address + offset, bytes, handle); });
    } catch (...) {
        range.mappings.erase(entry);
        throw;
    }
}

void AddressRange::unmap(std::size_t offset) {
    RangeBlock& range = live_range(block_);
    detail::refuse_while_recording(kRange, "unmapping memory");
    const std::lock_guard lock(range.mutex);
    const auto entry = range.mappings.find(offset);
    if (entry == range.mappings.end()) {
        refuse(ErrorCode::bad_argument, fmt::format("nothing was mapped at byte {}", offset),
               "Pass the offset that map() was given.", {{"offset", offset}});
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
    if (grants.empty()) refuse(ErrorCode::bad_argument, "no access was given to set", "Pass at least one grant.");
    const DeviceKind kind = range.backend->properties().kind;
    for (const AccessGrant& grant : grants) {
        const bool fits = grant.location.kind == LocationKind::device ? grant.location.device_kind == kind
                                                                      : grant.location.kind == LocationKind::host_numa;
        if (!fits) {
            refuse(ErrorCode::wrong_location, fmt::format("access was given to {}", to_string(grant.location)),
                   "Name a device of the addresses' kind, or a NUMA node.");
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

View AddressRange::view(Format format, Extent extent, std::size_t offset) const {
    RangeBlock& range = live_range(block_);
    const std::size_t bytes = packed_bytes(format, extent);
    if (bytes == 0 || offset > range.bytes || bytes > range.bytes - offset) {
        detail::packed_view(block_, kRange, format, extent, offset);  // throws, and says why
    }
    const auto cover = std::make_shared<Cover>(std::static_pointer_cast<RangeBlock>(block_), offset, bytes);
    View view = detail::packed_view(cover, kRange, format, extent);
    const std::lock_guard lock(range.mutex);
    std::size_t reached = offset;  // up to here all is mapped and accessible
    for (const auto& [at, mapping] : range.mappings) {
        if (mapping.accessible && at <= reached && reached < at + mapping.bytes) reached = at + mapping.bytes;
    }
    if (reached < offset + bytes) {
        refuse(ErrorCode::not_permitted,
               fmt::format("{} bytes at byte {} are not all mapped and accessible: byte {} is not", bytes, offset,
                           reached),
               "Call map() and set_access() for them first.",
               {{"offset", offset}, {"bytes", bytes}, {"first", reached}});
    }
    std::erase_if(range.covers, [](const std::weak_ptr<Cover>& weak) { return weak.expired(); });
    range.covers.push_back(cover);
    return view;
}

}  // namespace texton
