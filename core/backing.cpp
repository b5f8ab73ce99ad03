#include "core/backing.h"

#include <algorithm>

#include <texton/error.h>

namespace texton::detail {
namespace {

// True if the stream's work goes into a graph that the calling thread records.
bool records(const Stream& stream, const char* object) {
    Backend& backend = stream.device().backend();
    const bool captured =
        request(&backend, object, {}, [&] { return backend.stream_capturing(stream.state()->handle); });
    if (!captured || recording()) return captured;
    throw Error({.code = ErrorCode::capturing,
                 .object = object,
                 .problem =
                     "work on a sparse or deferred array was asked for on a stream that somebody else captures, who "
                     "would not know what memory it needs",
                 .remedy = "Record it with Graph::capture, in the thread that records."});
}

}  // namespace

BackingUse::BackingUse(const char* object, const Owner& first, const Owner& second) {
    add(first);
    add(second);
    if (!held_.empty()) hold(object);
}

BackingUse::BackingUse(const char* object, const Stream& stream, const Owner& first, const Owner& second)
    : stream_(&stream) {
    add(first);
    add(second);
    if (!held_.empty()) hold(object);
}

BackingUse::BackingUse(const char* object, const Stream& stream, std::span<const Owner> owners) : stream_(&stream) {
    for (const Owner& owner : owners) add(owner);
    if (!held_.empty()) hold(object);
}

void BackingUse::add(const Owner& owner) {
    if (owner != nullptr && owner->backing != nullptr) held_.push_back(owner);
}

// In one order for all threads, or two that hold one of two arrays would wait for each other.
void BackingUse::hold(const char* object) {
    std::sort(held_.begin(), held_.end());
    held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
    if (stream_ != nullptr) recorded_ = records(*stream_, object);
    std::size_t locked = 0;
    try {
        for (; locked < held_.size(); ++locked) held_[locked]->backing->lock(object);
        if (recorded_) return;
        for (const Owner& owner : held_) owner->backing->wait_for_mapping(stream_);
    } catch (...) {
        release(locked);
        throw;
    }
}

void BackingUse::enqueued() {
    if (held_.empty() || stream_ == nullptr) return;
    if (recorded_) {
        for (const Owner& owner : held_) keep_in_recording(owner);
        return;
    }
    for (const Owner& owner : held_) owner->backing->used_on(*stream_);
}

void BackingUse::release(std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) held_[i]->backing->unlock();
}

BackingUse::~BackingUse() { release(held_.size()); }

}  // namespace texton::detail
