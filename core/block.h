#pragma once
// What owners share with their views: memory of any kind, freed once, by the device it came from.
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

#include <texton/stream.h>

#include "core/backend.h"
#include "core/request.h"

namespace texton::detail {

/// Guards memory whose backing changes while it is in use: that of sparse and deferred arrays. See BackingUse.
class Backing {
public:
    virtual ~Backing() = default;
    /// Until unlock() nobody maps or unmaps. Error{not_mapped}, naming `object`, if work on it must not be enqueued.
    virtual void lock(const char* object) = 0;
    virtual void unlock() noexcept = 0;
    /// Lets what follows on the stream come after the last mapping; a null stream: the host waits for it.
    virtual void wait_for_mapping(const Stream* stream) = 0;
    /// Work was enqueued on the stream: what it uses must stay until the work is done.
    virtual void used_on(const Stream& stream) = 0;
};

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
    bool host_reads_slowly = false;  ///< write-combined
    std::atomic<bool> alive{true};   ///< false once freed before its last view is gone
    Backing* backing = nullptr;      ///< null where the memory is there as long as the block
    /// What the layer of arrays keeps with the memory: its textures. Destroyed before the memory is.
    mutable std::mutex attached_mutex;
    mutable std::shared_ptr<void> attached;
};

struct StreamState {
    StreamState(const Device& device, StreamHandle handle, bool owned) noexcept
        : device(device), handle(handle), owned(owned) {}
    ~StreamState();
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;

    Device device;
    StreamHandle handle;  ///< null: the default stream
    bool owned;           ///< false for the default stream and for adopted ones
};

struct EventState {
    EventState(const Device& device, EventHandle handle, EventTiming timing) noexcept
        : device(device), handle(handle), timing(timing) {}
    ~EventState();
    EventState(const EventState&) = delete;
    EventState& operator=(const EventState&) = delete;

    Device device;
    EventHandle handle;
    EventTiming timing;
    std::atomic<bool> recorded{false};
};

struct GraphState {
    GraphState(const Device& device, GraphHandle handle, std::size_t size) noexcept
        : device(device), handle(handle), size(size) {}
    ~GraphState();
    GraphState(const GraphState&) = delete;
    GraphState& operator=(const GraphState&) = delete;

    Device device;
    GraphHandle handle;
    std::size_t size;
    std::vector<std::shared_ptr<const Block>> guarded;  ///< what a launch uses that has a Backing
};

struct PoolState {
    PoolState(const Device& device, PoolHandle handle, const PoolInfo& info, bool owned, bool imported) noexcept
        : device(device), handle(handle), info(info), owned(owned), imported(imported) {}
    ~PoolState();
    PoolState(const PoolState&) = delete;
    PoolState& operator=(const PoolState&) = delete;

    Device device;
    PoolHandle handle;
    PoolInfo info;
    bool owned;  ///< false for a device's default pools
    bool imported;
};

/// Memory that one call of the backend frees: device, managed, pinned or registered.
struct PlainBlock : Block {
    PlainBlock(Backend& backend, MemoryKind kind, std::byte* address, std::size_t bytes, FreeFunction free) noexcept
        : Block(backend, kind, address, bytes), free(free) {}
    ~PlainBlock() override {
        attached.reset();
        if (address != nullptr) free_outside_recording(*backend, free, address);
    }

    FreeFunction free;
};

/// Owns what `allocate` returns. Made before the memory is, so that no failure in between loses it.
template <class Allocate>
std::shared_ptr<Block> make_block(Backend& backend, const char* object, MemoryKind kind, std::size_t bytes,
                                  FreeFunction free, Allocate&& allocate) {
    auto block = std::make_shared<PlainBlock>(backend, kind, nullptr, bytes, free);
    block->address = request(&backend, object, {{"bytes", bytes}}, std::forward<Allocate>(allocate));
    return block;
}

/// Memory of a pool: freed in order on its stream, which it keeps alive together with the pool.
struct PoolBlock : Block {
    PoolBlock(Backend& backend, std::size_t bytes, std::shared_ptr<StreamState> stream,
              std::shared_ptr<PoolState> pool) noexcept
        : Block(backend, MemoryKind::linear, nullptr, bytes), stream(std::move(stream)), pool(std::move(pool)) {}
    ~PoolBlock() override;

    std::shared_ptr<StreamState> stream;
    std::shared_ptr<PoolState> pool;  ///< empty: the device's current pool
    bool of_graph = false;            ///< allocated while the stream was captured
};

/// Allocates on the stream from the pool; an empty one is the current pool of the stream's device.
std::shared_ptr<PoolBlock> make_pool_block(const char* object, std::size_t bytes, std::shared_ptr<StreamState> stream,
                                           std::shared_ptr<PoolState> pool);

/// Error{released} unless the block is there and was not freed.
Block& live(const std::shared_ptr<Block>& block, const char* object);

/// False for a handle of no type, and for a file descriptor that is not open.
[[nodiscard]] bool names_something(const ShareableHandle& handle) noexcept;

/// Error{bad_argument} for 0 bytes.
void check_bytes(std::size_t bytes, const char* object);

/// The one row of bytes that the whole block is.
View byte_view(const std::shared_ptr<Block>& block, const char* object);

/// A view of `extent` packed texels of `format` at `offset` bytes in the block. Error{out_of_bounds} if they do not fit.
View packed_view(const std::shared_ptr<Block>& block, const char* object, Format format, Extent extent,
                 std::size_t offset = 0);

}  // namespace texton::detail
