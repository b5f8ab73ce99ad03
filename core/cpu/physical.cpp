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
    file_ = Descriptor::duplicate(descriptor);
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
    std::byte* address = reserve_addresses(bytes, std::max(alignment, kUnit));
    try {
        const std::lock_guard lock(mutex_);
        reserved_[address] = bytes;
    } catch (...) {
        munmap(address, bytes);
        throw;
    }
    return address;
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
    const LocationKind kind = memory.info().location.kind;
    const auto entry = mappings_.insert_or_assign(address, Mapping{bytes, kind == LocationKind::host_numa}).first;
    constexpr int kSharing = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    if (mmap(address, bytes, PROT_NONE, kSharing, memory.file(), 0) == MAP_FAILED) {
        const int why = errno;
        mappings_.erase(entry);
        errno = why;
        refuse_mapping("mmap");
    }
    if (kind == LocationKind::host_numa) prefer_numa_node(address, bytes, memory.info().location.id);
}

void CpuAddresses::unmap(std::byte* address, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    mappings_.erase(address);
    constexpr int kUnused = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (mmap(address, bytes, PROT_NONE, kUnused, -1, 0) != MAP_FAILED) return;
    // The system has no room for another range. The addresses stay reserved, and release() unmaps them.
    [[maybe_unused]] const int status = mprotect(address, bytes, PROT_NONE);
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

const std::byte* CpuAddresses::readable_until(const std::byte* address, const Location& device) const {
    const std::lock_guard lock(mutex_);
    const auto after = mappings_.upper_bound(address);
    if (after == mappings_.begin()) return nullptr;
    const auto& [begin, mapping] = *std::prev(after);
    const std::byte* end = begin + mapping.bytes;
    const bool allowed = std::any_of(mapping.grants.begin(), mapping.grants.end(), [&](const AccessGrant& grant) {
        return grant.location == device && grant.access != Access::none;
    });
    return allowed && address < end ? end : nullptr;
}

}  // namespace texton::detail
