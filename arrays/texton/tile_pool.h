#pragma once
#include <memory>

#include <texton/array_info.h>
#include <texton/device.h>

namespace texton {

namespace detail {
struct TilePoolState;
struct TileRun;
}  // namespace detail

struct TilePoolInfo {
    std::size_t budget = 0;                           ///< bytes that the pool may hold; 0: what the device has
    std::size_t chunk_bytes = std::size_t{64} << 20;  ///< what it takes from the device at a time; a multiple of 2 MiB
    bool operator==(const TilePoolInfo&) const = default;
};

/// Sizes in slots of 64 KiB.
struct TilePoolUsage {
    std::size_t held = 0;          ///< taken from the device
    std::size_t used = 0;          ///< handed out, or still mapped
    std::size_t free = 0;          ///< held - used
    std::size_t largest_free = 0;  ///< the longest run that can be handed out without growing
    std::size_t chunks = 0;
    double fragmentation() const noexcept;  ///< 1 - largest_free / free; 0 if nothing is free
};

/// A run of slots of 64 KiB, one after the other in one piece of memory. A cheap handle: the slots go back to the pool when the
/// last copy is gone and nothing is mapped to them any more. What is mapped to them next waits, on its stream, for the work
/// before.
class Tiles {
public:
    Tiles() = default;
    std::size_t size() const noexcept;  ///< slots
    std::size_t bytes() const noexcept { return size() * kTileBytes; }
    Device device() const;
    /// How many of the slots are mapped somewhere.
    std::size_t mapped() const;

    /// For Texton's own parts.
    const std::shared_ptr<detail::TileRun>& run() const noexcept { return run_; }
    explicit Tiles(std::shared_ptr<detail::TileRun> run) noexcept : run_(std::move(run)) {}

private:
    std::shared_ptr<detail::TileRun> run_;
};

/// Memory for sparse and deferred arrays. It grows by chunks as tiles are asked for. Thread-safe; a cheap handle; what it
/// handed out keeps its memory alive, and the last of them waits for the work that is left on it.
class TilePool {
public:
    explicit TilePool(const Device& device, const TilePoolInfo& info = {});
    // No moves: a handle always names its pool.
    TilePool(const TilePool&) = default;
    TilePool& operator=(const TilePool&) = default;

    const Device& device() const noexcept;
    const TilePoolInfo& info() const noexcept;

    /// Best fit; a run longer than a chunk gets a chunk of its own. Error{bad_argument} for 0, Error{out_of_memory} if the
    /// budget or the device does not hold it.
    [[nodiscard]] Tiles allocate(std::size_t slots) const;
    /// Enough slots for `bytes`.
    [[nodiscard]] Tiles allocate_bytes(std::size_t bytes) const;
    TilePoolUsage usage() const;
    /// Gives chunks that are wholly free, and whose work is done, back to the device, until at most `keep` bytes are held.
    void trim(std::size_t keep = 0) const;

private:
    std::shared_ptr<detail::TilePoolState> state_;
};

}  // namespace texton
