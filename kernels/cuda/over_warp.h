#pragma once
// Sums and maxima over the threads of a warp, for CUDA kernels.

namespace texton::detail {

inline constexpr unsigned kAllLanes = 0xffffffffu;

/// Combines a value of all threads of a warp. Only the first thread gets the complete result.
template <class T, class Combine>
__device__ T over_warp(T value, const Combine& combine) {
    for (unsigned apart = 16; apart != 0; apart /= 2) value = combine(value, __shfl_down_sync(kAllLanes, value, apart));
    return value;
}

struct Sum {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct Largest {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};

}  // namespace texton::detail
