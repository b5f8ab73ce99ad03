// The functions of pools other than allocation: attributes, access, sharing with other processes, and the list of all
// pools.
#include <algorithm>
#include <cstring>
#include <iterator>

#include <texton/error.h>

#include "core/cpu/pool.h"
#include "core/request.h"

namespace texton::detail {
namespace {

constexpr std::uint64_t kPointerMagic = 0x315254504E5854;  // "TXNPTR1"

// The 64 bytes of a PointerExport. The checksum detects damage.
struct PointerRecord {
    std::uint64_t magic = kPointerMagic;
    CpuArena::Id pool{};
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t unused[2]{};
    std::uint64_t sum = 0;

    // Returns the FNV-1a hash of all bytes before the sum.
    std::uint64_t checksum() const noexcept {
        std::uint64_t hash = 14695981039346656037U;
        const auto* first = reinterpret_cast<const unsigned char*>(this);
        for (std::size_t i = 0; i < offsetof(PointerRecord, sum); ++i) hash = (hash ^ first[i]) * 1099511628211U;
        return hash;
    }
};
static_assert(sizeof(PointerRecord) == sizeof(PointerExport));

bool on_host(const Location& location) {
    return location.kind == LocationKind::host || location.kind == LocationKind::host_numa ||
           location.kind == LocationKind::host_numa_current;
}

}  // namespace

std::uint64_t CpuPool::attribute(PoolAttribute attribute) const {
    const std::lock_guard lock(mutex_);
    switch (attribute) {
        case PoolAttribute::reuse_follow_event_dependencies: return follow_events_ ? 1 : 0;
        case PoolAttribute::reuse_opportunistic: return opportunistic_ ? 1 : 0;
        case PoolAttribute::reuse_internal_dependencies: return internal_ ? 1 : 0;
        case PoolAttribute::release_threshold: return threshold_;
        case PoolAttribute::reserved_current: return reserved_;
        case PoolAttribute::reserved_high: return reserved_high_;
        case PoolAttribute::used_current: return used_;
        case PoolAttribute::used_high: return used_high_;
    }
    return 0;
}

void CpuPool::set_attribute(PoolAttribute attribute, std::uint64_t value) {
    const auto refuse = [](const char* problem, const char* remedy) {
        throw Error({.code = ErrorCode::bad_argument, .problem = problem, .remedy = remedy});
    };
    const std::lock_guard lock(mutex_);
    switch (attribute) {
        case PoolAttribute::reuse_follow_event_dependencies: follow_events_ = value != 0; return;
        case PoolAttribute::reuse_opportunistic: opportunistic_ = value != 0; return;
        case PoolAttribute::reuse_internal_dependencies: internal_ = value != 0; return;
        case PoolAttribute::release_threshold: threshold_ = value; return;
        case PoolAttribute::reserved_high:
            if (value != 0)
                refuse("a high-water mark can only be set to 0",
                       "Pass 0 to restart the measurement at the current value.");
            reserved_high_ = reserved_;
            return;
        case PoolAttribute::used_high:
            if (value != 0)
                refuse("a high-water mark can only be set to 0",
                       "Pass 0 to restart the measurement at the current value.");
            used_high_ = used_;
            return;
        case PoolAttribute::reserved_current:
        case PoolAttribute::used_current:
            refuse("the current use of a pool cannot be set", "Allocate or free memory, or trim the pool.");
    }
}

Access CpuPool::access(const Location& location) const {
    if (info_.type == PoolType::managed) return Access::read_write;
    if (location == info_.location || (on_host(location) && on_host(info_.location))) return Access::read_write;
    const std::lock_guard lock(mutex_);
    const auto grant = std::find_if(grants_.begin(), grants_.end(),
                                    [&](const AccessGrant& entry) { return entry.location == location; });
    return grant == grants_.end() ? Access::none : grant->access;
}

void CpuPool::set_access(std::span<const AccessGrant> grants) {
    for (const AccessGrant& grant : grants) {
        if (on_host(grant.location) && info_.location.kind == LocationKind::device && info_.type == PoolType::pinned) {
            throw Error({.code = ErrorCode::wrong_location,
                         .problem = "the host cannot be granted access to a pool of device memory",
                         .remedy = "Pass a device, or create a pool of host memory."});
        }
    }
    const std::lock_guard lock(mutex_);
    for (const AccessGrant& grant : grants) {
        std::erase_if(grants_, [&](const AccessGrant& entry) { return entry.location == grant.location; });
        grants_.push_back(grant);
    }
}

ShareableHandle CpuPool::export_handle() const {
    if (info_.handle != HandleType::file_descriptor || imported_) {
        throw Error({.code = ErrorCode::not_permitted,
                     .problem = "the pool was not created for sharing",
                     .remedy = "Create the pool with HandleType::file_descriptor."});
    }
    return {.type = HandleType::file_descriptor, .file_descriptor = arena_.duplicate_file().release()};
}

PointerExport CpuPool::export_pointer(const std::byte* address) const {
    if (info_.handle != HandleType::file_descriptor) {
        throw Error({.code = ErrorCode::not_permitted,
                     .problem = "the pool was not created for sharing",
                     .remedy = "Create the pool with HandleType::file_descriptor."});
    }
    const std::lock_guard lock(mutex_);
    const auto range = imported_ ? ranges_.end() : ranges_.find(static_cast<std::size_t>(address - arena_.base()));
    if (range == ranges_.end() || range->second.state != State::used) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = "nothing is allocated at the address to export",
                     .remedy = "Pass an allocation of the pool."});
    }
    PointerRecord record{.pool = arena_.id(), .offset = range->first, .bytes = range->second.bytes};
    record.sum = record.checksum();
    PointerExport pointer;
    std::memcpy(pointer.bytes.data(), &record, sizeof(record));
    return pointer;
}

std::byte* CpuPool::import_pointer(const PointerExport& pointer, std::size_t bytes) {
    PointerRecord record;
    std::memcpy(&record, pointer.bytes.data(), sizeof(record));
    const bool whole = record.magic == kPointerMagic && record.sum == record.checksum();
    if (!imported_ || !whole || record.pool != arena_.id() || record.bytes == 0 || record.bytes > arena_.bytes() ||
        record.offset > arena_.bytes() - record.bytes) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .problem = whole ? "the exported pointer belongs to another pool" : "the exported pointer is damaged",
             .remedy = "Pass the result of export_pointer() for this pool in the other process."});
    }
    if (bytes > record.bytes) refuse_length(bytes, record.bytes);
    const std::lock_guard lock(mutex_);
    imports_.emplace(record.offset, record.bytes);
    return arena_.base() + record.offset;
}

CpuPools& CpuPools::instance() {
    static CpuPools& made = *new CpuPools;
    return made;
}

void CpuPools::add(std::shared_ptr<CpuPool> pool) {
    const std::lock_guard lock(mutex_);
    const std::byte* base = pool->base();
    pools_[base] = std::move(pool);
}

std::shared_ptr<CpuPool> CpuPools::find(const std::byte* address) const {
    const std::lock_guard lock(mutex_);
    const auto after = pools_.upper_bound(address);
    if (after == pools_.begin()) return nullptr;
    const auto& pool = std::prev(after)->second;
    return pool->spans(address) ? pool : nullptr;
}

std::shared_ptr<CpuPool> CpuPools::of(PoolHandle handle) const {
    return reinterpret_cast<CpuPool*>(handle)->shared_from_this();
}

void CpuPools::abandon(const std::shared_ptr<CpuPool>& pool) {
    if (pool->abandon()) remove(pool);
}

void CpuPools::free(const std::shared_ptr<CpuPool>& pool, std::byte* address, const CpuTicket& position) {
    pool->free(address, position);
    if (pool->abandoned_and_empty()) remove(pool);
}

void CpuPools::remove(const std::shared_ptr<CpuPool>& pool) {
    pool->outlive_frees();
    const std::lock_guard lock(mutex_);
    pools_.erase(pool->base());
}

void CpuPools::observe(const CpuTicket& ticket) const {
    for (const auto& pool : all()) pool->observe(ticket);
}

std::vector<std::shared_ptr<CpuPool>> CpuPools::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<CpuPool>> pools;
    for (const auto& [base, pool] : pools_) pools.push_back(pool);
    return pools;
}

}  // namespace texton::detail
