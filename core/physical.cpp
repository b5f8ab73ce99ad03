#include <texton/physical.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/mapped_memory.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr const char* kPhysical = "texton::Physical";

struct PhysicalBlock : detail::Block {
    PhysicalBlock(detail::Backend& backend, std::size_t bytes, const PhysicalInfo& info) noexcept
        : Block(backend, MemoryKind::mapped, nullptr, bytes), info(info) {}
    ~PhysicalBlock() override {
        if (handle == nullptr) return;
        detail::outside_recording([on = backend, memory = handle] { on->release_physical(memory); });
    }
    detail::PhysicalHandle handle = nullptr;
    PhysicalInfo info;
};

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = kPhysical, .problem = std::move(problem), .remedy = std::move(remedy)});
}

[[noreturn]] void refuse_shared_tiles() {
    refuse(ErrorCode::not_permitted, "memory of a tile pool cannot be shared with other processes",
           "Share memory of a Pool, or of a Physical without PhysicalInfo::tile_pool, and copy the texels.");
}

PhysicalInfo checked_info(const Device& device, const PhysicalInfo& asked) {
    if (!device.properties().virtual_memory) {
        refuse(ErrorCode::unsupported, fmt::format("{} does not support virtual memory management", device.name()),
               "Use Linear instead.");
    }
    if (asked.tile_pool && asked.handle != HandleType::none) refuse_shared_tiles();
    PhysicalInfo info = asked;
    switch (asked.location.kind) {
        case LocationKind::none: info.location = Location::device(device); break;
        case LocationKind::device:
            if (asked.location == Location::device(device)) break;
            refuse(ErrorCode::wrong_location,
                   fmt::format("{} cannot create memory at {}", device.name(), to_string(asked.location)),
                   "Use the device of the location.");
        case LocationKind::host_numa:
            if (!asked.tile_pool) break;
            refuse(ErrorCode::wrong_location, "memory of a tile pool cannot be on the host",
                   "Use a device as the location.");
        case LocationKind::host:
        case LocationKind::host_numa_current:
            refuse(ErrorCode::wrong_location,
                   fmt::format("physical memory cannot be created at {}", to_string(asked.location)),
                   "Use a device, or a NUMA node with Location::host_numa(n).");
    }
    return info;
}

void check_size(std::size_t bytes, std::size_t unit) {
    if (bytes % unit == 0) return;
    const std::size_t next = (bytes / unit + 1) * unit;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kPhysical,
                 .problem = fmt::format("{} bytes were requested, but the size must be a multiple of {}", bytes, unit),
                 .remedy = fmt::format("Request {} bytes.", next),
                 .numbers = {{"bytes", bytes}, {"granularity", unit}, {"next", next}}});
}

}  // namespace

std::size_t Physical::granularity(const Device& device, const PhysicalInfo& asked, Granularity which) {
    const PhysicalInfo info = checked_info(device, asked);
    detail::Backend& backend = device.backend();
    return detail::request(&backend, kPhysical, {}, [&] { return backend.physical_granularity(info, which); });
}

Physical::Physical(const Device& device, std::size_t bytes, const PhysicalInfo& asked) try {
    const PhysicalInfo info = checked_info(device, asked);
    detail::check_bytes(bytes, kPhysical);
    check_size(bytes, granularity(device, info));
    detail::refuse_while_recording(kPhysical, "allocating physical memory");
    detail::Backend& backend = device.backend();
    auto block = std::make_shared<PhysicalBlock>(backend, bytes, info);
    block->handle =
        detail::request(&backend, kPhysical, {{"bytes", bytes}}, [&] { return backend.create_physical(bytes, info); });
    block_ = std::move(block);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPhysical);
}

Physical Physical::import(const Device& device, const ShareableHandle& handle, std::size_t bytes) try {
    detail::check_bytes(bytes, kPhysical);
    if (!detail::names_something(handle)) {
        refuse(ErrorCode::bad_argument, "the handle has no type, or its file descriptor is not open",
               "Pass the result of export_handle() of the other process, with an open file descriptor.");
    }
    detail::Backend& backend = device.backend();
    const PhysicalInfo info = checked_info(device, {.handle = handle.type});
    check_size(bytes, granularity(device, info));
    auto block = std::make_shared<PhysicalBlock>(backend, bytes, info);
    block->handle = detail::request(&backend, kPhysical, {{"bytes", bytes}},
                                    [&] { return backend.import_physical(handle, bytes); });
    Physical imported;
    imported.block_ = std::move(block);
    return imported;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPhysical);
}

ShareableHandle Physical::export_handle(HandleType type) const {
    return detail::export_physical(detail::live(block_, kPhysical), type);
}

const PhysicalInfo& detail::physical_info(const Block& physical) {
    return static_cast<const PhysicalBlock&>(physical).info;
}

ShareableHandle detail::export_physical(const Block& physical, HandleType type) {
    const auto& block = static_cast<const PhysicalBlock&>(physical);
    if (block.info.tile_pool) refuse_shared_tiles();
    if (type == HandleType::none || block.info.handle != type) {
        refuse(ErrorCode::not_permitted, "the memory was not created with this type of handle",
               "Set PhysicalInfo::handle when you create the memory.");
    }
    return request(block.backend, kPhysical, {}, [&] { return block.backend->export_physical(block.handle, type); });
}

std::size_t Physical::bytes() const noexcept { return block_ ? block_->bytes : 0; }
PhysicalInfo Physical::info() const { return static_cast<const PhysicalBlock&>(detail::live(block_, kPhysical)).info; }
Device Physical::device() const { return Device(*detail::live(block_, kPhysical).backend); }
detail::PhysicalHandle Physical::handle() const {
    return static_cast<const PhysicalBlock&>(detail::live(block_, kPhysical)).handle;
}

}  // namespace texton
