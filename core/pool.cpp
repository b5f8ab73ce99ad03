#include <texton/pool.h>

#include <map>
#include <mutex>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/pending_frees.h"
#include "core/request.h"

namespace texton {
namespace {

using detail::PoolAttribute;
using detail::request;

constexpr const char* kPool = "texton::Pool";

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = kPool, .problem = std::move(problem), .remedy = std::move(remedy)});
}

// The pools that the program created or imported and still holds, by handle. Pool::current() uses it to find the state
// of the current pool.
class OwnedPools {
public:
    void add(const std::shared_ptr<detail::PoolState>& state) {
        const std::lock_guard lock(mutex_);
        std::erase_if(states_, [](const auto& entry) { return entry.second.expired(); });
        states_[state->handle] = state;
    }
    std::shared_ptr<detail::PoolState> find(detail::PoolHandle handle) {
        const std::lock_guard lock(mutex_);
        const auto entry = states_.find(handle);
        if (entry == states_.end()) return nullptr;
        auto state = entry->second.lock();
        if (state == nullptr) states_.erase(entry);
        return state;
    }
    static OwnedPools& instance() {
        static OwnedPools& made = *new OwnedPools;  // never destroyed, because pools can be static objects
        return made;
    }

private:
    std::mutex mutex_;
    std::map<detail::PoolHandle, std::weak_ptr<detail::PoolState>> states_;
};

// Checks the location of a pool and returns it, or the device if there is none and `none_is_device` is set.
Location checked_location(const Device& device, const Location& location, PoolType type, bool none_is_device) {
    switch (location.kind) {
        case LocationKind::none:
            if (type == PoolType::managed) return location;
            if (none_is_device) return Location::device(device);
            refuse(ErrorCode::wrong_location, "a pool of pinned memory needs a location",
                   "Use a device, the host or a NUMA node.");
        case LocationKind::device:
            if (location != Location::device(device)) {
                refuse(ErrorCode::wrong_location,
                       fmt::format("{} cannot create or return a pool at {}", device.name(), to_string(location)),
                       "Use the device of the location.");
            }
            return location;
        case LocationKind::host: return location;
        case LocationKind::host_numa:
            if (!device.properties().host_numa_pools) {
                refuse(ErrorCode::unsupported, fmt::format("{} does not support pools on NUMA nodes", device.name()),
                       "Use Location::host() instead.");
            }
            return location;
        case LocationKind::host_numa_current:
            refuse(ErrorCode::wrong_location,
                   "a pool cannot be at the nearest NUMA node, which differs between threads",
                   "Use a node with Location::host_numa(n).");
    }
    return location;
}

PoolInfo checked_info(const Device& device, const PoolInfo& asked) {
    if (!device.properties().memory_pools) {
        refuse(ErrorCode::unsupported, fmt::format("{} does not support memory pools", device.name()),
               "Use Linear instead.");
    }
    PoolInfo info = asked;
    info.location = checked_location(device, asked.location, asked.type, true);
    if (asked.type == PoolType::managed) {
        if (!device.properties().concurrent_managed_access) {
            refuse(ErrorCode::unsupported, fmt::format("{} does not support pools of managed memory", device.name()),
                   "Use Managed instead.");
        }
        if (asked.handle != HandleType::none) {
            refuse(ErrorCode::bad_argument, "a pool of managed memory cannot be shared", "Use HandleType::none.");
        }
        if (asked.max_bytes != 0) {
            refuse(ErrorCode::bad_argument, "a pool of managed memory cannot have a maximum size",
                   "Set max_bytes to 0.");
        }
    }
    if (info.location.kind == LocationKind::host && asked.handle != HandleType::none) {
        refuse(ErrorCode::bad_argument, "a pool on the host without a NUMA node cannot be shared",
               "Use Location::host_numa(n), or HandleType::none.");
    }
    if (asked.handle == HandleType::file_descriptor && !device.properties().pool_file_descriptors) {
        refuse(ErrorCode::unsupported, fmt::format("{} cannot share pools as file descriptors", device.name()),
               "Use HandleType::none.");
    }
    return info;
}

void check_grantee(const detail::PoolState& pool, const Location& location) {
    const bool device_pool = pool.info.location.kind == LocationKind::device;
    switch (location.kind) {
        case LocationKind::device:
            if (location.device_kind == pool.device.kind()) return;
            break;
        case LocationKind::host:
            if (!device_pool) return;
            break;
        case LocationKind::host_numa:
            if (!device_pool) return;
            break;
        case LocationKind::none:
        case LocationKind::host_numa_current: break;
    }
    refuse(ErrorCode::wrong_location,
           fmt::format("a pool at {} cannot set or return the access of {}", to_string(pool.info.location),
                       to_string(location)),
           device_pool ? "Use a device of the same kind as the pool."
                       : "Use a device of the same kind as the pool, the host or a NUMA node.");
}

Pool wrap(const Device& device, detail::PoolHandle handle, const Location& location, PoolType type) {
    if (auto state = OwnedPools::instance().find(handle)) return Pool(std::move(state));
    return Pool(std::make_shared<detail::PoolState>(device, handle, PoolInfo{.location = location, .type = type}, false,
                                                    false));
}

// A driver invalidates the capture if a pool is queried or changed.
void refuse_while_recording() { detail::refuse_while_recording(kPool, "querying or changing a pool"); }

// Begins an operation that depends on what is free.
void settle() {
    refuse_while_recording();
    detail::free_pending();
}

std::uint64_t get(const detail::PoolState& pool, PoolAttribute attribute) {
    settle();
    detail::Backend& backend = pool.device.backend();
    return request(&backend, kPool, {}, [&] { return backend.pool_attribute(pool.handle, attribute); });
}

void set(const detail::PoolState& pool, PoolAttribute attribute, std::uint64_t value) {
    settle();
    detail::Backend& backend = pool.device.backend();
    request(&backend, kPool, {{"value", value}}, [&] { backend.set_pool_attribute(pool.handle, attribute, value); });
}

// Memory that another process allocated. Freed before the imported pool is destroyed.
struct ImportedBlock : detail::Block {
    ImportedBlock(detail::Backend& backend, std::size_t bytes, std::shared_ptr<detail::PoolState> pool) noexcept
        : Block(backend, MemoryKind::linear, nullptr, bytes), pool(std::move(pool)) {}
    ~ImportedBlock() override {
        attached.reset();
        if (address == nullptr) return;
        detail::outside_recording([on = backend, memory = address, from = std::move(pool)]() mutable {
            on->free_imported(memory);
            from.reset();
        });
    }
    std::shared_ptr<detail::PoolState> pool;
};

}  // namespace

Pool::Pool(const Device& device, const PoolInfo& asked) try {
    const PoolInfo info = checked_info(device, asked);
    detail::Backend& backend = device.backend();
    auto state = std::make_shared<detail::PoolState>(device, nullptr, info, false, false);
    state->handle =
        request(&backend, kPool, {{"max_bytes", info.max_bytes}}, [&] { return backend.create_pool(info); });
    state->owned = true;
    OwnedPools::instance().add(state);
    state_ = std::move(state);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPool);
}

Pool Pool::default_of(const Device& device, const Location& location, PoolType type) try {
    const Location checked = checked_location(device, location, type, false);
    detail::Backend& backend = device.backend();
    const auto handle = request(&backend, kPool, {}, [&] { return backend.default_pool(checked, type); });
    return wrap(device, handle, checked, type);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPool);
}

Pool Pool::default_of(const Device& device) { return default_of(device, Location::device(device)); }

Pool Pool::current(const Device& device, const Location& location, PoolType type) try {
    const Location checked = checked_location(device, location, type, false);
    detail::Backend& backend = device.backend();
    const auto handle = request(&backend, kPool, {}, [&] { return backend.current_pool(checked, type); });
    return wrap(device, handle, checked, type);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPool);
}

Pool Pool::current(const Device& device) { return current(device, Location::device(device)); }

Pool Pool::import(const Device& device, const ShareableHandle& handle) try {
    if (!detail::names_something(handle)) {
        refuse(ErrorCode::bad_argument, "the handle has no type, or its file descriptor is not open",
               "Pass the result of export_handle() of the other process, with an open file descriptor.");
    }
    detail::Backend& backend = device.backend();
    const PoolInfo info{.location = Location::device(device), .handle = handle.type};
    auto state = std::make_shared<detail::PoolState>(device, nullptr, info, false, true);
    state->handle = request(&backend, kPool, {}, [&] { return backend.import_pool(handle); });
    state->owned = true;
    OwnedPools::instance().add(state);
    return Pool(std::move(state));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPool);
}

void Pool::make_current() const {
    if (state_->imported) {
        refuse(ErrorCode::not_permitted, "an imported pool cannot allocate, so it cannot become the current pool",
               "Use a pool that this process created.");
    }
    detail::Backend& backend = state_->device.backend();
    request(&backend, kPool, {},
            [&] { backend.set_current_pool(state_->info.location, state_->info.type, state_->handle); });
}

Linear Pool::allocate(std::size_t bytes, const Stream& stream) const {
    detail::check_bytes(bytes, kPool);
    if (state_->imported) {
        refuse(ErrorCode::not_permitted, "an imported pool cannot allocate",
               "Allocate in the process that created the pool, and import the pointer with import_pointer().");
    }
    if (stream.device() != state_->device) {
        if (stream.device().kind() != state_->device.kind()) {
            refuse(ErrorCode::wrong_device,
                   fmt::format("a pool of {} cannot allocate on a stream of {}", state_->device.name(),
                               stream.device().name()),
                   "Use a stream of the pool's device.");
        }
        if (access(Location::device(stream.device())) != Access::read_write) {
            refuse(ErrorCode::wrong_device,
                   fmt::format("{} has no access to the pool of {}", stream.device().name(), state_->device.name()),
                   "Grant access with set_access(), or use a stream of the pool's device.");
        }
    }
    return Linear(detail::make_pool_block(kPool, bytes, stream.state(), state_));
}

PoolUsage Pool::usage() const {
    return {get(*state_, PoolAttribute::reserved_current), get(*state_, PoolAttribute::reserved_high),
            get(*state_, PoolAttribute::used_current), get(*state_, PoolAttribute::used_high)};
}

void Pool::reset_used_high() const { set(*state_, PoolAttribute::used_high, 0); }
void Pool::reset_reserved_high() const { set(*state_, PoolAttribute::reserved_high, 0); }
std::uint64_t Pool::release_threshold() const { return get(*state_, PoolAttribute::release_threshold); }
void Pool::set_release_threshold(std::uint64_t bytes) const { set(*state_, PoolAttribute::release_threshold, bytes); }

PoolReuse Pool::reuse() const {
    return {get(*state_, PoolAttribute::reuse_follow_event_dependencies) != 0,
            get(*state_, PoolAttribute::reuse_opportunistic) != 0,
            get(*state_, PoolAttribute::reuse_internal_dependencies) != 0};
}

void Pool::set_reuse(PoolReuse reuse) const {
    set(*state_, PoolAttribute::reuse_follow_event_dependencies, reuse.follow_event_dependencies);
    set(*state_, PoolAttribute::reuse_opportunistic, reuse.opportunistic);
    set(*state_, PoolAttribute::reuse_internal_dependencies, reuse.internal_dependencies);
}

void Pool::trim(std::size_t keep) const {
    settle();
    detail::Backend& backend = state_->device.backend();
    request(&backend, kPool, {{"keep", keep}}, [&] { backend.trim_pool(state_->handle, keep); });
}

Access Pool::access(const Location& location) const {
    check_grantee(*state_, location);
    detail::Backend& backend = state_->device.backend();
    return request(&backend, kPool, {}, [&] { return backend.pool_access(state_->handle, location); });
}

void Pool::set_access(std::span<const AccessGrant> grants) const {
    refuse_while_recording();
    if (grants.empty()) refuse(ErrorCode::bad_argument, "the list of grants is empty", "Pass at least one grant.");
    for (const AccessGrant& grant : grants) {
        check_grantee(*state_, grant.location);
        if (grant.location == state_->info.location && grant.access != Access::read_write) {
            refuse(ErrorCode::bad_argument, "a pool cannot restrict the access of its own location",
                   "Grant Access::read_write.");
        }
    }
    detail::Backend& backend = state_->device.backend();
    request(&backend, kPool, {}, [&] { backend.set_pool_access(state_->handle, grants); });
}

ShareableHandle Pool::export_handle(HandleType type) const {
    if (type == HandleType::none || state_->info.handle != type || state_->imported) {
        refuse(ErrorCode::not_permitted,
               state_->imported ? "an imported pool cannot be exported"
                                : "the pool was not created with this type of handle",
               "Set PoolInfo::handle when you create the pool, and export it in the process that created it.");
    }
    detail::Backend& backend = state_->device.backend();
    return request(&backend, kPool, {}, [&] { return backend.export_pool(state_->handle, type); });
}

PointerExport Pool::export_pointer(const Linear& memory) const {
    detail::Block& block = detail::live(memory.block(), kPool);
    const auto* pool_block = dynamic_cast<const detail::PoolBlock*>(&block);
    const bool ours =
        pool_block != nullptr && pool_block->pool != nullptr && pool_block->pool->handle == state_->handle;
    if (!ours) {
        refuse(ErrorCode::bad_argument, "the memory is not from this pool and cannot be exported",
               "Pass the result of allocate() of this pool.");
    }
    if (state_->info.handle == HandleType::none) {
        refuse(ErrorCode::not_permitted, "the pool was not created with a handle type and cannot be shared",
               "Set PoolInfo::handle when you create the pool.");
    }
    return request(block.backend, kPool, {}, [&] { return block.backend->export_pointer(block.address); });
}

Linear Pool::import_pointer(const PointerExport& pointer, std::size_t bytes) const try {
    detail::check_bytes(bytes, kPool);
    if (!state_->imported) {
        refuse(ErrorCode::not_permitted, "a pointer can only be imported into an imported pool",
               "Import the pool first with Pool::import().");
    }
    detail::Backend& backend = state_->device.backend();
    auto block = std::make_shared<ImportedBlock>(backend, bytes, state_);
    block->address =
        request(&backend, kPool, {}, [&] { return backend.import_pointer(state_->handle, pointer, bytes); });
    return Linear(std::move(block));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPool);
}

Device Pool::device() const { return state_->device; }
const PoolInfo& Pool::info() const noexcept { return state_->info; }
bool Pool::imported() const noexcept { return state_->imported; }
bool Pool::operator==(const Pool& other) const noexcept { return state_->handle == other.state_->handle; }

}  // namespace texton
