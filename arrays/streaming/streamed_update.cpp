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
    static constexpr std::size_t kFirst = 32;  // tiles of the first batch
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
    for (Clock::time_point begin = Clock::now(); begin < end && !gathers();) {
        const std::size_t loaded = progress.loaded;
        const bool more = place_tiles(fitting_tiles((end - begin) / 2), stream, progress);
        const Clock::time_point now = Clock::now();
        if (!more) break;
        note_time(now - begin, progress.loaded - loaded);
        begin = now;
        start_reads();
    }
    start_reads();
    if (feedback_ != nullptr) feedback_->collect(stream);
    progress.missing = missing_;
    for (const auto& [tile, message] : failed_) progress.failed += needed_.contains(tile);
    for (const auto& unfit : unfit_) progress.unfit += !tiles_.contains(unfit.tile);
    progress.pending = pending();
    return progress;
}

// Returns true if tiles should wait for others, because the device is busy with earlier ones, and takes less time for a
// large batch than for several small ones.
bool StreamedState::gathers() const noexcept {
    return copies_.size() > 1 && ready_.size() < Batch::kMost && ready_.size() < reading_.size();
}

// Returns how many tiles probably become resident in a time.
std::size_t StreamedState::fitting_tiles(Clock::duration time) const noexcept {
    if (tile_time_ == Clock::duration{}) return Batch::kFirst;
    return std::clamp(static_cast<std::size_t>(time / tile_time_), Batch::kFirst, Batch::kMost);
}

// Calls that map tiles take much longer while the device has nothing else to do, because the driver then maps in the
// call. So the time of a slow batch is forgotten slowly.
void StreamedState::note_time(Clock::duration time, std::size_t tiles) noexcept {
    if (tiles > 0) tile_time_ = std::max(time / static_cast<Clock::rep>(tiles), tile_time_ - tile_time_ / 8);
}

std::size_t StreamedState::pending() const {
    const auto parts =
        std::ranges::count_if(parts_, [](const ResidentPart& part) { return part.stale || part.reading; });
    return queue_.size() - next_ + reading_.size() + copied_parts_.size() + static_cast<std::size_t>(parts) +
           (changed_ ? 1 : 0) + (exceeds_budget_ ? 1 : 0) + (feedback_ != nullptr && feedback_->pending() ? 1 : 0);
}

// --- reads -----------------------------------------------------------------------------------------------------------

// Takes the copies in their order, so that only the first one that is not done is asked for.
void StreamedState::recycle_staging() {
    for (; !copies_.empty() && copies_.front().done.done(); copies_.pop_front()) {
        for (const std::uint32_t buffer : copies_.front().staging) give_staging(buffer);
    }
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
        used_.erase_if([&](TileNumber, int age) { return age >= kept; });
        for (const TileNumber tile : noted.used) *used_.insert(tile, 0).first = 0;
        if (noted.in_turns) {  // when they are resident, it may take long until their pixels note them as used
            for (const TileNumber tile : noted.missing) *used_.insert(tile, 0).first = 0;
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
        const std::uint32_t count = staged_[id].count;
        for (std::uint32_t i = 0; i < count; ++i) take_tile(id + i, finished);
    }
}

void StreamedState::take_tile(std::uint32_t buffer, const FinishedRead& finished) {
    const Staged& staged = staged_[buffer];
    const std::uint32_t* const found = reading_.find(staged.tile);
    const bool expected = found != nullptr && *found == buffer;
    if (expected && !finished.canceled && !finished.failed) {
        ready_.push_back({staged.tile, buffer});
        if (staged.count == 1) alone_.erase(staged.tile);
        return;
    }
    if (expected) reading_.erase(staged.tile);
    if (expected && finished.failed && !finished.canceled) {
        try {
            if (staged.count == 1) {
                ++counts_.failed_reads;
                alone_.erase(staged.tile);
                failed_[staged.tile] = finished.message;
            } else {
                alone_.insert(staged.tile);
                changed_ = true;
            }
        } catch (const std::bad_alloc&) {
            changed_ = true;  // the tile is read again
        }
    } else {
        ++counts_.discarded_reads;
    }
    give_staging(buffer);
    if (!unfit_.empty()) changed_ = true;  // its memory may suffice for another tile
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
            const std::uint32_t count = staged_[read.id].count;
            for (std::uint32_t i = 0; i < count; ++i) reading_.erase(staged_[read.id + i].tile);
            free_staging_.give(read.id, count);
        }
        next_ = first;
        throw;
    }
}

// Assigns staging buffers to the next tiles of the queue for which there will be memory.
void StreamedState::choose_reads(std::vector<TileRead>& reads) {
    reads.reserve(std::min(free_staging_.count(), queue_.size() - next_));
    ResidentTiles::Victims victims(tiles_);
    while (next_ < queue_.size() && free_staging_.count() > 0 && choose_read(victims, reads)) {
    }
}

// Returns true if the tile is to be read, and there will be memory for it besides `reserved` others.
bool StreamedState::may_be_read(const QueuedTile& queued, ResidentTiles::Victims& victims, std::size_t reserved,
                                bool& waits) {
    if (tiles_.contains(queued.tile) || reading_.contains(queued.tile) || failed_.contains(queued.tile)) return false;
    const std::size_t free = capacity_ - std::min(capacity_, tiles_.size());
    const TileNeed need = need_of(queued.tile);
    if (reserved < free || victims.at(reserved - free, need)) return true;
    waits = reserved > 0 && (free > 0 || tiles_.victim(need));  // until less needed tiles are resident
    if (!waits && !queued.optional) unfit_.insert(queued.tile);
    return false;
}

// Chooses the next tile of the queue, and the neighbors that follow it. Returns false if they have to wait.
bool StreamedState::choose_read(ResidentTiles::Victims& victims, std::vector<TileRead>& reads) {
    bool waits = false;
    const std::size_t begin = next_;
    if (!may_be_read(queue_[begin], victims, reading_.size(), waits)) {
        if (!waits) ++next_;
        return !waits;
    }
    const bool alone = alone_.contains(queue_[begin].tile);
    const std::size_t most = alone ? 1 : static_cast<std::size_t>(pyramid_.tiles_per_read);
    std::uint32_t count = 1;
    for (; count < most && begin + count < queue_.size(); ++count) {
        const QueuedTile& next = queue_[begin + count];
        if (!joins(next.tile, queue_[begin + count - 1].tile)) break;
        if (alone_.contains(next.tile) || !may_be_read(next, victims, reading_.size() + count, waits)) break;
    }
    const auto [first, buffers] = free_staging_.find(count);
    if (buffers < count && free_staging_.count() < options_.staging) return false;  // until there are consecutive ones
    count = std::min(count, buffers);
    for (std::uint32_t i = 0; i < count; ++i) staged_[first + i] = {queue_[begin + i].tile, first, count};
    staged_[first].users = count;
    free_staging_.take(first, count);
    PyramidBox box = box_of(queue_[begin].tile);
    box.region = staged_region(first, count);
    reads.push_back({first, box, {staging_.data() + first * kTileBytes, box_bytes(box.region.extent)}});
    for (std::uint32_t i = 0; i < count; ++i) reading_.insert(queue_[begin + i].tile, first + i);
    next_ += count;
    return true;
}

// Frees the buffers of a box when no tile needs its texels any more.
void StreamedState::give_staging(std::uint32_t buffer) noexcept {
    Staged& first = staged_[staged_[buffer].first];
    if (--first.users == 0) free_staging_.give(first.first, first.count);
}

// Returns the texels of `count` neighbors.
Region StreamedState::staged_region(std::uint32_t first, std::uint32_t count) const {
    Region region = grid_.texels(grid_.position(staged_[first].tile));
    const Region last = grid_.texels(grid_.position(staged_[first + count - 1].tile));
    region.extent.width = last.offset.x + last.extent.width - region.offset.x;
    return region;
}

std::size_t StreamedState::box_bytes(const Extent& extent) const {
    const ArrayInfo& info = array_.array().info();
    return packed_bytes({.format = info.format, .extent = extent, .kind = info.kind, .layers = 1});
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
    TileSlotNumber block = tiles_.at(sorted.front()).slot;
    std::uint32_t slots = 0;  // of the block that become free
    for (const TileNumber tile : sorted) {
        const TileSlotNumber slot = tiles_.at(tile).slot;
        if (slot.block != block.block) {
            blocks_->give(block.block, std::exchange(slots, 0));
            block = slot;
        }
        slots |= 1u << slot.slot;
        tiles_.remove(tile);
        missing_ += needed_.contains(tile);
    }
    blocks_->give(block.block, slots);
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
    blocks_->release_empty();
    while (blocks_->allocated() > most_blocks()) {
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
    give_staging(tile.staging);
    reading_.erase(tile.tile);
    std::erase_if(ready_, [&](const ReadyTile& other) { return other.tile == tile.tile; });
    ++counts_.discarded_reads;
}

// Chooses ready tiles, and the tiles that lose their memory for them: at most `most`, but tiles that were read together
// are mapped together. Returns false if no tile is ready.
bool StreamedState::choose_tiles(std::size_t most, Batch& batch) {
    std::size_t count = std::min(ready_.size(), most);
    if (count == 0) return false;
    while (count < ready_.size() && staged_[ready_[count].staging].first == staged_[ready_[count - 1].staging].first)
        ++count;
    batch.entries.reserve(count);
    std::vector<ReadyTile> dropped;
    ResidentTiles::Victims victims(tiles_);
    for (std::size_t i = 0; i < count; ++i) {
        const TilePosition3 at = grid_.position(ready_[i].tile);
        if (tiles_.size() + batch.entries.size() >= capacity_ + batch.victims.size()) {
            const auto victim = victims.at(batch.victims.size(), need_of(ready_[i].tile));
            if (!victim) {
                dropped.push_back(ready_[i]);
                continue;
            }
            batch.victims.push_back(*victim);
        }
        batch.entries.push_back({ready_[i], at});
    }
    for (const ReadyTile& tile : dropped) drop(tile);
    // Neighbors lose their memory together, so that it is consecutive for the neighbors that get it.
    while (pyramid_.tiles_per_read > 1 && !batch.victims.empty()) {
        const auto victim = victims.at(batch.victims.size(), need_of(batch.entries.back().tile.tile));
        if (!victim || needed_.contains(*victim) || !joins(*victim, batch.victims.back())) break;
        batch.victims.push_back(*victim);
    }
    return true;
}

// Takes a slot for each tile, neighbors for neighbors. If the device has too little memory, the budget becomes what it has.
void StreamedState::take_slots(Batch& batch) {
    std::ranges::sort(batch.entries, {}, [](const Batch::Entry& entry) { return entry.tile.tile; });
    std::size_t taken = 0;
    try {
        while (taken < batch.entries.size()) {
            std::size_t end = taken + 1;
            while (end < batch.entries.size() && end - taken < TileBlocks::kSlots &&
                   grid_.follows(batch.entries[end].tile.tile, batch.entries[end - 1].tile.tile))
                ++end;
            auto [slot, count] = blocks_->take(static_cast<std::uint32_t>(end - taken), most_blocks());
            for (; count > 0; --count, ++slot.slot) batch.entries[taken++].slot = slot;
        }
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

// Adds the copy of neighbors that were read together.
void StreamedState::add_copy(std::uint32_t first, std::uint32_t count, CopyBatch& copies) const {
    const Staged& staged = staged_[first];
    const Region read = staged_region(staged.first, staged.count);
    const Region copied = staged_region(first, count);
    const ConstView texels =
        host_view(staging_.data() + staged.first * kTileBytes, array_.array().info().format, read.extent);
    const TilePosition3 at = grid_.position(staged.tile);
    copies.add(view_of(at.level, at.layer, copied),
               texels.region({{copied.offset.x - read.offset.x, 0, 0}, copied.extent}));
}

// Maps the batch, with one box for neighbors in a row, and enqueues the copies, one for neighbors that were read
// together.
void StreamedState::copy_tiles(const Batch& batch, const Event& done, const Stream& stream) {
    std::vector<TileMapping> mappings;
    std::vector<TileBox> boxes;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> copied;  // the first buffer, and the number of buffers
    for (std::size_t i = 0; i < batch.entries.size(); ++i) {
        const Batch::Entry& entry = batch.entries[i];
        const bool neighbor = i > 0 && grid_.follows(entry.tile.tile, batch.entries[i - 1].tile.tile);
        if (neighbor && staged_[entry.tile.staging].first == staged_[copied.back().first].first) {
            ++copied.back().second;
        } else {
            copied.push_back({entry.tile.staging, 1});
        }
        const TileSlotNumber& before = batch.entries[i - (neighbor ? 1 : 0)].slot;
        if (neighbor && entry.slot.block == before.block && entry.slot.slot == before.slot + 1) {
            ++mappings.back().box.extent.width;
        } else {
            mappings.push_back({TileGrid::box(entry.at), blocks_->tiles(entry.slot), entry.slot.slot});
        }
    }
    CopyBatch copies;
    for (const auto& [first, count] : copied) add_copy(first, count, copies);
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
    copies_.push_back({done, std::move(staging)});
    std::size_t added = 0;
    try {
        for (; added < batch.entries.size(); ++added) {
            const Batch::Entry& entry = batch.entries[added];
            tiles_.add(entry.tile.tile, {entry.slot, need_of(entry.tile.tile)});
        }
        copy_tiles(batch, done, stream);
    } catch (...) {
        for (std::size_t i = 0; i < added; ++i) tiles_.remove(batch.entries[i].tile.tile);
        for (const Batch::Entry& entry : batch.entries) blocks_->give(entry.slot);
        copies_.pop_back();
        throw;
    }
    for (const Batch::Entry& entry : batch.entries) {
        const TileNumber tile = entry.tile.tile;
        reading_.erase(tile);
        if (needed_.contains(tile)) {
            --missing_;
            unfit_.erase(tile);
        }
        counts_.loaded_bytes += box_bytes(grid_.texels(entry.at).extent);
    }
    std::erase_if(ready_, [&](const ReadyTile& tile) { return !reading_.contains(tile.tile); });
    progress.loaded += batch.entries.size();
    counts_.loaded_tiles += batch.entries.size();
    return !ready_.empty();
}

}  // namespace texton::detail
