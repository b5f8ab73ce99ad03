#include <texton/error.h>

#include "core/cpu/device.h"

namespace texton::detail {
namespace {

[[noreturn]] void refuse_fabric() {
    throw Error({.code = ErrorCode::not_permitted,
                 .problem = "a fabric handle was requested, but the CPU device has no fabric",
                 .remedy = "Use HandleType::file_descriptor."});
}

CpuPool& pool_of(PoolHandle handle) { return *reinterpret_cast<CpuPool*>(handle); }

}  // namespace

std::shared_ptr<Account> CpuDevice::account_of(const Location& location) const {
    if (location.kind == LocationKind::device || location.kind == LocationKind::none) return account_;
    return {std::shared_ptr<Account>(), &host_account()};  // never destroyed, so no ownership is needed
}

// Returns the device that keeps the default pools of a location. The pools of the host belong to the first device.
CpuDevice& CpuDevice::home(const Location& location) {
    CpuDevice* device = nullptr;
    if (location.kind == LocationKind::device && location.id != properties_.index) {
        device = CpuDevices::instance().find(location.id);
    } else if (location.kind == LocationKind::host || location.kind == LocationKind::host_numa) {
        device = CpuDevices::instance().first();
    }
    return device != nullptr ? *device : *this;
}

PoolHandle CpuDevice::create_pool(const PoolInfo& info) {
    if (info.handle == HandleType::fabric) refuse_fabric();
    PoolInfo made = info;
    made.location = resolved(info.location);
    const auto account = made.type == PoolType::managed ? account_ : account_of(made.location);
    const auto pool = std::make_shared<CpuPool>(properties_.index, made, account);
    CpuPools::instance().add(pool);
    return pool->handle();
}

void CpuDevice::destroy_pool(PoolHandle handle) noexcept {
    if (lost()) return;
    const auto pool = CpuPools::instance().of(handle);
    CpuDevice& keeper = home(pool->info().location);
    {
        const std::lock_guard lock(keeper.mutex_);
        std::erase_if(keeper.current_pools_, [&](const auto& entry) { return entry.second == handle; });
    }
    try {
        CpuPools::instance().abandon(pool);
    } catch (...) {
        // There is no memory or thread to wait for the last use of the pool, so it stays until the process ends.
    }
}

PoolHandle CpuDevice::default_pool(const Location& asked, PoolType type) {
    const Location location = resolved(asked);
    CpuDevice& keeper = home(location);
    if (&keeper != this) return keeper.default_pool(location, type);
    const std::lock_guard lock(mutex_);
    auto& pool = default_pools_[{location.kind, location.id, type}];
    if (pool == nullptr) {
        const PoolInfo info{.location = location, .type = type};
        const auto account = type == PoolType::managed ? account_ : account_of(location);
        pool = std::make_shared<CpuPool>(properties_.index, info, account);
        CpuPools::instance().add(pool);
    }
    return pool->handle();
}

PoolHandle CpuDevice::current_pool(const Location& asked, PoolType type) {
    const Location location = resolved(asked);
    CpuDevice& keeper = home(location);
    {
        const std::lock_guard lock(keeper.mutex_);
        const auto entry = keeper.current_pools_.find({location.kind, location.id, type});
        if (entry != keeper.current_pools_.end()) return entry->second;
    }
    return keeper.default_pool(location, type);
}

void CpuDevice::set_current_pool(const Location& asked, PoolType type, PoolHandle pool) {
    const Location location = resolved(asked);
    if (pool_of(pool).info().location != location || pool_of(pool).info().type != type) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = "a pool can become current only for its own location and type",
                     .remedy = "Pass the location and the type with which the pool was created."});
    }
    CpuDevice& keeper = home(location);
    const std::lock_guard lock(keeper.mutex_);
    keeper.current_pools_[{location.kind, location.id, type}] = pool;
}

std::uint64_t CpuDevice::pool_attribute(PoolHandle pool, PoolAttribute attribute) {
    return pool_of(pool).attribute(attribute);
}

void CpuDevice::set_pool_attribute(PoolHandle pool, PoolAttribute attribute, std::uint64_t value) {
    pool_of(pool).set_attribute(attribute, value);
}

Access CpuDevice::pool_access(PoolHandle pool, const Location& location) {
    return pool_of(pool).access(resolved(location));
}

void CpuDevice::set_pool_access(PoolHandle pool, std::span<const AccessGrant> grants) {
    for (const AccessGrant& grant : grants) resolved(grant.location);
    pool_of(pool).set_access(grants);
}

void CpuDevice::trim_pool(PoolHandle pool, std::size_t keep) { pool_of(pool).trim(keep); }

ShareableHandle CpuDevice::export_pool(PoolHandle pool, HandleType type) {
    if (type == HandleType::fabric) refuse_fabric();
    return pool_of(pool).export_handle();
}

PoolHandle CpuDevice::import_pool(const ShareableHandle& handle) {
    if (handle.type == HandleType::fabric) refuse_fabric();
    const auto pool = std::make_shared<CpuPool>(properties_.index, handle.file_descriptor);
    CpuPools::instance().add(pool);
    return pool->handle();
}

PointerExport CpuDevice::export_pointer(const std::byte* address) {
    if (const auto pool = CpuPools::instance().find(address)) return pool->export_pointer(address);
    throw Error({.code = ErrorCode::bad_argument,
                 .problem = "the memory is not from a pool, so it cannot be exported",
                 .remedy = "Pass an allocation of a shared pool."});
}

std::byte* CpuDevice::import_pointer(PoolHandle pool, const PointerExport& pointer, std::size_t bytes) {
    return pool_of(pool).import_pointer(pointer, bytes);
}

std::byte* CpuDevice::allocate_async(std::size_t bytes, PoolHandle handle, StreamHandle stream_handle) {
    const auto on = stream(stream_handle);
    if (handle == nullptr) handle = current_pool(own_location(), PoolType::pinned);
    CpuPool& pool = pool_of(handle);
    const auto capture = on->capture();
    if (capture == nullptr) return pool.allocate(bytes, *on);
    const auto memory = std::make_shared<CpuGraphMemory>(pool.account(), bytes);
    capture->keep(memory);
    CpuGraphMemories::instance().add(memory);
    capture->record_nothing(*on);
    return memory->address;
}

void CpuDevice::free_async(std::byte* address, StreamHandle stream_handle) {
    if (lost()) return;
    const auto on = stream(stream_handle);
    const auto capture = on->capture();
    const auto memory = CpuGraphMemories::instance().find(address);
    if (capture != nullptr) {
        if (memory == nullptr || !capture->owns(*memory)) {
            refuse_capturing("memory that was allocated outside of the capture cannot be freed in it",
                             "Free the memory before or after the capture.");
        }
        capture->record_nothing(*on);
        CpuGraphMemories::instance().remove(*memory);
        return;
    }
    if (memory != nullptr) {
        CpuGraphMemories::instance().remove(*memory);
        on->enqueue([memory] {});  // keeps the memory until the stream is here
        return;
    }
    const auto pool = CpuPools::instance().find(address);
    if (pool == nullptr) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = "the memory is not from a pool, so it cannot be freed in stream order",
                     .remedy = "Free each allocation of a pool once."});
    }
    CpuPools::instance().free(pool, address, on->position());
}

}  // namespace texton::detail
