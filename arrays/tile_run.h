#pragma once
// What stands behind TilePool and Tiles: slots of 64 KiB in chunks of physical memory, and what is mapped to them.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include <texton/sparse_array.h>
#include <texton/tile_pool.h>

#include "core/backend.h"

namespace texton::detail {

struct TileSlot {
    std::uint32_t mapped = 0;   // places that show it
    std::uint32_t leaving = 0;  // of these, places that an exchange under way takes from it
    /// The end of the last unmapping, which came after all others and after the work before them.
    std::shared_ptr<const Event> last_unmapped;
};

/// Physical memory, and its slots.
struct TileChunk {
    TileChunk(Backend& backend, std::size_t id) noexcept : backend(&backend), id(id) {}
    ~TileChunk();
    TileChunk(const TileChunk&) = delete;
    TileChunk& operator=(const TileChunk&) = delete;

    Backend* backend;
    std::size_t id;
    PhysicalHandle memory = nullptr;
    std::vector<TileSlot> slots;
};

struct TilePoolState {
    TilePoolState(const Device& device, const TilePoolInfo& info) : device(device), info(info) {}
    ~TilePoolState();
    TilePoolState(const TilePoolState&) = delete;
    TilePoolState& operator=(const TilePoolState&) = delete;

    Device device;
    TilePoolInfo info;
    std::size_t granularity = 0;

    std::mutex mutex;
    std::map<std::size_t, std::shared_ptr<TileChunk>> chunks;                // by id
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> free;         // chunk and first slot -> slots
    std::set<std::tuple<std::size_t, std::size_t, std::size_t>> free_sizes;  // the same as slots, chunk, first slot
    std::size_t held = 0;                                                    // slots
    std::size_t unused = 0;                                                  // slots
    std::size_t next_id = 0;
};

/// Slots that were handed out. They go back when the last handle and the last mapping of the run are gone.
struct TileRun {
    ~TileRun();

    std::shared_ptr<TilePoolState> pool;
    TileChunk* chunk = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;

    std::size_t byte_offset(std::size_t slot) const noexcept { return (first + slot) * kTileBytes; }
};

/// Error{released} for Tiles that hold nothing.
TileRun& live(const Tiles& tiles, const char* object);

/// How many of its slots are mapped somewhere.
std::size_t mapped_slots(const TileRun& run);
/// What the chunk's memory still waits for.
std::vector<std::shared_ptr<const Event>> last_unmappings(const TileChunk& chunk);

/// Slots of a run, one after the other.
struct SlotRange {
    std::shared_ptr<TileRun> run;
    std::size_t first = 0;
    std::size_t count = 0;

    std::span<TileSlot> slots() const noexcept;
};

/// A change of what is mapped to which slots: counted when it is made, taken back unless it is committed.
class SlotExchange {
public:
    /// Error{overlap} if aliasing is refused and a slot would be mapped twice.
    SlotExchange(std::vector<SlotRange> arriving, std::vector<SlotRange> leaving, Aliasing aliasing,
                 const char* object);
    ~SlotExchange();
    SlotExchange(const SlotExchange&) = delete;
    SlotExchange& operator=(const SlotExchange&) = delete;

    /// What follows on the stream comes after the work of what was mapped to any of the slots before.
    void wait(const Stream& stream) const;
    /// The event marks the end of the work that leaves the slots.
    void commit(const std::shared_ptr<const Event>& done) noexcept;

private:
    template <class Visit>
    void each_slot(Visit visit) const;
    void take_back() noexcept;

    std::vector<SlotRange> arriving_;
    std::vector<SlotRange> leaving_;
    bool committed_ = false;
};

/// The slots lose a place that showed them, whose array is gone together with its work.
void release_slots(const SlotRange& range) noexcept;

}  // namespace texton::detail
