#pragma once
// Host variables that are symbols of every CPU device. Any thread may call.
#include <texton/symbol.h>
#include <cstddef>

namespace texton::detail {

/// The size of a later registration of the same variable holds until it is removed.
void add_cpu_symbol(void* address, std::size_t bytes);
void remove_cpu_symbol(void* address) noexcept;
/// Error{not_registered} if there is no such symbol.
SymbolPlace find_cpu_symbol(const void* address);
/// True if the byte belongs to a symbol.
[[nodiscard]] bool in_cpu_symbol(const std::byte* address);

}  // namespace texton::detail
