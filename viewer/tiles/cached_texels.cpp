#include "viewer/tiles/cached_texels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace texton::tiles {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64}
                                    << 10;  // unless the memory is small, or tiles of the file are larger
constexpr std::size_t kBlocks = 64;         // that fit into the memory

// Exponent of the smallest power of two that is not smaller.
int bits_for(std::size_t size) { return static_cast<int>(std::bit_width(std::max<std::size_t>(size, 1) - 1)); }

std::size_t units(std::size_t texels, std::size_t side) { return (texels + side - 1) / side; }

}  // namespace

bool BlockMemory::take(std::size_t bytes) noexcept {
    if (used_.fetch_add(bytes) + bytes <= limit_) return true;
    used_ -= bytes;
    exceeded_ = true;
    return false;
}

CachedTexels::CachedTexels(ImageFile image, BlockMemory& memory)
    : image_(std::move(image)),
      memory_(memory),
      texel_bytes_(info(image_.info().format).bytes),
      row_bytes_(texton::row_bytes(image_.info().format, image_.info().extent.width)) {
    for (int level = 0; level < image_.info().levels; ++level) add_level(level);
}

CachedTexels::~CachedTexels() {
    for (const auto& block : blocks_) memory_.give(block->bytes);
}

// Blocks are as wide as the tiles of the file, or as its rows if it has no tiles.
void CachedTexels::add_level(int level) {
    const ArrayInfo& array = image_.info();
    const std::size_t side = block_side(array.format);
    Extent extent = level_extent(array, level);
    extent.depth = slice_count(array, level);
    const Extent granule = image_.access(level).granule;
    const std::size_t width = units(extent.width, side);
    const bool has_rows = granule.width >= extent.width;
    Level made{
        extent, bits_for(has_rows ? width : units(granule.width, side)), bits_for(units(granule.height, side)), 0, 0,
        {}};
    const auto bytes = [&] {
        return std::min(width, std::size_t{1} << made.width_bits) * texel_bytes_ << made.height_bits;
    };
    while (2 * bytes() <= std::min(kBlockBytes, memory_.limit() / kBlocks)) {
        if (has_rows || made.height_bits < made.width_bits) {
            ++made.height_bits;
        } else {
            ++made.width_bits;
        }
        if ((std::size_t{1} << made.height_bits) >= extent.height && (std::size_t{1} << made.width_bits) >= width)
            break;
    }
    made.across = units(width, std::size_t{1} << made.width_bits);
    made.down = units(units(extent.height, side), std::size_t{1} << made.height_bits);
    made.blocks = std::make_unique<std::atomic<Block*>[]>(made.across * made.down * extent.depth);
    levels_.push_back(std::move(made));
}

// --- rows ------------------------------------------------------------------------------------------------------------

// Reads a few rows of tiles, or strips that are decoded at the same time: decoding takes memory in proportion.
void CachedTexels::read_rows(Rows rows, std::byte* texels) const {
    constexpr std::size_t kAtOnce = std::size_t{8} << 20;  // bytes
    const std::size_t granule = std::max<std::size_t>(image_.access().granule.height, 1);
    const std::size_t step = std::max<std::size_t>(kAtOnce / (granule * row_bytes_), 1) * granule;
    for (std::size_t y = rows.first; y < rows.end;) {
        const std::size_t end = std::min((y / step + 1) * step, rows.end);
        const Region region{{0, y, 0}, {image_.info().extent.width, end - y, 1}};
        image_.read({.region = region}, {texels + (y - rows.first) * row_bytes_, (end - y) * row_bytes_});
        y = end;
    }
}

// The contents are lost.
void CachedTexels::reserve(Buffer& buffer, std::size_t rows) const {
    buffer.rows = {};
    if (rows <= buffer.capacity) return;
    buffer.capacity = 0;
    buffer.texels = nullptr;
    buffer.texels = std::make_unique_for_overwrite<std::byte[]>(rows * row_bytes_);
    buffer.capacity = rows;
}

void CachedTexels::fill_next(Rows rows) {
    reserve(next_, rows.count());
    const Rows kept = current_.rows;
    const bool keeps = kept.first <= rows.first && rows.first < kept.end;
    const std::size_t first = keeps ? std::min(kept.end, rows.end) : rows.first;
    if (first > rows.first)
        std::memcpy(next_.texels.get(), current_.texels.get() + (rows.first - kept.first) * row_bytes_,
                    (first - rows.first) * row_bytes_);
    read_rows({first, rows.end}, next_.texels.get() + (first - rows.first) * row_bytes_);
    next_.rows = rows;
}

void CachedTexels::load(Rows rows) {
    if (reading_.valid()) reading_.get();
    if (next_.rows != rows) fill_next(rows);
    std::swap(current_, next_);
    next_.rows = {};
    virtual_first_row_ = current_.texels.get() - rows.first * row_bytes_;
}

void CachedTexels::prefetch(Rows rows) {
    if (reading_.valid()) reading_.get();
    reading_ = std::async(std::launch::async, [this, rows] { fill_next(rows); });
}

// --- blocks ----------------------------------------------------------------------------------------------------------

void CachedTexels::begin(bool all) {
    const std::lock_guard lock(mutex_);
    virtual_first_row_ = nullptr;
    ++turn_;
    std::ranges::sort(blocks_, std::greater{}, [](const auto& block) { return block->turn.load(); });
    while (!blocks_.empty() && (all || memory_.used() > memory_.limit() / 2)) {
        *blocks_.back()->entry = nullptr;
        memory_.give(blocks_.back()->bytes);
        blocks_.pop_back();
    }
}

void CachedTexels::check() {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr) return;
    failed_ = false;
    std::rethrow_exception(std::exchange(error_, nullptr));
}

std::byte* CachedTexels::find(int number, std::size_t byte, std::size_t row, std::size_t slice) noexcept {
    const Level& level = levels_[static_cast<std::size_t>(number)];
    const std::size_t column = byte / texel_bytes_;
    const std::size_t x = column >> level.width_bits;
    const std::size_t y = row >> level.height_bits;
    Block* block = level.blocks[(slice * level.down + y) * level.across + x].load(std::memory_order_acquire);
    if (block == nullptr) [[unlikely]] {
        block = load_block(number, x, y, slice);
        if (block == nullptr) return nullptr;
    }
    const unsigned turn = turn_.load(std::memory_order_relaxed);
    if (block->turn.load(std::memory_order_relaxed) != turn) block->turn.store(turn, std::memory_order_relaxed);
    const std::size_t width = std::size_t{1} << level.width_bits;
    const std::size_t pitch = std::min(width, units(level.extent.width, block_side(image_.info().format)) - x * width);
    return block->texels.get() +
           ((row - (y << level.height_bits)) * pitch + (column - (x << level.width_bits))) * texel_bytes_;
}

CachedTexels::Block* CachedTexels::load_block(int number, std::size_t x, std::size_t y, std::size_t slice) noexcept {
    const Level& level = levels_[static_cast<std::size_t>(number)];
    const std::size_t index = (slice * level.down + y) * level.across + x;
    std::atomic<Block*>& entry = level.blocks[index];
    const std::lock_guard lock(locks_[index % kLocks]);
    if (Block* block = entry.load(std::memory_order_acquire)) return block;
    if (failed_) return nullptr;
    try {
        std::unique_ptr<Block> made = read_block(number, x, y, slice);
        if (made == nullptr) return nullptr;
        made->entry = &entry;
        const std::lock_guard of_blocks(mutex_);
        blocks_.push_back(std::move(made));
        entry.store(blocks_.back().get(), std::memory_order_release);
        return blocks_.back().get();
    } catch (...) {
        const std::lock_guard of_error(mutex_);
        if (error_ == nullptr) error_ = std::current_exception();
        failed_ = true;
        return nullptr;
    }
}

// Returns null if there is not enough memory.
std::unique_ptr<CachedTexels::Block> CachedTexels::read_block(int number, std::size_t x, std::size_t y,
                                                              std::size_t slice) {
    const Level& level = levels_[static_cast<std::size_t>(number)];
    const std::size_t side = block_side(image_.info().format);
    Region region{{(x << level.width_bits) * side, (y << level.height_bits) * side, slice},
                  {side << level.width_bits, side << level.height_bits, 1}};
    region.extent.width = std::min(region.extent.width, level.extent.width - region.offset.x);
    region.extent.height = std::min(region.extent.height, level.extent.height - region.offset.y);
    const std::size_t bytes = packed_bytes(image_.info().format, region.extent);
    if (!memory_.take(bytes)) return nullptr;
    try {
        auto block = std::make_unique<Block>();
        block->texels = std::make_unique_for_overwrite<std::byte[]>(bytes);
        block->bytes = bytes;
        image_.read({.level = number, .region = region}, {block->texels.get(), bytes});
        return block;
    } catch (...) {
        memory_.give(bytes);
        throw;
    }
}

}  // namespace texton::tiles
