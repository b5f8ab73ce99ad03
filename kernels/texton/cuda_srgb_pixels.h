#pragma once
// The CUDA kernel of a pointwise functor whose pixels have four channels of 8 bits, sRGB-encoded. A table in shared
// memory has the codes. The texture unit fetches the texels, since it decodes sRGB without a table.
#include <bit>
#include <cstdint>

#include <cuda_runtime.h>

#include <texton/channel_codes.h>
#include <texton/cuda_pixels.h>
#include <texton/cuda_store.h>
#include <texton/pixel_target.h>

namespace texton::detail {

/// Table for the codes of srgb_code_of(). The floats from 2^-13 to 1 are divided into intervals, 128 of each power of
/// two, which contain at most one step between two codes. Floats below have the code 0.
struct SrgbIntervals {
    static constexpr unsigned kFirstBits = (127u - 13) << 23;  ///< of 2^-13
    static constexpr unsigned kCount = 13 * 128 + 1;
    /// For each interval the code of its first float times 2^16, plus what the lower 16 bits of a float must be
    /// increased by to overflow if its code is one larger.
    std::uint32_t of[kCount];

    constexpr SrgbIntervals() : of{} {
        constexpr SrgbSteps kSteps{};
        constexpr std::uint32_t kSize = 1u << 16;
        std::uint32_t code = 0;
        for (unsigned i = 0; i < kCount; ++i) {
            const std::uint32_t first = kFirstBits + i * kSize;
            const auto next = [&] { return code < 255 ? std::bit_cast<std::uint32_t>(kSteps.of[code]) : ~0u; };
            while (next() <= first) ++code;
            of[i] = code * kSize + kSize - (next() - first < kSize ? next() - first : kSize);
        }
    }
};

/// The table in shared memory.
struct SrgbTable {
    std::uint32_t intervals[SrgbIntervals::kCount];

    /// Computes the part of a thread of the block.
    __device__ void compute(unsigned thread) {
        static constexpr SrgbIntervals kIntervals{};  // zeros on the device if it had no braces
        for (unsigned i = thread; i < SrgbIntervals::kCount; i += kTileWidth * kTileThreadRows)
            intervals[i] = kIntervals.of[i];
    }
    /// Returns the code of srgb_code_of() in bits 16 to 23.
    __device__ unsigned code_of(float linear) const {
        const unsigned bits = ::max(bits_of(__saturatef(linear)), SrgbIntervals::kFirstBits);
        return intervals[(bits - SrgbIntervals::kFirstBits) >> 16] + (bits & 0xffffu);
    }
    /// Returns the stored codes of a color.
    __device__ unsigned codes_of(const Float4& color) const {
        return __byte_perm(__byte_perm(code_of(color.x), code_of(color.y), 0x0062),
                           __byte_perm(code_of(color.z), unorm8_bits_of(color.w), 0x0052), 0x5410);
    }
};

inline constexpr unsigned kSrgbRows = 4;  ///< of a column of pixels whose fetches overlap
/// A thread computes several columns, because each block computes the table.
inline constexpr unsigned kSrgbColumns = 4;
inline constexpr BlockTile kSrgbTile{kTileWidth, kTileThreadRows* kSrgbRows* kSrgbColumns, 1};

/// The grid has one block per tile in x and y, starting at a row of tiles, and slices in z. There must be no sources of
/// integers.
template <class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_srgb_pixel(const __grid_constant__ Job job, unsigned first_row) {
    __shared__ SrgbTable table;
    table.compute(threadIdx.y * kTileWidth + threadIdx.x);
    __syncthreads();
    const PixelTarget& target = job.target;
    const unsigned x = blockIdx.x * kTileWidth + threadIdx.x;
    if (x >= target.width) return;
    job.without_branches([&](const auto& color_of) {
        const auto codes_of = [&](unsigned y) {
            return table.codes_of(color_of(PixelPosition{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y),
                                                         static_cast<std::int32_t>(blockIdx.z)}));
        };
        const auto store = [&](unsigned y, unsigned codes) {
            *reinterpret_cast<unsigned*>(pixel_address(target, x, y, blockIdx.z)) = codes;
        };
        unsigned y = (first_row + blockIdx.y) * kSrgbTile.height + threadIdx.y * kSrgbRows;
#pragma unroll 1
        for (unsigned column = 0; column < kSrgbColumns; ++column, y += kTileThreadRows * kSrgbRows) {
            if (y + kSrgbRows <= target.height) {
                unsigned codes[kSrgbRows];
#pragma unroll
                for (unsigned row = 0; row < kSrgbRows; ++row) codes[row] = codes_of(y + row);
#pragma unroll
                for (unsigned row = 0; row < kSrgbRows; ++row) store(y + row, codes[row]);
            } else {
#pragma unroll 1
                for (unsigned row = y; row < target.height; ++row) store(row, codes_of(row));
            }
        }
    });
}

}  // namespace texton::detail
