#pragma once
#include <memory>

#include <texton/array_info.h>
#include <texton/device.h>

namespace texton {

namespace detail {
struct TilePoolState;
struct TileRun;
}  // namespace detail

/// Options of a TilePool.
struct TilePoolInfo {
    std::size_t budget = 0;                           ///< maximum bytes that the pool holds; 0 means no limit
    std::size_t chunk_bytes = std::size_t{64} << 20;  ///< bytes of an allocation from the device; a multiple of 2 MiB
    bool operator==(const TilePoolInfo&) const = default;  ///< Returns true if all members are equal.
};

/// Usage of a TilePool. Sizes are in slots of 64 KiB.
struct TilePoolUsage {
    std::size_t held = 0;          ///< slots allocated from the device
    std::size_t used = 0;          ///< slots that belong to a Tiles object or are still mapped
    std::size_t free = 0;          ///< slots that can be allocated: held - used
    std::size_t largest_free = 0;  ///< longest run that allocate() can return without growing the pool
    std::size_t chunks = 0;        ///< allocations from the device
    /// Returns 1 - largest_free / free, or 0 if no slot is free.
    double fragmentation() const noexcept;
};

/// A run of consecutive slots of 64 KiB in one piece of memory.
///
/// Copies are cheap and refer to the same slots. The slots return to the pool when the last copy is gone and no array
/// is mapped to them. When they are mapped again, the stream of the new mapping waits for earlier work on them. A
/// default-constructed or moved-from object is empty: size() returns 0, and device() and mapped() throw
/// Error{released}. Several threads may use copies at once.
class Tiles {
public:
    /// Creates an empty object without slots.
    Tiles() = default;
    /// Returns the number of slots.
    std::size_t size() const noexcept;
    /// Returns the size of all slots in bytes.
    std::size_t bytes() const noexcept { return size() * kTileBytes; }
    /// Returns the device of the pool.
    Device device() const;
    /// Returns the number of slots that are mapped to an array.
    std::size_t mapped() const;

    /// Returns the internal state. For internal use.
    const std::shared_ptr<detail::TileRun>& run() const noexcept { return run_; }
    /// Creates an object from its internal state. For internal use.
    explicit Tiles(std::shared_ptr<detail::TileRun> run) noexcept : run_(std::move(run)) {}

private:
    std::shared_ptr<detail::TileRun> run_;
};

/// Memory for sparse and deferred arrays. The pool allocates it from the device in chunks when tiles are allocated.
///
/// Thread-safe. Copies are cheap and refer to the same pool. Allocation does not wait for the device: mapping orders
/// the use of the slots. Tiles objects, and arrays that are mapped to them, keep the pool's memory alive. When the last
/// of these and the last copy of the pool are gone, the host waits for pending work on the memory and then frees it; if
/// the calling thread records a graph then, after the recording has ended. If a member function throws, no slots are
/// allocated.
class TilePool {
public:
    /// Creates a pool without memory. Throws Error{unsupported} if the device cannot map memory to arrays, and
    /// Error{bad_argument} if `chunk_bytes` is not a positive multiple of the device's allocation granularity.
    explicit TilePool(const Device& device, const TilePoolInfo& info = {});
    // There are no move operations, so a TilePool is never empty.
    TilePool(const TilePool&) = default;             ///< Creates another handle of the same pool.
    TilePool& operator=(const TilePool&) = default;  ///< Refers to the same pool as the other handle.

    const Device& device() const noexcept;      ///< Returns the device that has the memory.
    const TilePoolInfo& info() const noexcept;  ///< Returns the options that the pool was created with.

    /// Allocates consecutive slots, from the smallest free run that is long enough. A run that is longer than a chunk
    /// gets its own chunk.
    ///
    /// Throws Error{bad_argument} for 0 slots, Error{out_of_memory} if the budget or the memory of the device does not
    /// suffice, and Error{capturing} if the pool has to grow while the calling thread records a graph.
    [[nodiscard]] Tiles allocate(std::size_t slots) const;
    /// Allocates as many slots as `bytes` bytes need. Throws the same errors as allocate().
    [[nodiscard]] Tiles allocate_bytes(std::size_t bytes) const;
    /// Returns the current usage.
    TilePoolUsage usage() const;
    /// Frees chunks that are completely unused and have no pending work, until the pool holds at most `keep` bytes.
    /// Throws Error{capturing} while the calling thread records a graph.
    void trim(std::size_t keep = 0) const;

private:
    std::shared_ptr<detail::TilePoolState> state_;
};

}  // namespace texton
