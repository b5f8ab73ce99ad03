#pragma once
// A device of which one call fails, for tests of what a failure leaves behind.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <texton/error.h>

#include "core/backend.h"

namespace texton::detail {  // for the names of the interface

/// Forwards each call to a device, until a chosen call fails instead: it throws an Error and does nothing. Functions
/// that free cannot fail. For one thread.
class FailingDevice final : public Backend {
public:
    explicit FailingDevice(const Device& device) : real_(device.backend()) {}

    Device device() { return Device(*this); }
    /// Makes one call fail: the first one after `calls` successful calls. If `function` is not empty, only calls of
    /// this function count and fail.
    void fail_after(int calls, std::string_view function = {}) {
        left_ = calls;
        function_ = function;
        failed_.clear();
        called_.clear();
    }
    /// Sets the code of the errors. It is device_failure at first.
    void fail_with(ErrorCode code) { code_ = code; }
    /// Makes no further call fail. Returns the name of the function that has failed since fail_after(), or an empty
    /// text.
    std::string finish() {
        left_ = -1;
        return failed_;
    }
    /// Returns the functions that were called between fail_after() and finish().
    const std::set<std::string>& called() const { return called_; }

    const DeviceProperties& properties() const noexcept override { return real_.properties(); }
    const DeviceLimits& limits() const noexcept override { return real_.limits(); }
    MemoryInfo memory_info() override {
        count("memory_info");
        return real_.memory_info();
    }
    void synchronize() override {
        count("synchronize");
        real_.synchronize();
    }
    bool can_access_peer(Backend& peer) override {
        count("can_access_peer");
        return real_.can_access_peer(peer);
    }
    void set_peer_access(Backend& peer, bool enabled) override {
        count("set_peer_access");
        real_.set_peer_access(peer, enabled);
    }
    std::byte* allocate(std::size_t bytes) override {
        count("allocate");
        return real_.allocate(bytes);
    }
    PitchedMemory allocate_pitched_2d(std::size_t row_bytes, std::size_t rows) override {
        count("allocate_pitched_2d");
        return real_.allocate_pitched_2d(row_bytes, rows);
    }
    PitchedMemory allocate_pitched_3d(std::size_t row_bytes, std::size_t rows, std::size_t slices) override {
        count("allocate_pitched_3d");
        return real_.allocate_pitched_3d(row_bytes, rows, slices);
    }
    void free(std::byte* address) noexcept override { real_.free(address); }
    bool knows(const void* address, std::size_t bytes) override {
        count("knows");
        return real_.knows(address, bytes);
    }
    std::byte* allocate_host(std::size_t bytes, PinnedOptions options) override {
        count("allocate_host");
        return real_.allocate_host(bytes, options);
    }
    void free_host(std::byte* address) noexcept override { real_.free_host(address); }
    PinnedOptions host_options(std::byte* address) override {
        count("host_options");
        return real_.host_options(address);
    }
    void register_host(std::byte* address, std::size_t bytes, RegisterOptions options) override {
        count("register_host");
        real_.register_host(address, bytes, options);
    }
    void unregister_host(std::byte* address) noexcept override { real_.unregister_host(address); }
    std::byte* host_device_pointer(std::byte* address) override {
        count("host_device_pointer");
        return real_.host_device_pointer(address);
    }
    bool knows_host(const void* address, std::size_t bytes) override {
        count("knows_host");
        return real_.knows_host(address, bytes);
    }
    std::byte* allocate_managed(std::size_t bytes, Attach attach) override {
        count("allocate_managed");
        return real_.allocate_managed(bytes, attach);
    }
    void attach_managed(StreamHandle stream, std::byte* address, std::size_t bytes, Attach attach) override {
        count("attach_managed");
        real_.attach_managed(stream, address, bytes, attach);
    }
    void advise(std::byte* address, std::size_t bytes, Advice advice, const Location& location) override {
        count("advise");
        real_.advise(address, bytes, advice, location);
    }
    void prefetch(std::byte* address, std::size_t bytes, const Location& location, StreamHandle stream) override {
        count("prefetch");
        real_.prefetch(address, bytes, location, stream);
    }
    bool read_mostly(const std::byte* address, std::size_t bytes) override {
        count("read_mostly");
        return real_.read_mostly(address, bytes);
    }
    std::optional<Location> preferred_location(const std::byte* address, std::size_t bytes) override {
        count("preferred_location");
        return real_.preferred_location(address, bytes);
    }
    std::vector<Location> accessed_by(const std::byte* address, std::size_t bytes) override {
        count("accessed_by");
        return real_.accessed_by(address, bytes);
    }
    std::optional<Location> last_prefetch(const std::byte* address, std::size_t bytes) override {
        count("last_prefetch");
        return real_.last_prefetch(address, bytes);
    }
    RangeAttributes range_attributes(const std::byte* address, std::size_t bytes) override {
        count("range_attributes");
        return real_.range_attributes(address, bytes);
    }
    PoolHandle create_pool(const PoolInfo& info) override {
        count("create_pool");
        return real_.create_pool(info);
    }
    void destroy_pool(PoolHandle pool) noexcept override { real_.destroy_pool(pool); }
    PoolHandle default_pool(const Location& location, PoolType type) override {
        count("default_pool");
        return real_.default_pool(location, type);
    }
    PoolHandle current_pool(const Location& location, PoolType type) override {
        count("current_pool");
        return real_.current_pool(location, type);
    }
    void set_current_pool(const Location& location, PoolType type, PoolHandle pool) override {
        count("set_current_pool");
        real_.set_current_pool(location, type, pool);
    }
    std::uint64_t pool_attribute(PoolHandle pool, PoolAttribute attribute) override {
        count("pool_attribute");
        return real_.pool_attribute(pool, attribute);
    }
    void set_pool_attribute(PoolHandle pool, PoolAttribute attribute, std::uint64_t value) override {
        count("set_pool_attribute");
        real_.set_pool_attribute(pool, attribute, value);
    }
    Access pool_access(PoolHandle pool, const Location& location) override {
        count("pool_access");
        return real_.pool_access(pool, location);
    }
    void set_pool_access(PoolHandle pool, std::span<const AccessGrant> grants) override {
        count("set_pool_access");
        real_.set_pool_access(pool, grants);
    }
    void trim_pool(PoolHandle pool, std::size_t keep) override {
        count("trim_pool");
        real_.trim_pool(pool, keep);
    }
    ShareableHandle export_pool(PoolHandle pool, HandleType type) override {
        count("export_pool");
        return real_.export_pool(pool, type);
    }
    PoolHandle import_pool(const ShareableHandle& handle) override {
        count("import_pool");
        return real_.import_pool(handle);
    }
    PointerExport export_pointer(const std::byte* address) override {
        count("export_pointer");
        return real_.export_pointer(address);
    }
    std::byte* import_pointer(PoolHandle pool, const PointerExport& pointer, std::size_t bytes) override {
        count("import_pointer");
        return real_.import_pointer(pool, pointer, bytes);
    }
    void free_imported(std::byte* address) noexcept override { real_.free_imported(address); }
    std::byte* allocate_async(std::size_t bytes, PoolHandle pool, StreamHandle stream) override {
        count("allocate_async");
        return real_.allocate_async(bytes, pool, stream);
    }
    void free_async(std::byte* address, StreamHandle stream) override {
        count("free_async");
        real_.free_async(address, stream);
    }
    std::size_t physical_granularity(const PhysicalInfo& info, Granularity which) override {
        count("physical_granularity");
        return real_.physical_granularity(info, which);
    }
    PhysicalHandle create_physical(std::size_t bytes, const PhysicalInfo& info) override {
        count("create_physical");
        return real_.create_physical(bytes, info);
    }
    void release_physical(PhysicalHandle memory) noexcept override { real_.release_physical(memory); }
    ShareableHandle export_physical(PhysicalHandle memory, HandleType type) override {
        count("export_physical");
        return real_.export_physical(memory, type);
    }
    PhysicalHandle import_physical(const ShareableHandle& handle, std::size_t bytes) override {
        count("import_physical");
        return real_.import_physical(handle, bytes);
    }
    std::byte* reserve_addresses(std::size_t bytes, std::size_t alignment) override {
        count("reserve_addresses");
        return real_.reserve_addresses(bytes, alignment);
    }
    void free_addresses(std::byte* address, std::size_t bytes) noexcept override {
        real_.free_addresses(address, bytes);
    }
    void map_physical(std::byte* address, std::size_t bytes, PhysicalHandle memory) override {
        count("map_physical");
        real_.map_physical(address, bytes, memory);
    }
    void unmap_physical(std::byte* address, std::size_t bytes) noexcept override {
        real_.unmap_physical(address, bytes);
    }
    void set_mapped_access(std::byte* address, std::size_t bytes, std::span<const AccessGrant> grants) override {
        count("set_mapped_access");
        real_.set_mapped_access(address, bytes, grants);
    }
    SymbolLocation find_symbol(const void* symbol) override {
        count("find_symbol");
        return real_.find_symbol(symbol);
    }
    void copy(const CopyRequest& request, const StreamHandle* stream) override {
        count("copy");
        real_.copy(request, stream);
    }
    void copy_batch(std::span<const CopyRequest> requests, StreamHandle stream) override {
        count("copy_batch");
        real_.copy_batch(requests, stream);
    }
    void fill(const FillRequest& request, const StreamHandle* stream) override {
        count("fill");
        real_.fill(request, stream);
    }
    StreamHandle create_stream(int priority) override {
        count("create_stream");
        return real_.create_stream(priority);
    }
    void destroy_stream(StreamHandle stream) noexcept override { real_.destroy_stream(stream); }
    void synchronize_stream(StreamHandle stream) override {
        count("synchronize_stream");
        real_.synchronize_stream(stream);
    }
    bool stream_idle(StreamHandle stream) override {
        count("stream_idle");
        return real_.stream_idle(stream);
    }
    std::uint64_t capture_of(StreamHandle stream) override {
        count("capture_of");
        return real_.capture_of(stream);
    }
    void stream_wait(StreamHandle stream, EventHandle event) override {
        count("stream_wait");
        real_.stream_wait(stream, event);
    }
    void run_on_host(StreamHandle stream, std::function<void()> function) override {
        count("run_on_host");
        real_.run_on_host(stream, std::move(function));
    }
    EventHandle create_event(EventTiming timing) override {
        count("create_event");
        return real_.create_event(timing);
    }
    void destroy_event(EventHandle event) noexcept override { real_.destroy_event(event); }
    void record_event(EventHandle event, StreamHandle stream) override {
        count("record_event");
        real_.record_event(event, stream);
    }
    bool event_done(EventHandle event) override {
        count("event_done");
        return real_.event_done(event);
    }
    void synchronize_event(EventHandle event) override {
        count("synchronize_event");
        real_.synchronize_event(event);
    }
    float elapsed_milliseconds(EventHandle begin, EventHandle end) override {
        count("elapsed_milliseconds");
        return real_.elapsed_milliseconds(begin, end);
    }
    void begin_capture(StreamHandle stream) override {
        count("begin_capture");
        real_.begin_capture(stream);
    }
    GraphHandle end_capture(StreamHandle stream) override {
        count("end_capture");
        return real_.end_capture(stream);
    }
    void abandon_capture(StreamHandle stream) noexcept override { real_.abandon_capture(stream); }
    std::size_t graph_size(GraphHandle graph) override {
        count("graph_size");
        return real_.graph_size(graph);
    }
    void launch_graph(GraphHandle graph, StreamHandle stream) override {
        count("launch_graph");
        real_.launch_graph(graph, stream);
    }
    void destroy_graph(GraphHandle graph) noexcept override { real_.destroy_graph(graph); }
    ArrayHandle create_array(const ArrayInfo& info, ArrayBacking backing) override {
        count("create_array");
        return real_.create_array(info, backing);
    }
    void destroy_array(ArrayHandle array) noexcept override { real_.destroy_array(array); }
    MemoryRequirements array_requirements(ArrayHandle deferred) override {
        count("array_requirements");
        return real_.array_requirements(deferred);
    }
    SparseProperties array_tiles(ArrayHandle sparse) override {
        count("array_tiles");
        return real_.array_tiles(sparse);
    }
    void map_tiles(std::span<const TileMapRequest> requests, StreamHandle stream) override {
        count("map_tiles");
        real_.map_tiles(requests, stream);
    }
    void map_array(ArrayHandle deferred, PhysicalHandle memory, std::size_t offset, StreamHandle stream) override {
        count("map_array");
        real_.map_array(deferred, memory, offset, stream);
    }

private:
    void count(std::string_view function) {
        if (left_ < 0) return;
        called_.emplace(function);
        if (!function_.empty() && function != function_) return;
        if (left_ > 0 || !failed_.empty()) {
            left_ = std::max(left_ - 1, 0);
            return;
        }
        failed_ = function;
        throw Error(
            {.code = code_, .problem = failed_ + " was made to fail", .remedy = "Run the test without failures."});
    }

    Backend& real_;
    ErrorCode code_ = ErrorCode::device_failure;
    int left_ = -1;
    std::string function_;
    std::string failed_;
    std::set<std::string> called_;
};

}  // namespace texton::detail

namespace texton::test {
using detail::FailingDevice;
}
