#include "core/block.h"

#include <fcntl.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/pending_frees.h"

namespace texton::detail {

// CUDA refuses to destroy or query some objects in a thread that records a graph, and then invalidates the capture.

StreamState::~StreamState() {
    if (owned) outside_recording([on = &device.backend(), stream = handle] { on->destroy_stream(stream); });
}

EventState::~EventState() {
    if (handle == nullptr) return;
    outside_recording([on = &device.backend(), event = handle] { on->destroy_event(event); });
}

GraphState::~GraphState() {
    if (handle == nullptr) return;
    outside_recording([on = &device.backend(), graph = handle, memory = std::move(guarded)]() mutable {
        on->destroy_graph(graph);
        memory.clear();
    });
}

PoolState::~PoolState() {
    if (owned) outside_recording([on = &device.backend(), pool = handle] { on->destroy_pool(pool); });
}

PoolBlock::~PoolBlock() {
    attached.reset();
    if (address == nullptr || !alive.load(std::memory_order_relaxed)) return;
    pending.front() = {std::move(stream), std::move(pool), address, capture, nullptr};
    free_in_order(std::move(pending));
}

std::shared_ptr<PoolBlock> make_pool_block(const char* object, std::size_t bytes, std::shared_ptr<StreamState> stream,
                                           std::shared_ptr<PoolState> pool) {
    free_pending();
    Backend& runs = stream->device.backend();
    Backend& owner = pool != nullptr ? pool->device.backend() : runs;
    const StreamHandle on = stream->handle;
    const PoolHandle from = pool != nullptr ? pool->handle : nullptr;
    return request(&owner, object, {{"bytes", bytes}}, [&] {
        auto block = std::make_shared<PoolBlock>(owner, bytes, std::move(stream), std::move(pool));
        block->capture = anyone_recording() ? runs.capture_of(on) : 0;
        block->address = runs.allocate_async(bytes, from, on);
        return block;
    });
}

Block& live(const std::shared_ptr<Block>& block, const char* object) {
    if (block != nullptr && block->alive.load(std::memory_order_acquire)) return *block;
    throw Error({.code = ErrorCode::released,
                 .object = object,
                 .problem = "the object is empty: it was moved from, freed or default-constructed",
                 .remedy = "Create a new object, or use the one that it was moved to."});
}

bool names_something(const ShareableHandle& handle) noexcept {
    if (handle.type == HandleType::file_descriptor) return fcntl(handle.file_descriptor, F_GETFD) >= 0;
    return handle.type != HandleType::none;
}

void check_bytes(std::size_t bytes, const char* object) {
    if (bytes > 0) return;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = "0 bytes were requested",
                 .remedy = "Request at least 1 byte.",
                 .numbers = {{"bytes", 0}}});
}

View byte_view(const std::shared_ptr<Block>& block, const char* object) {
    return packed_view(block, object, Format::r8_uint, Extent{live(block, object).bytes});
}

View packed_view(const std::shared_ptr<Block>& block, const char* object, Format format, Extent extent,
                 std::size_t offset) {
    Block& memory = live(block, object);
    const std::size_t bytes = packed_bytes(format, extent);
    const std::size_t pitch = info(format).bytes == 0 ? 0 : row_bytes(format, extent.width);
    if (bytes == 0 || pitch == 0) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = object,
             .problem = pitch == 0 && bytes != 0
                            ? fmt::format("{} has two planes of different sizes, so one view cannot contain both",
                                          name(format))
                            : fmt::format("a view of {} texels was requested", to_string(extent)),
             .remedy = pitch == 0 && bytes != 0 ? "Create a view of each plane with the format of plane_info()."
                                                : "Every dimension must be at least 1.",
             .numbers = {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}}});
    }
    if (offset > memory.bytes || bytes > memory.bytes - offset) {
        throw Error({.code = ErrorCode::out_of_bounds,
                     .object = object,
                     .problem = fmt::format("{} texels of {} at offset {} need {} bytes, but the memory has {}",
                                            to_string(extent), name(format), offset, bytes, memory.bytes),
                     .remedy = "Use a smaller extent or offset, or allocate more memory.",
                     .numbers = {{"offset", offset}, {"bytes", bytes}, {"size", memory.bytes}}});
    }
    MemoryLocation location;
    location.owner = block;
    location.backend = memory.backend;
    location.address = memory.address + offset;
    location.pitch = pitch;
    location.slice_pitch = pitch * row_count(format, extent.height);
    location.kind = memory.kind;
    location.format = format;
    location.extent = extent;
    return View(std::move(location));
}

}  // namespace texton::detail
