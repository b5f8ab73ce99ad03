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
/// Returns the end of the symbol that contains the byte, or null if there is none.
[[nodiscard]] const std::byte* end_of_cpu_symbol(const std::byte* address);

}  // namespace texton::detail
