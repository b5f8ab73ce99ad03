#include "core/cpu/symbols.h"

#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/request.h"

namespace texton::detail {
namespace {

struct Symbols {
    std::mutex mutex;
    std::map<const void*, std::vector<std::size_t>> sizes;  // one entry per active registration
};

// Never destroyed, because symbols are usually static objects.
Symbols& symbols() {
    static Symbols& made = *new Symbols;
    return made;
}

}  // namespace

void add_cpu_symbol(void* address, std::size_t bytes) try {
    const std::lock_guard lock(symbols().mutex);
    auto& sizes = symbols().sizes;
    const auto entry = sizes.try_emplace(address).first;
    try {
        entry->second.push_back(bytes);
    } catch (...) {
        if (entry->second.empty()) sizes.erase(entry);  // other functions expect an active registration
        throw;
    }
} catch (const std::bad_alloc&) {
    refuse_host_memory("texton::CpuSymbol");
}

void remove_cpu_symbol(void* address) noexcept {
    const std::lock_guard lock(symbols().mutex);
    const auto entry = symbols().sizes.find(address);
    if (entry == symbols().sizes.end()) return;
    entry->second.pop_back();
    if (entry->second.empty()) symbols().sizes.erase(entry);
}

SymbolLocation find_cpu_symbol(const void* address) {
    const std::lock_guard lock(symbols().mutex);
    const auto entry = symbols().sizes.find(address);
    if (entry == symbols().sizes.end()) {
        throw Error({.code = ErrorCode::not_registered,
                     .problem = fmt::format("there is no symbol of the CPU devices at {}", address),
                     .remedy = "Register the variable with CpuSymbol, and keep the CpuSymbol alive."});
    }
    return {static_cast<std::byte*>(const_cast<void*>(address)), entry->second.back()};
}

const std::byte* end_of_cpu_symbol(const std::byte* address) {
    const std::lock_guard lock(symbols().mutex);
    auto entry = symbols().sizes.upper_bound(address);
    if (entry == symbols().sizes.begin()) return nullptr;
    --entry;
    const std::byte* end = static_cast<const std::byte*>(entry->first) + entry->second.back();
    return address < end ? end : nullptr;
}

}  // namespace texton::detail

namespace texton {

CpuSymbol::CpuSymbol(void* address, std::size_t bytes) : address_(address) { detail::add_cpu_symbol(address, bytes); }
CpuSymbol::~CpuSymbol() { detail::remove_cpu_symbol(address_); }

}  // namespace texton
