#pragma once
#include <cstddef>

namespace texton::detail {

inline constexpr std::size_t kStoresAhead = 256;  // bytes between a prefetch and the current store

/// Prefetches a cache line for a store. Stores wait for their lines in order. Without prefetching, only few lines are
/// in flight if the image is larger than the caches.
inline void prefetch_for_stores(const void* to) {
#if defined(__x86_64__)
    // __builtin_prefetch() requests the line only for reading unless the compiler knows that the instruction set has
    // prefetchw. CPUs without prefetchw ignore it.
    __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(to)));
#else
    __builtin_prefetch(to, 1);
#endif
}

}  // namespace texton::detail
