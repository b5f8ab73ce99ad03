// Division of images into tiles, one task each. The order of the tiles does not depend on the threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

#include "core/parallel.h"
#include "kernels/metrics/texels.h"

namespace texton::detail {

/// A rectangle of texels of one slice.
struct Tile {
    Offset at;
    std::size_t width;
    std::size_t height;
};

inline std::vector<Tile> tiles_of(Extent extent, std::size_t width, std::size_t height) {
    std::vector<Tile> tiles;
    for (std::size_t z = 0; z < extent.depth; ++z) {
        for (std::size_t y = 0; y < extent.height; y += height) {
            for (std::size_t x = 0; x < extent.width; x += width) {
                tiles.push_back({{x, y, z}, std::min(width, extent.width - x), std::min(height, extent.height - y)});
            }
        }
    }
    return tiles;
}

/// Reports to the caller's function how much of the total work is done. Thread-safe.
class Progress {
public:
    Progress(std::function<void(double)> report, double all) : report_(std::move(report)), all_(all) {}
    void add(double work) {
        if (!report_) return;
        const std::lock_guard lock(mutex_);
        done_ += work;
        report_(std::min(done_ / all_, 1.0));
    }

private:
    std::function<void(double)> report_;
    double all_;
    double done_ = 0;
    std::mutex mutex_;
};

/// Calls body(scratch, i) for every i below `count`, on all cores. Each worker has its own Scratch. `work` is the work
/// of all calls together.
template <class Scratch, class Body>
void for_each_piece(std::size_t count, Progress& progress, double work, const Body& body) {
    const std::size_t workers = std::min(count, cpu_cores());
    std::atomic<std::size_t> next = 0;
    run_in_parallel(workers, [&](std::size_t) {
        Scratch scratch;
        for (std::size_t i = next++; i < count; i = next++) {
            body(scratch, i);
            progress.add(work / static_cast<double>(count));
        }
    });
}

/// Returns true if the bytes of the tile are the same in both images.
inline bool same_bytes(const TexelReader& a, const TexelReader& b, const Tile& tile) {
    for (std::size_t y = 0; y < tile.height; ++y) {
        const Offset at{tile.at.x, tile.at.y + y, tile.at.z};
        if (std::memcmp(a.bytes(at), b.bytes(at), tile.width * a.texel_bytes()) != 0) return false;
    }
    return true;
}

}  // namespace texton::detail
