#pragma once
// Page-locked host memory of all CPU devices: allocated or registered. The CPU device can reach all memory as it is;
// what matters is that it knows which is which, as CUDA does.
#include <map>
#include <mutex>

#include <texton/pinned.h>
#include <texton/registered.h>

#include "core/cpu/system.h"

namespace texton::detail {

class CpuHost {
public:
    static CpuHost& instance();  ///< never destroyed

    std::byte* allocate(std::size_t bytes, PinnedOptions options);
    void free(std::byte* address) noexcept;
    /// Error{bad_argument} if a byte of the range is page-locked already.
    void add(std::byte* address, std::size_t bytes, RegisterOptions options);
    void remove(std::byte* address) noexcept;
    /// Error{not_registered} for an address in no such memory.
    PinnedOptions options(const std::byte* address) const;

private:
    struct Range {
        std::size_t bytes = 0;
        PinnedOptions options;
        bool allocated = false;
    };

    mutable std::mutex mutex_;
    std::map<const std::byte*, Range> ranges_;
};

}  // namespace texton::detail
