#include "core/cpu/physical.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

constexpr const char* kFileName = "texton-memory";

[[noreturn]] void refuse_mapping(const char* call) {
    throw Error({.code = errno == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::device_failure,
                 .problem = fmt::format("the system cannot map the memory: {}", std::strerror(errno)),
                 .remedy = "Use fewer mappings.",
                 .call = call});
}

std::byte* map_whole(int file, std::size_t bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (address == MAP_FAILED) refuse_mapping("mmap");
    return static_cast<std::byte*>(address);
}

}  // namespace

CpuPhysical::CpuPhysical(std::size_t bytes, const PhysicalInfo& info, std::shared_ptr<Account> account)
    : info_(info), bytes_(bytes) {
    account->take(bytes);
    try {
        file_ = make_shared_memory(kFileName, bytes);
        if (info.tile_pool) address_ = map_whole(file_.get(), bytes);
    } catch (...) {
        account->give(bytes);
        throw;
    }
    account_ = std::move(account);
}

CpuPhysical::CpuPhysical(int descriptor, std::size_t bytes) : bytes_(bytes) {
    const std::size_t size = shared_memory_bytes(descriptor, kFileName);
    if (size < bytes) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = fmt::format("{} bytes were requested of memory that has {}", bytes, size),
                     .remedy = "Import the size with which the other process created the memory.",
                     .numbers = {{"size", size}}});
    }
    file_ = Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (file_.get() < 0) refuse_mapping("fcntl");
}

CpuPhysical::~CpuPhysical() {
    if (address_ != nullptr) munmap(address_, bytes_);
    if (account_ != nullptr) account_->give(bytes_);
}

ShareableHandle CpuPhysical::export_handle() const {
    return {.type = HandleType::file_descriptor, .file_descriptor = file_.duplicate().release()};
}

CpuAddresses::~CpuAddresses() {
    for (const auto& [address, bytes] : reserved_) munmap(const_cast<std::byte*>(address), bytes);
}

std::byte* CpuAddresses::reserve(std::size_t bytes, std::size_t alignment) {
    const std::size_t unit = std::max(alignment, kUnit);
    if (bytes > SIZE_MAX - unit) refuse_memory(bytes, 0);
    void* whole = mmap(nullptr, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole == MAP_FAILED) refuse_memory(bytes, 0);
    auto* begin = static_cast<std::byte*>(whole);
    const std::size_t skip = (unit - reinterpret_cast<std::uintptr_t>(begin) % unit) % unit;
    if (skip > 0) munmap(begin, skip);
    if (skip < unit) munmap(begin + skip + bytes, unit - skip);
    const std::lock_guard lock(mutex_);
    reserved_[begin + skip] = bytes;
    return begin + skip;
}

void CpuAddresses::release(std::byte* address, std::size_t) noexcept {
    const std::lock_guard lock(mutex_);
    const auto entry = reserved_.find(address);
    if (entry == reserved_.end()) return;
    munmap(address, entry->second);
    std::erase_if(mappings_, [&](const auto& mapping) {
        return mapping.first >= address && mapping.first < address + entry->second;
    });
    reserved_.erase(entry);
}

void CpuAddresses::map(std::byte* address, std::size_t bytes, const CpuPhysical& memory) {
    const std::lock_guard lock(mutex_);
    const auto after = reserved_.upper_bound(address);
    const bool inside = after != reserved_.begin() && std::prev(after)->second >= bytes &&
                        address <= std::prev(after)->first + (std::prev(after)->second - bytes);
    if (!inside) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = "the addresses to map are not reserved",
                     .remedy = "Pass addresses inside an AddressRange."});
    }
    constexpr int kSharing = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    if (mmap(address, bytes, PROT_NONE, kSharing, memory.file(), 0) == MAP_FAILED) {
        refuse_mapping("mmap");
    }
    const LocationKind kind = memory.info().location.kind;
    if (kind == LocationKind::host_numa) prefer_numa_node(address, bytes, memory.info().location.id);
    mappings_.insert_or_assign(address, Mapping{bytes, kind == LocationKind::host_numa});
}

void CpuAddresses::unmap(std::byte* address, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    mappings_.erase(address);
    mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

void CpuAddresses::set_access(std::byte* address, std::size_t bytes, std::span<const AccessGrant> grants) {
    const std::lock_guard lock(mutex_);
    std::size_t covered = 0;
    const auto first = mappings_.lower_bound(address);
    auto last = first;
    for (; last != mappings_.end() && last->first == address + covered && covered < bytes; ++last) {
        covered += last->second.bytes;
        for (const AccessGrant& grant : grants) {
            if (grant.location.kind == LocationKind::device || last->second.on_host) continue;
            throw Error(
                {.code = ErrorCode::wrong_location,
                 .problem = fmt::format("{} cannot be granted access to device memory", to_string(grant.location)),
                 .remedy = "Pass a device, or create the memory on a NUMA node."});
        }
    }
    if (covered != bytes) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = "the range for access does not consist of whole mappings",
                     .remedy = "Pass a range of whole mappings."});
    }
    for (auto entry = first; entry != last; ++entry) {
        Mapping& mapping = entry->second;
        auto updated = mapping.grants;
        int protection = PROT_NONE;
        for (const AccessGrant& grant : grants) {
            std::erase_if(updated, [&](const AccessGrant& old) { return old.location == grant.location; });
            updated.push_back(grant);
        }
        for (const AccessGrant& grant : updated) {
            if (grant.access != Access::none) protection |= PROT_READ;
            if (grant.access == Access::read_write) protection |= PROT_WRITE;
        }
        if (mprotect(const_cast<std::byte*>(entry->first), mapping.bytes, protection) != 0) refuse_mapping("mprotect");
        mapping.grants = std::move(updated);
    }
}

bool CpuAddresses::readable(const std::byte* address, const Location& device) const {
    const std::lock_guard lock(mutex_);
    const auto after = mappings_.upper_bound(address);
    if (after == mappings_.begin()) return false;
    const auto& [begin, mapping] = *std::prev(after);
    if (address >= begin + mapping.bytes) return false;
    return std::any_of(mapping.grants.begin(), mapping.grants.end(), [&](const AccessGrant& grant) {
        return grant.location == device && grant.access != Access::none;
    });
}

}  // namespace texton::detail
