#pragma once
// Physical memory and the address ranges to which it is mapped.
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <texton/physical.h>

#include "core/backend.h"
#include "core/cpu/system.h"

namespace texton::detail {

/// Memory that can be mapped at several addresses and shared with other processes. It is fixed after creation, so
/// threads may share it.
class CpuPhysical {
public:
    /// Throws Error{out_of_memory}.
    CpuPhysical(std::size_t bytes, const PhysicalInfo& info, std::shared_ptr<Account> account);
    /// Imports memory of another process; the descriptor is duplicated. Throws Error{bad_argument} if it is not such
    /// memory or has fewer than `bytes`.
    CpuPhysical(int descriptor, std::size_t bytes);
    ~CpuPhysical();
    CpuPhysical(const CpuPhysical&) = delete;
    CpuPhysical& operator=(const CpuPhysical&) = delete;

    int file() const noexcept { return file_.get(); }
    const PhysicalInfo& info() const noexcept { return info_; }
    std::size_t bytes() const noexcept { return bytes_; }
    /// Returns the address of memory made for tiles. Returns null for other memory, which can be accessed only where
    /// CpuAddresses maps it.
    std::byte* address() const noexcept { return address_; }
    /// Returns a handle with a new file descriptor that the caller must close.
    ShareableHandle export_handle() const;

private:
    PhysicalInfo info_;
    std::size_t bytes_;
    std::shared_ptr<Account> account_;  // null for memory of another process
    Descriptor file_;
    std::byte* address_ = nullptr;
};

/// The state behind a PhysicalHandle. Sparse and deferred arrays share ownership while they are mapped to the memory.
inline std::shared_ptr<CpuPhysical>& cpu_physical(PhysicalHandle handle) noexcept {
    return *reinterpret_cast<std::shared_ptr<CpuPhysical>*>(handle);
}

/// The address ranges of one device. Thread-safe. The destructor unmaps all ranges.
class CpuAddresses {
public:
    ~CpuAddresses();
    std::byte* reserve(std::size_t bytes, std::size_t alignment);
    void release(std::byte* address, std::size_t bytes) noexcept;
    void map(std::byte* address, std::size_t bytes, const CpuPhysical& memory);
    void unmap(std::byte* address, std::size_t bytes) noexcept;
    /// Throws Error{bad_argument} if the range is not made of whole mappings, and Error{wrong_location} for a location
    /// that cannot access the memory.
    void set_access(std::byte* address, std::size_t bytes, std::span<const AccessGrant> grants);
    /// Returns the end of the mapping at the address if `device` may read it, otherwise null.
    const std::byte* readable_until(const std::byte* address, const Location& device) const;

private:
    struct Mapping {
        std::size_t bytes = 0;
        bool on_host = false;
        std::vector<AccessGrant> grants{};
    };

    mutable std::mutex mutex_;
    std::map<const std::byte*, std::size_t> reserved_;
    std::map<const std::byte*, Mapping> mappings_;
};

}  // namespace texton::detail
