#pragma once
// The fetches of a block of pixels on the CPU device, for functors with kMayBeCalledWithZeros = true.
//
// A functor requests one texel after the other, but the vectors of RowSampler need the same fetch of many pixels. So
// plain fetches of 1D and 2D textures are recorded and return zeros at first: the functor's first fetch of all pixels
// forms one lane, its second fetch the next lane. Then the lanes are fetched, and the functor is called again and gets
// the real texels. If a coordinate depends on the result of an earlier fetch, the functor now requests another
// coordinate, which is recorded again, in the next round. Lanes remember in which round their coordinates were known,
// so that the following blocks do not fetch them earlier. Other fetches, and all fetches after a maximum number of
// rounds or lanes, are executed at once.
//
// If all pixels of a block made the same one or two fetches, the next blocks are expected to do so too. Then the
// functor is called in loops that compilers can vectorize. If the compiler found that the functor returns the last
// fetch unchanged, the texels are stored as pixels.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/launch.h>
#include <texton/source.h>

#include "arrays/cpu/texture.h"
#include "kernels/cpu/direct_fetches.h"
#include "kernels/cpu/job.h"

namespace texton::detail {

class BlockFetches : public RecordedFetches {
public:
    /// The job and `refused` must outlive this object.
    BlockFetches(const CpuJob& job, RefusedFetch& refused);
    ~BlockFetches();
    BlockFetches(const BlockFetches&) = delete;
    BlockFetches& operator=(const BlockFetches&) = delete;

    /// Computes and stores a block of pixels that make the same fetches as those before. Returns false if they do not,
    /// or if that is unknown; then the pixels are not stored. `room` has an element for each pixel.
    bool run_planned(const PlannedFunction& planned, std::span<const RecordingSource> sources, PixelPosition at,
                     std::span<Float4> room);
    /// Starts a block of this many pixels.
    void start(std::size_t pixels);
    /// Returns a texel for the current pixel, or records the fetch and returns zeros.
    Texel fetch(std::size_t texture, ArrayKind kind, FetchOperation operation, const FetchPoint& at, int component);
    /// Executes the recorded fetches. Returns true if all pixels are known; otherwise the functor must be called again.
    bool settle();

private:
    struct Rows {
        std::size_t texture;
        std::int32_t layer;
        std::unique_ptr<RowSampler> sampler;
    };

    void plan();
    RecordedLane& add_lane(std::size_t texture, ArrayKind kind, std::int32_t layer);
    const RowSampler& rows(std::size_t texture, std::int32_t layer);

    static constexpr std::size_t kMaxLanes = 64;
    static constexpr int kMaxRounds = 12;

    const CpuJob& job_;
    std::vector<std::optional<ArrayKind>> recorded_;  // of each texture: the kind whose plain fetches are recorded
    std::deque<DirectFetches> direct_;                // of each texture
    std::vector<Rows> rows_;
    std::deque<RecordedLane> lanes_;  // in the order of the functor's fetches; kept for the next blocks
    std::size_t used_lanes_ = 0;
    std::size_t pixels_ = 0;
    PlannedFetches plan_;   // no fetches: unknown
    bool can_plan_ = true;  // false: some pixels made other fetches than planned
};

}  // namespace texton::detail
