// Statistics on a CUDA device.
//
// Each thread keeps its own counts and sums as long as possible. It keeps two words of a sum; all values from 2^-30 to
// 4 add to the same two. The histogram, in which threads seldom collide, is in the block's shared memory. A block adds
// its statistics to the result once, after its last tile.
//
// Texels with 8 bits per channel are not decoded one by one. A block counts their codes in shared memory, where each
// lane of a warp has its own counters, so that lanes never wait for each other. At the end, the value of each code is
// added as many times as the code was counted.
#include "kernels/cuda/statistics.h"

#include <texton/cuda_stored_texels.h>

#include "arrays/unit/texture_unit.h"
#include "kernels/cuda/over_warp.h"
#include "kernels/functors/neighborhood.h"

namespace texton::detail {

namespace {

constexpr unsigned kWidth = StatisticsTiles::kWidth;

__device__ void add_word(std::int64_t& word, std::int64_t value) {
    if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&word), static_cast<unsigned long long>(value));
}

/// The statistics of one thread for one channel.
class ThreadTally {
public:
    /// Adds the value `times` times, which is at least 1.
    __device__ void add(float value, std::uint32_t times, std::int64_t* sum) {
        if (!is_finite(value)) {
            if (value != value)
                nans_ += times;
            else
                infinities_ += times;
            return;
        }
        finite_ += times;
        const std::uint32_t key = key_of(value);
        if (key > highest_key_) highest_key_ = key;
        if (~key > lowest_key_) lowest_key_ = ~key;
        const SumPart part = sum_part(value);
        if (part.lower == 0 && part.upper == 0) return;
        if (part.word != sum_.word) {
            add_to(sum);
            sum_ = {part.word, 0, 0};
        }
        sum_.lower += part.lower * times;
        sum_.upper += part.upper * times;
    }

    /// Adds the statistics to those of the block. All threads of a warp must call this together.
    __device__ void add_to(Statistics& block, int channel) {
        add_sums(block.sum[channel]);
        const bool is_first = threadIdx.x % 32 == 0;
        const std::uint32_t finite = over_warp(finite_, Sum{});
        const std::uint32_t highest_key = over_warp(highest_key_, Largest{});
        const std::uint32_t lowest_key = over_warp(lowest_key_, Largest{});
        if (is_first && finite != 0) {
            atomicAdd(&block.finite[channel], finite);
            atomicMax(&block.highest_key[channel], highest_key);
            atomicMax(&block.lowest_key[channel], lowest_key);
        }
        if (nans_ != 0) atomicAdd(&block.nans[channel], nans_);
        if (infinities_ != 0) atomicAdd(&block.infinities[channel], infinities_);
    }

private:
    __device__ void add_to(std::int64_t* sum) const {
        add_word(sum[sum_.word], sum_.lower);
        add_word(sum[sum_.word + 1], sum_.upper);
    }

    /// Adds the sums of a warp. If all sums that are not 0 are in the same two words, they are combined into one.
    __device__ void add_sums(std::int64_t* sum) {
        const bool has_sum = sum_.lower != 0 || sum_.upper != 0;
        const int word = __shfl_sync(kAllLanes, over_warp(has_sum ? sum_.word : 0, Largest{}), 0);
        if (!__all_sync(kAllLanes, !has_sum || sum_.word == word)) return add_to(sum);
        const std::int64_t lower = over_warp(sum_.lower, Sum{});
        const std::int64_t upper = over_warp(sum_.upper, Sum{});
        if (threadIdx.x % 32 != 0) return;
        add_word(sum[word], lower);
        add_word(sum[word + 1], upper);
    }

    std::uint32_t finite_ = 0;
    std::uint32_t nans_ = 0;
    std::uint32_t infinities_ = 0;
    std::uint32_t highest_key_ = 0;
    std::uint32_t lowest_key_ = 0;
    SumPart sum_{0, 0, 0};
};

/// Clears the words. All threads of a block must call this together.
__device__ void clear(std::uint32_t* words, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) words[i] = 0;
    __syncthreads();
}

template <int channels>
__device__ void add_block(Statistics& result, const Statistics& block) {
    for (unsigned i = threadIdx.x; i < channels * Statistics::kBins; i += blockDim.x) {
        const std::uint32_t count = (&block.histogram[0][0])[i];
        if (count != 0) atomicAdd(&(&result.histogram[0][0])[i], count);
    }
    for (unsigned i = threadIdx.x; i < channels * Statistics::kSumWords; i += blockDim.x)
        add_word((&result.sum[0][0])[i], (&block.sum[0][0])[i]);
    if (threadIdx.x >= channels) return;
    const unsigned c = threadIdx.x;
    atomicAdd(&result.finite[c], block.finite[c]);
    atomicAdd(&result.nans[c], block.nans[c]);
    atomicAdd(&result.infinities[c], block.infinities[c]);
    atomicMax(&result.highest_key[c], block.highest_key[c]);
    atomicMax(&result.lowest_key[c], block.lowest_key[c]);
}

/// Iterates over the tiles of a block: every gridDim.x-th tile. Advances without divisions, which would take as long as
/// the texels of the tile.
class BlockTiles {
public:
    unsigned column;
    unsigned row;
    unsigned layer;

    __device__ explicit BlockTiles(const TileGrid& tiles)
        : column(blockIdx.x % tiles.across),
          row(blockIdx.x / tiles.across % tiles.down),
          layer(blockIdx.x / tiles.across / tiles.down),
          tiles_(tiles),
          columns_on_(gridDim.x % tiles.across),
          rows_on_(gridDim.x / tiles.across) {}

    __device__ bool at_end() const { return layer >= tiles_.layers; }
    __device__ void advance() {
        column += columns_on_;
        row += rows_on_;
        if (column >= tiles_.across) {
            column -= tiles_.across;
            ++row;
        }
        for (; row >= tiles_.down; ++layer) row -= tiles_.down;
    }

private:
    const TileGrid& tiles_;
    unsigned columns_on_;
    unsigned rows_on_;
};

template <int channels>
__global__ void __launch_bounds__(StatisticsTiles::kTexels)
    collect(cudaTextureObject_t texture, const StatisticsSource from, const TileGrid tiles, const HistogramRange range,
            Statistics* result) {
    __shared__ Statistics block;
    clear(reinterpret_cast<std::uint32_t*>(&block), sizeof block / 4);
    const HardwareSource source(from.shape, texture);
    const NumberedTexels texels{from.layered};
    ThreadTally tally[channels];
    for (BlockTiles tile(tiles); !tile.at_end(); tile.advance()) {
        const auto x = static_cast<std::int32_t>(tile.column * kWidth + threadIdx.x % kWidth);
        const auto y = static_cast<std::int32_t>(tile.row * StatisticsTiles::kHeight + threadIdx.x / kWidth);
        if (x >= from.shape.width || y >= from.shape.height) continue;
        const Float4 texel = texels(source, static_cast<std::int32_t>(tile.layer), x, y);
        const float values[4] = {texel.x, texel.y, texel.z, texel.w};
#pragma unroll
        for (int c = 0; c < channels; ++c) {
            tally[c].add(values[c], 1, block.sum[c]);
            if (is_finite(values[c])) atomicAdd(&block.histogram[c][range.bin(values[c])], 1u);
        }
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < channels; ++c) tally[c].add_to(block, c);
    __syncthreads();
    add_block<channels>(*result, block);
}

// --- by codes --------------------------------------------------------------------------------------------------------

/// Counters of each lane. The first and second byte of a 32-bit word of texels share words of counters, and so do the
/// third and fourth byte.
using LaneCounts = std::uint32_t[2][Statistics::kBins][CodeTiles::kLanes];

/// Counts a byte of a word. The lane's counter is at the offset code * (bytes of all lanes' counters), which a shift
/// and a mask compute.
__device__ void count_byte(LaneCounts& counts, std::uint32_t word, int byte) {
    constexpr int kShift = 7;
    static_assert(sizeof counts[0][0] == 1 << kShift);
    const int shift = 8 * byte - kShift;
    const std::uint32_t shifted = shift < 0 ? word << -shift : word >> shift;
    const std::uint32_t offset = (shifted & 0xffu << kShift) | threadIdx.x % CodeTiles::kLanes * 4;
    auto* const to = reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(counts[byte / 2]) + offset);
    atomicAdd(to, byte % 2 == 0 ? 1u : 0x10000u);
}

__device__ void count_unit(LaneCounts& counts, const uint4& unit) {
    const std::uint32_t words[4] = {unit.x, unit.y, unit.z, unit.w};
#pragma unroll
    for (const std::uint32_t word : words) {
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) count_byte(counts, word, byte);
    }
}

/// Counts the last texels of a row, which are less than a unit.
template <StoredIn in, class Texel>
__device__ void count_texels(LaneCounts& counts, const PixelTarget& texels, unsigned begin, unsigned end, unsigned y,
                             unsigned z) {
    for (unsigned at = begin; at < end; at += sizeof(Texel)) {
        const std::uint32_t texel = stored<in, Texel>(texels, at, y, z);
        for (unsigned i = 0; i < sizeof(Texel); ++i)
            count_byte(counts, texel << (8 * (at % 4)), static_cast<int>(at % 4 + i));
    }
}

/// Returns what a fetch of a code returns. Not inlined, since the code of the many formats is large.
__device__ __noinline__ float value_of_code(std::uint32_t code, const TexelFormat& format, int channel, bool filters) {
    const Lane lane = decode_channel(code, format, channel);
    const LaneKind kind = lane_kind(format, channel);
    if (is_integer(kind)) return static_cast<float>(lane.mantissa);
    return float_of(filters ? channel_result(lane, kind) : unfiltered_result(lane, kind));
}

template <StoredIn in, int channels, class Texel>
__global__ void __launch_bounds__(CodeTiles::kThreads, 2)
    collect_codes(const __grid_constant__ PixelTarget texels, const TileGrid tiles, const bool filters,
                  const HistogramRange range, Statistics* result) {
    extern __shared__ std::uint32_t shared[];
    LaneCounts& counts = *reinterpret_cast<LaneCounts*>(shared);
    clear(shared, CodeTiles::kSharedBytes / 4);
    constexpr unsigned kRows = CodeTiles::kHeight / CodeTiles::kUnits;
    const unsigned row_bytes = texels.width * static_cast<unsigned>(channels);
    for (BlockTiles tile(tiles); !tile.at_end(); tile.advance()) {
        const unsigned x = (tile.column * CodeTiles::kWidth + threadIdx.x % CodeTiles::kWidth) * CodeTiles::kUnitBytes;
        const unsigned y = tile.row * CodeTiles::kHeight + threadIdx.x / CodeTiles::kWidth;
        const unsigned z = tile.layer;
        if (x + CodeTiles::kUnitBytes <= row_bytes) {
            uint4 units[CodeTiles::kUnits];
#pragma unroll
            for (unsigned i = 0; i < CodeTiles::kUnits; ++i) {
                if (y + i * kRows < texels.height) units[i] = stored<in, uint4>(texels, x, y + i * kRows, z);
            }
#pragma unroll
            for (unsigned i = 0; i < CodeTiles::kUnits; ++i) {
                if (y + i * kRows < texels.height) count_unit(counts, units[i]);
            }
        } else {
            for (unsigned row = y; row < texels.height && row < y + CodeTiles::kHeight; row += kRows)
                count_texels<in, Texel>(counts, texels, x, row_bytes, row, z);
        }
    }
    __syncthreads();
    // Each thread adds up the counts of one code over all lanes. Then the block's statistics replace the counters.
    const unsigned pair = threadIdx.x / Statistics::kBins;
    const unsigned code = threadIdx.x % Statistics::kBins;
    std::uint32_t of_byte[2] = {};
    if (pair < 2) {
        for (unsigned i = 0; i < CodeTiles::kLanes; ++i) {
            const std::uint32_t both = counts[pair][code][(i + threadIdx.x) % CodeTiles::kLanes];
            of_byte[0] += both & 0xffffu;
            of_byte[1] += both >> 16;
        }
    }
    __syncthreads();
    auto& block = *reinterpret_cast<Statistics*>(shared);
    clear(shared, sizeof block / 4);
    if (pair < 2) {
#pragma unroll
        for (unsigned byte = 0; byte < 2; ++byte) {
            const int channel = static_cast<int>(2 * pair + byte) % channels;
            ThreadTally tally;
            if (of_byte[byte] != 0) {
                const float value = value_of_code(code, texels.format.stored, channel, filters);
                tally.add(value, of_byte[byte], block.sum[channel]);
                atomicAdd(&block.histogram[channel][range.bin(value)], of_byte[byte]);
            }
            __syncwarp();
            tally.add_to(block, channel);
        }
    }
    __syncthreads();
    add_block<channels>(*result, block);
}

}  // namespace

template <StoredIn in>
const void* collect_codes_kernel_of(int channels) {
    switch (channels) {
        case 1: return reinterpret_cast<const void*>(&collect_codes<in, 1, std::uint8_t>);
        case 2: return reinterpret_cast<const void*>(&collect_codes<in, 2, std::uint16_t>);
        default: return reinterpret_cast<const void*>(&collect_codes<in, 4, std::uint32_t>);
    }
}

const void* collect_codes_kernel(const PixelTarget& texels) {
    const int channels = texels.format.stored.channels;
    switch (stored_in(texels)) {
        case StoredIn::memory: return collect_codes_kernel_of<StoredIn::memory>(channels);
        case StoredIn::plane: return collect_codes_kernel_of<StoredIn::plane>(channels);
        case StoredIn::layers: return collect_codes_kernel_of<StoredIn::layers>(channels);
    }
    return nullptr;
}

const void* collect_kernel(int channels) {
    switch (channels) {
        case 1: return reinterpret_cast<const void*>(&collect<1>);
        case 2: return reinterpret_cast<const void*>(&collect<2>);
        case 3: return reinterpret_cast<const void*>(&collect<3>);
        default: return reinterpret_cast<const void*>(&collect<4>);
    }
}

}  // namespace texton::detail
