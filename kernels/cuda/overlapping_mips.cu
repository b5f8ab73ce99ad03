// Computes several levels of a mip chain with one CUDA kernel and the box filter, from texels as they are stored. Sides
// may be odd.
//
// A block computes a tile of its last level, and of each level above all pixels that this tile depends on, which stay in
// shared memory as they are stored. Where sides are odd, the pixels of neighboring tiles depend on the same pixels: both
// blocks compute these, and one of them writes them. This takes less time than a launch for each level, unless levels are
// large. A small image is one tile.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/fused_mips.h"
#include "kernels/cuda/mip_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::mip {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreads = 512;
constexpr unsigned kTileLevels = 4;          // of a tile, unless the image is one tile or a row
constexpr unsigned kTileSide = 4;            // in the last level
constexpr unsigned kRowTile = 8;             // the same for a row, which has fewer pixels to compute twice
constexpr unsigned kPixelsOfOneTile = 1024;  // in the first level of an image that is one tile, at most

struct Level {
    StoredRows rows;
    Halving x;
    Halving y;
    float total;  // of the weights of a pixel
};

struct Job {
    StoredRows above;
    Level levels[kMaxFusedLevels];
    unsigned count;
    unsigned tile[2];        // width and height in the last level
    unsigned buffer_texels;  // of shared memory for levels number 0, 2, 4, ...
    bool layered;
};

/// Pixels along an axis that a block computes of a level.
struct Part {
    unsigned begin;
    unsigned end;
    unsigned end_of_own;  ///< of those that the block writes

    /// Returns the part of the level above. `axis` is the halving between both levels.
    TEXTON_HD Part above(const Halving& axis) const {
        if (axis.from == axis.to) return *this;
        const auto from = static_cast<unsigned>(axis.from);
        const unsigned last = static_cast<unsigned>(axis.to) == end_of_own ? from : 2 * end_of_own;
        const unsigned needed = 2 * end + from % 2;
        return {2 * begin, needed < from ? needed : from, last};
    }
};

TEXTON_HD Part part_of_tile(unsigned tile, unsigned number, unsigned side) {
    const unsigned end = (number + 1) * tile < side ? (number + 1) * tile : side;
    return {number * tile, end, end};
}

/// Returns the part of a level along both axes.
TEXTON_HD void find_parts(const Job& job, unsigned level, unsigned across, unsigned down, Part& x, Part& y) {
    const detail::PixelTarget& last = job.levels[job.count - 1].rows.texels;
    x = part_of_tile(job.tile[0], across, last.width);
    y = part_of_tile(job.tile[1], down, last.height);
    for (unsigned i = job.count - 1; i > level; --i) {
        x = x.above(job.levels[i].x);
        y = y.above(job.levels[i].y);
    }
}

template <class Format, int channels>
__global__ void __launch_bounds__(kThreads) make_levels_of_tiles(const __grid_constant__ Job job) {
    using Texels = RowTexels<Format, channels>;
    using Texel = typename Texels::Texel;
    using Words = typename Format::Words;
    constexpr auto kPixels = static_cast<unsigned>(Texels::kPixels);
    extern __shared__ uint4 memory[];
    Texel* made = reinterpret_cast<Texel*>(memory);
    Texel* other = made + job.buffer_texels;
    const unsigned tiles_across = (job.levels[job.count - 1].rows.texels.width + job.tile[0] - 1) / job.tile[0];
    const unsigned layer = job.layered ? blockIdx.z : 0;
    const Texel* above = nullptr;
    unsigned above_pitch = 0;
    Part above_x{}, above_y{};
    for (unsigned number = 0; number < job.count; ++number) {
        const Level& level = job.levels[number];
        Part part_x, part_y;
        find_parts(job, number, blockIdx.x % tiles_across, blockIdx.x / tiles_across, part_x, part_y);
        const unsigned groups = (part_x.end - part_x.begin + kPixels - 1) / kPixels;
        const int taps = taps_along(level.y);
        // If the last lanes do not compute pixels, each row has one more group, whose first texel the last pixel reads.
        const unsigned lanes = number == 0 ? computing_lanes(level.x) : kWarp;
        const unsigned groups_of_row = lanes == kWarp ? groups : groups + 1;
        const unsigned items = groups_of_row * (part_y.end - part_y.begin);
        for (unsigned begin = threadIdx.x / kWarp * lanes; begin < items; begin += kThreads / kWarp * lanes) {
            const unsigned item = ::min(begin + threadIdx.x % kWarp, items - 1);
            const unsigned group = item % groups_of_row;
            const unsigned pixel = part_x.begin + group * kPixels;
            const unsigned y = part_y.begin + item / groups_of_row;
            Texels texels[Box::kMax];
            if (number == 0) {
                with_memory_of(job.above, [&]<StoredIn in>(std::integral_constant<StoredIn, in>) {
#pragma unroll
                    for (unsigned i = 0; i < Box::kMax; ++i) {
                        const unsigned row = ::min(2 * y + i, static_cast<unsigned>(level.y.from) - 1);
                        if (i < 2 || taps > 2) texels[i].template load<in>(job.above, 2 * pixel, row, layer);
                    }
                });
#pragma unroll
                for (unsigned i = 0; i < Box::kMax; ++i) texels[i].take_last();
            } else {
#pragma unroll
                for (unsigned i = 0; i < Box::kMax; ++i) {
                    const unsigned row = ::min(2 * y + i, above_y.end - 1) - above_y.begin;
                    texels[i].take(above + row * above_pitch, 2 * pixel - above_x.begin,
                                   above_x.end - 1 - above_x.begin);
                }
            }
            if (group >= groups || threadIdx.x % kWarp >= lanes) continue;
            const AcrossWeights<Texels> across(level.x, pixel);
            const Taps<Box::kMax> down = Box{}.taps(level.y, static_cast<std::int32_t>(y));
            typename Format::Stored results[kValues];
            store_means<Format>(across.sum(texels[0]), across.sum(texels[1]), across.sum(texels[2]), down, taps,
                                level.total, results);
            Words words;
            ::memcpy(&words, results, sizeof words);
            if (number + 1 < job.count) {
                Texel* const to = made + (y - part_y.begin) * groups * kPixels + pixel - part_x.begin;
                *reinterpret_cast<Words*>(to) = words;
            }
            if (pixel < part_x.end_of_own && y < part_y.end_of_own)
                write_words<Texel>(level.rows, pixel * static_cast<unsigned>(sizeof(Texel)), y, blockIdx.z, words);
        }
        __syncthreads();
        above = made;
        above_pitch = groups * kPixels;
        above_x = part_x;
        above_y = part_y;
        made = other;
        other = const_cast<Texel*>(above);
    }
}

/// Adds levels until one cannot be written as stored or has another format than the source.
void add_levels(Job& job, std::span<const Step> steps, std::span<const detail::Launch> launches) {
    const auto total = [](const Halving& axis) { return Box{}.taps(axis, 0).total; };
    for (; job.count < steps.size(); ++job.count) {
        const Step& step = steps[job.count];
        const std::optional<StoredRows> rows = stored_rows(launches[job.count].target());
        if (!rows || rows->texels.format.stored != job.above.texels.format.stored) return;
        const Sides sides = sides_between(step.from, step.level.extent());
        job.levels[job.count] = {*rows, sides.x, sides.y, total(sides.x) * total(sides.y)};
    }
}

/// Chooses the tiles.
void set_tiles(Job& job) {
    const detail::PixelTarget& first = job.levels[0].rows.texels;
    const bool is_one = first.width * first.height <= kPixelsOfOneTile;
    if (!is_one && first.height > 1) job.count = std::min(job.count, kTileLevels);
    const detail::PixelTarget& last = job.levels[job.count - 1].rows.texels;
    job.tile[0] = is_one ? last.width : first.height > 1 ? kTileSide : kRowTile;
    job.tile[1] = is_one ? last.height : kTileSide;
}

/// Returns the number of texels of the largest part of a level in shared memory, where rows begin at multiples of
/// `pixels`.
unsigned texels_of_part(const Job& job, unsigned level, unsigned pixels) {
    if (level + 1 >= job.count) return 0;
    const detail::PixelTarget& last = job.levels[job.count - 1].rows.texels;
    unsigned width = std::min(job.tile[0], last.width), height = std::min(job.tile[1], last.height);
    for (unsigned i = job.count - 1; i > level; --i) {
        width = std::min(2 * width + 1, job.levels[i - 1].rows.texels.width);
        height = std::min(2 * height + 1, job.levels[i - 1].rows.texels.height);
    }
    return (width + pixels - 1) / pixels * pixels * height;
}

}  // namespace

std::size_t enqueue_tiles(std::span<const Step> steps, std::span<const detail::Launch> launches) {
    const std::optional<StoredRows> above = rows_above(steps[0]);
    if (!above) return 0;
    Job job{*above, {}, 0, {}, 0, steps[0].from.depth > 1};
    add_levels(job, steps.first(levels_apart(steps)), launches);
    if (job.count == 0) return 0;
    set_tiles(job);
    const bool enqueued = detail::with_stored_values(above->texels.format.stored, [&]<class Format, int channels>() {
        using Texels = RowTexels<Format, channels>;
        constexpr auto kPixels = static_cast<unsigned>(Texels::kPixels);
        job.buffer_texels = texels_of_part(job, 0, kPixels);
        const unsigned texels = job.buffer_texels + texels_of_part(job, 1, kPixels);
        const detail::PixelTarget& last = job.levels[job.count - 1].rows.texels;
        const auto tiles = [](unsigned side, unsigned tile) { return (side + tile - 1) / tile; };
        void* arguments[] = {&job};
        detail::launch_blocks(launches.first(job.count),
                              reinterpret_cast<const void*>(&make_levels_of_tiles<Format, channels>), arguments,
                              {{tiles(last.width, job.tile[0]) * tiles(last.height, job.tile[1]), 1, last.depth},
                               {kThreads, 1},
                               texels * static_cast<unsigned>(sizeof(typename Texels::Texel))});
        return true;
    });
    return enqueued ? job.count : 0;
}

}  // namespace texton::mip
