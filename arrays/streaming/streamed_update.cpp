// The steps of StreamedTexture::update().
#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>

#include "arrays/mapped_block.h"
#include "arrays/streaming/streamed_state.h"
#include "core/request.h"
#include "core/transfer.h"

namespace texton::detail {
namespace {

// In this many launches that note used tiles in turns, every tile with many pixels is noted.
constexpr int kTransfersInTurns = StreamedFeedback::kTurns / 4;

// Returns true for Error{out_of_memory}, which a TilePool throws if the device has too little memory.
bool is_out_of_memory(const std::exception_ptr& thrown) noexcept {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        return error.code() == ErrorCode::out_of_memory;
    } catch (...) {
        return false;
    }
}

}  // namespace

/// Tiles that become resident together, with one call for their mapping and one for their copies.
struct StreamedState::Batch {
    static constexpr std::size_t kFirst = 32;  // tiles of the first batch of an update
    static constexpr std::size_t kMost = 256;
    struct Entry {
        ReadyTile tile;
        TilePosition3 at;
        TileSlotNumber slot{};
    };
    std::vector<Entry> entries;
    std::vector<TileNumber> victims;
};

StreamingProgress StreamedState::update(const Stream& stream, std::chrono::microseconds limit) {
    const Clock::time_point end = Clock::now() + limit;
    const std::lock_guard lock(mutex_);
    Backend* backend = &array_.array().device().backend();
    check_stream(stream, backend, backend, kStreamed);
    refuse_while_recording(kStreamed, "updating a streamed texture");
    StreamingProgress progress;
    recycle_staging();
    take_requests(progress);
    take_reads();
    drop_stale_tiles(stream, progress);
    fit_to_budget(stream, progress, end);
    if (progress.evicted > 0) unmapped_.record(stream);
    if (changed_) rebuild();
    copy_resident_parts(stream);
    start_resident_parts();
    start_reads();
    std::size_t most = Batch::kFirst;
    for (Clock::time_point begin = Clock::now(); begin < end;) {
        const std::size_t loaded = progress.loaded;
        const bool more = place_tiles(most, stream, progress);
        const Clock::time_point now = Clock::now();
        if (!more || now >= end) break;
        // The next batch takes half of the time that is left, if its tiles take as long as these.
        const auto fitting = (end - now) * static_cast<Clock::rep>(progress.loaded - loaded) / (2 * (now - begin));
        most = std::clamp(static_cast<std::size_t>(fitting), Batch::kFirst, Batch::kMost);
        begin = now;
        start_reads();
    }
    start_reads();
    if (feedback_ != nullptr) feedback_->collect(stream);
    progress.missing = missing_;
    for (const auto& [tile, message] : failed_) progress.failed += needed_.contains(tile);
    for (const TileNumber tile : unfit_) progress.unfit += !tiles_.contains(tile);
    progress.pending = pending();
    return progress;
}

std::size_t StreamedState::pending() const {
    const auto parts =
        std::ranges::count_if(parts_, [](const ResidentPart& part) { return part.stale || part.reading; });
    return queue_.size() - next_ + reading_.size() + copied_parts_.size() + static_cast<std::size_t>(parts) +
           (changed_ ? 1 : 0) + (exceeds_budget_ ? 1 : 0) + (feedback_ != nullptr && feedback_->pending() ? 1 : 0);
}

// --- reads -----------------------------------------------------------------------------------------------------------

void StreamedState::recycle_staging() {
    std::erase_if(copies_, [&](const StagedCopies& copies) {
        if (!copies.done.done()) return false;
        free_staging_.insert(free_staging_.end(), copies.staging.begin(), copies.staging.end());
        return true;
    });
}

void StreamedState::take_requests(StreamingProgress& progress) {
    NotedTiles noted;
    const bool launched = feedback_ != nullptr && feedback_->take(noted);
    progress.overflow = noted.overflow;
    counts_.feedback_overflow += noted.overflow;
    if (!has_collected_ && noted.missing.empty() && noted.used.empty()) return;
    has_collected_ = false;
    const bool had_fetched = !fetched_.empty();
    fetched_ = std::move(collected_);
    collected_.clear();
    fetched_.insert(fetched_.end(), noted.missing.begin(), noted.missing.end());
    if (launched) {
        for (auto& [tile, age] : used_) ++age;
        const int kept = noted.in_turns ? kTransfersInTurns : 0;
        std::erase_if(used_, [&](const auto& used) { return used.second >= kept; });
        for (const TileNumber tile : noted.used) used_[tile] = 0;
        if (noted.in_turns) {  // when they are resident, it may take long until their pixels note them as used
            for (const TileNumber tile : noted.missing) used_[tile] = 0;
        }
    }
    for (const TileNumber tile : fetched_) (tiles_.contains(tile) ? counts_.hits : counts_.misses) += 1;
    for (const TileNumber tile : noted.used) counts_.hits += tiles_.contains(tile);
    calls_since_fetches_ = 0;
    // While nothing is missing, used tiles only matter for the next eviction, which follows a rebuild().
    if (had_fetched || !fetched_.empty() || missing_ != 0 || !unfit_.empty()) changed_ = true;
}

void StreamedState::take_reads() {
    for (FinishedRead& finished : reader_->take_finished()) {
        const std::uint32_t id = finished.read.id;
        if (id >= options_.staging) {
            take_resident_part(id - options_.staging, finished);
            continue;
        }
        const TileNumber tile = staged_[id];
        const auto found = reading_.find(tile);
        const bool expected = found != reading_.end() && found->second == id;
        if (expected && !finished.canceled && !finished.failed) {
            ready_.push_back({tile, id});
            continue;
        }
        if (expected) reading_.erase(found);
        if (expected && finished.failed && !finished.canceled) {
            ++counts_.failed_reads;
            try {
                failed_[tile] = std::move(finished.message);
            } catch (const std::bad_alloc&) {
                changed_ = true;  // the tile is read again
            }
        } else {
            ++counts_.discarded_reads;
        }
        free_staging_.push_back(id);
        if (!unfit_.empty()) changed_ = true;  // its memory may suffice for another tile
    }
}

void StreamedState::take_resident_part(std::size_t index, FinishedRead& finished) {
    ResidentPart& part = parts_[index];
    part.reading = false;
    if (finished.canceled || part.stale) {  // invalidated again, or aborted
        part.texels = {};
        part.stale = true;
        ++counts_.discarded_reads;
    } else if (finished.failed) {
        part.texels = {};
        part.failure = std::move(finished.message);
        ++counts_.failed_reads;
    } else {
        copied_parts_.push_back(index);
    }
}

void StreamedState::copy_resident_parts(const Stream& stream) {
    const ArrayInfo& info = array_.array().info();
    while (!copied_parts_.empty()) {
        ResidentPart& part = parts_[copied_parts_.back()];
        const Extent extent = level_extent(info, part.level);
        if (!part.stale) {
            copy(view_of(part.level, part.layer, {{}, extent}), host_view(part.texels.data(), info.format, extent),
                 stream);
            // Pageable memory has been read when copy() returns. The event is for sample().
            copies_.push_back({Event(array_.array().device(), EventTiming::off), {}});
            copies_.back().done.record(stream);
            counts_.loaded_bytes += part.texels.size();
        }
        part.texels = {};
        copied_parts_.pop_back();
    }
}

void StreamedState::start_resident_parts() {
    const ArrayInfo& info = array_.array().info();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        ResidentPart& part = parts_[i];
        if (!part.stale || part.reading) continue;
        const Extent extent = level_extent(info, part.level);
        part.texels.resize(packed_bytes({.format = info.format, .extent = extent, .kind = info.kind, .layers = 1}));
        const TileRead read{static_cast<std::uint32_t>(options_.staging + i),
                            {part.level + first_level_, part.layer, {{}, extent}},
                            part.texels};
        reader_->start({&read, 1});  // if it throws, the part is still stale
        part.stale = false;
        part.reading = true;
    }
}

void StreamedState::start_reads() {
    const std::size_t first = next_;
    std::vector<TileRead> reads;
    try {
        choose_reads(reads);
        if (!reads.empty()) reader_->start(reads);
    } catch (...) {
        for (const TileRead& read : reads) {
            reading_.erase(staged_[read.id]);
            free_staging_.push_back(read.id);
        }
        next_ = first;
        throw;
    }
}

// Assigns staging buffers to the next tiles of the queue for which there will be memory.
void StreamedState::choose_reads(std::vector<TileRead>& reads) {
    const ArrayInfo& info = array_.array().info();
    reads.reserve(std::min(free_staging_.size(), queue_.size() - next_));
    ResidentTiles::Victims victims(tiles_);
    for (; next_ < queue_.size() && !free_staging_.empty(); ++next_) {
        const QueuedTile& queued = queue_[next_];
        if (tiles_.contains(queued.tile) || reading_.contains(queued.tile) || failed_.contains(queued.tile)) continue;
        const std::size_t reserved = reading_.size();
        const std::size_t free = capacity_ - std::min(capacity_, tiles_.size());
        const TileNeed need = need_of(queued.tile, queued.level);
        if (reserved >= free && !victims.at(reserved - free, need)) {
            if (reserved > 0 && (free > 0 || tiles_.victim(need))) break;  // waits until less needed tiles are resident
            if (!queued.optional) unfit_.insert(queued.tile);
            continue;
        }
        const std::uint32_t staging = free_staging_.back();
        const PyramidBox box = box_of(queued.tile);
        const std::size_t bytes =
            packed_bytes({.format = info.format, .extent = box.region.extent, .kind = info.kind, .layers = 1});
        reading_.emplace(queued.tile, staging);
        reads.push_back({staging, box, {staging_.data() + staging * kTileBytes, bytes}});
        staged_[staging] = queued.tile;
        free_staging_.pop_back();
    }
}

// --- eviction --------------------------------------------------------------------------------------------------------

void StreamedState::evict(const std::vector<TileNumber>& tiles, const Stream& stream, StreamingProgress& progress) {
    if (tiles.empty()) return;
    std::vector<TileNumber> sorted = tiles;
    std::ranges::sort(sorted);
    std::vector<TileBox> boxes;  // one for neighbors in a row
    boxes.reserve(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const TileBox own = TileGrid::box(grid_.position(sorted[i]));
        if (i > 0 && sorted[i] == sorted[i - 1] + 1 && own.level == boxes.back().level &&
            own.offset.x == boxes.back().offset.x + boxes.back().extent.width) {
            ++boxes.back().extent.width;
        } else {
            boxes.push_back(own);
        }
    }
    for (const TileNumber tile : tiles) {
        if (needed_.contains(tile)) unfit_.insert(tile);
    }
    array_.unmap(boxes, stream);
    for (const TileNumber tile : tiles) {
        blocks_->give(tiles_.at(tile).slot);
        tiles_.remove(tile);
        missing_ += needed_.contains(tile);
    }
    progress.evicted += tiles.size();
    counts_.evicted_tiles += tiles.size();
}

void StreamedState::drop_stale_tiles(const Stream& stream, StreamingProgress& progress) {
    std::ranges::sort(stale_);
    stale_.erase(std::unique(stale_.begin(), stale_.end()), stale_.end());
    std::erase_if(stale_, [&](TileNumber tile) { return !tiles_.contains(tile); });
    evict(stale_, stream, progress);
    stale_.clear();
}

void StreamedState::fit_to_budget(const Stream& stream, StreamingProgress& progress, Clock::time_point end) {
    if (!trims_) return;
    constexpr std::size_t kTiles = TileBlocks::kSlots;  // between two looks at the clock
    while (tiles_.size() > capacity_) {
        evict(tiles_.least(std::min(kTiles, tiles_.size() - capacity_)), stream, progress);
        if (Clock::now() >= end) return;
    }
    // Returns whole blocks. The tiles of the emptiest ones lose their memory too, and are read again if they are
    // needed.
    const std::size_t blocks = (capacity_ + TileBlocks::kSlots - 1) / TileBlocks::kSlots;
    blocks_->release_empty();
    while (blocks_->allocated() > blocks) {
        const std::optional<std::uint32_t> emptiest = blocks_->emptiest();
        std::vector<TileNumber> victims;
        for (const auto& [tile, what] : tiles_.all()) {
            if (what.slot.block == *emptiest) victims.push_back(tile);
        }
        evict(victims, stream, progress);
        blocks_->release_empty();
        if (Clock::now() >= end) return;
    }
    exceeds_budget_ = false;
    pool_->trim();
    trims_ = pool_->usage().chunks > resident_chunks_ + blocks_->allocated();
}

// --- mapping ---------------------------------------------------------------------------------------------------------

// Discards the texels of a ready tile for which there is no memory.
void StreamedState::drop(ReadyTile tile) {
    if (needed_.contains(tile.tile)) unfit_.insert(tile.tile);
    free_staging_.push_back(tile.staging);
    reading_.erase(tile.tile);
    std::erase_if(ready_, [&](const ReadyTile& other) { return other.tile == tile.tile; });
    ++counts_.discarded_reads;
}

// Chooses at most `most` ready tiles, and the tiles that lose their memory for them. Returns false if no tile is ready.
bool StreamedState::choose_tiles(std::size_t most, Batch& batch) {
    const std::size_t count = std::min(ready_.size(), most);
    if (count == 0) return false;
    batch.entries.reserve(count);
    std::vector<ReadyTile> dropped;
    ResidentTiles::Victims victims(tiles_);
    for (std::size_t i = 0; i < count; ++i) {
        const TilePosition3 at = grid_.position(ready_[i].tile);
        if (tiles_.size() + batch.entries.size() >= capacity_ + batch.victims.size()) {
            const auto victim = victims.at(batch.victims.size(), need_of(ready_[i].tile, at.level));
            if (!victim) {
                dropped.push_back(ready_[i]);
                continue;
            }
            batch.victims.push_back(*victim);
        }
        batch.entries.push_back({ready_[i], at});
    }
    for (const ReadyTile& tile : dropped) drop(tile);
    return true;
}

// Takes a slot for each tile. If the device has too little memory, the budget becomes what it has.
void StreamedState::take_slots(Batch& batch) {
    std::ranges::sort(batch.entries, {}, [](const Batch::Entry& entry) { return entry.tile.tile; });
    std::size_t taken = 0;
    try {
        for (; taken < batch.entries.size(); ++taken) batch.entries[taken].slot = blocks_->take();
    } catch (...) {
        const bool full = is_out_of_memory(std::current_exception());
        if (!full) {
            for (std::size_t i = 0; i < taken; ++i) blocks_->give(batch.entries[i].slot);
            throw;
        }
        capacity_ = tiles_.size() + taken;
        for (std::size_t i = taken; i < batch.entries.size(); ++i) drop(batch.entries[i].tile);
        batch.entries.resize(taken);
    }
}

// Maps the batch, with one box for neighbors in a row, and enqueues the copies.
void StreamedState::copy_tiles(const Batch& batch, const Event& done, const Stream& stream) {
    const ArrayInfo& info = array_.array().info();
    std::vector<TileMapping> mappings;
    std::vector<TileBox> boxes;
    CopyBatch copies;
    for (std::size_t i = 0; i < batch.entries.size(); ++i) {
        const Batch::Entry& entry = batch.entries[i];
        const Region texels = grid_.texels(entry.at);
        copies.add(
            view_of(entry.at.level, entry.at.layer, texels),
            host_view(std::as_const(staging_).data() + entry.tile.staging * kTileBytes, info.format, texels.extent));
        if (i > 0) {
            const Batch::Entry& before = batch.entries[i - 1];
            const bool neighbor = entry.tile.tile == before.tile.tile + 1 && entry.at.level == before.at.level &&
                                  entry.at.position.x == before.at.position.x + 1 &&
                                  entry.slot.block == before.slot.block && entry.slot.slot == before.slot.slot + 1;
            if (neighbor) {
                ++mappings.back().box.extent.width;
                continue;
            }
        }
        mappings.push_back({TileGrid::box(entry.at), blocks_->tiles(entry.slot), entry.slot.slot});
    }
    for (const TileMapping& mapping : mappings) boxes.push_back(mapping.box);
    array_.map(mappings, stream);
    try {
        copies.run(stream);
        done.record(stream);
    } catch (...) {
        finish(stream);               // copies may be reading the staging buffers
        array_.unmap(boxes, stream);  // the texels are undefined
        throw;
    }
}

bool StreamedState::place_tiles(std::size_t most, const Stream& stream, StreamingProgress& progress) {
    Batch batch;
    if (!choose_tiles(most, batch)) return false;
    evict(batch.victims, stream, progress);
    take_slots(batch);
    if (batch.entries.empty()) return !ready_.empty();
    const Event done(array_.array().device(), EventTiming::off);
    std::vector<std::uint32_t> staging;
    for (const Batch::Entry& entry : batch.entries) staging.push_back(entry.tile.staging);
    copies_.reserve(copies_.size() + 1);
    std::size_t added = 0;
    try {
        for (; added < batch.entries.size(); ++added) {
            const Batch::Entry& entry = batch.entries[added];
            tiles_.add(entry.tile.tile, {entry.slot, need_of(entry.tile.tile, entry.at.level)});
        }
        copy_tiles(batch, done, stream);
    } catch (...) {
        for (std::size_t i = 0; i < added; ++i) tiles_.remove(batch.entries[i].tile.tile);
        for (const Batch::Entry& entry : batch.entries) blocks_->give(entry.slot);
        throw;
    }
    copies_.push_back({done, std::move(staging)});
    const ArrayInfo& info = array_.array().info();
    for (const Batch::Entry& entry : batch.entries) {
        const TileNumber tile = entry.tile.tile;
        reading_.erase(tile);
        if (needed_.contains(tile)) {
            --missing_;
            unfit_.erase(tile);
        }
        counts_.loaded_bytes += packed_bytes(
            {.format = info.format, .extent = grid_.texels(entry.at).extent, .kind = info.kind, .layers = 1});
    }
    std::erase_if(ready_, [&](const ReadyTile& tile) { return !reading_.contains(tile.tile); });
    progress.loaded += batch.entries.size();
    counts_.loaded_tiles += batch.entries.size();
    return !ready_.empty();
}

}  // namespace texton::detail
