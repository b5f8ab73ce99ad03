// Construction of a streamed texture, and its results.
#include "arrays/streaming/streamed_state.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
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

void check_options(const TilePyramid& pyramid, const StreamedTextureInfo& options) {
    if (!pyramid.read)
        refuse_streamed(ErrorCode::bad_argument, "the pyramid has no callback", "Set TilePyramid::read.");
    if (pyramid.tiles_per_read < 1 || pyramid.tiles_per_read > 32) {
        refuse_streamed(ErrorCode::bad_argument,
                        fmt::format("reads of {} tiles were requested", pyramid.tiles_per_read),
                        "Set TilePyramid::tiles_per_read to a number from 1 to 32.");
    }
    if (options.threads < 1 || options.threads > 256) {
        refuse_streamed(ErrorCode::bad_argument, fmt::format("{} threads were requested", options.threads),
                        "Use 1 to 256 threads.");
    }
    if (options.staging < 1 || options.staging > 65536) {
        refuse_streamed(ErrorCode::bad_argument, fmt::format("{} staging buffers were requested", options.staging),
                        "Use 1 to 65536 staging buffers.", {{"staging", options.staging}});
    }
    if (options.prefetch < 0 || options.prefetch > 64) {
        refuse_streamed(ErrorCode::bad_argument,
                        fmt::format("a prefetch of {} requests was requested", options.prefetch), "Use 0 to 64.");
    }
    if (options.feedback_tiles < 1 || options.feedback_tiles > std::size_t{1} << 20) {
        refuse_streamed(ErrorCode::bad_argument,
                        fmt::format("feedback of {} tiles was requested", options.feedback_tiles),
                        "Use 1 to 2^20 tiles.", {{"feedback_tiles", options.feedback_tiles}});
    }
    const ArrayInfo& info = pyramid.info;
    if (is_cube(info.kind) || is_flat(info.kind)) {
        refuse_streamed(
            ErrorCode::unsupported,
            fmt::format("the pyramid is a {}, but sparse arrays can only be array_2d, layered_2d and array_3d",
                        name(info.kind)),
            is_cube(info.kind) ? "Describe the pyramid as a layered_2d with six layers for each cube."
                               : "Describe the pyramid as an array_2d or layered_2d with a height of 1.");
    }
    if (options.first_level && (*options.first_level < 0 || *options.first_level >= info.levels)) {
        refuse_streamed(ErrorCode::out_of_bounds,
                        fmt::format("first level {} was requested, but the pyramid has {} levels", *options.first_level,
                                    info.levels),
                        "Use a level of the pyramid.",
                        {{"levels", static_cast<std::uint64_t>(std::max(info.levels, 0))}});
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

void refuse_streamed(ErrorCode code, std::string problem, std::string remedy, std::vector<ErrorNumber> numbers) {
    throw Error({.code = code,
                 .object = kStreamed,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

StreamedState::StreamedState(const Device& device, TilePyramid pyramid, const StreamedTextureInfo& options)
    : pyramid_(std::move(pyramid)), options_(options), unmapped_(device, EventTiming::off) {
    check_options(pyramid_, options_);
    refuse_while_recording(kStreamed, "creating a streamed texture");
    choose_level(device);
    make_array(device);
    load_resident_levels(device);
    staging_ = Pinned(device, options_.staging * kTileBytes);
    free_staging_ = FreeBuffers(options_.staging);
    staged_.resize(options_.staging);
    ready_.reserve(options_.staging);
    copied_parts_.reserve(parts_.size());
    reader_ = std::make_unique<TileReader>(pyramid_.read, options_.threads);
}

StreamedState::~StreamedState() {
    reader_.reset();
    try {
        finish_updates();  // they read the staging buffers
    } catch (const Error&) {
        // The work has failed or the device is lost, so nothing reads them.
    }
}

void StreamedState::finish_updates() const {
    for (const StagedCopies& copies : copies_) copies.done.synchronize();
    unmapped_.synchronize();
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
    refuse_streamed(
        ErrorCode::overflow,
        fmt::format("level {} of the pyramid has {} texels and {} layers, which exceeds the limits of the device "
                    "for arrays with levels",
                    first_level_, to_string(extent), pyramid_.info.layers),
        fitting < pyramid_.info.levels
            ? fmt::format("Set StreamedTextureInfo::first_level to {}, the first level that fits ({} texels).", fitting,
                          to_string(level_extent(pyramid_.info, fitting)))
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
            } catch (const std::bad_alloc&) {
                throw;
            } catch (const std::exception& error) {
                problem = error.what();
            } catch (...) {
                problem = "the callback threw an exception that is not derived from std::exception";
            }
            if (!problem.empty()) {
                refuse_streamed(
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
        refuse_streamed(ErrorCode::out_of_bounds,
                        fmt::format("the texture with clamp {} was requested, but clamps are 0 to {}", clamp,
                                    grid_.resident_level()),
                        "Use a clamp up to resident_level().",
                        {{"resident_level", static_cast<std::uint64_t>(grid_.resident_level())}});
    }
    return textures_[static_cast<std::size_t>(clamp)];
}

StreamedFeedback StreamedState::feedback(std::size_t pixels) {
    const std::lock_guard lock(mutex_);
    if (feedback_ == nullptr) {
        feedback_ =
            std::make_unique<FeedbackBuffer>(array_.array().device(), array_.array().info(), grid_, options_.sampler,
                                             static_cast<std::uint32_t>(options_.feedback_tiles));
    }
    return feedback_->for_launch(pixels);
}

std::size_t StreamedState::budget() const {
    const std::lock_guard lock(mutex_);
    return options_.budget;
}

void StreamedState::set_budget(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes < minimum_budget()) {
        refuse_streamed(
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
    exceeds_budget_ = true;
    trims_ = true;
}

// --- results ---------------------------------------------------------------------------------------------------------

StreamedSamples StreamedState::sample(std::span<const FetchPoint> points, FetchOperation operation) {
    if (operation != FetchOperation::lod && operation != FetchOperation::gradients) {
        refuse_streamed(ErrorCode::bad_argument,
                        "a fetch without a level of detail was requested, which always reads level 0",
                        "Use FetchOperation::lod or FetchOperation::gradients.");
    }
    refuse_while_recording(kStreamed, "sampling without a stream");
    const std::lock_guard lock(mutex_);
    finish_updates();
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
        collected_.erase(std::unique(collected_.begin(), collected_.end()), collected_.end());
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
