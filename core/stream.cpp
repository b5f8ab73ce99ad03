#include <texton/stream.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/pending_frees.h"
#include "core/request.h"

namespace texton {
namespace {

using detail::request;

constexpr const char* kStream = "texton::Stream";
constexpr const char* kEvent = "texton::Event";

void refuse_while_capturing(const Stream& stream, const char* what) {
    if (!stream.capturing()) return;
    throw Error({.code = ErrorCode::capturing,
                 .object = kStream,
                 .problem = fmt::format("{} is not possible while the stream is captured into a graph", what),
                 .remedy = "Call this after Graph::capture()."});
}

void same_kind(const Device& stream, const Device& event) {
    if (stream.kind() == event.kind()) return;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = kStream,
                 .problem = fmt::format("a stream of {} cannot wait for an event of {}", stream.name(), event.name()),
                 .remedy = "Wait on the host with Event::synchronize() instead."});
}

}  // namespace

Stream::Stream(const Device& device, int priority) {
    detail::Backend& backend = device.backend();
    request(&backend, kStream, {}, [&] {
        state_ = std::make_shared<detail::StreamState>(device, nullptr, false);
        state_->handle = backend.create_stream(priority);
        state_->owned = true;
    });
}

Stream Stream::default_of(const Device& device) {
    return request(&device.backend(), kStream, {},
                   [&] { return Stream(std::make_shared<detail::StreamState>(device, nullptr, false)); });
}

const Device& Stream::device() const noexcept { return state_->device; }

bool Stream::operator==(const Stream& other) const noexcept {
    return state_->device == other.state_->device && state_->handle == other.state_->handle;
}

void Stream::synchronize() const {
    refuse_while_capturing(*this, "waiting for the stream");
    detail::free_pending();
    detail::Backend& backend = device().backend();
    request(&backend, kStream, {}, [&] { backend.synchronize_stream(state_->handle); });
}

bool Stream::idle() const {
    refuse_while_capturing(*this, "querying whether the stream is idle");
    detail::Backend& backend = device().backend();
    return request(&backend, kStream, {}, [&] { return backend.stream_idle(state_->handle); });
}

void Stream::wait(const Event& event) const {
    same_kind(device(), event.device());
    if (!event.state()->recorded.load(std::memory_order_acquire)) return;  // as in CUDA, there is nothing to wait for
    detail::Backend& backend = device().backend();
    request(&backend, kStream, {}, [&] {
        std::unique_lock<std::mutex> lock;
        if (detail::anyone_recording()) lock = detail::hold_frees();  // the stream may join a capture
        backend.stream_wait(state_->handle, event.state()->handle);
    });
}

void Stream::run(std::function<void()> function) const {
    if (!function) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kStream,
                     .problem = "the function to run is empty",
                     .remedy = "Pass a function."});
    }
    detail::Backend& backend = device().backend();
    request(&backend, kStream, {}, [&] { backend.run_on_host(state_->handle, std::move(function)); });
}

bool Stream::capturing() const {
    detail::Backend& backend = device().backend();
    return request(&backend, kStream, {}, [&] { return backend.stream_capturing(state_->handle); });
}

Event::Event(const Device& device, EventTiming timing) {
    detail::Backend& backend = device.backend();
    request(&backend, kEvent, {}, [&] {
        state_ = std::make_shared<detail::EventState>(device, nullptr, timing);
        state_->handle = backend.create_event(timing);
    });
}

const Device& Event::device() const noexcept { return state_->device; }

void Event::record(const Stream& stream) const {
    if (stream.device() != device()) {
        throw Error({.code = ErrorCode::wrong_device,
                     .object = kEvent,
                     .problem = fmt::format("an event of {} cannot be recorded on a stream of {}", device().name(),
                                            stream.device().name()),
                     .remedy = "Create the event on the device of the stream."});
    }
    detail::Backend& backend = device().backend();
    request(&backend, kEvent, {}, [&] { backend.record_event(state_->handle, stream.state()->handle); });
    state_->recorded.store(true, std::memory_order_release);
}

bool Event::done() const {
    if (!state_->recorded.load(std::memory_order_acquire)) return true;
    detail::Backend& backend = device().backend();
    return request(&backend, kEvent, {}, [&] { return backend.event_done(state_->handle); });
}

void Event::synchronize() const {
    if (!state_->recorded.load(std::memory_order_acquire)) return;
    detail::Backend& backend = device().backend();
    request(&backend, kEvent, {}, [&] { backend.synchronize_event(state_->handle); });
}

float Event::milliseconds_since(const Event& begin) const {
    const auto refuse = [](std::string problem, std::string remedy) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kEvent,
                     .problem = std::move(problem),
                     .remedy = std::move(remedy)});
    };
    for (const Event* event : {&begin, this}) {
        if (event->state_->timing == EventTiming::off) {
            refuse("an event was created without timing", "Create both events with EventTiming::on.");
        }
        if (!event->state_->recorded.load(std::memory_order_acquire)) {
            refuse("an event was never recorded", "Record both events first.");
        }
        if (!event->done()) refuse("the work before an event is not done", "Wait for both events first.");
    }
    if (begin.device() != device()) {
        throw Error({.code = ErrorCode::wrong_device,
                     .object = kEvent,
                     .problem = "the events belong to two devices, which have no common clock",
                     .remedy = "Use two events of the same device."});
    }
    detail::Backend& backend = device().backend();
    return request(&backend, kEvent, {},
                   [&] { return backend.elapsed_milliseconds(begin.state_->handle, state_->handle); });
}

}  // namespace texton
