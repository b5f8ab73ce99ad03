#pragma once
// The CPU device, and the list of all CPU devices.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "core/backend.h"
#include "core/cpu/capture.h"
#include "core/cpu/physical.h"
#include "core/cpu/pool.h"
#include "core/cpu/stream.h"

namespace texton::detail {

/// The state behind an EventHandle. The mutex protects the other members.
struct CpuEvent {
    EventTiming timing = EventTiming::on;
    std::mutex mutex;
    // Null if the event was never recorded, or was last recorded in a graph capture.
    std::shared_ptr<const CpuRecord> record;
    std::optional<CpuCapture::Mark> mark;  // set if the event was last recorded in a graph capture
};

/// A device that runs on the processor. It is thread-safe. Each stream has a queue and a thread; see stream.h. The
/// destructor finishes the work of all streams and frees the device's memory.
class CpuDevice final : public Backend {
public:
    /// `threads` is the number of threads that compute for this device only; 0: all devices share those of the process.
    CpuDevice(int index, std::size_t memory, int threads);
    ~CpuDevice() override;

    /// Enqueues the work, or adds it to the capture of the stream.
    void submit(StreamHandle handle, Work work, RunsOn runs_on = RunsOn::any_thread);
    /// Waits for the work of the default stream, as a call without a stream does before it runs in the calling thread.
    /// Throws the failure of this work.
    void wait_for_default_stream() const;
    /// Returns the threads for parallel loops of work that runs in the calling thread, or null if all devices share
    /// them.
    CpuThreads* threads() const noexcept { return threads_.get(); }

    // Device and memory: backend.cpp
    const DeviceProperties& properties() const noexcept override { return properties_; }
    const DeviceLimits& limits() const noexcept override { return limits_; }
    MemoryInfo memory_info() override;
    void synchronize() override;
    bool can_access_peer(Backend& peer) override;
    void set_peer_access(Backend& peer, bool enabled) override;
    std::byte* allocate(std::size_t bytes) override;
    PitchedMemory allocate_pitched_2d(std::size_t row_bytes, std::size_t rows) override;
    PitchedMemory allocate_pitched_3d(std::size_t row_bytes, std::size_t rows, std::size_t slices) override;
    void free(std::byte* address) noexcept override;
    bool knows(const void* address, std::size_t bytes) override;
    std::byte* allocate_host(std::size_t bytes, PinnedOptions options) override;
    void free_host(std::byte* address) noexcept override;
    PinnedOptions host_options(std::byte* address) override;
    void register_host(std::byte* address, std::size_t bytes, RegisterOptions options) override;
    void unregister_host(std::byte* address) noexcept override;
    std::byte* host_device_pointer(std::byte* address) override;
    bool knows_host(const void* address, std::size_t bytes) override;
    SymbolLocation find_symbol(const void* symbol) override;

    // Managed and mapped memory: device_managed.cpp
    std::byte* allocate_managed(std::size_t bytes, Attach attach) override;
    void attach_managed(StreamHandle stream, std::byte* address, std::size_t bytes, Attach attach) override;
    void advise(std::byte* address, std::size_t bytes, Advice advice, const Location& location) override;
    void prefetch(std::byte* address, std::size_t bytes, const Location& location, StreamHandle stream) override;
    bool read_mostly(const std::byte* address, std::size_t bytes) override;
    std::optional<Location> preferred_location(const std::byte* address, std::size_t bytes) override;
    std::vector<Location> accessed_by(const std::byte* address, std::size_t bytes) override;
    std::optional<Location> last_prefetch(const std::byte* address, std::size_t bytes) override;
    RangeAttributes range_attributes(const std::byte* address, std::size_t bytes) override;
    std::size_t physical_granularity(const PhysicalInfo& info, Granularity which) override;
    PhysicalHandle create_physical(std::size_t bytes, const PhysicalInfo& info) override;
    void release_physical(PhysicalHandle memory) noexcept override;
    ShareableHandle export_physical(PhysicalHandle memory, HandleType type) override;
    PhysicalHandle import_physical(const ShareableHandle& handle, std::size_t bytes) override;
    std::byte* reserve_addresses(std::size_t bytes, std::size_t alignment) override;
    void free_addresses(std::byte* address, std::size_t bytes) noexcept override;
    void map_physical(std::byte* address, std::size_t bytes, PhysicalHandle memory) override;
    void unmap_physical(std::byte* address, std::size_t bytes) noexcept override;
    void set_mapped_access(std::byte* address, std::size_t bytes, std::span<const AccessGrant> grants) override;

    // Pools: device_pools.cpp
    PoolHandle create_pool(const PoolInfo& info) override;
    void destroy_pool(PoolHandle pool) noexcept override;
    PoolHandle default_pool(const Location& location, PoolType type) override;
    PoolHandle current_pool(const Location& location, PoolType type) override;
    void set_current_pool(const Location& location, PoolType type, PoolHandle pool) override;
    std::uint64_t pool_attribute(PoolHandle pool, PoolAttribute attribute) override;
    void set_pool_attribute(PoolHandle pool, PoolAttribute attribute, std::uint64_t value) override;
    Access pool_access(PoolHandle pool, const Location& location) override;
    void set_pool_access(PoolHandle pool, std::span<const AccessGrant> grants) override;
    void trim_pool(PoolHandle pool, std::size_t keep) override;
    ShareableHandle export_pool(PoolHandle pool, HandleType type) override;
    PoolHandle import_pool(const ShareableHandle& handle) override;
    PointerExport export_pointer(const std::byte* address) override;
    std::byte* import_pointer(PoolHandle pool, const PointerExport& pointer, std::size_t bytes) override;
    void free_imported(std::byte* address) noexcept override { free(address); }
    std::byte* allocate_async(std::size_t bytes, PoolHandle pool, StreamHandle stream) override;
    void free_async(std::byte* address, StreamHandle stream) override;

    // Streams, events, graphs, copies and fills: device_streams.cpp
    void copy(const CopyRequest& request, const StreamHandle* stream) override;
    void copy_batch(std::span<const CopyRequest> requests, StreamHandle stream) override;
    void fill(const FillRequest& request, const StreamHandle* stream) override;
    StreamHandle create_stream(int priority) override;
    void destroy_stream(StreamHandle stream) noexcept override;
    void synchronize_stream(StreamHandle stream) override;
    bool stream_idle(StreamHandle stream) override;
    std::uint64_t capture_of(StreamHandle stream) override;
    void stream_wait(StreamHandle stream, EventHandle event) override;
    void run_on_host(StreamHandle stream, std::function<void()> function) override;
    EventHandle create_event(EventTiming timing) override;
    void destroy_event(EventHandle event) noexcept override;
    void record_event(EventHandle event, StreamHandle stream) override;
    bool event_done(EventHandle event) override;
    void synchronize_event(EventHandle event) override;
    float elapsed_milliseconds(EventHandle begin, EventHandle end) override;
    void begin_capture(StreamHandle stream) override;
    GraphHandle end_capture(StreamHandle stream) override;
    void abandon_capture(StreamHandle stream) noexcept override;
    std::size_t graph_size(GraphHandle graph) override;
    void launch_graph(GraphHandle graph, StreamHandle stream) override;
    void destroy_graph(GraphHandle graph) noexcept override;

    // Arrays: device_arrays.cpp
    ArrayHandle create_array(const ArrayInfo& info, ArrayBacking backing) override;
    void destroy_array(ArrayHandle array) noexcept override;
    MemoryRequirements array_requirements(ArrayHandle deferred) override;
    SparseProperties array_tiles(ArrayHandle sparse) override;
    void map_tiles(std::span<const TileMapRequest> requests, StreamHandle stream) override;
    void map_array(ArrayHandle deferred, PhysicalHandle memory, std::size_t offset, StreamHandle stream) override;

private:
    using PoolKey = std::tuple<LocationKind, int, PoolType>;

    Location own_location() const noexcept;
    /// Returns the stream; a null handle is the default stream.
    std::shared_ptr<CpuStream> stream(StreamHandle handle) const;
    /// Calls visit(stream) for all streams, also destroyed ones that still have work. Holds no lock during the calls
    /// and allocates no memory. Streams that are created during the call are not visited.
    template <class Visit>
    void for_each_stream(const Visit& visit) const;
    void wait_for_streams() const noexcept;
    /// Waits for all work of this device and of the devices that have peer access to its memory.
    void finish_work() const noexcept;
    /// Calls `release` when all work is done. Waits in this call, except in the work of a stream, which cannot wait for
    /// itself: another stream then waits and calls `release`. Does nothing in a forked child.
    void when_idle(std::function<void()> release) noexcept;
    /// Makes the device own memory that take_memory() returned. If this throws, the memory is freed.
    void keep_block(std::byte* address, std::size_t held);
    void release_block(std::byte* address) noexcept;
    /// Returns the end of the allocation, mapping or symbol that contains the address, or null if there is none.
    const std::byte* known_until(const std::byte* address) const;
    std::shared_ptr<Account> account_of(const Location& location) const;
    CpuDevice& home(const Location& location);

    DeviceProperties properties_;
    DeviceLimits limits_;
    std::shared_ptr<Account> account_;
    CpuAddresses addresses_;
    std::shared_ptr<CpuThreads> threads_;
    std::shared_ptr<CpuStream> default_stream_;
    std::shared_ptr<CpuStream> releases_;  // what work of other streams releases; not one of streams_

    mutable std::mutex mutex_;
    std::map<const std::byte*, std::size_t> blocks_;  // bytes reserved in the account
    // All streams by id, also the default stream and destroyed streams that may still have work.
    std::map<std::uint64_t, std::shared_ptr<CpuStream>> streams_;
    std::map<PoolKey, std::shared_ptr<CpuPool>> default_pools_;
    std::map<PoolKey, PoolHandle> current_pools_;
};

/// The existing CPU devices in the order of creation. Thread-safe. It does not own the devices.
class CpuDevices {
public:
    static CpuDevices& instance();  ///< never destroyed
    void add(CpuDevice& device);
    void remove(CpuDevice& device);
    /// Returns the last device with the index, or null if there is none.
    CpuDevice* find(int index) const;
    /// Returns the device that was created first, or null if there is none.
    CpuDevice* first() const;
    void set_access(const CpuDevice& from, const CpuDevice& to, bool enabled);
    /// Returns the n-th of the devices that have peer access to the memory of `to`, or null. Allocates no memory.
    const CpuDevice* with_access(const CpuDevice& to, std::size_t n) const noexcept;

private:
    mutable std::mutex mutex_;
    std::vector<CpuDevice*> devices_;
    // Pairs of the accessing device and the accessed device.
    std::set<std::pair<const CpuDevice*, const CpuDevice*>> access_;
};

/// Returns the location, with host_numa_current replaced by the NUMA node of the calling thread. Throws
/// Error{wrong_location} for a device or a NUMA node that does not exist.
Location resolved(const Location& location);

}  // namespace texton::detail
