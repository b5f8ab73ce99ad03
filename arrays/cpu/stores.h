#pragma once
#include <cstddef>

namespace texton::detail {

inline constexpr std::size_t kStoresAhead = 256;  // bytes

/// Has the line of the cache that will be stored to. Stores wait for their lines in turn, so that of pictures which no cache
/// holds few are on their way without it.
inline void prefetch_for_stores(const void* to) {
#if defined(__x86_64__)
    // By itself __builtin_prefetch() reads, where the instruction set that is compiled for is not known to have this one;
    // CPUs that lack it ignore it.
    __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(to)));
#else
    __builtin_prefetch(to, 1);
#endif
}

}  // namespace texton::detail
