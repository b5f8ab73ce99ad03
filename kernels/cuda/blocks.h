#pragma once
// Launches of CUDA kernels that use shared memory, which launch() does not provide.
#include <span>

#include <texton/launch.h>

namespace texton::detail {

struct BlockGrid {
    unsigned blocks[3];
    unsigned threads[2];
    unsigned shared_bytes = 0;  ///< dynamic shared memory, in addition to the static memory of the kernel
    unsigned cluster = 1;       ///< consecutive blocks in x that run at the same time and share their memory
};

/// Returns how many blocks the launch's device runs at the same time if the CUDA kernel uses at most 64 registers per
/// thread. Returns 0 if a block needs more shared memory than the device has. Errors carry the launch's object.
[[nodiscard]] unsigned blocks_at_once(const Launch& launch, unsigned threads, unsigned shared_bytes);

/// Returns how many clusters the launch's device runs at the same time, or 0 if the device, or the code of the CUDA
/// kernel that it runs, has no clusters. The answer is kept for each CUDA kernel, so all grids of a CUDA kernel must
/// have the same threads, shared memory and cluster.
[[nodiscard]] unsigned clusters_at_once(const Launch& launch, const void* kernel, const BlockGrid& grid);

/// Returns the first row of the image that is computed (kernels/launch/image_rows.h).
[[nodiscard]] unsigned first_row_of(const Launch& launch);

/// Blocks that process strips of an image from top to bottom.
struct StripBlocks {
    unsigned strips;  ///< blocks beside each other, times the slices
    unsigned height;  ///< rows of the image
    unsigned runs;    ///< of rows, below each other, that a block processes at the same time
    unsigned rows;    ///< of a run, if the image is large
    unsigned min_rows = 4;
};

/// Returns how many rows a run has: StripBlocks::rows, divided by two until all multiprocessors have work, but at least
/// StripBlocks::min_rows. Short runs keep the rows that are processed at the same time close to each other in memory,
/// while long runs repeat less work.
[[nodiscard]] unsigned rows_of_runs(const Launch& launch, const StripBlocks& blocks);

/// Blocks that process strips of an image from top to bottom, and start with rows above the first one that they write.
struct RestartedBlocks {
    unsigned strips;   ///< blocks beside each other, times the slices
    unsigned height;   ///< rows of the image
    unsigned step;     ///< rows that a block processes at a time
    unsigned before;   ///< rows that a block processes before its first row of the image is complete
    unsigned at_once;  ///< blocks that run at the same time
};

/// Returns the number of rows of a block, a multiple of RestartedBlocks::step, with which all blocks are estimated to
/// finish first. Blocks run in rounds of as many as run at the same time.
[[nodiscard]] unsigned rows_of_block(const RestartedBlocks& blocks);
/// Does the same for blocks with `min_rows` to `max_rows` rows, which are small multiples of RestartedBlocks::step. The
/// number is `max_rows` if there are many rounds.
[[nodiscard]] unsigned rows_of_block(const RestartedBlocks& blocks, unsigned min_rows, unsigned max_rows);

/// Enqueues a CUDA kernel that reads the textures of the launches and writes their images. `arguments` are pointers to
/// the arguments of the CUDA kernel. All launches must be for the same stream. The memory stays allocated until the
/// CUDA kernel is done, as with launch().
void launch_blocks(std::span<const Launch> launches, const void* kernel, void** arguments, const BlockGrid& grid);

}  // namespace texton::detail
