#pragma once
// Launches of kernels whose threads share memory, which launch() has none of.
#include <span>

#include <texton/launch.h>

namespace texton::detail {

struct BlockGrid {
    unsigned blocks[3];
    unsigned threads[2];
    unsigned shared_bytes = 0;  ///< beside what the kernel declares
};

/// Blocks that the stream's device runs at once, of a kernel that takes at most 64 registers a thread; 0 if one needs more
/// shared memory than there is.
[[nodiscard]] unsigned blocks_at_once(const Stream& stream, unsigned threads, unsigned shared_bytes);

/// Enqueues a kernel that takes what `arguments` point to, reads the textures of the launches and writes their images: as
/// launch() does for a functor. All launches are of one stream.
void launch_blocks(std::span<const Launch> launches, const void* kernel, void** arguments, const BlockGrid& grid);

}  // namespace texton::detail
