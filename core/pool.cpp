#include <texton/pool.h>

#include <map>
#include <mutex>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"

namespace texton {
namespace {

using detail::PoolAttribute;
using detail::request;

constexpr const char* kPool = "texton::Pool";

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = kPool, .problem = std::move(problem), .remedy = std::move(remedy)});
}

// Pools that the program made and still holds, by handle: Pool::current() must find the owner of the one that is current.
class OwnedPools {
public:
    void add(const std::shared_ptr<detail::PoolState>& state) {
        const std::lock_guard lock(mutex_);
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
        static OwnedPools& made = *new OwnedPools;  // never destroyed: pools may be static objects
        return made;
    }

private:
    std::mutex mutex_;
    std::map<detail::PoolHandle, std::weak_ptr<detail::PoolState>> states_;
};

// The location that a pool of `device` has, after checks that hold for making and for looking up.
Location checked_location(const Device& device, const Location& location, PoolType type, bool none_is_device) {
    switch (location.kind) {
        case LocationKind::none:
            if (type == PoolType::managed) return location;
            if (none_is_device) return Location::device(device);
            refuse(ErrorCode::wrong_location, "a pool of pinned memory was asked for at no location",
                   "Name the device, the host or a NUMA node.");
        case LocationKind::device:
            if (location != Location::device(device)) {
                refuse(ErrorCode::wrong_location,
                       fmt::format("{} was asked for a pool at {}", device.name(), to_string(location)),
                       "Ask the device that the location names.");
            }
            return location;
        case LocationKind::host: return location;
        case LocationKind::host_numa:
            if (!device.properties().host_numa_pools) {
                refuse(ErrorCode::unsupported, fmt::format("{} has no pools on NUMA nodes", device.name()),
                       "Use Location::host().");
            }
            return location;
        case LocationKind::host_numa_current:
            refuse(ErrorCode::wrong_location, "a pool cannot be at 'the nearest' NUMA node",
                   "Name the node with Location::host_numa(n).");
    }
    return location;
}

PoolInfo checked_info(const Device& device, const PoolInfo& asked) {
    if (!device.properties().memory_pools) {
        refuse(ErrorCode::unsupported, fmt::format("{} has no memory pools", device.name()), "Use Linear.");
    }
    PoolInfo info = asked;
    info.location = checked_location(device, asked.location, asked.type, true);
    if (asked.type == PoolType::managed) {
        if (!device.properties().concurrent_managed_access) {
            refuse(ErrorCode::unsupported, fmt::format("{} has no pools of managed memory", device.name()),
                   "Use Managed.");
        }
        if (asked.handle != HandleType::none) {
            refuse(ErrorCode::bad_argument, "a managed pool was asked to be shareable", "Use HandleType::none.");
        }
        if (asked.max_bytes != 0) {
            refuse(ErrorCode::bad_argument, "a managed pool was asked to have a largest size", "Set max_bytes to 0.");
        }
    }
    if (info.location.kind == LocationKind::host && asked.handle != HandleType::none) {
        refuse(ErrorCode::bad_argument, "a host pool without a NUMA node was asked to be shareable",
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
           fmt::format("a pool at {} cannot give or tell access of {}", to_string(pool.info.location),
                       to_string(location)),
           device_pool ? "Name a device of the pool's kind." : "Name a device of the pool's kind or the host.");
}

Pool wrap(const Device& device, detail::PoolHandle handle, const Location& location, PoolType type) {
    if (auto state = OwnedPools::instance().find(handle)) return Pool(std::move(state));
    return Pool(std::make_shared<detail::PoolState>(device, handle, PoolInfo{.location = location, .type = type}, false,
                                                    false));
}

// A driver takes any question to a pool for the end of the recording.
void refuse_while_recording() { detail::refuse_while_recording(kPool, "asking or changing a pool"); }

std::uint64_t get(const detail::PoolState& pool, PoolAttribute attribute) {
    refuse_while_recording();
    detail::Backend& backend = pool.device.backend();
    return request(&backend, kPool, {}, [&] { return backend.pool_attribute(pool.handle, attribute); });
}

void set(const detail::PoolState& pool, PoolAttribute attribute, std::uint64_t value) {
    refuse_while_recording();
    detail::Backend& backend = pool.device.backend();
    request(&backend, kPool, {{"value", value}}, [&] { backend.set_pool_attribute(pool.handle, attribute, value); });
}

// Memory that another process allocated: it keeps the imported pool.
struct ImportedBlock : detail::PlainBlock {
    ImportedBlock(detail::Backend& backend, std::size_t bytes, std::shared_ptr<detail::PoolState> pool) noexcept
        : PlainBlock(backend, MemoryKind::linear, nullptr, bytes, &detail::Backend::free), pool(std::move(pool)) {}
    ~ImportedBlock() override {
        if (address != nullptr) detail::free_outside_recording(*backend, free, address);
        address = nullptr;  // before the pool goes
    }
    std::shared_ptr<detail::PoolState> pool;
};

}  // namespace

Pool::Pool(const Device& device, const PoolInfo& asked) {
    const PoolInfo info = checked_info(device, asked);
    detail::Backend& backend = device.backend();
    auto state = std::make_shared<detail::PoolState>(device, nullptr, info, false, false);
    state->handle =
        request(&backend, kPool, {{"max_bytes", info.max_bytes}}, [&] { return backend.create_pool(info); });
    state->owned = true;
    OwnedPools::instance().add(state);
    state_ = std::move(state);
}

Pool Pool::default_of(const Device& device, const Location& location, PoolType type) {
    const Location checked = checked_location(device, location, type, false);
    detail::Backend& backend = device.backend();
    const auto handle = request(&backend, kPool, {}, [&] { return backend.default_pool(checked, type); });
    return wrap(device, handle, checked, type);
}

Pool Pool::default_of(const Device& device) { return default_of(device, Location::device(device)); }

Pool Pool::current(const Device& device, const Location& location, PoolType type) {
    const Location checked = checked_location(device, location, type, false);
    detail::Backend& backend = device.backend();
    const auto handle = request(&backend, kPool, {}, [&] { return backend.current_pool(checked, type); });
    return wrap(device, handle, checked, type);
}

Pool Pool::current(const Device& device) { return current(device, Location::device(device)); }

Pool Pool::import(const Device& device, const ShareableHandle& handle) {
    if (!detail::names_something(handle)) {
        refuse(ErrorCode::bad_argument, "a handle that names nothing was imported",
               "Pass what export_handle() of the other process gave, with its descriptor open.");
    }
    detail::Backend& backend = device.backend();
    const PoolInfo info{.location = Location::device(device), .handle = handle.type};
    auto state = std::make_shared<detail::PoolState>(device, nullptr, info, false, true);
    state->handle = request(&backend, kPool, {}, [&] { return backend.import_pool(handle); });
    state->owned = true;
    OwnedPools::instance().add(state);
    return Pool(std::move(state));
}

void Pool::make_current() const {
    if (state_->imported) {
        refuse(ErrorCode::not_permitted, "an imported pool cannot allocate, so it cannot be the current one",
               "Make a pool of this process current.");
    }
    detail::Backend& backend = state_->device.backend();
    request(&backend, kPool, {},
            [&] { backend.set_current_pool(state_->info.location, state_->info.type, state_->handle); });
}

Linear Pool::allocate(std::size_t bytes, const Stream& stream) const {
    detail::check_bytes(bytes, kPool);
    if (state_->imported) {
        refuse(ErrorCode::not_permitted, "an imported pool cannot allocate",
               "Allocate in the process that made the pool, and import the pointer.");
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
                   "Grant it with set_access(), or use a stream of the pool's device.");
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
    refuse_while_recording();
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
    if (grants.empty()) refuse(ErrorCode::bad_argument, "no access was given to set", "Pass at least one grant.");
    for (const AccessGrant& grant : grants) {
        check_grantee(*state_, grant.location);
        if (grant.location == state_->info.location && grant.access != Access::read_write) {
            refuse(ErrorCode::bad_argument, "a pool cannot lock out its own location", "Grant it read_write.");
        }
    }
    detail::Backend& backend = state_->device.backend();
    request(&backend, kPool, {}, [&] { backend.set_pool_access(state_->handle, grants); });
}

ShareableHandle Pool::export_handle(HandleType type) const {
    if (type == HandleType::none || state_->info.handle != type || state_->imported) {
        refuse(
            ErrorCode::not_permitted,
            state_->imported ? "an imported pool cannot be exported" : "the pool was not made for this type of handle",
            "Make the pool with the handle type in its PoolInfo, in the process that shares it.");
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
        refuse(ErrorCode::bad_argument, "memory that is not from this pool was asked to be exported",
               "Pass what allocate() of this pool returned.");
    }
    if (state_->info.handle == HandleType::none) {
        refuse(ErrorCode::not_permitted, "the pool was not made to be shared",
               "Make the pool with a handle type in its PoolInfo.");
    }
    return request(block.backend, kPool, {}, [&] { return block.backend->export_pointer(block.address); });
}

Linear Pool::import_pointer(const PointerExport& pointer, std::size_t bytes) const {
    detail::check_bytes(bytes, kPool);
    if (!state_->imported) {
        refuse(ErrorCode::not_permitted, "a pointer was imported into a pool that was not",
               "Import the pool first: Pool::import.");
    }
    detail::Backend& backend = state_->device.backend();
    auto block = std::make_shared<ImportedBlock>(backend, bytes, state_);
    block->address =
        request(&backend, kPool, {}, [&] { return backend.import_pointer(state_->handle, pointer, bytes); });
    return Linear(std::move(block));
}

Device Pool::device() const { return state_->device; }
const PoolInfo& Pool::info() const noexcept { return state_->info; }
bool Pool::imported() const noexcept { return state_->imported; }
bool Pool::operator==(const Pool& other) const noexcept { return state_->handle == other.state_->handle; }

}  // namespace texton
