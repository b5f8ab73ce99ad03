#pragma once
// The internal state of a StreamedTexture.
//
// Tiles go through these steps: requested (in the queue), being read into a staging buffer by a thread, ready,
// resident. rebuild() derives the queue from the requests. update() moves tiles from step to step.
//
// Each change of the requests begins a generation. Tiles that are requested in the current generation keep their memory
// while others have some; see TileNeed. Coarser tiles over missing tiles are read before them. If all requested tiles
// fit into the budget, the coarser tiles are not protected, so that they cannot take the memory of requested ones.
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/pinned.h>
#include <texton/streamed_texture.h>

#include "arrays/streaming/feedback_buffer.h"
#include "arrays/streaming/tile_grid.h"
#include "arrays/streaming/tile_map.h"
#include "arrays/streaming/tile_reader.h"
#include "arrays/streaming/tile_slots.h"

namespace texton::detail {

/// Name of the class in messages.
inline constexpr const char* kStreamed = "texton::StreamedTexture";

/// Throws an Error of a streamed texture.
[[noreturn]] void refuse_streamed(ErrorCode code, std::string problem, std::string remedy,
                                  std::vector<ErrorNumber> numbers = {});

/// A tile to read. The order of the members is the order of the queue.
struct QueuedTile {
    float weight = 1;
    int level = 0;
    float distance = 0;  ///< squared, from the center of the view; 1 is the size of the level
    TileNumber tile = 0;
    bool optional = false;  ///< a coarser tile over a requested one

    /// Returns true if this tile is read first.
    bool before(const QueuedTile& other) const noexcept {
        if (weight != other.weight) return weight > other.weight;
        if (level != other.level) return level > other.level;
        return distance != other.distance ? distance < other.distance : tile < other.tile;
    }
};

/// A level of a layer that is always resident.
struct ResidentPart {
    int level = 0;
    std::size_t layer = 0;
    bool stale = false;               ///< must be read again
    bool reading = false;             ///< `texels` is in use by a thread
    std::vector<std::byte> texels{};  ///< while it is read
    std::string failure{};            ///< of the last read
};

/// A staging buffer that is in use. One call reads neighbors in a row into consecutive buffers, as one box: each row of
/// texels contains the texels of all neighbors. So these buffers become free together.
struct Staged {
    TileNumber tile = 0;
    std::uint32_t first = 0;  ///< buffer of the first neighbor
    std::uint32_t count = 1;  ///< number of neighbors
    std::uint32_t users = 0;  ///< in the first buffer: tiles of the box that still need its texels
};

/// A finished read that waits for its copy to the device.
struct ReadyTile {
    TileNumber tile = 0;
    std::uint32_t staging = 0;
};

class StreamedState {
public:
    StreamedState(const Device& device, TilePyramid pyramid, const StreamedTextureInfo& options);
    ~StreamedState();
    StreamedState(const StreamedState&) = delete;
    StreamedState& operator=(const StreamedState&) = delete;

    // The functions of StreamedTexture.
    const SparseArray& array() const noexcept { return array_; }
    const TileGrid& grid() const noexcept { return grid_; }
    int first_level() const noexcept { return first_level_; }
    const Texture& texture(int clamp) const;
    void request(std::span<const StreamedView> views);
    StreamingProgress update(const Stream& stream, std::chrono::microseconds limit);
    void wait_for_reads(std::chrono::microseconds limit) const { reader_->wait(limit); }
    StreamedSamples sample(std::span<const FetchPoint> points, FetchOperation operation);
    StreamedFeedback feedback(std::size_t pixels);
    std::size_t budget() const;
    std::size_t minimum_budget() const noexcept { return resident_slots_ * kTileBytes; }
    void set_budget(std::size_t bytes);
    void invalidate(const StreamedView* view);
    void abort();
    std::vector<StreamingFailure> failures() const;
    StreamingStatistics statistics() const;

private:
    using Clock = std::chrono::steady_clock;
    struct StagedCopies {
        Event done;
        std::vector<std::uint32_t> staging;
    };
    struct Request {
        TileNumber tile;
        float weight;
        float distance;
    };
    struct Batch;

    // Construction.
    void choose_level(const Device& device);
    void make_array(const Device& device);
    void load_resident_levels(const Device& device);

    // Requests.
    Region check_view(const StreamedView& view) const;
    Region swept_region(const StreamedView& view, const Region& region, std::size_t index) const;
    void rebuild();
    void join_neighbors();
    void add_ancestors(const QueuedTile& missing, bool fits, TileMap<QueuedTile>& queued);
    TileNeed need_of(TileNumber tile) const;

    // Steps of update().
    void recycle_staging();
    void take_requests(StreamingProgress& progress);
    void take_reads();
    void take_resident_part(std::size_t index, FinishedRead& finished);
    void drop_stale_tiles(const Stream& stream, StreamingProgress& progress);
    void fit_to_budget(const Stream& stream, StreamingProgress& progress, Clock::time_point end);
    void evict(const std::vector<TileNumber>& tiles, const Stream& stream, StreamingProgress& progress);
    void copy_resident_parts(const Stream& stream);
    bool place_tiles(std::size_t most, const Stream& stream, StreamingProgress& progress);
    bool choose_tiles(std::size_t most, Batch& batch);
    void take_slots(Batch& batch);
    void copy_tiles(const Batch& batch, const Event& done, const Stream& stream);
    void drop(ReadyTile tile);
    void start_reads();
    void choose_reads(std::vector<TileRead>& reads);
    bool choose_read(ResidentTiles::Victims& victims, std::vector<TileRead>& reads);
    /// Returns true if the tiles are neighbors in a row that a block of slots can contain.
    bool joins(TileNumber tile, TileNumber before) const {
        return tile == before + 1 && grid_.column(tile) % TileBlocks::kSlots != 0;
    }
    void give_staging(std::uint32_t buffer) noexcept;
    Region staged_region(std::uint32_t first, std::uint32_t count) const;
    void add_copy(std::uint32_t first, std::uint32_t count, CopyBatch& copies) const;
    bool may_be_read(const QueuedTile& queued, ResidentTiles::Victims& victims, std::size_t reserved, bool& waits);
    std::size_t box_bytes(const Extent& extent) const;
    void take_tile(std::uint32_t buffer, const FinishedRead& finished);
    void start_resident_parts();
    void stop_read(TileNumber tile);
    bool gathers() const noexcept;
    std::size_t fitting_tiles(Clock::duration time) const noexcept;
    void note_time(Clock::duration time, std::size_t tiles) noexcept;
    std::size_t pending() const;
    std::size_t most_blocks() const noexcept { return (capacity_ + TileBlocks::kSlots - 1) / TileBlocks::kSlots; }

    void finish_updates() const;
    PyramidBox box_of(TileNumber tile) const;
    View view_of(int level, std::size_t layer, const Region& region) const;

    mutable std::mutex mutex_;
    TilePyramid pyramid_;
    StreamedTextureInfo options_;
    int first_level_ = 0;
    SparseArray array_;
    std::unique_ptr<TilePool> pool_;
    TileGrid grid_;
    std::vector<Texture> textures_;  // by clamp
    std::vector<ResidentPart> parts_;
    std::vector<std::size_t> copied_parts_;  // read again, not yet copied
    std::size_t resident_slots_ = 0;         // of the levels that are always resident
    std::size_t resident_chunks_ = 0;

    std::size_t capacity_ = 0;  // tiles
    std::unique_ptr<TileBlocks> blocks_;
    ResidentTiles tiles_;
    bool exceeds_budget_ = false;  // tiles lose their memory in the next updates
    bool trims_ = false;           // memory returns to the device in the next updates

    std::vector<Request> views_;         // the last request()
    std::vector<StreamedView> asked_;    // its views
    std::vector<TileNumber> ahead_;      // tiles that these will probably reach
    std::vector<TileNumber> fetched_;    // by sample() and kernels, the last time
    std::vector<TileNumber> collected_;  // by sample() since the last update
    bool has_collected_ = false;
    TileMap<int> used_;              // by the last launches; transfers since they were noted
    int calls_since_fetches_ = 0;    // of request(), since fetched_ and used_ were set
    std::vector<TileNumber> stale_;  // resident, to be unmapped
    std::uint64_t generation_ = 1;
    bool changed_ = false;  // rebuild() is necessary
    TileSet needed_;
    std::size_t missing_ = 0;   // of needed_
    TileMap<TileNeed> wanted_;  // needed_ and coarser tiles over missing ones
    std::vector<QueuedTile> queue_;
    std::size_t next_ = 0;  // in the queue
    TileSet unfit_;
    std::unordered_map<TileNumber, std::string> failed_;
    TileSet alone_;  // to be read by calls of their own: a call for several tiles has failed

    std::unique_ptr<FeedbackBuffer> feedback_;

    Pinned staging_;
    FreeBuffers free_staging_;
    std::vector<Staged> staged_;      // by staging buffer
    TileMap<std::uint32_t> reading_;  // staging buffer of tiles that are read or ready
    std::vector<ReadyTile> ready_;
    std::deque<StagedCopies> copies_;  // enqueued by update()
    Event unmapped_;                   // after the last evictions without copies
    Clock::duration tile_time_{};      // of the calls that make a tile resident

    StreamingStatistics counts_;
    Clock::time_point created_ = Clock::now();
    std::unique_ptr<TileReader> reader_;
};

}  // namespace texton::detail
