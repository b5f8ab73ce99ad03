// The requests of a streamed texture. rebuild() derives from them what is needed, and the order of reads.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/streaming/streamed_state.h"

namespace texton::detail {

Region StreamedState::check_view(const StreamedView& view) const {
    const ArrayInfo& info = array_.array().info();
    if (view.level < 0 || view.level >= info.levels) {
        refuse_streamed(ErrorCode::out_of_bounds,
                        fmt::format("level {} was requested, but the texture has {}", view.level, info.levels),
                        "Use a level of the texture. Level 0 is StreamedTextureInfo::first_level of the pyramid.",
                        {{"levels", static_cast<std::uint64_t>(info.levels)}});
    }
    if (view.layer >= grid_.layers()) {
        refuse_streamed(ErrorCode::out_of_bounds,
                        fmt::format("layer {} was requested, but the texture has {}", view.layer, grid_.layers()),
                        "Layers begin at 0.", {{"layer", view.layer}, {"layers", grid_.layers()}});
    }
    const Extent extent = level_extent(info, view.level);
    const Region region = view.region.value_or(Region{{}, extent});
    if (!contains(extent, region)) {
        refuse_streamed(ErrorCode::out_of_bounds,
                        fmt::format("{} texels were requested in level {} of {} texels", to_string(region), view.level,
                                    to_string(extent)),
                        "Use a region of at least one texel inside the level.",
                        {{"x", region.offset.x},
                         {"y", region.offset.y},
                         {"width", region.extent.width},
                         {"height", region.extent.height}});
    }
    if (!(view.weight >= 0) || std::isinf(view.weight)) {
        refuse_streamed(ErrorCode::bad_argument, fmt::format("the weight of a view is {}", view.weight),
                        "Use a finite weight of at least 0.");
    }
    return region;
}

// Returns what a view covers if it goes on moving as since the last request(): the region itself if it did not move.
Region StreamedState::swept_region(const StreamedView& view, const Region& region, std::size_t index) const {
    if (options_.prefetch == 0 || index >= asked_.size()) return region;
    const StreamedView& before = asked_[index];
    if (before.level != view.level || before.layer != view.layer || !before.region) return region;
    const Extent extent = level_extent(array_.array().info(), view.level);
    const auto sweep = [&](std::size_t from, std::size_t from_size, std::size_t size, std::size_t& offset,
                           std::size_t& length) {
        const auto twice = [](std::size_t first, std::size_t count) {
            return static_cast<std::int64_t>(2 * first + count);
        };
        const std::int64_t motion = (twice(offset, length) - twice(from, from_size)) / 2;
        if (std::abs(motion) > static_cast<std::int64_t>(length)) return;  // a jump
        const std::int64_t reach = motion * options_.prefetch;
        const auto first = static_cast<std::int64_t>(offset);
        const auto end = static_cast<std::int64_t>(offset + length);
        const std::int64_t low = std::max(std::int64_t{0}, first + std::min(std::int64_t{0}, reach));
        const std::int64_t high = std::min(static_cast<std::int64_t>(size), end + std::max(std::int64_t{0}, reach));
        offset = static_cast<std::size_t>(low);
        length = static_cast<std::size_t>(high - low);
    };
    Region swept = region;
    sweep(before.region->offset.x, before.region->extent.width, extent.width, swept.offset.x, swept.extent.width);
    sweep(before.region->offset.y, before.region->extent.height, extent.height, swept.offset.y, swept.extent.height);
    sweep(before.region->offset.z, before.region->extent.depth, extent.depth, swept.offset.z, swept.extent.depth);
    return swept;
}

void StreamedState::request(std::span<const StreamedView> views) {
    constexpr std::size_t kMaxTiles = std::size_t{1} << 20;
    constexpr int kCallsOfFetches = 8;
    const std::lock_guard lock(mutex_);
    TileMap<Request> found;
    std::vector<TileNumber> ahead;
    std::size_t index = 0;
    std::size_t tiles = 0;
    for (const StreamedView& view : views) {
        const Region region = check_view(view);
        const Region swept = swept_region(view, region, index++);
        if (view.level >= grid_.resident_level()) continue;
        const Extent extent = level_extent(array_.array().info(), view.level);
        const auto middle = [](std::size_t offset, std::size_t size, std::size_t all) {
            return (static_cast<float>(offset) + 0.5f * static_cast<float>(size)) / static_cast<float>(all);
        };
        const float center[3] = {middle(region.offset.x, region.extent.width, extent.width),
                                 middle(region.offset.y, region.extent.height, extent.height),
                                 middle(region.offset.z, region.extent.depth, extent.depth)};
        const Extent& tile = grid_.tile();
        tiles += (region.extent.width / tile.width + 1) * (region.extent.height / tile.height + 1) *
                 (region.extent.depth / tile.depth + 1);
        if (tiles > kMaxTiles) {
            refuse_streamed(ErrorCode::overflow, fmt::format("the views have at least {} tiles", tiles),
                            "Request at most 2^20 tiles, for example a smaller region or a coarser level.",
                            {{"tiles", tiles}});
        }
        grid_.each_tile(view.level, view.layer, region, [&](const TilePosition3& at) {
            float own[3];
            grid_.center(at, own);
            float distance = 0;
            for (int i = 0; i < 3; ++i) distance += (own[i] - center[i]) * (own[i] - center[i]);
            const TileNumber number = grid_.number(at);
            Request& entry = *found.insert(number, {number, view.weight, distance}).first;
            entry.weight = std::max(entry.weight, view.weight);
            entry.distance = std::min(entry.distance, distance);
        });
        if (swept == region || ahead.size() > kMaxTiles) continue;
        grid_.each_tile(view.level, view.layer, swept,
                        [&](const TilePosition3& at) { ahead.push_back(grid_.number(at)); });
    }
    std::vector<StreamedView> asked(views.begin(), views.end());
    std::vector<Request> requests;
    requests.reserve(found.size());
    for (const auto& [tile, request] : found) {
        requests.push_back(request);
        (tiles_.contains(tile) ? counts_.hits : counts_.misses) += 1;
    }
    views_ = std::move(requests);
    asked_ = std::move(asked);
    ahead_ = std::move(ahead);
    if (++calls_since_fetches_ > kCallsOfFetches) {
        fetched_.clear();
        used_.clear();
    }
    rebuild();
}

TileNeed StreamedState::need_of(TileNumber tile) const {
    const TileNeed* const found = wanted_.find(tile);
    return found != nullptr ? *found : TileNeed{0, 0, grid_.level(tile)};
}

// Adds the coarser tiles over a missing tile to the queue.
void StreamedState::add_ancestors(const QueuedTile& missing, bool fits, TileMap<QueuedTile>& queued) {
    TilePosition3 at = grid_.position(missing.tile);
    while (at.level + 1 < grid_.resident_level()) {
        at = grid_.parent(at);
        const TileNumber number = grid_.number(at);
        const TileNeed need{fits ? generation_ - 1 : generation_, missing.weight, at.level};
        TileNeed& known = *wanted_.insert(number, need).first;
        known = std::max(known, need);
        if (tiles_.raise(number, known) || needed_.contains(number)) continue;
        const auto [entry, added] = queued.insert(number, {missing.weight, at.level, missing.distance, number, true});
        // Otherwise the tile, and those over it, have been added for a tile that is at least as urgent.
        if (!added && entry->weight >= missing.weight && entry->distance <= missing.distance) break;
        entry->weight = std::max(entry->weight, missing.weight);
        entry->distance = std::min(entry->distance, missing.distance);
    }
}

void StreamedState::rebuild() {
    changed_ = true;  // until the end, in case of an exception
    ++generation_;
    needed_.clear();
    wanted_.clear();
    unfit_.clear();
    TileMap<QueuedTile> queued;
    const auto add = [&](TileNumber tile, float weight, float distance) {
        const int level = grid_.level(tile);
        needed_.insert(tile);
        TileNeed& need = *wanted_.insert(tile, {generation_, weight, level}).first;
        need.weight = std::max(need.weight, weight);
        if (tiles_.raise(tile, need)) return;
        QueuedTile& entry = *queued.insert(tile, {weight, level, distance, tile}).first;
        entry.weight = std::max(entry.weight, weight);
        entry.distance = std::min(entry.distance, distance);
    };
    for (const Request& request : views_) add(request.tile, request.weight, request.distance);
    for (const TileNumber tile : fetched_) add(tile, 1, 0);
    missing_ = queued.size();
    std::size_t kept = needed_.size();
    for (const auto& [tile, age] : used_) kept += tiles_.contains(tile) && !needed_.contains(tile);
    const bool fits = kept <= capacity_;
    for (const auto& [tile, age] : used_) {
        const TileNeed need{fits ? generation_ - 1 : generation_, 1, grid_.level(tile)};
        (void)tiles_.raise(tile, *wanted_.insert(tile, need).first);
    }
    std::vector<QueuedTile> missing;
    missing.reserve(queued.size());
    for (const auto& [tile, entry] : queued) missing.push_back(entry);
    for (const QueuedTile& entry : missing) add_ancestors(entry, fits, queued);
    for (const TileNumber tile : ahead_) {
        const int level = grid_.level(tile);
        const TileNeed need{generation_ - 1, -1, level};  // less than every requested tile
        if (!wanted_.insert(tile, need).second || tiles_.raise(tile, need)) continue;
        queued.insert(tile, {-1, level, 0, tile, true});
    }
    queue_.clear();
    queue_.reserve(queued.size());
    for (const auto& [tile, entry] : queued) queue_.push_back(entry);
    join_neighbors();
    std::ranges::sort(queue_, [](const QueuedTile& a, const QueuedTile& b) { return a.before(b); });
    next_ = 0;
    std::vector<TileNumber> unwanted;
    for (const auto& [tile, staging] : reading_) {
        if (!wanted_.contains(tile)) unwanted.push_back(tile);
    }
    for (const TileNumber tile : unwanted) stop_read(tile);
    changed_ = false;
}

// Gives neighbors in a row the same distance, so that they are read one after the other and mapped with one box. A driver
// maps a box of 32 tiles in about twice the time of a tile.
void StreamedState::join_neighbors() {
    std::ranges::sort(queue_, {}, &QueuedTile::tile);
    for (auto first = queue_.begin(); first != queue_.end();) {
        auto end = std::next(first);
        while (end != queue_.end() && end->weight == std::prev(end)->weight && joins(end->tile, std::prev(end)->tile))
            ++end;
        const float distance = std::ranges::min_element(first, end, {}, &QueuedTile::distance)->distance;
        for (; first != end; ++first) first->distance = distance;
    }
}

// Cancels a read, or discards its texels. If a thread is still reading, the buffer stays in use until it has finished.
// A read of several tiles is canceled with the last one that is expected of it.
void StreamedState::stop_read(TileNumber tile) {
    const std::uint32_t* const buffer = reading_.find(tile);
    if (buffer == nullptr) return;
    const Staged& staged = staged_[*buffer];
    reading_.erase(tile);
    const auto ready = std::ranges::find(ready_, tile, &ReadyTile::tile);
    if (ready != ready_.end()) {
        give_staging(ready->staging);
        ready_.erase(ready);
        ++counts_.discarded_reads;
        return;
    }
    for (std::uint32_t i = 0; i < staged.count; ++i) {
        const std::uint32_t* const other = reading_.find(staged_[staged.first + i].tile);
        if (other != nullptr && *other == staged.first + i) return;
    }
    reader_->cancel(staged.first);
}

void StreamedState::invalidate(const StreamedView* view) {
    const std::lock_guard lock(mutex_);
    const auto forget = [&](TileNumber tile) {
        stop_read(tile);
        failed_.erase(tile);
        alone_.erase(tile);
        if (tiles_.contains(tile)) stale_.push_back(tile);
    };
    const auto invalidate_part = [](ResidentPart& part) {
        part.stale = true;
        part.failure.clear();
    };
    if (view != nullptr) {
        const Region region = check_view(*view);
        if (view->level < grid_.resident_level()) {
            grid_.each_tile(view->level, view->layer, region,
                            [&](const TilePosition3& at) { forget(grid_.number(at)); });
        } else {
            for (ResidentPart& part : parts_) {
                if (part.level == view->level && part.layer == view->layer) invalidate_part(part);
            }
        }
    } else {
        while (!reading_.empty()) stop_read(reading_.begin()->tile);
        failed_.clear();
        alone_.clear();
        for (const auto& [tile, what] : tiles_.all()) stale_.push_back(tile);
        for (ResidentPart& part : parts_) invalidate_part(part);
    }
    changed_ = true;
}

void StreamedState::abort() {
    const std::lock_guard lock(mutex_);
    views_.clear();
    asked_.clear();
    ahead_.clear();
    fetched_.clear();
    used_.clear();
    collected_.clear();
    has_collected_ = false;
    reader_->cancel_all();
    rebuild();
}

}  // namespace texton::detail
