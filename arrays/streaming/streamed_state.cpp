// Construction of a streamed texture, its requests and its results. streamed_update.cpp moves the tiles.
#include "arrays/streaming/streamed_state.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/sample.h>

#include "arrays/streaming/footprint_tiles.h"
#include "arrays/unit/texel_format.h"
#include "core/request.h"

namespace texton::detail {
namespace {

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy,
                         std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = code,
                 .object = kStreamed,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

void check_options(const TilePyramid& pyramid, const StreamedTextureInfo& options) {
    if (!pyramid.read) refuse(ErrorCode::bad_argument, "the pyramid has no callback", "Set TilePyramid::read.");
    if (options.threads < 1 || options.threads > 256) {
        refuse(ErrorCode::bad_argument, fmt::format("{} threads were requested", options.threads),
               "Use 1 to 256 threads.");
    }
    if (options.staging < 1 || options.staging > 65536) {
        refuse(ErrorCode::bad_argument, fmt::format("{} staging buffers were requested", options.staging),
               "Use 1 to 65536 staging buffers.", {{"staging", options.staging}});
    }
    const ArrayInfo& info = pyramid.info;
    if (is_cube(info.kind) || is_flat(info.kind)) {
        refuse(ErrorCode::unsupported,
               fmt::format("the pyramid is a {}, but sparse arrays can only be array_2d, layered_2d and array_3d",
                           name(info.kind)),
               is_cube(info.kind) ? "Describe the pyramid as a layered_2d with six layers for each cube."
                                  : "Describe the pyramid as an array_2d or layered_2d with a height of 1.");
    }
    if (options.first_level && (*options.first_level < 0 || *options.first_level >= info.levels)) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("first level {} was requested, but the pyramid has {} levels", *options.first_level,
                           info.levels),
               "Use a level of the pyramid.", {{"levels", static_cast<std::uint64_t>(std::max(info.levels, 0))}});
    }
}

ArrayInfo without_levels(ArrayInfo info, int first) {
    info.extent = level_extent(info, first);
    info.levels -= first;
    return info;
}

// Returns true if the device can create the array. Sizes beyond its limits are the only reason for false.
bool fits_device(const Device& device, const ArrayInfo& info) {
    try {
        (void)sparse_properties(device, info);
        return true;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::overflow) throw;
        return false;
    }
}

}  // namespace

StreamedState::StreamedState(const Device& device, TilePyramid pyramid, const StreamedTextureInfo& options)
    : pyramid_(std::move(pyramid)), options_(options) {
    check_options(pyramid_, options_);
    refuse_while_recording(kStreamed, "creating a streamed texture");
    choose_level(device);
    make_array(device);
    load_resident_levels(device);
    staging_ = Pinned(device, options_.staging * kTileBytes);
    staged_.resize(options_.staging);
    free_staging_.reserve(options_.staging);
    for (std::size_t i = options_.staging; i > 0; --i) free_staging_.push_back(static_cast<std::uint32_t>(i - 1));
    reader_ = std::make_unique<TileReader>(pyramid_.read, options_.threads);
}

StreamedState::~StreamedState() {
    reader_.reset();
    try {
        finish_copies();  // they read the staging buffers
    } catch (const Error&) {
        // The work has failed or the device is lost, so nothing reads them.
    }
}

void StreamedState::finish_copies() const {
    for (const StagedCopies& copies : copies_) copies.done.synchronize();
}

void StreamedState::choose_level(const Device& device) {
    first_level_ = options_.first_level.value_or(0);
    if (fits_device(device, without_levels(pyramid_.info, first_level_))) return;
    int fitting = first_level_ + 1;
    while (fitting < pyramid_.info.levels && !fits_device(device, without_levels(pyramid_.info, fitting))) ++fitting;
    if (fitting < pyramid_.info.levels && !options_.first_level) {
        first_level_ = fitting;
        return;
    }
    const Extent extent = level_extent(pyramid_.info, first_level_);
    refuse(ErrorCode::overflow,
           fmt::format("level {} of the pyramid has {} texels and {} layers, which exceeds the limits of the device "
                       "for arrays with levels",
                       first_level_, to_string(extent), pyramid_.info.layers),
           fitting < pyramid_.info.levels
               ? fmt::format("Set StreamedTextureInfo::first_level to {}, the first level that fits ({} texels).",
                             fitting, to_string(level_extent(pyramid_.info, fitting)))
               : "No level of the pyramid fits. Add smaller levels.",
           {{"width", extent.width},
            {"height", extent.height},
            {"depth", extent.depth},
            {"layers", pyramid_.info.layers}});
}

void StreamedState::make_array(const Device& device) {
    const ArrayInfo info = without_levels(pyramid_.info, first_level_);
    array_ = SparseArray(device, info);
    const SparseProperties& properties = array_.properties();
    grid_ = TileGrid(info, properties);
    const int resident = grid_.resident_level();
    const std::size_t tails = properties.tail_per_layer ? grid_.layers() : 1;
    if (resident < properties.first_tail_level) {  // no tail: the last level
        const Extent tiles = array_.tiles(resident);
        resident_slots_ = tiles.width * tiles.height * tiles.depth * grid_.layers();
    }
    if (properties.tail_bytes > 0) resident_slots_ += (properties.tail_bytes + kTileBytes - 1) / kTileBytes * tails;
    set_budget(options_.budget);
    pool_ = std::make_unique<TilePool>(device, TilePoolInfo{.chunk_bytes = TileBlocks::kSlots * kTileBytes});
    blocks_ = std::make_unique<TileBlocks>(*pool_);
    for (int clamp = 0; clamp <= resident; ++clamp) {
        Sampler sampler = options_.sampler;
        sampler.mip_min = std::max(sampler.mip_min, static_cast<float>(clamp));
        textures_.emplace_back(array_.array(), sampler);
    }
}

void StreamedState::load_resident_levels(const Device& device) {
    const Stream stream(device);
    const ArrayInfo& info = array_.array().info();
    const SparseProperties& properties = array_.properties();
    std::vector<TileMapping> mappings;
    if (grid_.resident_level() < properties.first_tail_level) {
        const Extent tiles = array_.tiles(grid_.resident_level());
        for (std::size_t layer = 0; layer < grid_.layers(); ++layer) {
            mappings.push_back({{.level = grid_.resident_level(), .layer = layer, .extent = tiles},
                                pool_->allocate(tiles.width * tiles.height * tiles.depth)});
        }
    }
    if (properties.tail_bytes > 0) {
        const std::size_t tails = properties.tail_per_layer ? grid_.layers() : 1;
        for (std::size_t tail = 0; tail < tails; ++tail)
            mappings.push_back({TileBox::mip_tail(tail), pool_->allocate_bytes(properties.tail_bytes)});
    }
    array_.map(mappings, stream);
    resident_chunks_ = pool_->usage().chunks;
    for (int level = grid_.resident_level(); level < info.levels; ++level) {
        const Extent extent = level_extent(info, level);
        std::vector<std::byte> texels(
            packed_bytes({.format = info.format, .extent = extent, .kind = info.kind, .layers = 1}));
        for (std::size_t layer = 0; layer < grid_.layers(); ++layer) {
            parts_.push_back({.level = level, .layer = layer});
            std::string problem;
            try {
                pyramid_.read({level + first_level_, layer, {{}, extent}}, texels, {});
            } catch (const std::exception& error) {
                problem = error.what();
            } catch (...) {
                problem = "the callback threw an exception that is not derived from std::exception";
            }
            if (!problem.empty()) {
                refuse(
                    ErrorCode::io,
                    fmt::format("level {} of the pyramid (layer {}), which is always resident, could not be read: {}",
                                level + first_level_, layer, problem),
                    "Repair the pyramid. Without its smallest levels it cannot be streamed.",
                    {{"level", static_cast<std::uint64_t>(level + first_level_)}, {"layer", layer}});
            }
            copy(view_of(level, layer, {{}, extent}), host_view(texels.data(), info.format, extent), stream);
        }
    }
    stream.synchronize();
}

PyramidBox StreamedState::box_of(TileNumber tile) const {
    const TilePosition3 at = grid_.position(tile);
    return {at.level + first_level_, at.layer, grid_.texels(at)};
}

View StreamedState::view_of(int level, std::size_t layer, const Region& region) const {
    const Array& array = array_.array();
    Subresource part{.level = level, .region = region};
    if (is_layered(array.info().kind)) part.layer = layer;
    return array.view(part);
}

const Texture& StreamedState::texture(int clamp) const {
    if (clamp < 0 || clamp > grid_.resident_level()) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("the texture with clamp {} was requested, but clamps are 0 to {}", clamp,
                           grid_.resident_level()),
               "Use a clamp up to resident_level().",
               {{"resident_level", static_cast<std::uint64_t>(grid_.resident_level())}});
    }
    return textures_[static_cast<std::size_t>(clamp)];
}

// --- requests --------------------------------------------------------------------------------------------------------

Region StreamedState::check_view(const StreamedView& view) const {
    const ArrayInfo& info = array_.array().info();
    if (view.level < 0 || view.level >= info.levels) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("level {} was requested, but the texture has {}", view.level, info.levels),
               "Use a level of the texture. Level 0 is StreamedTextureInfo::first_level of the pyramid.",
               {{"levels", static_cast<std::uint64_t>(info.levels)}});
    }
    if (view.layer >= grid_.layers()) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("layer {} was requested, but the texture has {}", view.layer, grid_.layers()),
               "Layers begin at 0.", {{"layer", view.layer}, {"layers", grid_.layers()}});
    }
    const Extent extent = level_extent(info, view.level);
    const Region region = view.region.value_or(Region{{}, extent});
    if (!contains(extent, region)) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("{} texels were requested in level {} of {} texels", to_string(region), view.level,
                           to_string(extent)),
               "Use a region of at least one texel inside the level.",
               {{"x", region.offset.x},
                {"y", region.offset.y},
                {"width", region.extent.width},
                {"height", region.extent.height}});
    }
    if (!(view.weight >= 0) || std::isinf(view.weight)) {
        refuse(ErrorCode::bad_argument, fmt::format("the weight of a view is {}", view.weight),
               "Use a finite weight of at least 0.");
    }
    return region;
}

void StreamedState::request(std::span<const StreamedView> views) {
    constexpr std::size_t kMaxTiles = std::size_t{1} << 20;
    const std::lock_guard lock(mutex_);
    std::unordered_map<TileNumber, Request> found;
    std::size_t tiles = 0;
    for (const StreamedView& view : views) {
        const Region region = check_view(view);
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
            refuse(ErrorCode::overflow, fmt::format("the views have at least {} tiles", tiles),
                   "Request at most 2^20 tiles, for example a smaller region or a coarser level.", {{"tiles", tiles}});
        }
        grid_.each_tile(view.level, view.layer, region, [&](const TilePosition3& at) {
            float own[3];
            grid_.center(at, own);
            float distance = 0;
            for (int i = 0; i < 3; ++i) distance += (own[i] - center[i]) * (own[i] - center[i]);
            const TileNumber number = grid_.number(at);
            const auto [entry, added] = found.try_emplace(number, Request{number, view.weight, distance});
            entry->second.weight = std::max(entry->second.weight, view.weight);
            entry->second.distance = std::min(entry->second.distance, distance);
        });
    }
    std::vector<Request> requests;
    requests.reserve(found.size());
    for (const auto& [tile, request] : found) {
        requests.push_back(request);
        (tiles_.contains(tile) ? counts_.hits : counts_.misses) += 1;
    }
    views_ = std::move(requests);
    fetched_.clear();
    rebuild();
}

TileNeed StreamedState::need_of(TileNumber tile, int level) const {
    const auto found = wanted_.find(tile);
    return found != wanted_.end() ? found->second : TileNeed{0, 0, level};
}

// Adds the coarser tiles over a missing tile to the queue.
void StreamedState::add_ancestors(const QueuedTile& missing, bool fits,
                                  std::unordered_map<TileNumber, QueuedTile>& queued) {
    TilePosition3 at = grid_.position(missing.tile);
    while (at.level + 1 < grid_.resident_level()) {
        at = grid_.parent(at);
        const TileNumber number = grid_.number(at);
        const TileNeed need{fits ? generation_ - 1 : generation_, missing.weight, at.level};
        TileNeed& known = wanted_.try_emplace(number, need).first->second;
        known = std::max(known, need);
        if (tiles_.raise(number, known) || needed_.contains(number)) continue;
        QueuedTile& entry =
            queued.try_emplace(number, QueuedTile{missing.weight, at.level, missing.distance, number, true})
                .first->second;
        entry.weight = std::max(entry.weight, missing.weight);
        entry.distance = std::min(entry.distance, missing.distance);
    }
}

void StreamedState::rebuild() {
    changed_ = false;
    ++generation_;
    needed_.clear();
    wanted_.clear();
    unfit_.clear();
    std::unordered_map<TileNumber, QueuedTile> queued;
    const auto add = [&](TileNumber tile, float weight, float distance) {
        const int level = grid_.position(tile).level;
        needed_.insert(tile);
        TileNeed& need = wanted_.try_emplace(tile, TileNeed{generation_, weight, level}).first->second;
        need.weight = std::max(need.weight, weight);
        if (tiles_.raise(tile, need)) return;
        QueuedTile& entry = queued.try_emplace(tile, QueuedTile{weight, level, distance, tile}).first->second;
        entry.weight = std::max(entry.weight, weight);
        entry.distance = std::min(entry.distance, distance);
    };
    for (const Request& request : views_) add(request.tile, request.weight, request.distance);
    for (const TileNumber tile : fetched_) add(tile, 1, 0);
    missing_ = queued.size();
    const bool fits = needed_.size() <= capacity_;
    std::vector<QueuedTile> missing;
    missing.reserve(queued.size());
    for (const auto& [tile, entry] : queued) missing.push_back(entry);
    for (const QueuedTile& entry : missing) add_ancestors(entry, fits, queued);
    queue_.clear();
    queue_.reserve(queued.size());
    for (const auto& [tile, entry] : queued) queue_.push_back(entry);
    std::ranges::sort(queue_, [](const QueuedTile& a, const QueuedTile& b) { return a.before(b); });
    next_ = 0;
    std::vector<TileNumber> unwanted;
    for (const auto& [tile, staging] : reading_) {
        if (!wanted_.contains(tile)) unwanted.push_back(tile);
    }
    for (const TileNumber tile : unwanted) stop_read(tile);
}

// Cancels a read, or discards its texels. If a thread is still reading, the buffer stays in use until it has finished.
void StreamedState::stop_read(TileNumber tile) {
    const auto found = reading_.find(tile);
    if (found == reading_.end()) return;
    const auto ready = std::ranges::find(ready_, tile, &ReadyTile::tile);
    if (ready != ready_.end()) {
        free_staging_.push_back(ready->staging);
        ready_.erase(ready);
        ++counts_.discarded_reads;
    } else {
        reader_->cancel(found->second);
    }
    reading_.erase(found);
}

void StreamedState::invalidate(const StreamedView* view) {
    const std::lock_guard lock(mutex_);
    const auto forget = [&](TileNumber tile) {
        stop_read(tile);
        failed_.erase(tile);
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
        while (!reading_.empty()) stop_read(reading_.begin()->first);
        failed_.clear();
        for (const auto& [tile, what] : tiles_.all()) stale_.push_back(tile);
        for (ResidentPart& part : parts_) invalidate_part(part);
    }
    changed_ = true;
}

void StreamedState::abort() {
    const std::lock_guard lock(mutex_);
    views_.clear();
    fetched_.clear();
    collected_.clear();
    has_collected_ = false;
    reader_->cancel_all();
    rebuild();
}

std::size_t StreamedState::budget() const {
    const std::lock_guard lock(mutex_);
    return options_.budget;
}

void StreamedState::set_budget(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes < minimum_budget()) {
        refuse(
            ErrorCode::bad_argument,
            fmt::format("a budget of {} bytes was requested, but the levels that are always resident need {}", bytes,
                        minimum_budget()),
            pyramid_.info.levels - first_level_ == 1
                ? "Use a larger budget, or a pyramid with smaller levels: with a single level, all tiles are resident."
                : "Use a larger budget, or a pyramid with all levels down to a single texel.",
            {{"bytes", bytes}, {"required", minimum_budget()}});
    }
    options_.budget = bytes;
    capacity_ = bytes / kTileBytes - resident_slots_;
    changed_ = true;
    trims_ = true;
}

// --- results ---------------------------------------------------------------------------------------------------------

StreamedSamples StreamedState::sample(std::span<const FetchPoint> points, FetchOperation operation) {
    if (operation != FetchOperation::lod && operation != FetchOperation::gradients) {
        refuse(ErrorCode::bad_argument, "a fetch without a level of detail was requested, which always reads level 0",
               "Use FetchOperation::lod or FetchOperation::gradients.");
    }
    refuse_while_recording(kStreamed, "sampling without a stream");
    const std::lock_guard lock(mutex_);
    finish_copies();
    StreamedSamples samples{std::vector<Texel>(points.size()), std::vector<std::uint8_t>(points.size())};
    std::vector<std::size_t> open(points.size());
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
    std::vector<FetchPoint> at(points.begin(), points.end());
    for (std::size_t clamp = 0; clamp < textures_.size() && !open.empty(); ++clamp) {
        const Samples found = texton::sample(textures_[clamp], at, {.operation = operation, .residency = true});
        const bool last = clamp + 1 == textures_.size();
        std::size_t left = 0;
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (found.resident[i] != 0 || last) {
                samples.texels[open[i]] = found.texels[i];
                samples.clamps[open[i]] = static_cast<std::uint8_t>(clamp);
            } else {
                at[left] = at[i];
                open[left++] = open[i];
            }
        }
        open.resize(left);
        at.resize(left);
    }
    const ArrayInfo& info = array_.array().info();
    TextureView view{.kind = info.kind, .format = texel_format(info.format), .level_count = info.levels, .levels = {}};
    for (int level = 0; level < info.levels; ++level) {
        Extent extent = level_extent(info, level);
        if (info.kind != ArrayKind::array_3d) extent.depth = grid_.layers();
        view.levels[level] = level_view(nullptr, extent, 0, 0);
    }
    constexpr std::size_t kUnsorted = std::size_t{1} << 16;  // tiles, before duplicates are removed
    FootprintTiles tiles(grid_, collected_);
    const auto remove_duplicates = [&] {
        std::ranges::sort(collected_);
        const auto rest = std::ranges::unique(collected_);
        collected_.erase(rest.begin(), rest.end());
    };
    std::size_t sorted = collected_.size();
    for (const FetchPoint& point : points) {
        fetch_point(view, options_.sampler, point, operation, 0, tiles);
        if (collected_.size() < 2 * sorted + kUnsorted) continue;
        remove_duplicates();
        sorted = collected_.size();
    }
    remove_duplicates();
    has_collected_ = true;
    return samples;
}

std::vector<StreamingFailure> StreamedState::failures() const {
    const std::lock_guard lock(mutex_);
    std::vector<StreamingFailure> all;
    for (const auto& [tile, message] : failed_) all.push_back({box_of(tile), message});
    for (const ResidentPart& part : parts_) {
        if (part.failure.empty()) continue;
        all.push_back({{part.level + first_level_, part.layer, {{}, level_extent(array_.array().info(), part.level)}},
                       part.failure});
    }
    return all;
}

StreamingStatistics StreamedState::statistics() const {
    const std::lock_guard lock(mutex_);
    StreamingStatistics counts = counts_;
    counts.resident_tiles = tiles_.size();
    counts.resident_bytes = (tiles_.size() + resident_slots_) * kTileBytes;
    counts.held_bytes = pool_->usage().held * kTileBytes;
    counts.queued = queue_.size() - next_;
    counts.reading = reading_.size() - ready_.size();
    counts.seconds = std::chrono::duration<double>(Clock::now() - created_).count();
    return counts;
}

}  // namespace texton::detail
