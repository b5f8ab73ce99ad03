#pragma once
// The shared states of owners, streams, events, graphs and pools.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>

#include <texton/stream.h>

#include "core/backend.h"
#include "core/request.h"

namespace texton::detail {

/// Guards the mapping of a sparse or deferred array, which can change while the array is in use. Thread-safe. See
/// BackingUse.
class Backing {
public:
    virtual ~Backing() = default;
    /// Prevents changes to the mapping until unlock(). Throws Error{not_mapped}, with `object`, if no work may be
    /// enqueued.
    virtual void lock(const char* object) = 0;
    virtual void unlock() noexcept = 0;
    /// Makes later work of the stream wait for the last mapping. If `stream` is null, the host waits.
    virtual void wait_for_mapping(const Stream* stream) = 0;
    /// Keeps the mapped memory until the work that is now enqueued on the stream is done. Waits for the stream if it
    /// cannot keep the memory, and throws only if the stream has failed.
    virtual void used_on(const Stream& stream) = 0;
};

/// Memory of any kind, which its owner and its views share. It is freed once, by the device that it came from.
///
/// Threads may share a block. Members other than `alive` and `attached` do not change after the owner is constructed.
struct Block {
    Block(Backend& backend, MemoryKind kind, std::byte* address, std::size_t bytes) noexcept
        : backend(&backend), kind(kind), address(address), bytes(bytes) {}
    virtual ~Block() = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    Backend* backend;
    MemoryKind kind;
    std::byte* address;
    std::size_t bytes;
    bool host_reads_slowly = false;  ///< true for write-combined memory
    std::atomic<bool> alive{true};   ///< false after it is freed explicitly or unmapped
    Backing* backing = nullptr;      ///< null if the mapping cannot change
    /// Textures of the memory, cached by arrays/. Destroyed before the memory is freed.
    mutable std::mutex attached_mutex;
    mutable std::shared_ptr<void> attached;
};

/// State of a stream. Destroys the queue if it owns it.
struct StreamState {
    StreamState(const Device& device, StreamHandle handle, bool owned) noexcept
        : device(device), handle(handle), owned(owned) {}
    ~StreamState();
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;

    Device device;
    StreamHandle handle;  ///< null for the default stream
    bool owned;           ///< false for the default stream and for adopted ones
};

/// State of an event. Destroys the event.
struct EventState {
    EventState(const Device& device, EventHandle handle, EventTiming timing) noexcept
        : device(device), handle(handle), timing(timing) {}
    ~EventState();
    EventState(const EventState&) = delete;
    EventState& operator=(const EventState&) = delete;

    Device device;
    EventHandle handle;
    EventTiming timing;
    std::atomic<bool> recorded{false};  ///< true after the first record
};

/// State of a graph. Destroys the graph.
struct GraphState {
    GraphState(const Device& device, GraphHandle handle, std::size_t size) noexcept
        : device(device), handle(handle), size(size) {}
    ~GraphState();
    GraphState(const GraphState&) = delete;
    GraphState& operator=(const GraphState&) = delete;

    Device device;
    GraphHandle handle;
    std::size_t size;
    std::vector<std::shared_ptr<const Block>> guarded;  ///< the memory with a Backing that a launch uses
};

/// State of a pool. Destroys the pool if it owns it.
struct PoolState {
    PoolState(const Device& device, PoolHandle handle, const PoolInfo& info, bool owned, bool imported) noexcept
        : device(device), handle(handle), info(info), owned(owned), imported(imported) {}
    ~PoolState();
    PoolState(const PoolState&) = delete;
    PoolState& operator=(const PoolState&) = delete;

    Device device;
    PoolHandle handle;
    PoolInfo info;
    bool owned;  ///< false for default pools
    bool imported;
};

/// Memory that one call of the backend frees. While the calling thread records a graph, it is freed after the
/// recording.
struct PlainBlock : Block {
    PlainBlock(Backend& backend, MemoryKind kind, std::byte* address, std::size_t bytes, FreeFunction free) noexcept
        : Block(backend, kind, address, bytes), free(free) {}
    ~PlainBlock() override {
        attached.reset();
        if (address != nullptr) free_outside_recording(*backend, free, address);
    }

    FreeFunction free;
};

/// Returns a block that owns the memory that `allocate` returns. The block is created first, so no failure leaks the
/// memory.
template <class Allocate>
std::shared_ptr<Block> make_block(Backend& backend, const char* object, MemoryKind kind, std::size_t bytes,
                                  FreeFunction free, Allocate&& allocate) {
    return request(&backend, object, {{"bytes", bytes}}, [&]() -> std::shared_ptr<Block> {
        auto block = std::make_shared<PlainBlock>(backend, kind, nullptr, bytes, free);
        block->address = allocate();
        return block;
    });
}

/// Memory of a pool that must be freed in the order of a stream. Keeps the stream and the pool alive.
struct PendingFree {
    std::shared_ptr<StreamState> stream;
    std::shared_ptr<PoolState> pool;
    std::byte* address = nullptr;
    std::uint64_t capture = 0;   ///< the capture in which the memory was allocated, or 0
    std::exception_ptr failure;  ///< of the free in this capture
};

/// Memory of a pool, freed in the order of its stream. Keeps the stream and the pool alive.
struct PoolBlock : Block {
    PoolBlock(Backend& backend, std::size_t bytes, std::shared_ptr<StreamState> stream, std::shared_ptr<PoolState> pool)
        : Block(backend, MemoryKind::linear, nullptr, bytes), stream(std::move(stream)), pool(std::move(pool)) {}
    ~PoolBlock() override;

    std::shared_ptr<StreamState> stream;
    std::shared_ptr<PoolState> pool;    ///< null: the current pool of the device
    std::uint64_t capture = 0;          ///< the capture in which it was allocated, or 0
    std::list<PendingFree> pending{1};  ///< for the destructor, which must not allocate memory
};

/// Allocates memory in the order of the stream. A null pool means the current pool of the stream's device.
std::shared_ptr<PoolBlock> make_pool_block(const char* object, std::size_t bytes, std::shared_ptr<StreamState> stream,
                                           std::shared_ptr<PoolState> pool);

/// Returns the block. Throws Error{released} if it is null or was freed.
Block& live(const std::shared_ptr<Block>& block, const char* object);

/// Returns false for a handle without a type, and for a file descriptor that is not open.
[[nodiscard]] bool names_something(const ShareableHandle& handle) noexcept;

/// Throws Error{bad_argument} for 0 bytes.
void check_bytes(std::size_t bytes, const char* object);

/// Returns a view of the whole block as one row of bytes.
View byte_view(const std::shared_ptr<Block>& block, const char* object);

/// Returns a view of `extent` packed texels from byte `offset` of the block on. Throws Error{out_of_bounds} if they do
/// not fit, and Error{bad_argument} if a dimension is 0 or the format is planar.
View packed_view(const std::shared_ptr<Block>& block, const char* object, Format format, Extent extent,
                 std::size_t offset = 0);

}  // namespace texton::detail
