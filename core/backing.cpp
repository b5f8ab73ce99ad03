#include "core/backing.h"

#include <algorithm>

#include <texton/error.h>

namespace texton::detail {
namespace {

// Returns true if the work of the stream goes into a graph that the calling thread records.
bool records(const Stream& stream, const char* object) {
    Backend& backend = stream.device().backend();
    const bool captured =
        request(&backend, object, {}, [&] { return backend.stream_capturing(stream.state()->handle); });
    if (!captured || recording()) return captured;
    throw Error({.code = ErrorCode::capturing,
                 .object = object,
                 .problem =
                     "the stream is captured by code other than Graph::capture(), which cannot keep the memory of a "
                     "sparse or deferred array",
                 .remedy = "Record the work with Graph::capture(), in the thread that calls it."});
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

// All threads lock in the same order: otherwise two threads that each hold one of two arrays would deadlock.
void BackingUse::hold(const char* object) {
    std::sort(held_.begin(), held_.end());
    held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
    if (stream_ != nullptr) recorded_ = records(*stream_, object);
    std::size_t locked = 0;
    try {
        for (; locked < held_.size(); ++locked) held_[locked]->backing->lock(object);
        for (const Owner& owner : held_) {
            // The recording keeps the memory before the work is enqueued, because this may throw, and because a call
            // that fails may have enqueued a part of its work.
            if (recorded_) {
                keep_in_recording(owner);
            } else {
                owner->backing->wait_for_mapping(stream_);
            }
        }
    } catch (...) {
        release(locked);
        throw;
    }
}

void BackingUse::enqueued() {
    if (stream_ == nullptr || recorded_) return;
    for (const Owner& owner : held_) owner->backing->used_on(*stream_);
}

void BackingUse::release(std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) held_[i]->backing->unlock();
}

BackingUse::~BackingUse() { release(held_.size()); }

}  // namespace texton::detail
