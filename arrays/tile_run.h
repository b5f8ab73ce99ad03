#pragma once
// The internal state of TilePool and Tiles: slots of 64 KiB in chunks of physical memory, and their mappings.
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

/// The mappings of a slot. A global mutex in tile_run.cpp protects it.
struct TileSlot {
    std::uint32_t mapped = 0;   // number of tiles that are mapped to the slot
    std::uint32_t leaving = 0;  // number of these that a pending SlotExchange unmaps
    /// The end of the last unmapping. It is ordered after all earlier unmappings and the work before them.
    std::shared_ptr<const Event> last_unmapped;
};

/// A piece of physical memory and its slots.
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

/// Free runs of a pool by position, to merge neighboring runs: (chunk, first slot) -> number of slots.
using FreeRuns = std::map<std::pair<std::size_t, std::size_t>, std::size_t>;
/// Free runs by size, to find the best fit: (number of slots, chunk, first slot).
using FreeSizes = std::set<std::tuple<std::size_t, std::size_t, std::size_t>>;

/// The memory of a free run's entries. Allocated runs keep it, so that nothing is allocated when they become free.
struct FreeNodes {
    FreeRuns::node_type run;
    FreeSizes::node_type size;
};

/// The state of a pool. The mutex protects the members below it.
struct TilePoolState {
    TilePoolState(const Device& device, const TilePoolInfo& info) : device(device), info(info) {}
    ~TilePoolState();
    TilePoolState(const TilePoolState&) = delete;
    TilePoolState& operator=(const TilePoolState&) = delete;

    Device device;
    TilePoolInfo info;
    std::size_t granularity = 0;

    std::mutex mutex;
    std::map<std::size_t, std::shared_ptr<TileChunk>> chunks;  // by id
    FreeRuns free;
    FreeSizes free_sizes;
    std::size_t held = 0;    // slots
    std::size_t unused = 0;  // slots
    std::size_t next_id = 0;
};

/// A run of allocated slots. Tiles objects and mappings keep it alive. Its destructor returns the slots to the pool.
struct TileRun {
    ~TileRun();

    std::shared_ptr<TilePoolState> pool;
    TileChunk* chunk = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;
    FreeNodes nodes;

    std::size_t byte_offset(std::size_t slot) const noexcept { return (first + slot) * kTileBytes; }
};

/// Returns the run of a Tiles object. Throws Error{released} if the object is empty.
TileRun& live(const Tiles& tiles, const char* object);

/// Returns the number of slots of the run that are mapped. Thread-safe.
std::size_t mapped_slots(const TileRun& run);
/// Returns the events that must be complete before the memory of the chunk is freed. Thread-safe.
std::vector<std::shared_ptr<const Event>> last_unmappings(const TileChunk& chunk);

/// Consecutive slots of a run. `first` is relative to the run.
struct SlotRange {
    std::shared_ptr<TileRun> run;
    std::size_t first = 0;
    std::size_t count = 0;

    std::span<TileSlot> slots() const noexcept;
};

/// A change of the mappings of slots. The constructor counts the new mappings. The destructor undoes this unless
/// commit() was called. Changes of different arrays may happen at once in several threads.
class SlotExchange {
public:
    /// Registers mappings to `arriving` slots and the removal of mappings from `leaving` slots. Throws Error{overlap}
    /// if aliasing is refused and a slot would be mapped twice.
    SlotExchange(std::vector<SlotRange> arriving, std::vector<SlotRange> leaving, Aliasing aliasing,
                 const char* object);
    ~SlotExchange();
    SlotExchange(const SlotExchange&) = delete;
    SlotExchange& operator=(const SlotExchange&) = delete;

    /// Orders later work of the stream after the work of arrays that were mapped to these slots before.
    void wait(const Stream& stream) const;
    /// Makes the change final. The event marks the end of the unmapping.
    void commit(const std::shared_ptr<const Event>& done) noexcept;

private:
    template <class Visit>
    void each_slot(Visit visit) const;
    void take_back() noexcept;

    std::vector<SlotRange> arriving_;
    std::vector<SlotRange> leaving_;
    bool committed_ = false;
};

/// Removes one mapping of each slot, whose array has been destroyed after its work was complete. Thread-safe.
void release_slots(const SlotRange& range) noexcept;

}  // namespace texton::detail
