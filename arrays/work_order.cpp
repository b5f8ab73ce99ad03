#include "arrays/work_order.h"

#include <algorithm>

#include <texton/error.h>

#include "core/block.h"
#include "core/request.h"

namespace texton::detail {
namespace {

// Returns false while this thread records a graph, because a query of an event would invalidate the recording. Work
// that failed is done, too: the failure is reported to those who wait for the work.
bool is_done(const Event& event) {
    if (recording()) return false;
    try {
        return event.done();
    } catch (const Error&) {
        return true;
    }
}

}  // namespace

void order(const Stream& stream, const Event& event) {
    if (is_done(event)) return;
    if (stream.device().kind() == event.device().kind()) {
        stream.wait(event);
    } else {
        event.synchronize();
    }
}

WorkOrder::Use& WorkOrder::use_of(const Stream& stream) {
    const bool is_default = stream.state()->handle == nullptr;
    for (Use& use : uses_) {
        const auto state = use.stream.lock();
        if (state == stream.state()) return use;
        // Each Stream::default_of() has its own state, but all refer to the same queue.
        if (is_default && state != nullptr && state->handle == nullptr && state->device == stream.device()) return use;
    }
    for (Use& use : uses_) {
        if (use.event.device() != stream.device() || (use.pending && !is_done(use.event))) continue;
        use.stream = stream.state();
        return use;
    }
    return uses_.emplace_back(Use{stream.state(), Event(stream.device(), EventTiming::off), false});
}

void WorkOrder::used_on(const Stream& stream) {
    const std::lock_guard lock(mutex_);
    try {
        Use& use = use_of(stream);
        use.event.record(stream);
        use.pending = true;
    } catch (...) {
        stream.synchronize();  // the work is enqueued already, so it must be waited for in another way
    }
}

void WorkOrder::wait_for_change(const Stream* stream) {
    const std::lock_guard lock(mutex_);
    if (change_ == nullptr) return;
    if (stream == nullptr) {
        change_->synchronize();
    } else {
        order(*stream, *change_);
    }
    if (is_done(*change_)) change_ = nullptr;
}

void WorkOrder::wait_for_all(const Stream& stream) {
    wait_for_change(&stream);
    const std::lock_guard lock(mutex_);
    for (const Use& use : uses_) {
        if (use.pending) order(stream, use.event);
    }
}

void WorkOrder::changed(std::shared_ptr<const Event> done) noexcept {
    const std::lock_guard lock(mutex_);
    for (Use& use : uses_) use.pending = false;
    change_ = std::move(done);
}

void WorkOrder::finish() noexcept {
    const std::lock_guard lock(mutex_);
    const auto wait_for = [](const Event& event) {
        try {
            event.synchronize();
        } catch (const Error&) {
            // The work is done but failed, or the driver has shut down.
        }
    };
    if (change_ != nullptr) wait_for(*change_);
    for (const Use& use : uses_) {
        if (use.pending) wait_for(use.event);
    }
}

}  // namespace texton::detail
