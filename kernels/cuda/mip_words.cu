// Computes levels of a mip chain with the box filter from texels as they are stored, in words
// (kernels/cuda/mip_words.h).
//
// A block reads a square tile of words of the level above and computes all its levels down to one word. A thread reads
// 16 bytes at a time, and a warp reads 128 bytes of several rows, because arrays store texels that are close in both
// directions near each other. Computed words stay in shared memory, and the next level is computed from them.
#include <algorithm>
#include <optional>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/fused_mips.h"
#include "kernels/cuda/mip_words.h"
#include "kernels/cuda/stored_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::mip {
namespace {

struct Job {
    StoredRows above;
    unsigned count;  ///< number of levels
    StoredRows levels[kMaxFusedLevels];
};

/// Reads 16 bytes. Reads texel by texel if the row ends before or is not aligned; bytes beyond its end are 0.
template <StoredIn in, class Texel>
__device__ uint4 read_unit(const StoredRows& rows, unsigned byte, unsigned y, unsigned z) {
    if (has(rows, byte, sizeof(uint4))) return detail::stored<in, uint4>(rows.texels, byte, y, z);
    Texel texels[sizeof(uint4) / sizeof(Texel)]{};
#pragma unroll 1
    for (unsigned i = 0; i < sizeof(uint4) / sizeof(Texel) && byte < rows.row_bytes; ++i) {
        texels[i] = detail::stored<in, Texel>(rows.texels, byte, y, z);
        byte += sizeof(Texel);
    }
    uint4 unit;
    __builtin_memcpy(&unit, texels, sizeof unit);
    return unit;
}

// --- the CUDA kernel -------------------------------------------------------------------------------------------------

constexpr unsigned kWarp = 32;

/// The texels from which a thread computes words of the first level: two rows of one unit of 16 bytes, or of two units
/// if a word is a whole unit.
template <class Format>
struct Patch {
    using Word = typename Format::Word;
    static constexpr unsigned kUnits = sizeof(Word) == sizeof(uint4) ? 2 : 1;
    static constexpr unsigned kBytes = kUnits * sizeof(uint4);
    static constexpr unsigned kWords = kBytes / sizeof(Word);
    static constexpr unsigned kLanes = 128 / kBytes;  // lanes of a warp along a row
    static constexpr unsigned kRows = kWarp / kLanes;

    uint4 unit[2][kUnits];

    template <StoredIn in, bool whole>
    __device__ void read(const StoredRows& rows, unsigned byte, unsigned y, unsigned z) {
#pragma unroll
        for (unsigned row = 0; row < 2; ++row) {
#pragma unroll
            for (unsigned i = 0; i < kUnits; ++i) {
                const unsigned at = byte + i * static_cast<unsigned>(sizeof(uint4));
                if constexpr (whole)
                    unit[row][i] = detail::stored<in, uint4>(rows.texels, at, 2 * y + row, z);
                else
                    unit[row][i] = read_unit<in, typename Format::Texel>(rows, at, 2 * y + row, z);
            }
        }
    }

    /// Returns the word of the first level, or two words in a vector.
    __device__ auto half() const {
        Word words[2][kWords];
        __builtin_memcpy(words, unit, sizeof words);
        const auto word = [&](unsigned i) {
            return Format::half(words[0][2 * i], words[0][2 * i + 1], words[1][2 * i], words[1][2 * i + 1]);
        };
        if constexpr (kWords == 2)
            return word(0);
        else
            return make_uint2(word(0), word(1));
    }
};

/// Computes the first level of the tile whose first word in that level is at (word, row). `whole` means that the entire
/// tile is inside the level and aligned.
template <class Format, unsigned side, StoredIn in, bool whole>
__device__ void make_first(const Job& job, unsigned word, unsigned row, typename Format::Word* tile) {
    using Words = Patch<Format>;
    constexpr unsigned kMade = Words::kWords / 2;
    constexpr unsigned kWarpsAcross = side / (Words::kLanes * kMade);
    constexpr unsigned kRowsAtOnce = side * side / 4 / (kWarpsAcross * Words::kLanes);
    constexpr unsigned kBatch = whole ? 2 : 1;  // patches that are read before the first is processed
    const unsigned warp = threadIdx.x / kWarp;
    const unsigned lane = threadIdx.x % kWarp;
    const unsigned x = (warp % kWarpsAcross * Words::kLanes + lane % Words::kLanes) * kMade;
    const unsigned y = warp / kWarpsAcross * Words::kRows + lane / Words::kLanes;
    const unsigned byte = (word + x) * static_cast<unsigned>(sizeof(typename Format::Word));
    const StoredRows& level = job.levels[0];
#pragma unroll(kBatch)
    for (unsigned first = 0; first < side; first += kBatch * kRowsAtOnce) {
        Words patch[kBatch]{};
#pragma unroll
        for (unsigned i = 0; i < kBatch; ++i) {
            const unsigned at = row + first + y + i * kRowsAtOnce;
            if (whole || (byte < level.row_bytes && at < level.texels.height))
                patch[i].template read<in, whole>(job.above, 2 * byte, at, blockIdx.z);
        }
#pragma unroll
        for (unsigned i = 0; i < kBatch; ++i) {
            const unsigned at = first + y + i * kRowsAtOnce;
            const auto made = patch[i].half();
            __builtin_memcpy(&tile[at * side + x], &made, sizeof made);
            if constexpr (whole)
                write(level, byte, row + at, blockIdx.z, made);
            else
                write_words<typename Format::Texel>(level, byte, row + at, blockIdx.z, made);
        }
    }
}

template <class Format, unsigned side>
__device__ bool is_whole(const Job& job, unsigned word, unsigned row) {
    const StoredRows& level = job.levels[0];
    return job.above.alignment >= sizeof(uint4) && level.alignment >= sizeof(uint4) / 2 &&
           (word + side) * sizeof(typename Format::Word) <= level.row_bytes && row + side <= level.texels.height;
}

template <class Format, unsigned side, StoredIn in>
__device__ void make_first_of(const Job& job, unsigned word, unsigned row, typename Format::Word* tile) {
    if (is_whole<Format, side>(job, word, row))
        make_first<Format, side, in, true>(job, word, row, tile);
    else
        make_first<Format, side, in, false>(job, word, row, tile);
}

/// Returns the width of a tile in the first of `levels` levels, of which the last is one word.
TEXTON_HD constexpr unsigned side_of(unsigned levels) { return 1u << (levels - 1); }
/// Returns the number of threads of a block: one for each word of the second level.
constexpr unsigned threads_of(unsigned levels) { return side_of(levels) * side_of(levels) / 4; }

template <class Format, unsigned levels>
__global__ void __launch_bounds__(threads_of(levels)) halve_stored(const __grid_constant__ Job job) {
    using Word = typename Format::Word;
    constexpr unsigned kSide = side_of(levels);
    constexpr unsigned kTileBytes = kSide * sizeof(Word);
    extern __shared__ uint4 memory[];
    Word* above = reinterpret_cast<Word*>(memory);
    Word* tile = above + kSide * kSide;
    const unsigned across = (job.levels[0].row_bytes + kTileBytes - 1) / kTileBytes;
    unsigned word = blockIdx.x % across * kSide;
    unsigned row = blockIdx.x / across * kSide;
    switch (job.above.in) {
        case StoredIn::memory: make_first_of<Format, kSide, StoredIn::memory>(job, word, row, above); break;
        case StoredIn::plane: make_first_of<Format, kSide, StoredIn::plane>(job, word, row, above); break;
        case StoredIn::layers: make_first_of<Format, kSide, StoredIn::layers>(job, word, row, above); break;
    }
    for (unsigned level = 1; level < job.count; ++level) {
        const unsigned shift = levels - 1 - level;  // the level has 1 << shift words along a side of the tile
        word /= 2;
        row /= 2;
        if (threadIdx.x >> 2 * shift != 0) return;  // the thread has no word in the levels below either
        __syncthreads();
        const unsigned x = threadIdx.x & ((1u << shift) - 1);
        const unsigned y = threadIdx.x >> shift;
        const Word* const top = above + (y << (shift + 2)) + 2 * x;
        const Word* const bottom = top + (2u << shift);
        const Word made = Format::half(top[0], top[1], bottom[0], bottom[1]);
        tile[threadIdx.x] = made;
        write_words<typename Format::Texel>(job.levels[level], (word + x) * static_cast<unsigned>(sizeof(Word)),
                                            row + y, blockIdx.z, made);
        Word* const made_of = above;
        above = tile;
        tile = made_of;
    }
}

// --- levels that can be computed from words --------------------------------------------------------------------------

/// Adds levels to the job, counted from the first, until one cannot be written as stored or has another format than the
/// source.
void add_levels(Job& job, std::span<const Step> steps, std::span<const detail::Launch> launches) {
    for (; job.count < steps.size(); ++job.count) {
        if (steps[job.count].level.format() != steps[0].above.format()) return;
        const std::optional<StoredRows> rows = stored_rows(launches[job.count].target());
        if (!rows) return;
        job.levels[job.count] = *rows;
    }
}

struct Blocks {
    const void* kernel = nullptr;
    unsigned levels = 0;  // maximum number of levels of a block
    unsigned word_bytes = 0;

    unsigned threads() const { return threads_of(levels); }
    unsigned tile_bytes() const { return side_of(levels) * word_bytes; }
    unsigned shared_bytes() const { return tile_bytes() * side_of(levels) + threads() * word_bytes; }
};

/// Returns large blocks if a slice is at most one tile, so that one block computes all its levels; otherwise smaller
/// blocks.
template <class Format>
Blocks blocks_of(const detail::Launch& launch, const StoredRows& first) {
    constexpr unsigned kFew = 6;
    constexpr unsigned kBytes = sizeof(typename Format::Word);
    const Blocks large{reinterpret_cast<const void*>(&halve_stored<Format, kMaxFusedLevels>), kMaxFusedLevels, kBytes};
    const bool is_tile = first.row_bytes <= large.tile_bytes() && first.texels.height <= side_of(large.levels);
    if (is_tile && detail::blocks_at_once(launch, large.threads(), large.shared_bytes()) != 0) return large;
    return {reinterpret_cast<const void*>(&halve_stored<Format, kFew>), kFew, kBytes};
}

template <class Lane, class One, class Two, class Four>
Blocks blocks_with(int channels, const detail::Launch& launch, const StoredRows& first) {
    if (channels == 1) return blocks_of<StoredFormat<Lane, One>>(launch, first);
    if (channels == 2) return blocks_of<StoredFormat<Lane, Two>>(launch, first);
    return blocks_of<StoredFormat<Lane, Four>>(launch, first);
}

/// Returns nothing if stored words of the format cannot be averaged.
std::optional<Blocks> blocks_for(const FormatInfo& format, const detail::Launch& launch, const StoredRows& first) {
    if (format.layout != FormatLayout::plain) return std::nullopt;
    const int channels = format.channels;
    if (format.kind == FormatKind::unorm && format.bits == 8)
        return blocks_with<CodesOf8Bits, std::uint8_t, std::uint16_t, std::uint32_t>(channels, launch, first);
    if (format.kind == FormatKind::srgb && channels == 4)
        return blocks_of<StoredFormat<CodesOfSrgb, std::uint32_t>>(launch, first);
    if (format.kind != FormatKind::floating) return std::nullopt;
    if (format.bits == 16) return blocks_with<TwoHalves, std::uint16_t, std::uint32_t, uint2>(channels, launch, first);
    return blocks_with<OneFloat, std::uint32_t, uint2, uint4>(channels, launch, first);
}

}  // namespace

std::size_t enqueue_stored(std::span<const Step> steps, std::span<const detail::Launch> launches) {
    const std::optional<StoredRows> above = rows_above(steps[0]);
    if (!above) return 0;
    Job job{*above, 0, {}};
    add_levels(job, steps, launches);
    if (job.count == 0) return 0;
    const StoredRows& first = job.levels[0];
    const std::optional<Blocks> blocks = blocks_for(info(steps[0].above.format()), launches[0], first);
    if (!blocks) return 0;
    job.count = std::min(job.count, blocks->levels);
    void* arguments[] = {&job};
    const auto tiles = [](unsigned size, unsigned tile) { return (size + tile - 1) / tile; };
    const unsigned across = tiles(first.row_bytes, blocks->tile_bytes());
    const unsigned down = tiles(first.texels.height, side_of(blocks->levels));
    detail::launch_blocks(launches.first(job.count), blocks->kernel, arguments,
                          {{across * down, 1, first.texels.depth}, {blocks->threads(), 1}, blocks->shared_bytes()});
    return job.count;
}

}  // namespace texton::mip
