#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace texton::detail {

/// Allocates memory that starts at a cache line, so that no vector of a row in it crosses a line.
template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    LineAllocator() = default;
    template <class Other>
    explicit LineAllocator(const LineAllocator<Other>&) noexcept {}

    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
    void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, kLine); }
    bool operator==(const LineAllocator&) const = default;
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace texton::detail
