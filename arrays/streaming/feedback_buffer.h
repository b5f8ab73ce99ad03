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
    bool in_turns = false;     ///< only some pixels have noted the tiles that they used
};

/// Must not be shared by threads.
class FeedbackBuffer {
public:
    FeedbackBuffer(const Device& device, const ArrayInfo& info, const TileGrid& grid, const Sampler& sampler,
                   std::uint32_t capacity);
    ~FeedbackBuffer();
    FeedbackBuffer(const FeedbackBuffer&) = delete;
    FeedbackBuffer& operator=(const FeedbackBuffer&) = delete;

    /// Returns the description for a launch that computes a number of pixels. The next collect() transfers its tiles.
    StreamedFeedback for_launch(std::size_t pixels) noexcept {
        StreamedFeedback own = description_;
        if (pixels >= kManyPixels) {
            turn_ = (turn_ + kTurnStep) % StreamedFeedback::kTurns;
            own.turn = turn_;
            own.turn_mask = StreamedFeedback::kTurns - 1;
            takes_turns_ = true;
        }
        launched_ = true;
        return own;
    }
    /// Enqueues the transfer and the reset of the lists, if there was a launch and no transfer is in flight.
    void collect(const Stream& stream);
    /// Returns true if collect() has something to do or a transfer is in flight.
    bool pending() const noexcept { return launched_ || in_flight_; }
    /// Moves the tiles of a complete transfer to `noted`. Returns false if there is none.
    bool take(NotedTiles& noted);

private:
    static constexpr std::size_t kManyPixels = std::size_t{1} << 18;  // then pixels note used tiles in turns
    static constexpr std::uint32_t kTurnStep = 27;  // odd, so that all turns follow each other, and not adjacent ones

    Linear memory_;
    Pinned copy_;
    Event done_;
    StreamedFeedback description_;
    std::uint32_t turn_ = 0;
    bool launched_ = false;
    bool takes_turns_ = false;  // a launch since the last transfer
    bool in_flight_ = false;
    bool in_turns_ = false;  // what is in flight
};

}  // namespace texton::detail
