#pragma once
// The memory in which kernels note tiles of a streamed texture, and its transfer to the host.
#include <cstdint>
#include <vector>

#include <texton/array_info.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/streamed_feedback.h>

#include "arrays/streaming/tile_grid.h"

namespace texton::detail {

/// What kernels have noted.
struct NotedTiles {
    std::vector<TileNumber> missing;
    std::vector<TileNumber> used;
    std::size_t overflow = 0;  ///< distinct tiles that did not fit into the lists
};

/// Must not be shared by threads.
class FeedbackBuffer {
public:
    FeedbackBuffer(const Device& device, const ArrayInfo& info, const TileGrid& grid, const Sampler& sampler,
                   std::uint32_t capacity);
    ~FeedbackBuffer();
    FeedbackBuffer(const FeedbackBuffer&) = delete;
    FeedbackBuffer& operator=(const FeedbackBuffer&) = delete;

    /// Returns the description for a launch. The next collect() transfers its tiles.
    const StreamedFeedback& for_launch() noexcept {
        launched_ = true;
        return description_;
    }
    /// Enqueues the transfer and the reset of the lists, if there was a launch and no transfer is in flight.
    void collect(const Stream& stream);
    /// Returns true if collect() has something to do or a transfer is in flight.
    bool pending() const noexcept { return launched_ || in_flight_; }
    /// Moves the tiles of a complete transfer to `noted`. Returns false if there is none.
    bool take(NotedTiles& noted);

private:
    Linear memory_;
    Pinned copy_;
    Event done_;
    StreamedFeedback description_;
    bool launched_ = false;
    bool in_flight_ = false;
};

}  // namespace texton::detail
