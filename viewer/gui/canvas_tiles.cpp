#include "viewer/gui/canvas_tiles.h"

#include <QPointer>
#include <algorithm>
#include <cmath>
#include <thread>

#include "viewer/model/streamed_image.h"
#include "viewer/render/color_tables.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{192} << 20;
// A larger canvas keeps no values: those of an 8K canvas would need gigabytes.
constexpr std::size_t kMaxTilesWithValues = 96;
constexpr std::size_t kMaxTilesAtOnce = 8;
constexpr std::size_t kMaxLayers = 6;
constexpr double kOverviewSide = 512;
constexpr std::size_t kFileSlot = 0;  // the others render tiles
constexpr std::size_t kMaxTileSlots = 8;
constexpr int kStillMilliseconds = 150;  // a frame of a running program that is shown for longer is refined

// Returns the parts of the scene that the values depend on: scenes with equal content have equal tiles.
Scene content_of(const Scene& scene) {
    const Session& from = scene.session;
    Scene out;
    out.shown = scene.shown;
    out.session.subresource = from.subresource;
    out.session.layout = from.layout;
    out.session.reading = from.reading;
    out.session.sampler = from.sampler;
    out.session.view.zoom = from.view.zoom;
    out.session.display.luminance = from.display.luminance && scene.shown && scene.shown->is_planar();
    if (scene.against && from.compare.mode != CompareMode::none) {
        out.against = scene.against;
        out.session.compare.mode = from.compare.mode;
        out.session.compare.against = from.compare.against;
        out.session.second_sampler = from.second_sampler;
    }
    if (from.lod_plane.shown) out.session.lod_plane = from.lod_plane;
    if (from.layout == Layout::sphere) {
        out.session.sphere_yaw = from.sphere_yaw;
        out.session.sphere_pitch = from.sphere_pitch;
    }
    return out;
}

bool is_frame_of_several(const Scene& scene) {
    return scene.shown && (scene.shown->live_frame() > 0 || scene.shown->frames() > 1);
}

Scene without_zoom(Scene content) {
    content.session.view.zoom = 1;
    return content;
}

// A job renders a tile on one thread. Half of the processors are left for other jobs and programs.
std::size_t tile_slots() { return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 2, kMaxTileSlots); }

int tile_of(int pixel) { return static_cast<int>(std::floor(static_cast<double>(pixel) / kTileSide)); }

// Renders the tiles of a row together, because files are read fastest in whole rows. The columns must be sorted.
std::vector<Values> values_of_row(const Scene& content, int row, const std::vector<int>& columns,
                                  const CancellationToken& token) {
    const int width = (columns.back() - columns.front() + 1) * kTileSide;
    const PixelBox box{columns.front() * kTileSide, row * kTileSide, width, kTileSide};
    const Values all = values_of(content, box, Quality::full, token);
    std::vector<Values> out;
    for (const int column : columns) {
        Values tile;
        tile.part = {column * kTileSide, box.y, kTileSide, kTileSide};
        tile.meaning = all.meaning;
        tile.colors = all.colors;
        for (int y = 0; y < kTileSide; ++y) {
            const auto first = static_cast<std::ptrdiff_t>(y) * width + (column - columns.front()) * kTileSide;
            tile.values.insert(tile.values.end(), all.values.begin() + first, all.values.begin() + first + kTileSide);
            tile.seen.insert(tile.seen.end(), all.seen.begin() + first, all.seen.begin() + first + kTileSide);
        }
        out.push_back(std::move(tile));
    }
    return out;
}

// The colors of images on a GPU are converted there.
bool uses_tables(const Device& device) { return device.kind() == DeviceKind::cuda; }

QImage image_of(const Values& values, const Display& display, const Device& device, ColorTableCache& cache) {
    // The rows of the image have no padding, like those of the values.
    QImage out(values.part.width, values.part.height, QImage::Format_RGB32);
    const TableUse tables{device, cache};
    show_values(values, display, {reinterpret_cast<std::uint32_t*>(out.bits()), values.values.size()},
                uses_tables(device) ? &tables : nullptr);
    return out;
}

std::size_t bytes_of(const QImage& image, const Values* values) {
    return static_cast<std::size_t>(image.sizeInBytes()) +
           (values ? values->values.size() * sizeof(Color) + values->seen.size() : 0);
}

}  // namespace

CanvasTiles::CanvasTiles(Jobs& jobs, std::string tag, QObject* parent)
    : QObject(parent),
      jobs_(jobs),
      tag_(std::move(tag)),
      tables_(std::make_shared<ColorTableCache>()),
      busy_(kFileSlot + 1 + tile_slots()) {
    refines_.setSingleShot(true);
    refines_.setInterval(kStillMilliseconds);
    connect(&refines_, &QTimer::timeout, this, [this] { start_jobs(); });
}

bool CanvasTiles::Layer::shows(const Scene& other) const { return without_zoom(content) == without_zoom(other); }

std::uint64_t CanvasTiles::Layer::revision() const {
    return content.shown && content.shown->streamed() ? content.shown->streamed()->revision() : 0;
}

void CanvasTiles::texels_arrived() {
    if (current_.revision() > 0) start_jobs();
}

void CanvasTiles::show(const Scene& scene) {
    if (scene.session.display != scene_.session.display) ++display_;
    const PlanePixel before = origin_;
    scene_ = scene;
    origin_ = canvas_origin(scene);
    if (origin_ != before) reads_files_ = true;
    set_layer(content_of(scene));
    const PixelBox canvas{origin_.x, origin_.y, scene.width, scene.height};
    seen_ = keys_in(canvas);
    around_ = keys_in(
        {canvas.x - kTileSide, canvas.y - kTileSide, canvas.width + 2 * kTileSide, canvas.height + 2 * kTileSide});
    const std::optional<Work>& reading = busy_[kFileSlot];
    if (reading && std::ranges::none_of(reading->keys, [&](const Key& key) { return around_.contains(key); }))
        stop_reading();
    trim();
    start_jobs();
}

void CanvasTiles::set_layer(const Scene& content) {
    if (current_.content == content) return;
    stop_reading();
    reads_files_ = true;
    const bool other_image = !current_.shows(content);
    if (!current_.tiles.empty()) {
        for (auto& [key, tile] : current_.tiles) tile.values.reset();
        older_.push_back(std::move(current_));
    }
    current_ = {};
    const auto known =
        std::find_if(older_.begin(), older_.end(), [&](const Layer& layer) { return layer.content == content; });
    if (known != older_.end()) {
        current_ = std::move(*known);
        older_.erase(known);
    }
    current_.content = content;
    current_.of_files = reads_files(content);
    while (older_.size() > kMaxLayers) drop_layer();
    if (!other_image) return;

    problem_.clear();
    refines_.stop();
    if (is_frame_of_several(content) && !whole_.expired()) refines_.start();
    if (!overview_.tiles.empty()) older_.push_front(std::move(overview_));
    if (content.shown == nullptr) older_.clear();
    overview_ = {};
    overview_.content = content;
    overview_keys_.clear();
    for (std::size_t slot = 0; slot < busy_.size(); ++slot) {  // tiles of the other image are obsolete
        jobs_.drop(tag_ + std::to_string(slot));
        busy_[slot].reset();
    }
    if (!content.shown || plane_box(content).x < 0) return;
    const Extent extent = canvas_extent(content);
    const double zoom = kOverviewSide / static_cast<double>(std::max(extent.width, extent.height));
    if (zoom > 1) return;
    overview_.content.session.view.zoom = zoom;
    overview_.of_files = reads_files(overview_.content);
    const PixelBox all = plane_box(overview_.content);
    for (int y = 0; y <= tile_of(all.height - 1); ++y) {
        for (int x = 0; x <= tile_of(all.width - 1); ++x) overview_keys_.insert({x, y});
    }
}

std::set<CanvasTiles::Key> CanvasTiles::keys_in(const PixelBox& box) const {
    std::set<Key> out;
    const PixelBox all = plane_box(scene_);
    const int left = std::max(box.x, all.x), right = std::min(box.x + box.width, all.x + all.width) - 1;
    const int top = std::max(box.y, all.y), bottom = std::min(box.y + box.height, all.y + all.height) - 1;
    if (!scene_.shown || left > right || top > bottom) return out;
    for (int y = tile_of(top); y <= tile_of(bottom); ++y) {
        for (int x = tile_of(left); x <= tile_of(right); ++x) out.insert({x, y});
    }
    return out;
}

std::optional<CanvasTiles::Wish> CanvasTiles::wish_for(const Layer& layer, bool of_overview, const std::set<Key>& keys,
                                                       Quality quality) const {
    // The nearest tile to the center of the canvas comes first.
    const double center_x = (origin_.x + scene_.width / 2.0) / kTileSide - 0.5;
    const double center_y = (origin_.y + scene_.height / 2.0) / kTileSide - 0.5;
    const std::uint64_t revision = layer.revision();
    std::optional<Wish> out;
    double nearest = 0;
    for (const Key& key : keys) {
        const auto tile = layer.tiles.find(key);
        const bool is_there = tile != layer.tiles.end();
        const bool is_best = is_there && (tile->second.full || quality == Quality::quick ||
                                          (revision > 0 && tile->second.revision == revision));
        if (is_best && tile->second.display == display_) continue;
        // The slot that reads files may take long and is not considered: after a change of the display, the quick tile
        // is rendered again.
        const auto makes_it = [&](const std::optional<Work>& work) { return work && work->makes(layer, key); };
        if (std::any_of(busy_.begin() + kFileSlot + 1, busy_.end(), makes_it)) continue;
        const double distance = std::hypot(key.first - center_x, key.second - center_y);
        if (out && distance >= nearest) continue;
        nearest = distance;
        const bool again = is_there && tile->second.display != display_;
        out = Wish{of_overview, key, quality, again ? tile->second.values : nullptr};
    }
    return out;
}

std::optional<CanvasTiles::Wish> CanvasTiles::next_wish() const {
    if (!problem_.isEmpty() || !scene_.shown) return std::nullopt;
    if (auto wish = wish_for(current_, false, seen_, Quality::quick)) return wish;
    if (refines_.isActive()) return std::nullopt;
    if (auto wish = wish_for(overview_, true, overview_keys_, Quality::quick)) return wish;
    const auto full = [](const Layer& layer) { return layer.of_files ? Quality::quick : Quality::full; };
    if (auto wish = wish_for(current_, false, seen_, full(current_))) return wish;
    if (auto wish = wish_for(overview_, true, overview_keys_, full(overview_))) return wish;
    // Of a streamed image only texels of the canvas become resident.
    if (current_.revision() > 0) return std::nullopt;
    if (bytes() < kMaxBytes / 2) return wish_for(current_, false, around_, full(current_));
    return std::nullopt;
}

bool CanvasTiles::Work::makes(const Layer& layer, const Key& key) const {
    return std::ranges::find(keys, key) != keys.end() && content == layer.content;
}

// Starts jobs of one tile each. Tiles whose values exist are combined into one job, as they take less time than
// starting a job.
void CanvasTiles::start_jobs() {
    start_reading();
    for (std::size_t slot = kFileSlot + 1; slot < busy_.size(); ++slot) {
        if (busy_[slot]) continue;
        std::vector<Wish> wishes;
        while (wishes.size() < kMaxTilesAtOnce) {
            const std::optional<Wish> wish = next_wish();
            if (!wish) break;
            const bool is_first = wishes.empty();
            if (!is_first && (!wish->values || wish->of_overview != wishes.front().of_overview)) break;
            if (is_first) busy_[slot] = Work{(wish->of_overview ? overview_ : current_).content, {}};
            busy_[slot]->keys.push_back(wish->key);
            wishes.push_back(*wish);
            if (!wish->values) break;
        }
        if (wishes.empty()) return;
        start(slot, wishes);
    }
}

// Reads the topmost row that has quick tiles but no full ones: first among the visible tiles, then in the ring around
// them.
void CanvasTiles::start_reading() {
    if (busy_[kFileSlot] || !current_.of_files || !reads_files_ || !problem_.isEmpty()) return;
    for (const std::set<Key>* keys : {&seen_, &around_}) {
        std::map<int, std::vector<int>> rows;  // columns by row
        for (const Key& key : *keys) {
            const auto tile = current_.tiles.find(key);
            if (tile != current_.tiles.end() && !tile->second.full) rows[key.second].push_back(key.first);
        }
        if (rows.empty()) continue;
        const auto& [row, columns] = *rows.begin();
        std::vector<Wish> wishes;
        busy_[kFileSlot] = Work{current_.content, {}};
        for (const int column : columns) {
            busy_[kFileSlot]->keys.emplace_back(column, row);
            wishes.push_back({false, {column, row}, Quality::full, nullptr});
        }
        return start(kFileSlot, wishes);
    }
}

void CanvasTiles::stop_reading() {
    jobs_.drop(tag_ + std::to_string(kFileSlot));
    busy_[kFileSlot].reset();
}

void CanvasTiles::stop_files() {
    stop_reading();
    reads_files_ = false;
}

std::optional<double> CanvasTiles::share_of_files() const {
    if (!current_.of_files || !reads_files_ || seen_.empty() || is_complete()) return std::nullopt;
    const auto full = std::ranges::count_if(seen_, [&](const Key& key) {
        const auto tile = current_.tiles.find(key);
        return tile != current_.tiles.end() && tile->second.full;
    });
    return static_cast<double>(full) / static_cast<double>(seen_.size());
}

void CanvasTiles::start(std::size_t slot, const std::vector<Wish>& wishes) {
    const Scene content = busy_[slot]->content;
    const QPointer<CanvasTiles> self(this);
    const Display display = scene_.session.display;
    const std::shared_ptr<ColorTableCache> tables = tables_;
    const bool keeps_values = seen_.size() <= kMaxTilesWithValues;
    jobs_.start(tag_ + std::to_string(slot), [=, version = display_](const CancellationToken& token) -> Jobs::Finish {
        std::vector<std::pair<Key, Tile>> made;
        QString problem;
        try {
            std::vector<Values> of_files;
            if (slot == kFileSlot) {
                std::vector<int> columns;
                for (const Wish& wish : wishes) columns.push_back(wish.key.first);
                of_files = values_of_row(content, wishes.front().key.second, columns, token);
            }
            for (const Wish& wish : wishes) {
                Tile tile;
                tile.values = wish.values;
                tile.revision = content.shown->streamed() ? content.shown->streamed()->revision() : 0;
                if (!of_files.empty())
                    tile.values = std::make_shared<const Values>(
                        std::move(of_files[static_cast<std::size_t>(&wish - wishes.data())]));
                if (!tile.values) {
                    const PixelBox box{wish.key.first * kTileSide, wish.key.second * kTileSide, kTileSide, kTileSide};
                    tile.values = std::make_shared<const Values>(values_of(content, box, wish.quality));
                }
                tile.full = tile.values->quality == Quality::full;
                tile.image = image_of(*tile.values, display, content.shown->device(), *tables);
                tile.display = version;
                if (!keeps_values) tile.values.reset();
                made.emplace_back(wish.key, std::move(tile));
            }
        } catch (const std::exception& error) {
            problem = QString::fromStdString(error_text(error));
        }
        std::optional<ColorTableError> table;
        if (uses_tables(content.shown->device())) table = tables->last_error();
        return [=] {
            if (!self) return;
            self->busy_[slot].reset();
            if (table != self->table_error_) {
                self->table_error_ = table;
                Q_EMIT self->color_table_changed(table);
            }
            for (const auto& [key, tile] : made) self->store(content, key, tile);
            if (!problem.isEmpty() && slot == kFileSlot) {
                self->reads_files_ = false;
                Q_EMIT self->files_failed(problem);
            } else if (!problem.isEmpty() && self->current_.shows(content)) {
                self->problem_ = problem;
            }
            self->start_jobs();
            Q_EMIT self->updated();
        };
    });
}

void CanvasTiles::store(const Scene& content, const Key& key, Tile tile) {
    if (overview_.content == content && overview_keys_.contains(key)) overview_.tiles[key] = tile;
    if (current_.content == content) {
        Tile& known = current_.tiles[key];
        // A quick tile replaces a full one only if its display settings are newer: it was rendered while files were
        // read.
        if (tile.full || !known.full || tile.display > known.display) known = std::move(tile);
        if (has_pixels()) whole_ = content.shown;
        // Once all visible tiles exist, layers of other content are no longer needed.
        if (has_pixels()) std::erase_if(older_, [&](const Layer& layer) { return !layer.shows(content); });
    } else {
        for (Layer& layer : older_) {
            tile.values.reset();
            if (layer.content == content) layer.tiles[key] = tile;
        }
    }
    trim();
}

std::size_t CanvasTiles::bytes() const {
    std::size_t out = 0;
    const auto add = [&](const Layer& layer) {
        for (const auto& [key, tile] : layer.tiles) out += bytes_of(tile.image, tile.values.get());
    };
    add(current_);
    add(overview_);
    for (const Layer& layer : older_) add(layer);
    return out;
}

void CanvasTiles::trim() {
    while (bytes() > kMaxBytes && !older_.empty()) drop_layer();
    if (bytes() <= kMaxBytes) return;
    std::erase_if(current_.tiles, [&](const auto& entry) { return !around_.contains(entry.first); });
    if (bytes() <= kMaxBytes) return;
    std::erase_if(current_.tiles, [&](const auto& entry) { return !seen_.contains(entry.first); });
}

// Drops the oldest layer. The last whole frame is dropped last, since it is drawn until another one is whole.
void CanvasTiles::drop_layer() {
    const std::shared_ptr<const Document> whole = whole_.lock();
    const auto other = std::ranges::find_if(older_, [&](const Layer& layer) { return layer.content.shown != whole; });
    older_.erase(other != older_.end() ? other : older_.begin());
}

bool CanvasTiles::has_pixels() const {
    return std::all_of(seen_.begin(), seen_.end(), [&](const Key& key) { return current_.tiles.contains(key); });
}

bool CanvasTiles::shows_display() const {
    return std::all_of(seen_.begin(), seen_.end(), [&](const Key& key) {
        const auto tile = current_.tiles.find(key);
        return tile != current_.tiles.end() && tile->second.display == display_;
    });
}

bool CanvasTiles::is_complete() const {
    const bool takes_quick = current_.of_files && !reads_files_;
    const auto is_full = [&](const Key& key) { return takes_quick || current_.tiles.at(key).full; };
    return !problem_.isEmpty() || (shows_display() && std::all_of(seen_.begin(), seen_.end(), is_full));
}

std::optional<QRgb> CanvasTiles::pixel(int x, int y) const {
    const auto tile = current_.tiles.find({tile_of(x), tile_of(y)});
    if (tile == current_.tiles.end()) return std::nullopt;
    return tile->second.image.pixel(x - tile->first.first * kTileSide, y - tile->first.second * kTileSide);
}

QRect CanvasTiles::subresource_of(const Layer& layer, const Key& key) const {
    const double scale = scene_.session.view.zoom / layer.zoom();
    const auto edge = [&](int tile, int origin) {
        return static_cast<int>(std::lround(tile * kTileSide * scale)) - origin;
    };
    const QPoint corner(edge(key.first, origin_.x), edge(key.second, origin_.y));
    return {corner, QPoint(edge(key.first + 1, origin_.x) - 1, edge(key.second + 1, origin_.y) - 1)};
}

void CanvasTiles::paint(QPainter& painter, const QRect& clip) const {
    std::vector<const Layer*> layers{&current_};  // from the front to the back
    const auto add_older = [&](bool of_same_image) {
        for (auto layer = older_.rbegin(); layer != older_.rend(); ++layer) {
            if (layer->shows(current_.content) == of_same_image) layers.push_back(&*layer);
        }
    };
    if (!has_pixels()) {
        add_older(true);
        layers.push_back(&overview_);
        add_older(false);
    }
    if (!has_pixels() && is_frame_of_several(current_.content)) {
        // A frame of a running program or of a sequence appears when all of it is ready. Until then, only the last
        // whole frame is drawn: parts of two frames would be wrong.
        const std::shared_ptr<const Document> whole = whole_.lock();
        const std::shared_ptr<const Document>& drawn = whole ? whole : current_.content.shown;
        std::erase_if(layers, [&](const Layer* layer) { return layer->content.shown != drawn; });
    }
    // Each layer is drawn only where the layers before it left the canvas bare, because scaled drawing dominates the
    // time of a frame.
    painter.save();
    QRegion bare(clip);
    for (const Layer* layer : layers) {
        for (const auto& [key, tile] : layer->tiles) {
            const QRect subresource = subresource_of(*layer, key);
            if (subresource.isEmpty() || !bare.intersects(subresource)) continue;
            for (const QRect& piece : bare& subresource) {
                painter.setClipRect(piece);
                painter.drawImage(subresource, tile.image);
            }
            bare -= subresource;
        }
        if (bare.isEmpty()) break;
    }
    painter.restore();
}

}  // namespace texton::viewer
