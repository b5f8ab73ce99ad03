#pragma once
// Rows of texels that the pixels of a warp read. For code that nvcc compiles.
#include <algorithm>
#include <cmath>

#include "kernels/cuda/columns.h"
#include "kernels/functors/resample_functors.h"

namespace texton::resampling {

inline constexpr int kColumns = 32;  // pixels of a warp, beside each other
inline constexpr int kFetches = 3;   // of a thread for a row of staged texels, at most
inline constexpr int kStaged = kFetches * kColumns;

/// Texels of rows that the pixels of a warp read. The warp can copy a row to shared memory: it fetches each texel once,
/// and fetches the texels of the next row while the current ones are used.
template <int channels>
class TexelRows {
public:
    using Texel = detail::ChannelSums<channels>;

    __device__ TexelRows(const Grid& grid, const HardwareSource& source, std::int32_t z)
        : grid_(grid), source_(source), z_(z) {
        source_.integers = false;
    }

    /// Must be called first. A row has `texels` texels, from `begin` on.
    __device__ void select(std::int32_t begin, std::int32_t texels) {
        begin_ = begin;
        texels_ = ::min(texels, kStaged);
    }
    __device__ Texel texel(std::int32_t x, std::int32_t row) const {
        return Texel::of_texel(grid_.fetch(source_, z_, static_cast<float>(x) + 0.5f, static_cast<float>(row) + 0.5f));
    }

    /// Copies a row to `to` and fetches `next`. The warp must have read what was there.
    template <class Place>
    __device__ void copy(std::int32_t row, std::int32_t next, Texel* to, const Place& place) {
        if (row != row_ahead_) fetch(row);
#pragma unroll
        for (int i = 0; i < kFetches; ++i) {
            if (i * kColumns < texels_) to[place(i * kColumns + static_cast<std::int32_t>(threadIdx.x))] = ahead_[i];
        }
        __syncwarp();
        fetch(next);
    }

private:
    __device__ void fetch(std::int32_t row) {
        row_ahead_ = row;
#pragma unroll
        for (int i = 0; i < kFetches; ++i) {
            const std::int32_t at = i * kColumns + static_cast<std::int32_t>(threadIdx.x);
            if (at < texels_) ahead_[i] = texel(begin_ + at, row);
        }
    }

    const Grid& grid_;
    HardwareSource source_;
    std::int32_t z_;
    std::int32_t begin_ = 0;
    std::int32_t texels_ = 0;
    std::int32_t row_ahead_ = -1 << 30;
    Texel ahead_[kFetches];
};

/// Returns how many texels the pixels of a warp read of a row, at most.
inline std::int32_t texels_of_warp(const Axis& axis, std::int32_t taps) {
    return static_cast<std::int32_t>(static_cast<float>(kColumns - 1) * std::abs(axis.step)) + taps + kMoreTexels;
}

/// Returns true if the texels of a warp can be staged, and if that saves fetches.
inline bool shares_texels(const Axis& axis, std::int32_t taps) {
    return std::abs(axis.step) < kStaged && texels_of_warp(axis, taps) < std::min(kStaged, kColumns * taps);
}

}  // namespace texton::resampling
