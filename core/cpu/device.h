#pragma once
// The CPU device: what it keeps, and where each part of the seam is.
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

struct CpuEvent {
    EventTiming timing = EventTiming::on;
    std::mutex mutex;
    std::shared_ptr<const CpuRecord> record;  // null: never recorded, or recorded into a graph
    std::optional<CpuCapture::Mark> mark;     // recorded into a graph
};

class CpuDevice final : public Backend {
public:
    CpuDevice(int index, std::size_t memory);
    ~CpuDevice() override;

    // backend.cpp: the device and its memory
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
    bool knows(const void* address) override;
    std::byte* allocate_host(std::size_t bytes, PinnedOptions options) override;
    void free_host(std::byte* address) noexcept override;
    PinnedOptions host_options(std::byte* address) override;
    void register_host(std::byte* address, std::size_t bytes, RegisterOptions options) override;
    void unregister_host(std::byte* address) noexcept override;
    std::byte* host_device_pointer(std::byte* address) override;
    SymbolPlace find_symbol(const void* symbol) override;

    // device_managed.cpp: managed and mapped memory
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

    // device_pools.cpp
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
    std::byte* allocate_async(std::size_t bytes, PoolHandle pool, StreamHandle stream) override;
    void free_async(std::byte* address, StreamHandle stream) override;

    // device_streams.cpp: streams, events, graphs, copy and fill
    void copy(const CopyRequest& request, const StreamHandle* stream) override;
    void copy_batch(std::span<const CopyRequest> requests, StreamHandle stream) override;
    void fill(const FillRequest& request, const StreamHandle* stream) override;
    StreamHandle create_stream(int priority) override;
    void destroy_stream(StreamHandle stream) noexcept override;
    void synchronize_stream(StreamHandle stream) override;
    bool stream_idle(StreamHandle stream) override;
    bool stream_capturing(StreamHandle stream) override;
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

    // device_arrays.cpp
    ArrayHandle create_array(const ArrayInfo& info, ArrayBacking backing) override;
    void destroy_array(ArrayHandle array) noexcept override;
    MemoryRequirements array_requirements(ArrayHandle deferred) override;
    SparseProperties array_tiles(ArrayHandle sparse) override;
    void map_tiles(std::span<const TileMapRequest> requests, StreamHandle stream) override;
    void map_array(ArrayHandle deferred, PhysicalHandle memory, std::size_t offset, StreamHandle stream) override;

private:
    using PoolKey = std::tuple<LocationKind, int, PoolType>;

    Location own_location() const noexcept;
    std::shared_ptr<CpuStream> stream(StreamHandle handle) const;
    std::vector<std::shared_ptr<CpuStream>> streams() const;
    void submit(StreamHandle handle, Work work);
    /// Waits for all work of this device, and of those that have access to it.
    void finish_work() const;
    /// Calls `release` when all work is done: at once, or, in a stream's own thread, which cannot wait for itself, in
    /// another.
    void when_idle(std::function<void()> release) const noexcept;
    void release_block(std::byte* address) noexcept;
    std::shared_ptr<Account> account_of(const Location& location) const;
    CpuDevice& home(const Location& location);

    DeviceProperties properties_;
    DeviceLimits limits_;
    std::shared_ptr<Account> account_;
    CpuAddresses addresses_;
    std::shared_ptr<CpuStream> default_stream_;

    mutable std::mutex mutex_;
    std::map<const std::byte*, std::size_t> blocks_;  // bytes held
    std::map<CpuStream*, std::shared_ptr<CpuStream>> streams_;
    std::vector<std::shared_ptr<CpuStream>> closing_;  // destroyed, with work that is left
    std::map<PoolKey, std::shared_ptr<CpuPool>> default_pools_;
    std::map<PoolKey, PoolHandle> current_pools_;
};

/// The CPU devices that live, in the order in which they were made.
class CpuDevices {
public:
    static CpuDevices& instance();  ///< never destroyed
    void add(CpuDevice& device);
    void remove(CpuDevice& device);
    /// Null if there is none with the index. Of several the last.
    CpuDevice* find(int index) const;
    CpuDevice* first() const;
    void set_access(const CpuDevice& from, const CpuDevice& to, bool enabled);
    /// The devices that have access to `to`'s memory.
    std::vector<const CpuDevice*> with_access(const CpuDevice& to) const;

private:
    mutable std::mutex mutex_;
    std::vector<CpuDevice*> devices_;
    std::set<std::pair<const CpuDevice*, const CpuDevice*>> access_;  // from, to
};

/// The location with 'the nearest NUMA node' named. Error{wrong_location} for a device or a node that does not exist.
Location resolved(const Location& location);

}  // namespace texton::detail
