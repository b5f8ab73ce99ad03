#include <algorithm>
#include <chrono>

#include <texton/error.h>

#include "core/cpu/copy.h"
#include "core/cpu/device.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

CpuEvent& event_of(EventHandle handle) { return *reinterpret_cast<CpuEvent*>(handle); }

std::shared_ptr<CpuGraph>& graph_of(GraphHandle handle) {
    return *reinterpret_cast<std::shared_ptr<CpuGraph>*>(handle);
}

void refuse_if_captured(const CpuStream& stream) {
    if (stream.capture() == nullptr) return;
    refuse_capturing("the stream is being captured", "Call this function after the capture.");
}

// Returns true if the position is reached. Throws the failure of work up to it.
bool is_done(const CpuTicket& position) {
    if (!position.done()) return false;
    position.check();
    return true;
}

// Waits for the position and throws the failure of work up to it.
void finish(const CpuTicket& position) {
    position.wait();
    position.check();
}

// Returns the last record, or null if there is none. Throws Error{capturing} if the event was last recorded in a
// capture.
std::shared_ptr<const CpuRecord> record_of(EventHandle handle) {
    CpuEvent& event = event_of(handle);
    const std::lock_guard lock(event.mutex);
    if (event.mark) {
        refuse_capturing("the event was last recorded in a graph capture",
                         "Record the event outside of a capture first.");
    }
    return event.record;
}

}  // namespace

std::shared_ptr<CpuStream> CpuDevice::stream(StreamHandle handle) const {
    return handle == nullptr ? default_stream_ : reinterpret_cast<CpuStream*>(handle)->shared_from_this();
}

void CpuDevice::wait_for_default_stream() const { finish(default_stream_->position()); }

void CpuDevice::submit(StreamHandle handle, Work work, RunsOn runs_on) {
    const auto on = stream(handle);
    if (const auto capture = on->capture()) {
        capture->record(*on, std::move(work), runs_on);
    } else {
        on->enqueue(std::move(work), runs_on);
    }
}

void CpuDevice::copy(const CopyRequest& request, const StreamHandle* handle) {
    const CpuCopy copy(request);
    if (handle == nullptr) {
        wait_for_default_stream();
        const CpuThreadsScope scope(threads());
        copy.run();
        return;
    }
    const auto on = stream(*handle);
    if (const auto capture = on->capture()) {
        capture->record(*on, [copy] { copy.run(); });
        return;
    }
    const CpuTicket ticket = on->enqueue([copy] { copy.run(); });
    if (copy.pageable) finish(ticket);
}

void CpuDevice::copy_batch(std::span<const CopyRequest> requests, StreamHandle handle) {
    std::vector<CpuCopy> copies(requests.begin(), requests.end());
    const auto on = stream(handle);
    if (const auto capture = on->capture()) {
        for (const CpuCopy& copy : copies) capture->record(*on, [copy] { copy.run(); });
        return;
    }
    const bool pageable = std::any_of(copies.begin(), copies.end(), [](const CpuCopy& copy) { return copy.pageable; });
    const CpuTicket ticket = on->enqueue([copies = std::move(copies)] {
        for (const CpuCopy& copy : copies) copy.run();
    });
    if (pageable) finish(ticket);
}

void CpuDevice::fill(const FillRequest& request, const StreamHandle* handle) {
    const CpuFill fill(request);
    if (handle == nullptr) {
        wait_for_default_stream();
        const CpuThreadsScope scope(threads());
        fill.run();
        return;
    }
    const auto on = stream(*handle);
    if (const auto capture = on->capture()) {
        capture->record(*on, [fill] { fill.run(); });
        return;
    }
    const CpuTicket ticket = on->enqueue([fill] { fill.run(); });
    if (fill.pageable) finish(ticket);
}

StreamHandle CpuDevice::create_stream(int) {
    const auto made = std::make_shared<CpuStream>(threads_);
    const std::lock_guard lock(mutex_);
    streams_[made->id()] = made;
    return reinterpret_cast<StreamHandle>(made.get());
}

void CpuDevice::destroy_stream(StreamHandle handle) noexcept {
    if (handle == nullptr || lost()) return;
    const auto ended = stream(handle);
    if (const auto capture = ended->capture()) capture->abandon();
    ended->close();
    const std::lock_guard lock(mutex_);
    std::erase_if(streams_, [](const auto& entry) { return entry.second->finished(); });
}

void CpuDevice::synchronize_stream(StreamHandle handle) {
    const auto on = stream(handle);
    refuse_if_captured(*on);
    const CpuTicket position = on->position();
    position.wait();
    CpuPools::instance().observe(position);
    on->report_failure(position.sequence);
}

bool CpuDevice::stream_idle(StreamHandle handle) {
    const auto on = stream(handle);
    refuse_if_captured(*on);
    return is_done(on->position());
}

std::uint64_t CpuDevice::capture_of(StreamHandle handle) {
    const auto capture = stream(handle)->capture();
    return capture == nullptr ? 0 : capture->number();
}

void CpuDevice::stream_wait(StreamHandle handle, EventHandle event_handle) {
    const auto on = stream(handle);
    CpuEvent& event = event_of(event_handle);
    std::optional<CpuCapture::Mark> mark;
    std::shared_ptr<const CpuRecord> record;
    {
        const std::lock_guard lock(event.mutex);
        mark = event.mark;
        record = event.record;
    }
    if (mark) {
        if (handle == nullptr) {
            refuse_capturing("the default stream cannot take part in a capture", "Use another stream.");
        }
        mark->capture->join(on, *mark);
        return;
    }
    if (record == nullptr) return;
    if (on->capture() != nullptr) {
        refuse_capturing("a captured stream cannot wait for an event that was recorded outside of the capture",
                         "Record the event during the same capture.");
    }
    on->wait_for(record->ticket);
}

void CpuDevice::run_on_host(StreamHandle handle, std::function<void()> function) {
    submit(handle, std::move(function), RunsOn::own_thread);
}

EventHandle CpuDevice::create_event(EventTiming timing) {
    auto event = std::make_unique<CpuEvent>();
    event->timing = timing;
    return reinterpret_cast<EventHandle>(event.release());
}

void CpuDevice::destroy_event(EventHandle event) noexcept {
    if (!lost()) delete &event_of(event);
}

void CpuDevice::record_event(EventHandle event_handle, StreamHandle handle) {
    const auto on = stream(handle);
    CpuEvent& event = event_of(event_handle);
    if (const auto capture = on->capture()) {
        auto mark = capture->mark(*on);
        const std::lock_guard lock(event.mutex);
        event.mark = std::move(mark);
        event.record = nullptr;
        return;
    }
    const auto record = std::make_shared<CpuRecord>();
    record->ticket = event.timing == EventTiming::off
                         ? on->position()
                         : on->enqueue([record] { record->time = std::chrono::steady_clock::now(); });
    const std::lock_guard lock(event.mutex);
    event.mark.reset();
    event.record = record;
}

bool CpuDevice::event_done(EventHandle handle) {
    const auto record = record_of(handle);
    return record == nullptr || is_done(record->ticket);
}

void CpuDevice::synchronize_event(EventHandle handle) {
    const auto record = record_of(handle);
    if (record == nullptr) return;
    record->ticket.wait();
    CpuPools::instance().observe(record->ticket);
    record->ticket.check();
}

float CpuDevice::elapsed_milliseconds(EventHandle begin, EventHandle end) {
    const auto first = record_of(begin);
    const auto last = record_of(end);
    if (first == nullptr || last == nullptr || !first->ticket.done() || !last->ticket.done()) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = "an event is not done, so its time is unknown",
                     .remedy = "Record both events, and wait for them before you ask for the time."});
    }
    return std::chrono::duration<float, std::milli>(last->time - first->time).count();
}

void CpuDevice::begin_capture(StreamHandle handle) { CpuCapture::begin(stream(handle)); }

GraphHandle CpuDevice::end_capture(StreamHandle handle) {
    const auto on = stream(handle);
    const auto capture = on->capture();
    if (capture == nullptr) refuse_capturing("the stream is not being captured", "Begin a capture on it first.");
    return reinterpret_cast<GraphHandle>(new std::shared_ptr<CpuGraph>(capture->end(*on)));
}

void CpuDevice::abandon_capture(StreamHandle handle) noexcept {
    if (lost()) return;
    if (const auto capture = stream(handle)->capture()) capture->abandon();
}

std::size_t CpuDevice::graph_size(GraphHandle graph) { return graph_of(graph)->operations; }

void CpuDevice::launch_graph(GraphHandle graph, StreamHandle handle) {
    submit(
        handle, [launched = graph_of(graph)] { launched->run(); }, graph_of(graph)->runs_on);
}

void CpuDevice::destroy_graph(GraphHandle graph) noexcept {
    if (!lost()) delete &graph_of(graph);
}

}  // namespace texton::detail
