#pragma once
// The interface of a device. It is called once per operation, never once per texel, with arguments that the caller has
// checked. An implementation therefore fails only if a driver or the system fails. There is one instance per device,
// which lives until the process ends.
//
// Failures are thrown as Error with an empty object: request() in core/request.h adds the object and the numbers.
// `call` and `cuda_name` are set if a driver call failed. The code is out_of_memory if there is too little memory.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <texton/array_info.h>
#include <texton/device.h>
#include <texton/format.h>
#include <texton/location.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pool.h>
#include <texton/registered.h>
#include <texton/symbol.h>
#include <texton/view.h>

namespace texton::detail {

// Handles are opaque pointers of distinct types. A null StreamHandle means the default stream of the device.
struct NativeStream;
struct NativeEvent;
struct NativeGraph;
struct NativePool;
struct NativePhysical;
using StreamHandle = NativeStream*;
using EventHandle = NativeEvent*;
using GraphHandle = NativeGraph*;
using PoolHandle = NativePool*;
using PhysicalHandle = NativePhysical*;
using ArrayHandle = NativeArray*;

/// Memory with padded rows.
struct PitchedMemory {
    std::byte* address = nullptr;
    std::size_t pitch = 0;  // bytes between rows
};

/// The size of a copy or a fill, in bytes and rows.
struct Box {
    std::size_t row_bytes = 0;
    std::size_t rows = 1;  // per slice
    std::size_t slices = 1;
};

/// A copy. `box` is computed from the extents and formats of both locations, whose own pitch and slice_pitch apply. The
/// backend of a location is null for pageable host memory. Host memory that is pinned or registered has that kind.
struct CopyRequest {
    const MemoryLocation* destination = nullptr;
    const MemoryLocation* source = nullptr;
    Box box;
};

/// A fill with a repeated pattern.
struct FillRequest {
    const MemoryLocation* destination = nullptr;
    Box box;
    std::array<std::byte, 16> pattern{};
    int pattern_bytes = 1;  // 1, 2, 4, 8 or 16; arrays: bytes of a texel or block
};

/// Source of an array's memory: its own allocation, tiles that are mapped one by one, or one mapping for all of it.
enum class ArrayBacking : std::uint8_t { own, sparse, deferred };

/// Maps memory to a box of texels of a sparse array, or to the mip tail of a layer. A null memory unmaps. Offset and
/// extent are multiples of the tile size, except that the extent ends at the edge of the level.
struct TileMapRequest {
    ArrayHandle array = nullptr;
    bool tail = false;
    int level = 0;
    std::size_t layer = 0;
    Offset offset;  // texels
    Extent extent;
    PhysicalHandle memory = nullptr;
    std::size_t memory_offset = 0;  // bytes; consecutive tiles, x fastest
};

/// Attributes of a pool, as in CUDA. The maxima (reserved_high, used_high) can only be set to 0, which resets them.
enum class PoolAttribute : std::uint8_t {
    reuse_follow_event_dependencies,
    reuse_opportunistic,
    reuse_internal_dependencies,
    release_threshold,
    reserved_current,
    reserved_high,
    used_current,
    used_high
};

/// Returns how often this process and its ancestors forked since the first call: a child has a larger number than its
/// parent. Async-signal-safe after the first call, which throws Error{out_of_memory} if the system has no memory.
unsigned fork_count();

/// A device. All functions are thread-safe.
class Backend {
public:
    Backend() = default;
    virtual ~Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;

    /// Returns true if the process was forked after the device was created. The device's threads and the context of its
    /// driver do not exist in the child, and its locks may never be released there. request() refuses such a device.
    bool lost() const noexcept { return forks_ != fork_count(); }

    virtual const DeviceProperties& properties() const noexcept = 0;
    virtual const DeviceLimits& limits() const noexcept = 0;
    virtual MemoryInfo memory_info() = 0;
    virtual void synchronize() = 0;
    virtual bool can_access_peer(Backend& peer) = 0;
    virtual void set_peer_access(Backend& peer, bool enabled) = 0;  // idempotent

    // Functions that wait for the device's work do not invalidate the captures of other threads.
    // Device memory. free() waits for the device's work, like cudaFree.
    virtual std::byte* allocate(std::size_t bytes) = 0;
    virtual PitchedMemory allocate_pitched_2d(std::size_t row_bytes, std::size_t rows) = 0;
    virtual PitchedMemory allocate_pitched_3d(std::size_t row_bytes, std::size_t rows, std::size_t slices) = 0;
    virtual void free(std::byte* address) noexcept = 0;
    /// Returns true if all bytes are in memory that the device allocated and can access. `bytes` is at least 1.
    virtual bool knows(const void* address, std::size_t bytes) = 0;

    // Host memory.
    virtual std::byte* allocate_host(std::size_t bytes, PinnedOptions options) = 0;
    virtual void free_host(std::byte* address) noexcept = 0;
    virtual PinnedOptions host_options(std::byte* address) = 0;
    virtual void register_host(std::byte* address, std::size_t bytes, RegisterOptions options) = 0;
    virtual void unregister_host(std::byte* address) noexcept = 0;
    virtual std::byte* host_device_pointer(std::byte* address) = 0;
    /// Returns true if all bytes are page-locked host memory that the device can access. `bytes` is at least 1.
    virtual bool knows_host(const void* address, std::size_t bytes) = 0;

    // Managed memory. Freed by free().
    virtual std::byte* allocate_managed(std::size_t bytes, Attach attach) = 0;
    virtual void attach_managed(StreamHandle stream, std::byte* address, std::size_t bytes, Attach attach) = 0;
    virtual void advise(std::byte* address, std::size_t bytes, Advice advice, const Location& location) = 0;
    virtual void prefetch(std::byte* address, std::size_t bytes, const Location& location, StreamHandle stream) = 0;
    // Attributes of a range of managed memory, one by one, and all with one query.
    virtual bool read_mostly(const std::byte* address, std::size_t bytes) = 0;
    virtual std::optional<Location> preferred_location(const std::byte* address, std::size_t bytes) = 0;
    virtual std::vector<Location> accessed_by(const std::byte* address, std::size_t bytes) = 0;
    virtual std::optional<Location> last_prefetch(const std::byte* address, std::size_t bytes) = 0;
    virtual RangeAttributes range_attributes(const std::byte* address, std::size_t bytes) = 0;

    // Pools. The location of a PoolInfo is never none for a pinned pool.
    virtual PoolHandle create_pool(const PoolInfo& info) = 0;
    virtual void destroy_pool(PoolHandle pool) noexcept = 0;
    virtual PoolHandle default_pool(const Location& location, PoolType type) = 0;
    virtual PoolHandle current_pool(const Location& location, PoolType type) = 0;
    virtual void set_current_pool(const Location& location, PoolType type, PoolHandle pool) = 0;
    virtual std::uint64_t pool_attribute(PoolHandle pool, PoolAttribute attribute) = 0;
    virtual void set_pool_attribute(PoolHandle pool, PoolAttribute attribute, std::uint64_t value) = 0;
    virtual Access pool_access(PoolHandle pool, const Location& location) = 0;
    virtual void set_pool_access(PoolHandle pool, std::span<const AccessGrant> grants) = 0;
    virtual void trim_pool(PoolHandle pool, std::size_t keep) = 0;
    virtual ShareableHandle export_pool(PoolHandle pool, HandleType type) = 0;
    virtual PoolHandle import_pool(const ShareableHandle& handle) = 0;
    virtual PointerExport export_pointer(const std::byte* address) = 0;
    /// Throws Error{out_of_bounds} if the exported allocation has fewer bytes.
    virtual std::byte* import_pointer(PoolHandle pool, const PointerExport& pointer, std::size_t bytes) = 0;
    virtual void free_imported(std::byte* address) noexcept = 0;  // waits for the device's work
    /// A null pool means the current pool of this device (cudaMallocAsync).
    virtual std::byte* allocate_async(std::size_t bytes, PoolHandle pool, StreamHandle stream) = 0;
    virtual void free_async(std::byte* address, StreamHandle stream) = 0;

    // Physical memory and address ranges.
    virtual std::size_t physical_granularity(const PhysicalInfo& info, Granularity which) = 0;
    virtual PhysicalHandle create_physical(std::size_t bytes, const PhysicalInfo& info) = 0;
    virtual void release_physical(PhysicalHandle memory) noexcept = 0;
    virtual ShareableHandle export_physical(PhysicalHandle memory, HandleType type) = 0;
    /// Throws Error{bad_argument} if the memory has fewer bytes.
    virtual PhysicalHandle import_physical(const ShareableHandle& handle, std::size_t bytes) = 0;
    virtual std::byte* reserve_addresses(std::size_t bytes, std::size_t alignment) = 0;
    virtual void free_addresses(std::byte* address, std::size_t bytes) noexcept = 0;
    virtual void map_physical(std::byte* address, std::size_t bytes, PhysicalHandle memory) = 0;
    virtual void unmap_physical(std::byte* address, std::size_t bytes) noexcept = 0;  // waits for the device's work
    virtual void set_mapped_access(std::byte* address, std::size_t bytes, std::span<const AccessGrant> grants) = 0;

    /// Throws Error{not_registered} if the device has no such symbol.
    virtual SymbolLocation find_symbol(const void* symbol) = 0;

    // Copies and fills. If `stream` is null, they run after the work of the default stream and are done at return.
    // Otherwise they are enqueued on *stream, and pageable host memory has been read or written at return.
    virtual void copy(const CopyRequest& request, const StreamHandle* stream) = 0;
    virtual void copy_batch(std::span<const CopyRequest> requests, StreamHandle stream) = 0;
    virtual void fill(const FillRequest& request, const StreamHandle* stream) = 0;

    // Streams, events, graphs.
    virtual StreamHandle create_stream(int priority) = 0;
    virtual void destroy_stream(StreamHandle stream) noexcept = 0;  // enqueued work still runs
    virtual void synchronize_stream(StreamHandle stream) = 0;
    virtual bool stream_idle(StreamHandle stream) = 0;
    /// Returns a number of the graph capture that the stream takes part in, or 0. All streams of a capture have the
    /// same number.
    virtual std::uint64_t capture_of(StreamHandle stream) = 0;
    bool stream_capturing(StreamHandle stream) { return capture_of(stream) != 0; }
    virtual void stream_wait(StreamHandle stream, EventHandle event) = 0;
    /// Enqueues a function of the user. It never runs in a thread that waits for the stream.
    virtual void run_on_host(StreamHandle stream, std::function<void()> function) = 0;
    virtual EventHandle create_event(EventTiming timing) = 0;
    virtual void destroy_event(EventHandle event) noexcept = 0;
    virtual void record_event(EventHandle event, StreamHandle stream) = 0;
    virtual bool event_done(EventHandle event) = 0;
    virtual void synchronize_event(EventHandle event) = 0;
    virtual float elapsed_milliseconds(EventHandle begin, EventHandle end) = 0;
    virtual void begin_capture(StreamHandle stream) = 0;  // thread-local mode
    /// Throws Error{capturing} if the capture was invalidated, for example because a stream did not join.
    virtual GraphHandle end_capture(StreamHandle stream) = 0;
    virtual void abandon_capture(StreamHandle stream) noexcept = 0;
    virtual std::size_t graph_size(GraphHandle graph) = 0;
    virtual void launch_graph(GraphHandle graph, StreamHandle stream) = 0;
    virtual void destroy_graph(GraphHandle graph) noexcept = 0;

    // Arrays. Arrays of planar formats are 2D and have planes instead of levels. For textures, surfaces and sampling
    // see arrays/sampling.h.
    virtual ArrayHandle create_array(const ArrayInfo& info, ArrayBacking backing) = 0;
    virtual void destroy_array(ArrayHandle array) noexcept = 0;  // waits for the device's work, like cudaFreeArray
    virtual MemoryRequirements array_requirements(ArrayHandle deferred) = 0;
    virtual SparseProperties array_tiles(ArrayHandle sparse) = 0;
    /// Enqueues the mappings with one call to the driver. The arrays may differ. The memory must have
    /// PhysicalInfo::tile_pool.
    virtual void map_tiles(std::span<const TileMapRequest> requests, StreamHandle stream) = 0;
    /// Enqueues the mapping of a deferred array to `memory` from byte `offset` on. A null memory unmaps.
    virtual void map_array(ArrayHandle deferred, PhysicalHandle memory, std::size_t offset, StreamHandle stream) = 0;

private:
    const unsigned forks_ = fork_count();
};

/// The CUDA devices of the process. If there is none, `why_none` says why. Created once, on first use.
struct CudaDevices {
    std::vector<std::unique_ptr<Backend>> devices;
    std::string why_none;
};
/// Returns a backend for each of these ordinals of CUDA, which may be repeated, or for all devices if there are none.
/// Throws Error{bad_argument} if there are CUDA devices, but not one with an ordinal of the list.
[[nodiscard]] CudaDevices make_cuda_devices(const std::vector<int>& ordinals);
/// Returns a CPU device. `memory` is the size in bytes that it reports; 0: that of the machine. `threads` is the number
/// of threads that compute for this device only; 0: all devices share those of the process.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_device(int index, std::size_t memory, int threads = 0);

}  // namespace texton::detail
