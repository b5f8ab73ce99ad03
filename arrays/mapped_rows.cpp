#include "arrays/mapped_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/linear.h>

#include "arrays/loaded_array.h"

namespace texton::detail {
namespace {

constexpr std::size_t kChunkUnit = std::size_t{2} << 20;  // TilePoolInfo::chunk_bytes is a multiple of this

std::size_t rounded_up(std::size_t number, std::size_t unit) { return (number + unit - 1) / unit * unit; }

}  // namespace

/// Consecutive rows of an image in linear memory of the CPU device.
class RowMemory final : public LoadedTexels {
public:
    RowMemory(Format format, std::size_t width) : format_(format), width_(width), pitch_(row_bytes(format, width)) {}

    std::size_t pitch() const noexcept { return pitch_; }
    View view(RowRange rows) const {
        return memory_.view(format_, {width_, reserved_.count()})
            .region({{0, rows.first - reserved_.first, 0}, {width_, rows.count(), 1}});
    }

    /// Keeps rows in memory that also has some rows around them, so that a few more rows need no other memory. Copies
    /// the texels of rows that were kept before. The work of the stream must be done.
    void keep(RowRange rows, const Device& device, std::size_t height) {
        constexpr std::size_t kAround = 64;
        const bool fits = rows.first >= reserved_.first && rows.end <= reserved_.end;
        const bool is_small = rows.count() + 4 * kAround < reserved_.count();
        if (rows.count() == 0) {
            memory_ = {};
            reserved_ = {};
        } else if (!fits || is_small) {
            const RowRange reserved{rows.first - std::min(rows.first, kAround), std::min(rows.end + kAround, height)};
            RowMemory other(format_, width_);
            other.memory_ = Linear(device, reserved.count() * pitch_);
            other.reserved_ = reserved;
            const RowRange common{std::max(rows.first, rows_.first), std::min(rows.end, rows_.end)};
            if (common.first < common.end) copy(other.view(common), view(common));
            memory_ = std::move(other.memory_);
            reserved_ = reserved;
        }
        rows_ = rows;
    }

    std::byte* rows(int) noexcept override {
        return rows_.count() != 0 ? memory_.data() - reserved_.first * pitch_ : nullptr;
    }
    std::byte* find(int, std::size_t byte, std::size_t row, std::size_t) noexcept override {
        if (row < rows_.first || row >= rows_.end) return nullptr;
        return memory_.data() + (row - reserved_.first) * pitch_ + byte;
    }

private:
    Format format_;
    std::size_t width_;
    std::size_t pitch_;
    Linear memory_;
    RowRange reserved_;  // rows of the memory
    RowRange rows_;
};

namespace {

/// The same rows for fetches at any coordinates.
class CheckedRows final : public LoadedTexels {
public:
    explicit CheckedRows(std::shared_ptr<RowMemory> memory) noexcept : memory_(std::move(memory)) {}

    std::byte* rows(int) noexcept override { return nullptr; }
    std::byte* find(int level, std::size_t byte, std::size_t row, std::size_t slice) noexcept override {
        return memory_->find(level, byte, row, slice);
    }

private:
    std::shared_ptr<RowMemory> memory_;
};

}  // namespace

MappedRows::MappedRows(const Device& device, const ArrayInfo& info)
    : MappedRows(device, info, device.kind() == DeviceKind::cuda) {}

MappedRows::MappedRows(const Device& device, const ArrayInfo& info, bool in_tiles, std::optional<TilePool> pool) {
    if (block_side(info.format) == 1 && !in_tiles) {
        memory_ = std::make_shared<RowMemory>(info.format, info.extent.width);
        array_ = loaded_array(device, info, memory_);
        checked_ = loaded_array(device, info, std::make_shared<CheckedRows>(memory_));
        is_whole_ = false;
        return;
    }
    if (block_side(info.format) == 1 && device.properties().virtual_memory && make_sparse(device, info, pool)) return;
    array_ = checked_ = Array(device, info);
    rows_ = {0, info.extent.height};
}

// Returns false if the device has no sparse arrays of the format, or if the image has no rows of whole tiles.
bool MappedRows::make_sparse(const Device& device, const ArrayInfo& info, std::optional<TilePool> pool) try {
    ArrayInfo mapped = info;
    mapped.usage.surface = false;
    const SparseArray array(device, mapped);
    const SparseProperties& how = array.properties();
    if (how.first_tail_level == 0 || how.tile.height >= info.extent.height) return false;
    tile_rows_ = how.tile.height;
    across_ = array.tiles(0).width;
    // A chunk holds a row of tiles, so that memory is allocated and freed in small units.
    const TilePoolInfo small{.chunk_bytes = rounded_up(across_ * kTileBytes, kChunkUnit)};
    pool_.emplace(pool ? *pool : TilePool(device, small));
    sparse_ = array;
    array_ = checked_ = array.array();
    is_whole_ = false;
    return true;
} catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return false;
}

View MappedRows::view(RowRange rows) const {
    if (memory_ != nullptr) return memory_->view(rows);
    return array_.view({.region = Region{{0, rows.first, 0}, {array_.info().extent.width, rows.count(), 1}}});
}

std::size_t MappedRows::bytes_of(std::size_t count) const noexcept {
    if (is_whole_) return packed_bytes(array_.info());
    if (memory_ != nullptr) return count * memory_->pitch();
    const std::size_t height = array_.info().extent.height;
    const std::size_t all = (height + tile_rows_ - 1) / tile_rows_;
    const std::size_t tiles = std::min((count + tile_rows_ - 2) / tile_rows_ + 1, all);
    const std::size_t chunk = rounded_up(across_ * kTileBytes, kChunkUnit);
    const std::size_t of_chunk = chunk / (across_ * kTileBytes);
    return (tiles + of_chunk - 1) / of_chunk * chunk;
}

void MappedRows::keep(RowRange rows, const Stream& stream) {
    if (is_whole_ || rows == rows_) return;
    if (memory_ == nullptr) return keep_tiles(rows, stream);
    stream.synchronize();
    memory_->keep(rows, stream.device(), array_.info().extent.height);
    rows_ = rows;
}

// --- tiles -----------------------------------------------------------------------------------------------------------

RowRange MappedRows::tiles_of(RowRange rows) const noexcept {
    if (rows.count() == 0) return {};
    return {rows.first / tile_rows_, (rows.end + tile_rows_ - 1) / tile_rows_};
}

RowRange MappedRows::texels_of(RowRange tiles) const noexcept {
    return {tiles.first * tile_rows_, std::min(tiles.end * tile_rows_, array_.info().extent.height)};
}

void MappedRows::keep_tiles(RowRange rows, const Stream& stream) {
    const RowRange wanted = tiles_of(rows);
    const auto box = [&](std::size_t row) { return TileBox{.offset = {0, row, 0}, .extent = {across_, 1, 1}}; };
    const auto is_in = [](RowRange range, std::size_t row) { return row >= range.first && row < range.end; };
    std::vector<TileBox> left;
    for (std::size_t row = tiles_.first; row < tiles_.end; ++row) {
        if (!is_in(wanted, row)) left.push_back(box(row));
    }
    if (!left.empty()) {
        sparse_.unmap(left, stream);
        tiles_ = {std::max(tiles_.first, wanted.first), std::min(tiles_.end, wanted.end)};
        if (tiles_.first >= tiles_.end) tiles_ = {};
        rows_ = texels_of(tiles_);
    }
    std::vector<TileMapping> added;
    for (std::size_t row = wanted.first; row < wanted.end; ++row) {
        if (!is_in(tiles_, row)) added.push_back({box(row), pool_->allocate(across_)});
    }
    if (added.empty()) return;
    sparse_.map(added, stream);
    tiles_ = wanted;
    rows_ = texels_of(tiles_);
}

}  // namespace texton::detail
