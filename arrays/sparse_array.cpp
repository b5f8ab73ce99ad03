#include <texton/sparse_array.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/mapped_block.h"
#include "core/request.h"

// A sparse array stores for each tile the slot to which it is mapped. Each level of each layer has a table of its
// tiles, which is allocated when the first of them is mapped. Each mip tail also has a table, with one row of slots.
//
// A change of the mapping has four steps: check the arguments, register the change in the slots, pass it to the device
// in one call, and write it into the tables. The last step cannot fail, so an exception leaves the mapping unchanged.

namespace texton {
namespace {

constexpr const char* kSparse = "texton::SparseArray";

using detail::SlotRange;
using detail::TileRun;

struct Tile {
    std::shared_ptr<TileRun> run;  // null if not mapped
    std::uint32_t slot = 0;
    bool touched = false;  // visited by the current call, see Touched
};
using Table = std::vector<Tile>;

// A box of tiles that has been checked, and its table.
struct Target {
    std::size_t table = 0;
    Extent grid;  // size of the whole table in tiles
    Offset first;
    Extent extent;
    TileBox box;

    std::size_t slots() const noexcept { return extent.width * extent.height * extent.depth; }
};

template <class Visit>
void each_tile(Table& table, const Target& target, Visit visit) {
    for (std::size_t z = target.first.z; z < target.first.z + target.extent.depth; ++z) {
        for (std::size_t y = target.first.y; y < target.first.y + target.extent.height; ++y) {
            const auto row =
                table.begin() + static_cast<std::ptrdiff_t>((z * target.grid.height + y) * target.grid.width);
            const auto first = row + static_cast<std::ptrdiff_t>(target.first.x);
            std::for_each(first, first + static_cast<std::ptrdiff_t>(target.extent.width), visit);
        }
    }
}

void add_slot(std::vector<SlotRange>& ranges, const Tile& tile) {
    if (!ranges.empty() && ranges.back().run == tile.run && ranges.back().first + ranges.back().count == tile.slot) {
        ++ranges.back().count;
    } else {
        ranges.push_back({tile.run, tile.slot, 1});
    }
}

[[noreturn]] void refuse_bounds(std::string problem, std::string remedy, std::vector<ErrorNumber> numbers) {
    throw Error({.code = ErrorCode::out_of_bounds,
                 .object = kSparse,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

class SparseBlock : public detail::MappedBlock {
public:
    using MappedBlock::MappedBlock;
    ~SparseBlock() override { destroy(order(), remains_); }

    void find_properties() {
        properties_ = detail::request(backend, kSparse, {}, [&] { return backend->array_tiles(handle); });
        layers_ = is_layered(info.kind) ? info.layers : 1;
        tails_ = properties_.tail_bytes == 0 ? 0 : properties_.tail_per_layer ? layers_ : 1;
        tail_slots_ = (properties_.tail_bytes + kTileBytes - 1) / kTileBytes;
        remains_->tables.resize(tiled_levels() * layers_ + tails_);
    }
    const SparseProperties& properties() const noexcept { return properties_; }

    Extent grid(int level) const {
        if (level < 0 || static_cast<std::size_t>(level) >= tiled_levels()) {
            refuse_bounds(
                level >= 0 && level < info.levels
                    ? fmt::format("tiles of level {} were requested, but this level is in the mip tail", level)
                    : fmt::format("level {} was requested, but the array has {}", level, info.levels),
                "Use a level below properties().first_tail_level. Map the other levels with TileBox::mip_tail().",
                {{"level", static_cast<std::uint64_t>(level)}, {"tiled_levels", tiled_levels()}});
        }
        const Extent extent = level_extent(info, level);
        const Extent& tile = properties_.tile;
        return {(extent.width + tile.width - 1) / tile.width, (extent.height + tile.height - 1) / tile.height,
                (extent.depth + tile.depth - 1) / tile.depth};
    }

    std::size_t slots() const {
        std::size_t count = tails_ * tail_slots_;
        for (int level = 0; static_cast<std::size_t>(level) < tiled_levels(); ++level) {
            const Extent tiles = grid(level);
            count += tiles.width * tiles.height * tiles.depth * layers_;
        }
        return count;
    }

    void map(std::span<const TileMapping> mappings, const Stream& stream, Aliasing aliasing) {
        check_stream(stream, kSparse);
        std::vector<Target> targets;
        std::vector<SlotRange> arriving;
        std::vector<detail::TileMapRequest> requests;
        targets.reserve(mappings.size());
        arriving.reserve(mappings.size());
        requests.reserve(mappings.size());
        for (const TileMapping& mapping : mappings) {
            const Target& target = targets.emplace_back(find(mapping.box));
            const TileRun& run = check_tiles(mapping.tiles, kSparse);
            if (mapping.first_slot > run.count || target.slots() > run.count - mapping.first_slot) {
                refuse_bounds(fmt::format("a box of {} tiles was to be mapped from slot {} on, but there are {} slots",
                                          target.slots(), mapping.first_slot, run.count),
                              "Allocate one slot for each tile of the box.",
                              {{"tiles", target.slots()}, {"first_slot", mapping.first_slot}, {"slots", run.count}});
            }
            arriving.push_back({mapping.tiles.run(), mapping.first_slot, target.slots()});
            requests.push_back(request_for(target, run.chunk->memory, run.byte_offset(mapping.first_slot)));
        }
        if (requests.empty()) return;

        const std::unique_lock lock(mutex());
        for (const Target& target : targets) make_table(target);
        check_distinct(targets);
        detail::SlotExchange slots(std::move(arriving), mapped_slots(targets), aliasing, kSparse);
        change(kSparse, stream, slots, [&] { backend->map_tiles(requests, stream.state()->handle); });
        for (std::size_t i = 0; i < targets.size(); ++i) {
            auto slot = static_cast<std::uint32_t>(mappings[i].first_slot);
            each_tile(table_of(targets[i]), targets[i], [&](Tile& tile) {
                resident_ += tile.run == nullptr;
                tile.run = mappings[i].tiles.run();
                tile.slot = slot++;
            });
        }
    }

    void unmap(std::span<const TileBox> boxes, const Stream& stream) {
        check_stream(stream, kSparse);
        std::vector<Target> targets;
        targets.reserve(boxes.size());
        for (const TileBox& box : boxes) targets.push_back(find(box));
        const std::unique_lock lock(mutex());
        unmap_targets(std::move(targets), stream);
    }

    void unmap_all(const Stream& stream) {
        check_stream(stream, kSparse);
        const std::unique_lock lock(mutex());
        std::vector<Target> targets;
        for (std::size_t layer = 0; layer < layers_; ++layer) {
            for (int level = 0; static_cast<std::size_t>(level) < tiled_levels(); ++level) {
                targets.push_back(find({.level = level, .layer = layer, .extent = grid(level)}));
            }
        }
        for (std::size_t layer = 0; layer < tails_; ++layer) targets.push_back(find(TileBox::mip_tail(layer)));
        unmap_targets(std::move(targets), stream);
    }

    std::vector<bool> residency(const TileBox& box) const {
        const Target target = find(box);
        const std::shared_lock lock(mutex());
        std::vector<bool> flags;
        flags.reserve(target.slots());
        if (table_of(target).empty()) {
            flags.resize(target.slots());
        } else {
            each_tile(table_of(target), target, [&](const Tile& tile) { flags.push_back(tile.run != nullptr); });
        }
        return flags;
    }

    std::size_t resident_slots() const {
        const std::shared_lock lock(mutex());
        return resident_;
    }

private:
    // The mapped slots. They are released after the array has been destroyed.
    struct Remains {
        ~Remains() {
            for (const Table& table : tables) {
                for (const Tile& tile : table) {
                    if (tile.run != nullptr) detail::release_slots({tile.run, tile.slot, 1});
                }
            }
        }
        std::vector<Table> tables;  // for each level, for each layer; then the mip tails
    };

    void check_usable(const char*) const override {}  // tiles without memory may be used

    std::size_t tiled_levels() const noexcept { return static_cast<std::size_t>(properties_.first_tail_level); }
    Table& table_of(const Target& target) const { return remains_->tables[target.table]; }

    Target find(const TileBox& box) const {
        const std::size_t layers = box.tail ? tails_ : layers_;
        if (box.tail && tails_ == 0) {
            refuse_bounds("the mip tail was requested, but the array has no mip tail", "Map the tiles of the levels.",
                          {{"levels", tiled_levels()}});
        }
        if (box.layer >= layers) {
            refuse_bounds(fmt::format("{} {} was requested, but there are {}", box.tail ? "mip tail" : "layer",
                                      box.layer, layers),
                          box.tail && layers_ > 1
                              ? "Mip tails begin at 0. If properties().tail_per_layer is false, all layers "
                                "share mip tail 0."
                              : "Use a number below this; numbers begin at 0.",
                          {{"layer", box.layer}, {"layers", layers}});
        }
        if (box.tail) {
            const Extent row{tail_slots_};
            return {tiled_levels() * layers_ + box.layer, row, {}, row, box};
        }
        const Extent tiles = grid(box.level);
        if (!contains(tiles, {box.offset, box.extent})) {
            refuse_bounds(fmt::format("a box of {} tiles was requested in a level of {}",
                                      to_string(Region{box.offset, box.extent}), to_string(tiles)),
                          "Use a box of at least one tile inside the level. tiles() returns the number of tiles.",
                          {{"x", box.offset.x},
                           {"y", box.offset.y},
                           {"z", box.offset.z},
                           {"width", box.extent.width},
                           {"height", box.extent.height},
                           {"depth", box.extent.depth}});
        }
        return {static_cast<std::size_t>(box.level) * layers_ + box.layer, tiles, box.offset, box.extent, box};
    }

    detail::TileMapRequest request_for(const Target& target, detail::PhysicalHandle memory, std::size_t offset) const {
        detail::TileMapRequest request;
        request.array = handle;
        request.tail = target.box.tail;
        request.level = target.box.level;
        request.layer = target.box.layer;
        request.memory = memory;
        request.memory_offset = offset;
        if (target.box.tail) return request;
        const Extent whole = level_extent(info, target.box.level);
        const Extent& tile = properties_.tile;
        request.offset = {target.first.x * tile.width, target.first.y * tile.height, target.first.z * tile.depth};
        request.extent = {std::min(target.extent.width * tile.width, whole.width - request.offset.x),
                          std::min(target.extent.height * tile.height, whole.height - request.offset.y),
                          std::min(target.extent.depth * tile.depth, whole.depth - request.offset.z)};
        return request;
    }

    void make_table(const Target& target) {
        Table& table = table_of(target);
        if (table.empty()) table.resize(target.grid.width * target.grid.height * target.grid.depth);
    }

    // Marks the tiles that a call has visited. The destructor removes the marks.
    struct Touched {
        ~Touched() {
            for (const Target& target : targets) {
                if (block.table_of(target).empty()) continue;
                each_tile(block.table_of(target), target, [](Tile& tile) { tile.touched = false; });
            }
        }
        bool first_time(Tile& tile) const noexcept { return !std::exchange(tile.touched, true); }

        const SparseBlock& block;
        const std::vector<Target>& targets;
    };

    // Throws if boxes overlap, because the order in which the device maps the boxes of one call is unspecified.
    void check_distinct(const std::vector<Target>& targets) const {
        const Touched touched{*this, targets};
        bool distinct = true;
        for (const Target& target : targets) {
            each_tile(table_of(target), target, [&](Tile& tile) { distinct &= touched.first_time(tile); });
        }
        if (distinct) return;
        throw Error({.code = ErrorCode::overlap,
                     .object = kSparse,
                     .problem = fmt::format("two of the {} boxes of a call have a tile in common", targets.size()),
                     .remedy = "Map each tile only once in a call."});
    }

    // Returns the slots of all mapped tiles. A tile that is in several boxes is included once.
    std::vector<SlotRange> mapped_slots(const std::vector<Target>& targets) const {
        const Touched touched{*this, targets};
        std::vector<SlotRange> ranges;
        for (const Target& target : targets) {
            each_tile(table_of(target), target, [&](Tile& tile) {
                if (tile.run != nullptr && touched.first_time(tile)) add_slot(ranges, tile);
            });
        }
        return ranges;
    }

    void unmap_targets(std::vector<Target> targets, const Stream& stream) {
        std::erase_if(targets, [&](const Target& target) {
            bool mapped = false;
            if (!table_of(target).empty()) {
                each_tile(table_of(target), target, [&](const Tile& tile) { mapped |= tile.run != nullptr; });
            }
            return !mapped;
        });
        if (targets.empty()) return;
        std::vector<detail::TileMapRequest> requests;
        requests.reserve(targets.size());
        for (const Target& target : targets) requests.push_back(request_for(target, nullptr, 0));
        detail::SlotExchange slots({}, mapped_slots(targets), Aliasing::allowed, kSparse);
        change(kSparse, stream, slots, [&] { backend->map_tiles(requests, stream.state()->handle); });
        for (const Target& target : targets) {
            each_tile(table_of(target), target, [&](Tile& tile) {
                resident_ -= tile.run != nullptr;
                tile.run = nullptr;
            });
        }
    }

    SparseProperties properties_;
    std::size_t layers_ = 1;
    std::size_t tails_ = 0;
    std::size_t tail_slots_ = 0;  // of each mip tail
    std::size_t resident_ = 0;
    std::shared_ptr<Remains> remains_ = std::make_shared<Remains>();
};

SparseBlock& block_of(const Array& array) { return static_cast<SparseBlock&>(detail::live(array, kSparse)); }

}  // namespace

TileBox TileBox::mip_tail(std::size_t layer) noexcept {
    TileBox box;
    box.layer = layer;
    box.tail = true;
    return box;
}

SparseArray::SparseArray(const Device& device, const ArrayInfo& info) try {
    auto block = detail::make_array<SparseBlock>(device, info, detail::ArrayBacking::sparse, kSparse);
    block->find_properties();
    array_ = Array(std::move(block));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSparse);
}

const SparseProperties& SparseArray::properties() const { return block_of(array_).properties(); }
Extent SparseArray::tiles(int level) const { return block_of(array_).grid(level); }
std::size_t SparseArray::slots() const { return block_of(array_).slots(); }

void SparseArray::map(std::span<const TileMapping> mappings, const Stream& stream, Aliasing aliasing) try {
    block_of(array_).map(mappings, stream, aliasing);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSparse);
}

void SparseArray::map(const TileBox& box, const Tiles& tiles, const Stream& stream, Aliasing aliasing) {
    const TileMapping mapping{box, tiles};
    map(std::span(&mapping, 1), stream, aliasing);
}

void SparseArray::unmap(std::span<const TileBox> boxes, const Stream& stream) try {
    block_of(array_).unmap(boxes, stream);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSparse);
}
void SparseArray::unmap(const TileBox& box, const Stream& stream) { unmap(std::span(&box, 1), stream); }
void SparseArray::unmap_all(const Stream& stream) try {
    block_of(array_).unmap_all(stream);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSparse);
}
void SparseArray::used_on(const Stream& stream) const try {
    detail::use_on(array_, stream, kSparse);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSparse);
}

bool SparseArray::resident(const TileBox& box) const try {
    const std::vector<bool> flags = block_of(array_).residency(box);
    return std::find(flags.begin(), flags.end(), false) == flags.end();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSparse);
}

std::vector<bool> SparseArray::residency(int level, std::size_t layer) const try {
    const SparseBlock& block = block_of(array_);
    return block.residency({.level = level, .layer = layer, .extent = block.grid(level)});
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSparse);
}

std::size_t SparseArray::resident_slots() const { return block_of(array_).resident_slots(); }

}  // namespace texton
