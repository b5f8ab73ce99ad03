#include "viewer/model/streamed_image.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/stream.h>

#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

using namespace std::chrono_literals;

constexpr const char* kObject = "texton::viewer::StreamedImage";
constexpr auto kUpdate = 4ms;            // time of an update, during which texels() waits
constexpr auto kWaitForReads = 10ms;     // a new view is noticed after this time
constexpr auto kBetweenChanges = 40ms;   // a change is reported at most once in this time, unless the view is settled
constexpr std::size_t kWindowSteps = 4;  // windows begin at multiples of a quarter of their width
constexpr int kWindowLevels = 5;         // their last level, which is always resident, is 1/16 as wide
constexpr std::size_t kStaging = 32;     // tiles
constexpr std::size_t kOtherShare = 4;   // the texture that is not seen gets a quarter of the budget

// Texels are read with a point filter at the centers of texels, so that no filter is involved.
StreamedTextureInfo texture_info(const StreamedImageOptions& options, std::size_t budget) {
    return {.sampler = {.normalized_coordinates = true},
            .budget = budget,
            .first_level = std::nullopt,
            .threads = options.threads,
            .staging = kStaging};
}

void check(const StreamedImageOptions& options) {
    if (options.window_side >= 1024 && std::has_single_bit(options.window_side)) return;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kObject,
                 .problem = fmt::format("the window is {} texels wide", options.window_side),
                 .remedy = "Use a power of two of at least 1024.",
                 .numbers = {{"window_side", options.window_side}}});
}

Extent extent_of(const ArrayInfo& info, int level) {
    Extent extent = level_extent(info, level);
    extent.depth = 1;
    return extent;
}

// Returns the texels of a finer or coarser level that cover a box.
TexelBox at_level(const TexelBox& box, int level, int other, Extent other_extent) {
    const auto along = [&](std::size_t first, std::size_t count, std::size_t limit) {
        const std::size_t end = first + count;
        const std::size_t from = other >= level ? first >> (other - level) : first << (level - other);
        const std::size_t to =
            other >= level ? ((end - 1) >> (other - level)) + 1 : std::min(end << (level - other), limit);
        const std::size_t begin = std::min(from, limit - 1);
        return std::pair(begin, std::clamp(to, begin + 1, limit) - begin);
    };
    const auto [x, width] = along(box.x, box.width, other_extent.width);
    const auto [y, height] = along(box.y, box.height, other_extent.height);
    return {x, y, width, height};
}

bool contains(const TexelBox& outer, const TexelBox& inner) {
    return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
           inner.y + inner.height <= outer.y + outer.height;
}

Region region_of(const TexelBox& box) { return {{box.x, box.y, 0}, {box.width, box.height, 1}}; }

// Returns true if all texels of a view are resident. The view has a region.
bool is_resident(const StreamedTexture& texture, const StreamedView& view) {
    if (view.level >= texture.resident_level()) return true;
    const Extent& tile = texture.array().properties().tile;
    const Region& region = *view.region;
    const std::size_t x = region.offset.x / tile.width, y = region.offset.y / tile.height;
    const Extent tiles{(region.offset.x + region.extent.width - 1) / tile.width - x + 1,
                       (region.offset.y + region.extent.height - 1) / tile.height - y + 1, 1};
    return texture.array().resident({.level = view.level, .layer = view.layer, .offset = {x, y, 0}, .extent = tiles});
}

// Adds counts that only grow.
void add(StreamingStatistics& sum, const StreamingStatistics& counts) {
    sum.hits += counts.hits;
    sum.misses += counts.misses;
    sum.loaded_tiles += counts.loaded_tiles;
    sum.loaded_bytes += counts.loaded_bytes;
    sum.evicted_tiles += counts.evicted_tiles;
    sum.failed_reads += counts.failed_reads;
    sum.discarded_reads += counts.discarded_reads;
}

}  // namespace

StreamedImage::StreamedImage(Device device, TilePyramid pyramid, const StreamedImageOptions& options)
    : device_(std::move(device)), pyramid_(std::move(pyramid)), options_(options) {
    check(options_);
    StreamedTextureInfo info = texture_info(options_, options_.budget);
    if (options_.max_side > 0) {
        int level = 0;
        const auto is_larger = [&](Extent extent) { return std::max(extent.width, extent.height) > options_.max_side; };
        while (level + 1 < pyramid_.info.levels && is_larger(level_extent(pyramid_.info, level))) ++level;
        info.first_level = level;
    }
    overview_.emplace(device_, pyramid_, info);
    first_level_ = overview_->first_level();
    tile_ = overview_->array().properties().tile;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

StreamedImage::~StreamedImage() {
    thread_.request_stop();
    thread_.join();
}

void StreamedImage::look(std::vector<StreamedPart> parts) {
    {
        const std::lock_guard lock(view_);
        if (parts == parts_ || !problem_.empty()) return;
        parts_ = std::move(parts);
        is_new_ = true;
        is_done_ = is_settled_ = false;
    }
    asked_.notify_all();
}

bool StreamedImage::settled() const {
    const std::lock_guard lock(view_);
    return is_settled_;
}

void StreamedImage::on_change(std::function<void()> changed) {
    const std::lock_guard lock(telling_);
    changed_ = std::move(changed);
}

// --- texels ----------------------------------------------------------------------------------------------------------

// Requires textures_, except on the thread of the object, which alone replaces the window.
std::optional<StreamedImage::Held> StreamedImage::held(const StreamedPart& part) const {
    if (part.level >= first_level_) {
        const bool layered = is_layered(pyramid_.info.kind);
        return Held{
            &*overview_,
            {.level = part.level - first_level_, .layer = layered ? part.layer : 0, .region = region_of(part.box)}};
    }
    if (window_ == nullptr || window_->region.layer != part.layer || part.level < window_->region.level) return {};
    const int level = part.level - window_->region.level;
    if (level >= window_->texture.info().levels) return {};
    const Extent extent = level_extent(window_->texture.info(), level);
    const TexelBox& region = window_->region.box;
    const TexelBox all{region.x >> level, region.y >> level, extent.width, extent.height};
    if (!contains(all, part.box)) return {};
    return Held{&window_->texture,
                {.level = level,
                 .region = region_of({part.box.x - all.x, part.box.y - all.y, part.box.width, part.box.height})}};
}

std::optional<std::vector<std::byte>> StreamedImage::texels(const StreamedPart& part) const {
    const std::shared_lock lock(textures_);
    const std::optional<Held> where = held(part);
    if (!where || !is_resident(*where->texture, where->view)) return {};
    const Array& array = where->texture->array().array();
    Subresource box{.level = where->view.level, .region = where->view.region};
    if (is_layered(array.info().kind)) box.layer = where->view.layer;
    const Extent extent = where->view.region->extent;
    std::vector<std::byte> out(packed_bytes(pyramid_.info.format, extent));
    copy(host_view(out.data(), pyramid_.info.format, extent), array.view(box));
    return out;
}

bool StreamedImage::is_final(const StreamedPart& part) const {
    const std::lock_guard lock(view_);
    return is_done_ && std::ranges::any_of(parts_, [&](const StreamedPart& seen) {
               return seen.level == part.level && seen.layer == part.layer && contains(seen.box, part.box);
           });
}

// --- status ----------------------------------------------------------------------------------------------------------

// Requires textures_.
StreamedTile StreamedImage::tile_at(const StreamedPart& part, const TexelBox& box) const {
    StreamedTile out{.level = part.level, .layer = part.layer, .box = box, .shown_level = part.level};
    const TexelBox center{box.x + box.width / 2, box.y + box.height / 2, 1, 1};
    for (;; ++out.shown_level) {
        const bool own = out.shown_level == part.level;
        const TexelBox texels =
            own ? box : at_level(center, part.level, out.shown_level, extent_of(pyramid_.info, out.shown_level));
        const std::optional<Held> where = held({out.shown_level, part.layer, texels});
        if (where && is_resident(*where->texture, where->view)) return out;
    }
}

StreamedStatus StreamedImage::status() const {
    StreamedStatus out;
    out.budget = options_.budget;
    std::vector<StreamedPart> parts;
    {
        const std::lock_guard lock(view_);
        parts = parts_;
        out.problem = problem_;
        out.settled = is_settled_;
    }
    const std::shared_lock lock(textures_);
    out.counts = overview_->statistics();
    add(out.counts, former_);
    out.failures = overview_->failures();
    out.failures.insert(out.failures.end(), window_failures_.begin(), window_failures_.end());
    out.unfit = unfit_;
    if (window_ != nullptr) {
        const StreamingStatistics counts = window_->texture.statistics();
        add(out.counts, counts);
        out.counts.resident_tiles += counts.resident_tiles;
        out.counts.resident_bytes += counts.resident_bytes;
        out.counts.held_bytes += counts.held_bytes;
        out.counts.queued += counts.queued;
        out.counts.reading += counts.reading;
        out.window = window_->region;
        for (StreamingFailure& failure : window_->texture.failures()) {
            const int level = failure.box.level;
            failure.box.level += window_->region.level;
            failure.box.layer = window_->region.layer;
            failure.box.region.offset.x += window_->region.box.x >> level;
            failure.box.region.offset.y += window_->region.box.y >> level;
            out.failures.push_back(std::move(failure));
        }
    }
    std::ranges::sort(out.failures, {}, [](const StreamingFailure& failure) {
        const Offset& at = failure.box.region.offset;
        return std::tuple(failure.box.level, failure.box.layer, at.y, at.x);
    });
    for (const StreamedPart& part : parts) {
        const std::size_t right = part.box.x + part.box.width, bottom = part.box.y + part.box.height;
        for (std::size_t y = part.box.y / tile_.height * tile_.height; y < bottom; y += tile_.height) {
            for (std::size_t x = part.box.x / tile_.width * tile_.width; x < right; x += tile_.width) {
                const Extent extent = extent_of(pyramid_.info, part.level);
                const TexelBox box{x, y, std::min(tile_.width, extent.width - x),
                                   std::min(tile_.height, extent.height - y)};
                StreamedTile tile = tile_at(part, box);
                tile.failed = std::ranges::any_of(out.failures, [&](const StreamingFailure& failure) {
                    const Region& region = failure.box.region;
                    return failure.box.level == tile.level && failure.box.layer == tile.layer &&
                           region.offset.x < box.x + box.width && box.x < region.offset.x + region.extent.width &&
                           region.offset.y < box.y + box.height && box.y < region.offset.y + region.extent.height;
                });
                out.tiles.push_back(tile);
            }
        }
    }
    return out;
}

// --- the thread ------------------------------------------------------------------------------------------------------

void StreamedImage::run(const std::stop_token& stop) {
    try {
        work(stop);
    } catch (const std::exception& error) {
        {
            const std::lock_guard lock(view_);
            problem_ = error_text(error);
            is_new_ = false;
            is_done_ = true;
        }
        tell();
        const std::lock_guard lock(view_);
        is_settled_ = true;
    }
}

void StreamedImage::work(const std::stop_token& stop) {
    const Stream stream(device_);
    bool resting = true;
    bool changed = false;  // since the last call of tell()
    auto told = std::chrono::steady_clock::now();
    while (true) {
        std::optional<std::vector<StreamedPart>> parts;
        {
            std::unique_lock lock(view_);
            if (is_settled_) asked_.wait(lock, stop, [this] { return is_new_; });
            if (is_new_) parts = parts_;
            is_new_ = false;
        }
        if (stop.stop_requested()) return;
        if (parts) {
            resting = parts->empty();
            request(*parts);
        }
        const Step step = update(stream, resting);
        changed = changed || step.changed;
        bool done = step.settled;
        if (done) {
            // is_final() must hold before others look again. Nothing is known yet about a newer view.
            const std::lock_guard lock(view_);
            done = is_done_ = !is_new_;
        }
        const auto now = std::chrono::steady_clock::now();
        if (done || (changed && now - told >= kBetweenChanges)) {
            changed = false;
            told = now;
            tell();
        }
        if (done) {
            const std::lock_guard lock(view_);
            is_settled_ = !is_new_;
        } else if (!step.changed) {
            const bool finer = window_ != nullptr && window_->texture.statistics().reading > 0;
            (finer ? window_->texture : *overview_).wait_for_reads(kWaitForReads);
        }
    }
}

void StreamedImage::tell() {
    ++revision_;
    const std::lock_guard lock(telling_);
    if (changed_) changed_();
}

// Requests parts of the overview's levels from the overview. For a finer part, requests the texels from the window, and
// the finest level of the overview, which is shown until they are resident.
void StreamedImage::request(const std::vector<StreamedPart>& parts) {
    const auto largest = std::ranges::max_element(parts, {}, [&](const StreamedPart& part) {
        return part.level < first_level_ ? part.box.width * part.box.height : 0;
    });
    const StreamedPart* const finer = largest != parts.end() && largest->level < first_level_ ? &*largest : nullptr;
    if (parts.empty()) close_window();
    if (finer != nullptr && !held(*finer)) open_window(*finer);
    share_budget(finer, parts.empty());
    std::vector<StreamedView> of_overview, of_window;
    for (StreamedPart part : parts) {
        if (part.level < first_level_) {
            if (const auto where = held(part)) of_window.push_back(where->view);
            part.box = at_level(part.box, part.level, first_level_, extent_of(pyramid_.info, first_level_));
            part.level = first_level_;
        }
        of_overview.push_back(held(part)->view);
    }
    overview_->request(of_overview);
    if (window_ != nullptr) window_->texture.request(of_window);
}

void StreamedImage::share_budget(const StreamedPart* finer, bool resting) {
    const std::size_t minimum = overview_->minimum_budget();
    const auto of_overview = [&](std::size_t bytes) {
        if (bytes = std::max(bytes, minimum); bytes != overview_->budget()) overview_->set_budget(bytes);
    };
    if (window_ == nullptr) return of_overview(resting ? 0 : options_.budget);
    const std::size_t least = window_->texture.minimum_budget();
    const std::size_t small = std::max(options_.budget / kOtherShare, finer != nullptr ? minimum : least);
    const std::size_t large = options_.budget - std::min(options_.budget, small);
    of_overview(finer != nullptr ? small : large);
    const std::size_t rest = std::max(finer != nullptr ? large : small, least);
    if (rest != window_->texture.budget()) window_->texture.set_budget(rest);
}

// Returns a window around the part. Its finest level is the finest one on which the part takes at most half of it.
StreamedPart StreamedImage::window_region(const StreamedPart& part) const {
    const std::size_t side = options_.window_side, step = side / kWindowSteps;
    int level = part.level;
    const auto fits = [&](int finer) {
        const TexelBox box = at_level(part.box, part.level, finer, extent_of(pyramid_.info, finer));
        return std::max(box.width, box.height) <= side / 2;
    };
    while (level > 0 && part.level - level + 1 < kWindowLevels && fits(level - 1)) --level;
    const Extent extent = extent_of(pyramid_.info, level);
    const TexelBox box = at_level(part.box, part.level, level, extent);
    const auto along = [&](std::size_t first, std::size_t count, std::size_t limit) {
        const std::size_t center = first + count / 2, last = limit > side ? (limit - side + step - 1) / step * step : 0;
        const std::size_t begin =
            std::min(center > side / 2 ? (center - side / 2 + step / 2) / step * step : std::size_t{0}, last);
        return std::pair(begin, std::min(side, limit - begin));
    };
    const auto [x, width] = along(box.x, box.width, extent.width);
    const auto [y, height] = along(box.y, box.height, extent.height);
    return {level, part.layer, {x, y, width, height}};
}

void StreamedImage::open_window(const StreamedPart& part) {
    close_window();
    const StreamedPart region = window_region(part);
    TilePyramid finer{.info = pyramid_.info};
    finer.info.kind = ArrayKind::array_2d;
    finer.info.layers = 1;
    finer.info.extent = {region.box.width, region.box.height, 1};
    finer.info.levels = std::min(kWindowLevels, pyramid_.info.levels - region.level);
    finer.read = [read = pyramid_.read, region](const PyramidBox& box, std::span<std::byte> texels,
                                                const std::stop_token& stop) {
        PyramidBox whole = box;
        whole.level += region.level;
        whole.layer = region.layer;
        whole.region.offset.x += region.box.x >> box.level;
        whole.region.offset.y += region.box.y >> box.level;
        read(whole, texels, stop);
    };
    const std::size_t budget = options_.budget - std::min(options_.budget, std::max(options_.budget / kOtherShare,
                                                                                    overview_->minimum_budget()));
    std::unique_ptr<Window> window;
    std::vector<StreamingFailure> failures;
    try {
        StreamedTextureInfo info = texture_info(options_, budget);
        info.first_level = 0;
        window.reset(new Window{region, StreamedTexture(device_, std::move(finer), info)});
    } catch (const Error& error) {
        // The coarser levels remain visible.
        failures.push_back({{region.level, region.layer, region_of(region.box)}, error_text(error)});
    }
    const std::lock_guard lock(textures_);
    window_ = std::move(window);
    window_failures_ = std::move(failures);
}

void StreamedImage::close_window() {
    std::unique_ptr<Window> closed;
    {
        const std::lock_guard lock(textures_);
        window_failures_.clear();
        if (window_ == nullptr) return;
        add(former_, window_->texture.statistics());
        closed = std::move(window_);
    }
    closed.reset();  // waits for reads, so texels() must not wait for it
}

StreamedImage::Step StreamedImage::update(const Stream& stream, bool resting) {
    const std::lock_guard lock(textures_);
    StreamingProgress progress = overview_->update(stream, kUpdate);
    if (window_ != nullptr) {
        const StreamingProgress finer = window_->texture.update(stream, kUpdate);
        progress.loaded += finer.loaded;
        progress.evicted += finer.evicted;
        progress.pending += finer.pending;
        progress.unfit += finer.unfit;
    }
    stream.synchronize();  // texels() copies without this stream
    unfit_ = progress.unfit;
    const bool changed = progress.loaded > 0 || progress.evicted > 0;
    return {changed, progress.settled() && !(resting && changed)};
}

std::size_t streamed_layer(const ArrayInfo& image, const SubresourceIndex& subresource) {
    const std::size_t layer = is_layered(image.kind) ? subresource.layer : 0;
    return is_cube(image.kind) ? 6 * layer + static_cast<std::size_t>(subresource.face) : layer;
}

}  // namespace texton::viewer
