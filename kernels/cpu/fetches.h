#pragma once
// The fetches of a block of pixels on the CPU device, for functors with kMayBeCalledWithZeros = true.
//
// A functor requests one texel after the other, but the vectors of RowSampler need the same fetch of many pixels. So
// plain fetches of 1D and 2D textures are recorded and return zeros at first: the functor's first fetch of all pixels
// forms one lane, its second fetch the next lane. Then the lanes are fetched, and the functor is called again and gets
// the real texels. If a coordinate depends on the result of an earlier fetch, the functor now requests another
// coordinate, which is recorded again. Other fetches, and all fetches after a maximum number of rounds or lanes, are
// executed at once.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/source.h>

#include "arrays/cpu/texture.h"
#include "kernels/cpu/direct_fetches.h"
#include "kernels/cpu/job.h"

namespace texton::detail {

class RecordedFetches {
public:
    static constexpr std::size_t kPixels = 128;  // maximum number of pixels of a block

    /// The job and `refused` must outlive this object.
    RecordedFetches(const CpuJob& job, RefusedFetch& refused);
    ~RecordedFetches();
    RecordedFetches(const RecordedFetches&) = delete;
    RecordedFetches& operator=(const RecordedFetches&) = delete;

    /// Starts a block of this many pixels.
    void start(std::size_t pixels);
    /// Starts a pixel. Returns false if all its fetches are known and the functor need not be called for it.
    bool begin(std::size_t pixel);
    /// Returns a texel for the current pixel, or records the fetch and returns zeros.
    Texel fetch(std::size_t texture, ArrayKind kind, FetchOperation operation, const FetchPoint& at, int component);
    /// Executes the recorded fetches. Returns true if there were none; otherwise the functor must be called again.
    bool settle();

private:
    struct Lane {
        std::size_t texture;
        std::int32_t layer;
        bool is_recorded;  // some of its coordinates are not fetched yet
        float x[kPixels];
        float y[kPixels];
        bool known[kPixels];
        Texel texels[kPixels];
    };
    struct Rows {
        std::size_t texture;
        std::int32_t layer;
        std::unique_ptr<RowSampler> sampler;
    };

    Lane& add_lane(std::size_t texture, const FetchPoint& at);
    const RowSampler& rows(std::size_t texture, std::int32_t layer);

    static constexpr std::size_t kMaxLanes = 64;
    static constexpr int kMaxRounds = 12;

    /// Which fetches of a texture are recorded.
    struct Recorded {
        std::optional<ArrayKind> kind;  // null: none
        bool flat;                      // y is always 0
    };

    std::vector<Recorded> recorded_;    // of each texture
    std::deque<DirectFetches> direct_;  // of each texture
    std::vector<Rows> rows_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::size_t used_lanes_ = 0;
    std::size_t pixels_ = 0;
    std::size_t pixel_ = 0;
    std::size_t next_lane_ = 0;  // of the current pixel
    int round_ = 0;
    bool waiting_[kPixels];  // whether the functor must be called for the pixel
};

}  // namespace texton::detail
