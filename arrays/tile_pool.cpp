#include <texton/tile_pool.h>

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/physical.h>

#include "arrays/tile_run.h"
#include "core/request.h"

// The pool is a best-fit allocator for runs of slots. Free runs are stored twice: by position, to merge neighboring
// runs, and by size, to find the best fit. A freed slot keeps the event of its last unmapping. The next mapping waits
// for this event on its stream. The host waits for it only before the memory is returned to the device.

namespace texton {
namespace {

constexpr const char* kPool = "texton::TilePool";
constexpr const char* kTiles = "texton::Tiles";

using detail::FreeNodes;
using detail::TileChunk;
using detail::TilePoolState;
using detail::TileRun;

std::size_t slots_of(std::size_t bytes) { return bytes / kTileBytes + (bytes % kTileBytes != 0); }

PhysicalInfo tile_memory(const Device& device) { return {.location = Location::device(device), .tile_pool = true}; }

FreeNodes make_nodes() {
    detail::FreeRuns runs{{}};
    detail::FreeSizes sizes{{}};
    return {runs.extract(runs.begin()), sizes.extract(sizes.begin())};
}

void add_free(TilePoolState& pool, FreeNodes nodes, std::size_t chunk, std::size_t first, std::size_t count) noexcept {
    nodes.run.key() = {chunk, first};
    nodes.run.mapped() = count;
    nodes.size.value() = {count, chunk, first};
    pool.free.insert(std::move(nodes.run));
    pool.free_sizes.insert(std::move(nodes.size));
    pool.unused += count;
}

FreeNodes remove_free(TilePoolState& pool, std::size_t chunk, std::size_t first, std::size_t count) noexcept {
    pool.unused -= count;
    return {pool.free.extract(std::pair(chunk, first)), pool.free_sizes.extract(std::tuple(count, chunk, first))};
}

// Frees chunks whose slots are all free and have no pending work, until the pool holds at most `keep` slots.
void trim_to(TilePoolState& pool, std::size_t keep) {
    for (auto at = pool.chunks.begin(); at != pool.chunks.end() && pool.held > keep;) {
        const TileChunk& chunk = *at->second;
        const auto free = pool.free.find(std::pair(chunk.id, std::size_t{0}));
        const std::size_t slots = chunk.slots.size();
        const bool whole = free != pool.free.end() && free->second == slots;
        const auto events = whole ? detail::last_unmappings(chunk) : std::vector<std::shared_ptr<const Event>>{};
        if (!whole || !std::all_of(events.begin(), events.end(), [](const auto& event) { return event->done(); })) {
            ++at;
            continue;
        }
        (void)remove_free(pool, chunk.id, 0, slots);
        pool.held -= slots;
        at = pool.chunks.erase(at);
    }
}

void add_chunk(TilePoolState& pool, std::size_t slots) {
    detail::Backend& backend = pool.device.backend();
    const std::size_t bytes = slots * kTileBytes;
    const auto chunk = std::make_shared<TileChunk>(backend, pool.next_id);
    chunk->memory = detail::request(&backend, kPool, {{"bytes", bytes}},
                                    [&] { return backend.create_physical(bytes, tile_memory(pool.device)); });
    chunk->slots.resize(slots);
    FreeNodes nodes = make_nodes();
    pool.chunks.emplace(chunk->id, chunk);
    add_free(pool, std::move(nodes), chunk->id, 0, slots);
    pool.held += slots;
    ++pool.next_id;
}

[[noreturn]] void refuse_budget(const TilePoolState& pool, std::size_t slots) {
    const std::size_t held = pool.held * kTileBytes;
    const std::size_t longest = pool.free_sizes.empty() ? 0 : std::get<0>(*pool.free_sizes.rbegin());
    throw Error(
        {.code = ErrorCode::out_of_memory,
         .object = kPool,
         .problem = fmt::format("{} slots of 64 KiB were requested, but the longest free run has {}, and the pool "
                                "holds {} of its budget of {} bytes",
                                slots, longest, held, pool.info.budget),
         .remedy = "Release or unmap tiles, or create the pool with a larger budget.",
         .numbers = {{"slots", slots}, {"largest_free", longest}, {"held", held}, {"budget", pool.info.budget}}});
}

// Allocates a chunk of the usual size. It is larger if `slots` needs more, and smaller if the budget or the device does
// not allow the usual size.
void grow(TilePoolState& pool, std::size_t slots) {
    (void)checked_product(slots, kTileBytes * 2, kPool, "slots * 128 KiB");  // the sums below cannot overflow
    const std::size_t unit = pool.granularity / kTileBytes;
    const std::size_t needed = (slots + unit - 1) / unit * unit;
    const std::size_t budget = (pool.info.budget == 0 ? SIZE_MAX : pool.info.budget) / kTileBytes;
    if (needed > budget) refuse_budget(pool, slots);
    detail::refuse_while_recording(kPool, "allocating memory for tiles");
    if (needed > budget - pool.held) trim_to(pool, budget - needed);
    if (needed > budget - pool.held) refuse_budget(pool, slots);
    const std::size_t room = (budget - pool.held) / unit * unit;
    const std::size_t requested = std::min(std::max(needed, pool.info.chunk_bytes / kTileBytes), room);
    try {
        add_chunk(pool, requested);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        trim_to(pool, 0);
        add_chunk(pool, needed);
    }
}

}  // namespace

namespace detail {

TileChunk::~TileChunk() {
    if (memory != nullptr) backend->release_physical(memory);
}

TilePoolState::~TilePoolState() {
    auto release = [chunks = std::move(chunks)]() mutable {
        for (const auto& [id, chunk] : chunks) {
            const Event* last = nullptr;  // neighboring slots often have the same event
            for (const TileSlot& slot : chunk->slots) {
                if (slot.last_unmapped == nullptr || slot.last_unmapped.get() == last) continue;
                last = slot.last_unmapped.get();
                try {
                    last->synchronize();
                } catch (const Error&) {
                    // The device has failed or the driver has shut down, so nothing uses the memory.
                }
            }
        }
        chunks.clear();
    };
    outside_recording(std::move(release));
}

TileRun::~TileRun() {
    if (pool == nullptr) return;
    const std::lock_guard lock(pool->mutex);
    std::size_t begin = first;
    std::size_t end = first + count;
    const auto next = pool->free.lower_bound(std::pair(chunk->id, first));
    if (next != pool->free.end() && next->first == std::pair(chunk->id, end)) end += next->second;
    if (next != pool->free.begin()) {
        const auto previous = std::prev(next);
        if (previous->first.first == chunk->id && previous->first.second + previous->second == begin) {
            begin = previous->first.second;
        }
    }
    if (begin < first) (void)remove_free(*pool, chunk->id, begin, first - begin);
    if (end > first + count) (void)remove_free(*pool, chunk->id, first + count, end - first - count);
    add_free(*pool, std::move(nodes), chunk->id, begin, end - begin);
}

TileRun& live(const Tiles& tiles, const char* object) {
    if (tiles.run() != nullptr) return *tiles.run();
    throw Error({.code = ErrorCode::released,
                 .object = object,
                 .problem = "the Tiles object is empty: it was moved from or never allocated",
                 .remedy = "Allocate tiles with TilePool::allocate()."});
}

}  // namespace detail

double TilePoolUsage::fragmentation() const noexcept {
    return free == 0 ? 0 : 1 - static_cast<double>(largest_free) / static_cast<double>(free);
}

std::size_t Tiles::size() const noexcept { return run_ != nullptr ? run_->count : 0; }
Device Tiles::device() const { return detail::live(*this, kTiles).pool->device; }
std::size_t Tiles::mapped() const { return detail::mapped_slots(detail::live(*this, kTiles)); }

TilePool::TilePool(const Device& device, const TilePoolInfo& info) {
    if (!device.properties().virtual_memory) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = kPool,
                     .problem = fmt::format("{} cannot map memory to arrays", device.name()),
                     .remedy = "Use Array instead of SparseArray or DeferredArray."});
    }
    detail::Backend& backend = device.backend();
    detail::request(&backend, kPool, {}, [&] {
        state_ = std::make_shared<TilePoolState>(device, info);
        state_->granularity = backend.physical_granularity(tile_memory(device), Granularity::minimum);
    });
    if (info.chunk_bytes > 0 && info.chunk_bytes % state_->granularity == 0) return;
    throw Error(
        {.code = ErrorCode::bad_argument,
         .object = kPool,
         .problem = fmt::format("chunks of {} bytes were requested, but the allocation granularity of the device is {}",
                                info.chunk_bytes, state_->granularity),
         .remedy = "Set TilePoolInfo::chunk_bytes to a positive multiple of the granularity.",
         .numbers = {{"chunk_bytes", info.chunk_bytes}, {"granularity", state_->granularity}}});
}

const Device& TilePool::device() const noexcept { return state_->device; }
const TilePoolInfo& TilePool::info() const noexcept { return state_->info; }

Tiles TilePool::allocate(std::size_t slots) const try {
    if (slots == 0) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kPool,
                     .problem = "0 slots were requested",
                     .remedy = "Request at least 1 slot.",
                     .numbers = {{"slots", 0}}});
    }
    TilePoolState& pool = *state_;
    const auto run = std::make_shared<TileRun>();
    const std::lock_guard lock(pool.mutex);
    auto fit = pool.free_sizes.lower_bound({slots, 0, 0});
    if (fit == pool.free_sizes.end()) {
        grow(pool, slots);
        fit = pool.free_sizes.lower_bound({slots, 0, 0});
    }
    const auto [count, chunk, first] = *fit;
    FreeNodes rest = make_nodes();
    run->nodes = remove_free(pool, chunk, first, count);
    if (count > slots) add_free(pool, std::move(rest), chunk, first + slots, count - slots);
    run->chunk = pool.chunks.at(chunk).get();
    run->first = first;
    run->count = slots;
    run->pool = state_;
    return Tiles(run);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPool);
}

Tiles TilePool::allocate_bytes(std::size_t bytes) const { return allocate(slots_of(bytes)); }

TilePoolUsage TilePool::usage() const {
    const std::lock_guard lock(state_->mutex);
    const auto& sizes = state_->free_sizes;
    return {.held = state_->held,
            .used = state_->held - state_->unused,
            .free = state_->unused,
            .largest_free = sizes.empty() ? 0 : std::get<0>(*sizes.rbegin()),
            .chunks = state_->chunks.size()};
}

void TilePool::trim(std::size_t keep) const try {
    detail::refuse_while_recording(kPool, "freeing memory of a tile pool");
    const std::lock_guard lock(state_->mutex);
    trim_to(*state_, slots_of(keep));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPool);
}

}  // namespace texton
