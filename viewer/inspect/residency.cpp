#include "viewer/inspect/residency.h"

#include <algorithm>
#include <cmath>

#include <texton/copy.h>
#include <texton/sample.h>

namespace texton::viewer {
namespace {

constexpr std::size_t kAtOnce = 256;  // maximum number of tiles per call of map()

ArrayInfo sparse_info(ArrayInfo info) {
    info.usage.surface = false;
    return info;
}

float srgb_encoded(float linear) {
    return linear <= 0.0031308f ? 12.92f * linear : 1.055f * std::pow(linear, 1 / 2.4f) - 0.055f;
}

// Converts the result of a fetch to a display color, 0xffRRGGBB.
std::uint32_t pixel_of(const Texel& texel, const FormatInfo& format) {
    std::uint32_t out = 0xff;
    for (int i = 0; i < 3; ++i) {
        const int channel = format.channels == 1 ? 0 : i;
        float value = texel.as_float(channel);
        if (format.kind == FormatKind::uint) {
            value = std::ldexp(static_cast<float>(texel.channel[channel]), -format.bits);
        } else if (format.kind == FormatKind::sint) {
            value = std::ldexp(static_cast<float>(static_cast<std::int32_t>(texel.channel[channel])), 1 - format.bits);
        }
        value = value > 0 ? std::min(value, 1.0f) : 0;  // NaN becomes 0
        if (format.kind == FormatKind::floating || format.kind == FormatKind::srgb) value = srgb_encoded(value);
        out = out << 8 | static_cast<std::uint32_t>(std::lround(value * 255));
    }
    return out;
}

Residency residency_of(const SparseArray& sparse, std::span<const TileTable> tables) {
    Residency out;
    for (const TileTable& table : tables) {
        if (table.tail) {
            out.push_back({sparse.resident(TileBox::mip_tail(table.layer))});
        } else {
            out.push_back(sparse.residency(table.level, table.layer));
        }
    }
    return out;
}

}  // namespace

Offset TileTable::offset_of(std::size_t tile) const noexcept {
    return {tile % tiles.width, tile / tiles.width % tiles.height, tile / (tiles.width * tiles.height)};
}

std::size_t TileTable::index_of(Offset tile) const noexcept {
    return (tile.z * tiles.height + tile.y) * tiles.width + tile.x;
}

ResidencyMap::ResidencyMap(Array image)
    : image_(std::move(image)),
      sparse_(image_.device(), sparse_info(image_.info())),
      pool_(image_.device(), {.chunk_bytes = std::size_t{2} << 20}),
      stream_(image_.device()) {
    const SparseProperties& how = sparse_.properties();
    const std::size_t layers = is_layered(info().kind) ? info().layers : 1;
    for (int level = 0; level < std::min(how.first_tail_level, info().levels); ++level) {
        for (std::size_t layer = 0; layer < layers; ++layer)
            tables_.push_back({.level = level, .layer = layer, .tiles = sparse_.tiles(level)});
    }
    const std::size_t tails = how.tail_bytes == 0 ? 0 : how.tail_per_layer ? layers : 1;
    for (std::size_t layer = 0; layer < tails; ++layer)
        tables_.push_back(
            {.tail = true, .level = how.first_tail_level, .layer = layer, .slots = how.tail_bytes / kTileBytes});
}

TileBox ResidencyMap::box_of(const TileTable& table, std::size_t tile) const {
    if (table.tail) return TileBox::mip_tail(table.layer);
    return {.level = table.level, .layer = table.layer, .offset = table.offset_of(tile)};
}

Residency ResidencyMap::residency() const {
    const std::scoped_lock lock(mutex_);
    return residency_of(sparse_, tables_);
}

Residency ResidencyMap::uniform(bool mapped) const {
    Residency out;
    for (const TileTable& table : tables_) out.emplace_back(table.count(), mapped);
    return out;
}

std::size_t ResidencyMap::resident_slots() const {
    const std::scoped_lock lock(mutex_);
    return sparse_.resident_slots();
}

void ResidencyMap::apply(const Residency& target, const CancellationToken& token) {
    const std::scoped_lock lock(mutex_);
    throw_if_canceled(token);  // the request can have become obsolete while it waited for the mutex
    const Residency now = residency_of(sparse_, tables_);
    std::vector<TileBox> leaving;
    struct Arriving {
        std::size_t table;
        std::size_t tile;
    };
    std::vector<Arriving> arriving;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
        for (std::size_t i = 0; i < tables_[t].count(); ++i) {
            if (target.at(t).at(i) == now[t][i]) continue;
            if (target[t][i]) {
                arriving.push_back({t, i});
            } else {
                leaving.push_back(box_of(tables_[t], i));
            }
        }
    }
    if (!leaving.empty()) sparse_.unmap(leaving, stream_);
    for (std::size_t first = 0; first < arriving.size(); first += kAtOnce) {
        throw_if_canceled(token);
        const std::size_t end = std::min(arriving.size(), first + kAtOnce);
        std::vector<TileMapping> mappings;
        for (std::size_t i = first; i < end; ++i) {
            const TileTable& table = tables_[arriving[i].table];
            mappings.push_back({box_of(table, arriving[i].tile), pool_.allocate(table.slots)});
        }
        sparse_.map(mappings, stream_);
        for (std::size_t i = first; i < end; ++i) upload(tables_[arriving[i].table], arriving[i].tile);
    }
    stream_.synchronize();
}

void ResidencyMap::upload(const TileTable& table, std::size_t tile) const {
    const bool layered = is_layered(info().kind);
    Subresource part{.level = table.level};
    if (layered) part.layer = table.layer;
    if (table.tail) {
        if (layered && !properties().tail_per_layer) part.layer.reset();
        for (; part.level < info().levels; ++part.level) copy(sparse_.array().view(part), image_.view(part), stream_);
        return;
    }
    const Extent size = properties().tile;
    const Extent level = level_extent(info(), table.level);
    const Offset at = table.offset_of(tile);
    const Offset from{at.x * size.width, at.y * size.height, at.z * size.depth};
    part.region = Region{from,
                         {std::min(size.width, level.width - from.x), std::min(size.height, level.height - from.y),
                          std::min(size.depth, level.depth - from.z)}};
    copy(sparse_.array().view(part), image_.view(part), stream_);
}

SparseReads ResidencyMap::read(int level, std::size_t layer, std::size_t slice, std::size_t width, std::size_t height,
                               Filter filter) const {
    const std::scoped_lock lock(mutex_);
    const Texture texture(sparse_.array(), {.filter = filter, .normalized_coordinates = true});
    const Extent extent = level_extent(info(), level);
    std::vector<FetchPoint> points;
    points.reserve(width * height);
    for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
            points.push_back({.x = (static_cast<float>(x) + 0.5f) / static_cast<float>(width),
                              .y = (static_cast<float>(y) + 0.5f) / static_cast<float>(height),
                              .z = (static_cast<float>(slice) + 0.5f) / static_cast<float>(extent.depth),
                              .layer = static_cast<std::int32_t>(layer),
                              .lod = static_cast<float>(level)});
        }
    }
    Samples samples = sample(texture, points, {.operation = FetchOperation::lod, .residency = true});
    SparseReads out{width, height, {}, std::move(samples.resident)};
    out.pixels.reserve(points.size());
    const FormatInfo& format = texton::info(texture.format());
    for (const Texel& texel : samples.texels) out.pixels.push_back(pixel_of(texel, format));
    return out;
}

}  // namespace texton::viewer
