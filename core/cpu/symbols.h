#pragma once
// Host variables that act as symbols of every CPU device. Thread-safe.
#include <texton/symbol.h>
#include <cstddef>

namespace texton::detail {

/// Registers a variable. If it is registered several times, the size of the last registration applies until that is
/// removed.
void add_cpu_symbol(void* address, std::size_t bytes);
void remove_cpu_symbol(void* address) noexcept;
/// Throws Error{not_registered} if there is no symbol at the address.
SymbolLocation find_cpu_symbol(const void* address);
/// Returns true if the byte belongs to a symbol.
[[nodiscard]] bool in_cpu_symbol(const std::byte* address);

}  // namespace texton::detail
