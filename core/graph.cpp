#include <texton/graph.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/backing.h"
#include "core/block.h"
#include "core/pending_frees.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr const char* kGraph = "texton::Graph";

detail::GraphHandle end(detail::Backend& backend, detail::StreamHandle stream) {
    try {
        return backend.end_capture(stream);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::capturing) throw;
        throw Error(
            {.code = ErrorCode::capturing,
             .object = {},
             .problem = "the capture was invalidated: a stream did not join, or an operation cannot be recorded",
             .remedy = "Make the captured stream wait for an event of every other stream. Remove calls of other "
                       "libraries that wait or allocate.",
             .call = error.call(),
             .cuda_name = error.cuda_name()});
    }
}

}  // namespace

Graph Graph::capture(const Stream& stream, const std::function<void()>& record) {
    if (!record) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kGraph,
                     .problem = "the function to record is empty",
                     .remedy = "Pass a function that enqueues work on the stream."});
    }
    detail::Backend& backend = stream.device().backend();
    const detail::StreamHandle handle = stream.state()->handle;
    if (handle == nullptr) {
        throw Error({.code = ErrorCode::capturing,
                     .object = kGraph,
                     .problem = "the default stream cannot be captured",
                     .remedy = "Create a Stream and capture that."});
    }
    if (stream.capturing()) {
        throw Error({.code = ErrorCode::capturing,
                     .object = kGraph,
                     .problem = "the stream is already being captured",
                     .remedy = "Capture another stream, or wait for the end of the first capture."});
    }
    const detail::RecordingScope scope;
    detail::request(&backend, kGraph, {}, [&] {
        const auto lock = detail::hold_frees();
        backend.begin_capture(handle);
    });
    std::shared_ptr<detail::GraphState> state;
    try {
        record();
        detail::request(&backend, kGraph, {}, [&] {
            detail::check_frees(backend.capture_of(handle));
            // Created before the graph, so that no failure leaks the graph.
            state = std::make_shared<detail::GraphState>(stream.device(), nullptr, 0);
            state->handle = end(backend, handle);
        });
    } catch (...) {
        backend.abandon_capture(handle);  // does nothing if the capture has ended
        throw;
    }
    detail::request(&backend, kGraph, {}, [&] {
        state->size = backend.graph_size(state->handle);
        state->guarded = scope.kept();
    });
    return Graph(std::move(state));
}

void Graph::launch(const Stream& stream) const try {
    if (stream.device() != state_->device) {
        throw Error({.code = ErrorCode::wrong_device,
                     .object = kGraph,
                     .problem = fmt::format("a graph of {} cannot be launched on a stream of {}", state_->device.name(),
                                            stream.device().name()),
                     .remedy = "Launch it on a stream of the graph's device."});
    }
    detail::Backend& backend = state_->device.backend();
    detail::BackingUse use(kGraph, stream, state_->guarded);
    detail::request(&backend, kGraph, {}, [&] { backend.launch_graph(state_->handle, stream.state()->handle); });
    use.enqueued();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kGraph);
}

std::size_t Graph::size() const noexcept { return state_->size; }
const Device& Graph::device() const noexcept { return state_->device; }

}  // namespace texton
