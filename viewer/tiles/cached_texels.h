#pragma once
// The texels of an image of which only a part is in memory, for kernels that read it as a texture of its full size.
//
// Kernels whose rows are known in advance read whole rows, which load() provides. For other kernels, blocks of texels
// are loaded when a fetch reads them for the first time. Blocks stay in memory until the memory is needed for others.
#include <atomic>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include <texton/image_file.h>

#include "core/loaded_texels.h"
#include "viewer/tiles/rows.h"

namespace texton::tiles {

/// The memory for blocks of all inputs of a kernel. Thread-safe.
class BlockMemory {
public:
    explicit BlockMemory(std::size_t limit) noexcept : limit_(limit) {}

    /// Returns false if the limit would be exceeded, and remembers that.
    bool take(std::size_t bytes) noexcept;
    void give(std::size_t bytes) noexcept { used_ -= bytes; }
    std::size_t used() const noexcept { return used_; }
    std::size_t limit() const noexcept { return limit_; }
    /// Not while a kernel runs.
    void set_limit(std::size_t limit) noexcept { limit_ = limit; }
    /// Returns true if take() returned false since the last call. Not while a kernel runs.
    bool was_exceeded() noexcept { return exceeded_.exchange(false); }

private:
    std::size_t limit_;
    std::atomic<std::size_t> used_ = 0;
    std::atomic<bool> exceeded_ = false;
};

class CachedTexels final : public detail::LoadedTexels {
public:
    /// `memory` must outlive the object. The image must not be planar.
    CachedTexels(ImageFile image, BlockMemory& memory);
    ~CachedTexels() override;

    const ImageFile& image() const noexcept { return image_; }
    /// Returns the number of bytes of a row of level 0.
    std::size_t row_bytes() const noexcept { return row_bytes_; }

    // Rows of an array_2d of one level. Not while a kernel runs.

    /// Provides rows. Blocks until they are read. Throws the errors of ImageFile::read().
    void load(Rows rows);
    /// Starts to read the rows that load() will be called for next, on another thread.
    void prefetch(Rows rows);

    // Blocks. Not while a kernel runs.

    /// Prepares for a kernel that reads blocks: removes those that were not used for longest, if more than half of the
    /// memory is used, or all if `all` is true.
    void begin(bool all);
    /// Throws the error that occurred while a kernel read blocks.
    void check();

    std::byte* rows(int) noexcept override { return virtual_first_row_; }
    std::byte* find(int level, std::size_t byte, std::size_t row, std::size_t slice) noexcept override;

private:
    struct Block {
        std::unique_ptr<std::byte[]> texels;
        std::size_t bytes = 0;
        std::atomic<Block*>* entry = nullptr;
        std::atomic<unsigned> turn = 0;  // in which it was used last
    };
    // A level in blocks. Widths and heights are in texels, or in blocks of block-compressed formats, and powers of two.
    struct Level {
        Extent extent;
        int width_bits;
        int height_bits;
        std::size_t across;
        std::size_t down;
        std::unique_ptr<std::atomic<Block*>[]> blocks;
    };
    struct Buffer {
        Rows rows;
        std::unique_ptr<std::byte[]> texels;
        std::size_t capacity = 0;  // rows
    };

    void add_level(int level);
    Block* load_block(int level, std::size_t x, std::size_t y, std::size_t slice) noexcept;
    std::unique_ptr<Block> read_block(int level, std::size_t x, std::size_t y, std::size_t slice);
    void read_rows(Rows rows, std::byte* texels) const;
    void fill_next(Rows rows);
    void reserve(Buffer& buffer, std::size_t rows) const;

    static constexpr std::size_t kLocks = 64;

    const ImageFile image_;
    BlockMemory& memory_;
    const std::size_t texel_bytes_;  // of a texel or a block
    const std::size_t row_bytes_;

    std::byte* virtual_first_row_ = nullptr;
    Buffer current_;
    Buffer next_;
    std::future<void> reading_;

    std::vector<Level> levels_;
    std::mutex locks_[kLocks];  // each for some blocks
    std::mutex mutex_;          // of all below
    std::vector<std::unique_ptr<Block>> blocks_;
    std::exception_ptr error_;
    std::atomic<bool> failed_ = false;
    std::atomic<unsigned> turn_ = 0;
};

}  // namespace texton::tiles
