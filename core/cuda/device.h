#pragma once
// The Backend of a CUDA device. Its members are implemented in memory.cpp, pool.cpp, physical.cpp, copy.cpp, fill.cpp,
// stream.cpp, array.cpp and backend.cpp; backend.cpp also enumerates the devices.
#include <mutex>

#include <texton/error.h>

#include "core/backend.h"
#include "core/cuda/call.h"

namespace texton::detail {

/// The state behind a GraphHandle.
struct NativeGraph {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    std::mutex launching;  // CUDA requires that launches of the same graph are serialized
};
/// The state behind a PhysicalHandle.
struct NativePhysical {
    CUmemGenericAllocationHandle value = 0;
};

// The handles of streams, events and pools are CUDA's own pointers, cast to another type.
inline cudaStream_t native(StreamHandle stream) noexcept { return reinterpret_cast<cudaStream_t>(stream); }
inline cudaEvent_t native(EventHandle event) noexcept { return reinterpret_cast<cudaEvent_t>(event); }
inline cudaMemPool_t native(PoolHandle pool) noexcept { return reinterpret_cast<cudaMemPool_t>(pool); }

/// An ordinal that no device has.
inline constexpr int kNoOrdinal = 0x7fffffff;
/// Returns the ordinal of the device with an index, or kNoOrdinal, which CUDA refuses.
int ordinal_at(int index) noexcept;
/// Returns the index of the first device with an ordinal, or -1 if TEXTON_CUDA_DEVICES does not list it.
int index_of(int ordinal) noexcept;

/// Convert to CUDA's types. The enumerations of the runtime and of the driver have the same values.
cudaMemLocation to_cuda(const Location& location) noexcept;
cudaMemAccessFlags to_cuda(Access access) noexcept;
int handle_bits(HandleType type) noexcept;

/// Throws an Error that explains what fabric handles need if `type` is fabric and memory was not the cause. Otherwise
/// rethrows `error`.
[[noreturn]] void rethrow_refused_handle(const Error& error, HandleType type);

/// A CUDA device. It is thread-safe and lives until the process ends. Each member makes the device current where CUDA
/// needs it and restores the caller's device before it returns.
class CudaBackend final : public Backend {
public:
    /// `ordinal` is the number of the GPU in CUDA, `index` that of the device. `earlier` is the number of devices before
    /// it that are the same GPU; it makes the UUID unique.
    CudaBackend(int ordinal, int index, int earlier);

    int ordinal() const noexcept { return ordinal_; }

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

    std::byte* allocate_managed(std::size_t bytes, Attach attach) override;
    void attach_managed(StreamHandle stream, std::byte* address, std::size_t bytes, Attach attach) override;
    void advise(std::byte* address, std::size_t bytes, Advice advice, const Location& location) override;
    void prefetch(std::byte* address, std::size_t bytes, const Location& location, StreamHandle stream) override;
    bool read_mostly(const std::byte* address, std::size_t bytes) override;
    std::optional<Location> preferred_location(const std::byte* address, std::size_t bytes) override;
    std::vector<Location> accessed_by(const std::byte* address, std::size_t bytes) override;
    std::optional<Location> last_prefetch(const std::byte* address, std::size_t bytes) override;
    RangeAttributes range_attributes(const std::byte* address, std::size_t bytes) override;

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
    void free_imported(std::byte* address) noexcept override;
    std::byte* allocate_async(std::size_t bytes, PoolHandle pool, StreamHandle stream) override;
    void free_async(std::byte* address, StreamHandle stream) override;

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

    SymbolLocation find_symbol(const void* symbol) override;

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

    ArrayHandle create_array(const ArrayInfo& info, ArrayBacking backing) override;
    void destroy_array(ArrayHandle array) noexcept override;
    MemoryRequirements array_requirements(ArrayHandle deferred) override;
    SparseProperties array_tiles(ArrayHandle sparse) override;
    void map_tiles(std::span<const TileMapRequest> requests, StreamHandle stream) override;
    void map_array(ArrayHandle deferred, PhysicalHandle memory, std::size_t offset, StreamHandle stream) override;

private:
    void fill_host(const FillRequest& request, const StreamHandle* stream);

    int ordinal_;
    DeviceProperties properties_;
    DeviceLimits limits_;
    std::once_flag move_kernels_;  // the CUDA kernels for copies are loaded when the first array is created
};

/// Returns the backend as a CudaBackend, or null if it is null or another kind of device.
inline CudaBackend* as_cuda(Backend* backend) noexcept {
    if (backend == nullptr || backend->properties().kind != DeviceKind::cuda) return nullptr;
    return static_cast<CudaBackend*>(backend);
}

}  // namespace texton::detail
