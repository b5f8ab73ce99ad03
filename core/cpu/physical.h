#pragma once
// Memory without an address, and addresses to map it to.
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <texton/physical.h>

#include "core/backend.h"
#include "core/cpu/system.h"

namespace texton::detail {

class CpuPhysical {
public:
    CpuPhysical(std::size_t bytes, const PhysicalInfo& info, std::shared_ptr<Account> account);
    /// Memory of another process. Error{bad_argument} if it is none, or smaller than `bytes`.
    CpuPhysical(int descriptor, std::size_t bytes);
    ~CpuPhysical();
    CpuPhysical(const CpuPhysical&) = delete;
    CpuPhysical& operator=(const CpuPhysical&) = delete;

    int file() const noexcept { return file_.get(); }
    const PhysicalInfo& info() const noexcept { return info_; }
    std::size_t bytes() const noexcept { return bytes_; }
    /// Of memory for tiles; null for other memory, which is touched where CpuAddresses maps it.
    std::byte* address() const noexcept { return address_; }
    ShareableHandle export_handle() const;

private:
    PhysicalInfo info_;
    std::size_t bytes_;
    std::shared_ptr<Account> account_;  // empty for another process's memory
    Descriptor file_;
    std::byte* address_ = nullptr;
};

/// What a handle stands for: sparse and deferred arrays share it while they are mapped to it.
inline std::shared_ptr<CpuPhysical>& cpu_physical(PhysicalHandle handle) noexcept {
    return *reinterpret_cast<std::shared_ptr<CpuPhysical>*>(handle);
}

/// The address ranges of one device.
class CpuAddresses {
public:
    ~CpuAddresses();
    std::byte* reserve(std::size_t bytes, std::size_t alignment);
    void release(std::byte* address, std::size_t bytes) noexcept;
    void map(std::byte* address, std::size_t bytes, const CpuPhysical& memory);
    void unmap(std::byte* address, std::size_t bytes) noexcept;
    /// Error{bad_argument} if a part is not mapped, Error{wrong_location} for a place that cannot reach the memory.
    void set_access(std::byte* address, std::size_t bytes, std::span<const AccessGrant> grants);
    /// True if `device` may read what is mapped there.
    bool readable(const std::byte* address, const Location& device) const;

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
