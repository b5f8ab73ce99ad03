#include "arrays/streaming/feedback_buffer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>

#include "arrays/mapped_block.h"

namespace texton::detail {

FeedbackBuffer::FeedbackBuffer(const Device& device, const ArrayInfo& info, const TileGrid& grid,
                               const Sampler& sampler, std::uint32_t capacity)
    : done_(device, EventTiming::off) {
    StreamedFeedback& own = description_;
    const auto number = [](std::size_t value) { return static_cast<std::int32_t>(value); };
    const auto set = [&](std::int32_t(&to)[3], const Extent& extent) {
        to[0] = number(extent.width);
        to[1] = number(extent.height);
        to[2] = number(extent.depth);
    };
    own.resident_level = grid.resident_level();
    own.last_level = info.levels - 1;
    own.layers = number(grid.layers());
    own.volume = info.kind == ArrayKind::array_3d;
    own.sampler = sampler;
    own.capacity = capacity;
    const Extent& tile = grid.tile();  // its sides are powers of two
    own.tile_bits[0] = std::countr_zero(tile.width);
    own.tile_bits[1] = std::countr_zero(tile.height);
    own.tile_bits[2] = std::countr_zero(tile.depth);
    for (int level = 0; level < own.resident_level; ++level) {
        set(own.levels[level].texels, level_extent(info, level));
        set(own.levels[level].tiles, grid.tiles(level));
        own.levels[level].first = grid.first_tile(level);
    }
    const std::size_t lists = 2 * (std::size_t{capacity} + 1);
    const std::size_t bits = (grid.count() + 31) / 32;
    memory_ = Linear(device, (lists + 2 * bits) * sizeof(std::uint32_t));
    copy_ = Pinned(device, lists * sizeof(std::uint32_t));
    fill(memory_.view(), std::uint8_t{0});
    auto* words = reinterpret_cast<std::uint32_t*>(memory_.data());
    own.missing = {words, words + lists};
    own.used = {words + capacity + 1, words + lists + bits};
}

FeedbackBuffer::~FeedbackBuffer() {
    try {
        done_.synchronize();
    } catch (const Error&) {
        // The transfer has failed or the device is lost, so nothing writes the memory.
    }
}

void FeedbackBuffer::collect(const Stream& stream) {
    if (!launched_ || in_flight_) return;
    try {
        copy(copy_.view(), memory_.view().region({{}, {copy_.bytes()}}), stream);
        fill(memory_.view(), std::uint8_t{0}, stream);
        done_.record(stream);
    } catch (...) {
        finish(stream);  // the copy may be writing
        throw;
    }
    launched_ = false;
    in_turns_ = std::exchange(takes_turns_, false);
    in_flight_ = true;
}

bool FeedbackBuffer::take(NotedTiles& noted) {
    if (!in_flight_ || !done_.done()) return false;
    const std::size_t capacity = description_.capacity;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(copy_.read().data());
    const auto take_list = [&](std::size_t first, std::vector<TileNumber>& tiles) {
        const std::size_t count = words[first];
        const std::uint32_t* const list = words + first + 1;
        tiles.assign(list, list + std::min(count, capacity));
        noted.overflow += count - tiles.size();
    };
    take_list(0, noted.missing);
    take_list(capacity + 1, noted.used);
    noted.in_turns = in_turns_;
    in_flight_ = false;
    return true;
}

}  // namespace texton::detail
