#include "core/cpu/host.h"

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

CpuHost& CpuHost::instance() {
    static CpuHost& made = *new CpuHost;
    return made;
}

std::byte* CpuHost::allocate(std::size_t bytes, PinnedOptions options) {
    std::byte* address = take_memory(host_account(), bytes, kPage);
    options.mapped = true;  // host and device share one address space
    try {
        const std::lock_guard lock(mutex_);
        ranges_[address] = {bytes, options, true};
    } catch (...) {
        give_memory(host_account(), address, round_up(bytes, kPage));
        throw;
    }
    return address;
}

void CpuHost::free(std::byte* address) noexcept {
    std::size_t bytes = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto entry = ranges_.find(address);
        if (entry == ranges_.end() || !entry->second.allocated) return;
        bytes = entry->second.bytes;
        ranges_.erase(entry);
    }
    give_memory(host_account(), address, round_up(bytes, kPage));
}

void CpuHost::add(std::byte* address, std::size_t bytes, RegisterOptions options) {
    if (options.io_memory) {
        throw Error({.code = ErrorCode::unsupported,
                     .problem = "the CPU device does not support memory of another device",
                     .remedy = "Register host memory without io_memory."});
    }
    const std::lock_guard lock(mutex_);
    const auto after = ranges_.lower_bound(address + bytes);
    if (after != ranges_.begin() && std::prev(after)->first + std::prev(after)->second.bytes > address) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = fmt::format("{} bytes at {} overlap memory that is already page-locked", bytes,
                                            static_cast<const void*>(address)),
                     .remedy = "Register each byte only once."});
    }
    ranges_[address] = {bytes, {.portable = options.portable, .mapped = true}, false};
}

void CpuHost::remove(std::byte* address) noexcept {
    const std::lock_guard lock(mutex_);
    const auto entry = ranges_.find(address);
    if (entry != ranges_.end() && !entry->second.allocated) ranges_.erase(entry);
}

PinnedOptions CpuHost::options(const std::byte* address) const {
    const std::lock_guard lock(mutex_);
    const auto after = ranges_.upper_bound(address);
    if (after != ranges_.begin() && address < std::prev(after)->first + std::prev(after)->second.bytes) {
        return std::prev(after)->second.options;
    }
    throw Error({.code = ErrorCode::not_registered,
                 .problem = fmt::format("{} is neither pinned nor registered", static_cast<const void*>(address)),
                 .remedy = "Allocate the memory with Pinned, or register it with Registered."});
}

const std::byte* CpuHost::known_until(const std::byte* address) const {
    const std::lock_guard lock(mutex_);
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return nullptr;
    const std::byte* end = std::prev(after)->first + std::prev(after)->second.bytes;
    return address < end ? end : nullptr;
}

}  // namespace texton::detail
