#include <algorithm>
#include <chrono>

#include <texton/error.h>

#include "core/cpu/copy.h"
#include "core/cpu/device.h"

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

std::vector<std::shared_ptr<CpuStream>> CpuDevice::streams() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<CpuStream>> all{default_stream_};
    for (const auto& [handle, each] : streams_) all.push_back(each);
    all.insert(all.end(), closing_.begin(), closing_.end());
    return all;
}

void CpuDevice::submit(StreamHandle handle, Work work) {
    const auto on = stream(handle);
    if (const auto capture = on->capture()) {
        capture->record(*on, std::move(work));
    } else {
        on->enqueue(std::move(work));
    }
}

void CpuDevice::copy(const CopyRequest& request, const StreamHandle* handle) {
    const CpuCopy copy(request);
    if (handle == nullptr) {
        copy.run();
        return;
    }
    const auto on = stream(*handle);
    if (const auto capture = on->capture()) {
        capture->record(*on, [copy] { copy.run(); });
        return;
    }
    const CpuTicket ticket = on->enqueue([copy] { copy.run(); });
    if (copy.pageable) ticket.wait();
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
    if (pageable) ticket.wait();
}

void CpuDevice::fill(const FillRequest& request, const StreamHandle* handle) {
    const CpuFill fill(request);
    if (handle == nullptr) {
        fill.run();
    } else {
        submit(*handle, [fill] { fill.run(); });
    }
}

StreamHandle CpuDevice::create_stream(int) {
    const auto made = std::make_shared<CpuStream>();
    const std::lock_guard lock(mutex_);
    streams_[made.get()] = made;
    return reinterpret_cast<StreamHandle>(made.get());
}

void CpuDevice::destroy_stream(StreamHandle handle) noexcept {
    if (handle == nullptr) return;
    const auto ended = stream(handle);
    if (const auto capture = ended->capture()) capture->abandon();
    ended->close();
    const std::lock_guard lock(mutex_);
    streams_.erase(ended.get());
    std::erase_if(closing_, [](const auto& each) { return each->position().done(); });
    closing_.push_back(ended);
}

void CpuDevice::synchronize_stream(StreamHandle handle) {
    const auto on = stream(handle);
    refuse_if_captured(*on);
    const CpuTicket position = on->position();
    position.wait();
    CpuPools::instance().observe(position);
}

bool CpuDevice::stream_idle(StreamHandle handle) {
    const auto on = stream(handle);
    refuse_if_captured(*on);
    return on->position().done();
}

bool CpuDevice::stream_capturing(StreamHandle handle) { return stream(handle)->capture() != nullptr; }

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
    submit(handle, std::move(function));
}

EventHandle CpuDevice::create_event(EventTiming timing) {
    auto event = std::make_unique<CpuEvent>();
    event->timing = timing;
    return reinterpret_cast<EventHandle>(event.release());
}

void CpuDevice::destroy_event(EventHandle event) noexcept { delete &event_of(event); }

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
    return record == nullptr || record->ticket.done();
}

void CpuDevice::synchronize_event(EventHandle handle) {
    const auto record = record_of(handle);
    if (record == nullptr) return;
    record->ticket.wait();
    CpuPools::instance().observe(record->ticket);
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
    if (const auto capture = stream(handle)->capture()) capture->abandon();
}

std::size_t CpuDevice::graph_size(GraphHandle graph) { return graph_of(graph)->operations; }

void CpuDevice::launch_graph(GraphHandle graph, StreamHandle handle) {
    submit(handle, [launched = graph_of(graph)] { launched->run(); });
}

void CpuDevice::destroy_graph(GraphHandle graph) noexcept { delete &graph_of(graph); }

}  // namespace texton::detail
