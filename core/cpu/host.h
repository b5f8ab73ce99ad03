#pragma once
// Page-locked host memory of all CPU devices, allocated or registered. The CPU device can access all memory, but it
// tracks the kinds of memory as CUDA does.
#include <map>
#include <mutex>

#include <texton/pinned.h>
#include <texton/registered.h>

#include "core/cpu/system.h"

namespace texton::detail {

/// The page-locked ranges of the process. Thread-safe.
class CpuHost {
public:
    static CpuHost& instance();  ///< never destroyed

    /// Throws Error{out_of_memory}.
    std::byte* allocate(std::size_t bytes, PinnedOptions options);
    void free(std::byte* address) noexcept;
    /// Registers memory of the caller. Throws Error{bad_argument} if a byte of the range is already page-locked, and
    /// Error{unsupported} for io_memory.
    void add(std::byte* address, std::size_t bytes, RegisterOptions options);
    /// Unregisters memory. Does nothing for an address that is not registered.
    void remove(std::byte* address) noexcept;
    /// Returns the options of the range that contains the address. Throws Error{not_registered} if there is none.
    PinnedOptions options(const std::byte* address) const;
    /// Returns the end of the range that contains the address, or null if there is none.
    const std::byte* known_until(const std::byte* address) const;

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
