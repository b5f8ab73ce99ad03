#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include <texton/error.h>

#include "core/cuda/device.h"
#include "core/request.h"

// Streams, events and graphs.

namespace texton::detail {
namespace {

using HostFunction = std::function<void()>;

void run_once(void* data) noexcept {
    const std::unique_ptr<HostFunction> function(static_cast<HostFunction*>(data));
    (*function)();
}
void run_again(void* data) noexcept { (*static_cast<HostFunction*>(data))(); }
void drop(void* data) noexcept { delete static_cast<HostFunction*>(data); }

// Makes the device current if the stream is the default stream. Other streams know their device.
class StreamScope {
public:
    StreamScope(StreamHandle stream, int ordinal) {
        if (stream == nullptr) scope_.emplace(ordinal);
    }

private:
    std::optional<DeviceScope> scope_;
};

// Returns the graph into which the stream is being captured, or null.
cudaGraph_t recorded_graph(cudaStream_t stream) {
    if (stream == nullptr) return nullptr;  // the default stream cannot be captured
    const std::shared_lock lock(captures);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    call<cudaStreamGetCaptureInfo>(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr);
    return status == cudaStreamCaptureStatusActive ? graph : nullptr;
}

// Adds a graph as a child node to the graph being captured, because a launch would invalidate the capture. CUDA does
// not allow this for graphs with allocations.
void add_child(cudaGraph_t child, cudaStream_t stream) {
    const std::shared_lock lock(captures);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* before = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    call<cudaStreamGetCaptureInfo>(stream, &status, nullptr, &graph, &before, &edges, &count);
    cudaGraphNode_t node = nullptr;
    call<cudaGraphAddChildGraphNode>(&node, graph, before, count, child);
    call<cudaStreamUpdateCaptureDependencies>(stream, &node, nullptr, std::size_t{1}, cudaStreamSetCaptureDependencies);
}

bool done(cudaError_t answer, std::string_view name) {
    if (answer == cudaSuccess) return true;
    if (answer == cudaErrorNotReady) return false;
    fail_call(name, answer);
}

}  // namespace

StreamHandle CudaBackend::create_stream(int priority) {
    const DeviceScope scope(ordinal_);
    cudaStream_t stream = nullptr;
    call<cudaStreamCreateWithPriority>(&stream, cudaStreamNonBlocking, priority);
    return reinterpret_cast<StreamHandle>(stream);
}

void CudaBackend::destroy_stream(StreamHandle stream) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        call<cudaStreamDestroy>(native(stream));
    });
}

void CudaBackend::synchronize_stream(StreamHandle stream) {
    const StreamScope scope(stream, ordinal_);
    call<cudaStreamSynchronize>(native(stream));
}

bool CudaBackend::stream_idle(StreamHandle stream) {
    const StreamScope scope(stream, ordinal_);
    return done(ask<cudaStreamQuery>(native(stream)), function_name<cudaStreamQuery>());
}

std::uint64_t CudaBackend::capture_of(StreamHandle stream) {
    if (stream == nullptr) return 0;
    const std::shared_lock lock(captures);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long capture = 0;
    call<cudaStreamGetCaptureInfo>(native(stream), &status, &capture, nullptr, nullptr, nullptr, nullptr);
    return status == cudaStreamCaptureStatusNone ? 0 : capture + 1;  // CUDA does not promise that numbers are not 0
}

void CudaBackend::stream_wait(StreamHandle stream, EventHandle event) {
    const StreamScope scope(stream, ordinal_);
    std::unique_lock lock(captures, std::defer_lock);
    if (anyone_recording()) lock.lock();  // the stream may join a capture
    call<cudaStreamWaitEvent>(native(stream), native(event), 0);
}

void CudaBackend::run_on_host(StreamHandle stream, std::function<void()> function) {
    const StreamScope scope(stream, ordinal_);
    auto owned = std::make_unique<HostFunction>(std::move(function));
    const cudaGraph_t graph = recorded_graph(native(stream));
    if (graph == nullptr) {
        call<cudaLaunchHostFunc>(native(stream), run_once, owned.get());
        (void)owned.release();
        return;
    }
    // A graph may run the function any number of times, so the graph owns the function.
    cudaUserObject_t object = nullptr;
    HostFunction* kept = owned.get();
    call<cudaUserObjectCreate>(&object, kept, drop, 1, cudaUserObjectNoDestructorSync);
    (void)owned.release();
    try {
        call<cudaGraphRetainUserObject>(graph, object, 1, cudaGraphUserObjectMove);
    } catch (...) {
        (void)ask<cudaUserObjectRelease>(object, 1);
        throw;
    }
    call<cudaLaunchHostFunc>(native(stream), run_again, kept);
}

EventHandle CudaBackend::create_event(EventTiming timing) {
    const DeviceScope scope(ordinal_);
    cudaEvent_t event = nullptr;
    call<cudaEventCreateWithFlags>(&event, timing == EventTiming::on ? cudaEventDefault : cudaEventDisableTiming);
    return reinterpret_cast<EventHandle>(event);
}

void CudaBackend::destroy_event(EventHandle event) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        call<cudaEventDestroy>(native(event));
    });
}

void CudaBackend::record_event(EventHandle event, StreamHandle stream) {
    const StreamScope scope(stream, ordinal_);
    call<cudaEventRecord>(native(event), native(stream));
}

bool CudaBackend::event_done(EventHandle event) {
    return done(ask<cudaEventQuery>(native(event)), function_name<cudaEventQuery>());
}

void CudaBackend::synchronize_event(EventHandle event) { call<cudaEventSynchronize>(native(event)); }

float CudaBackend::elapsed_milliseconds(EventHandle begin, EventHandle end) {
    float milliseconds = 0;
    call<cudaEventElapsedTime>(&milliseconds, native(begin), native(end));
    return milliseconds;
}

void CudaBackend::begin_capture(StreamHandle stream) {
    const std::lock_guard lock(captures);
    call<cudaStreamBeginCapture>(native(stream), cudaStreamCaptureModeThreadLocal);
}

GraphHandle CudaBackend::end_capture(StreamHandle stream) {
    auto graph = std::make_unique<NativeGraph>();
    const DeviceScope scope(ordinal_);
    {
        const std::lock_guard lock(captures);
        call<cudaStreamEndCapture>(native(stream), &graph->graph);
    }
    if (graph->graph == nullptr) {
        throw Error(
            {.code = ErrorCode::capturing,
             .object = {},
             .problem = "the graph capture was invalidated by a call that cannot be captured",
             .remedy =
                 "Find calls outside of Texton that wait or allocate during the capture, and move them out of it."});
    }
    try {
        // Memory that a launch allocated and that is still allocated is freed by the next launch.
        call<cudaGraphInstantiate>(&graph->exec, graph->graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    } catch (...) {
        (void)ask<cudaGraphDestroy>(graph->graph);
        throw;
    }
    return graph.release();
}

void CudaBackend::abandon_capture(StreamHandle stream) noexcept {
    cudaGraph_t graph = nullptr;
    {
        const std::lock_guard lock(captures);
        (void)ask<cudaStreamEndCapture>(native(stream), &graph);
    }
    if (graph != nullptr) (void)ask<cudaGraphDestroy>(graph);
}

std::size_t CudaBackend::graph_size(GraphHandle graph) {
    std::size_t nodes = 0;
    call<cudaGraphGetNodes>(graph->graph, nullptr, &nodes);
    return nodes;
}

void CudaBackend::launch_graph(GraphHandle graph, StreamHandle stream) {
    const DeviceScope scope(ordinal_);
    if (recorded_graph(native(stream)) != nullptr) return add_child(graph->graph, native(stream));
    const std::lock_guard lock(graph->launching);
    call<cudaGraphLaunch>(graph->exec, native(stream));
}

void CudaBackend::destroy_graph(GraphHandle graph) noexcept {
    const std::unique_ptr<NativeGraph> owned(graph);
    quietly([&] {
        const FreeScope scope(ordinal_);
        (void)ask<cudaGraphExecDestroy>(owned->exec);
        (void)ask<cudaGraphDestroy>(owned->graph);
    });
}

}  // namespace texton::detail
