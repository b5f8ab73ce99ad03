#include "core/pending_frees.h"

#include <atomic>
#include <list>
#include <new>
#include <thread>
#include <utility>

#include <texton/error.h>

namespace texton::detail {
namespace {

struct PendingFrees {
    std::mutex mutex;  // protects the list; locked after the gate
    std::list<PendingFree> list;
    std::atomic<std::size_t> count{0};
};

// Never destroyed, because static objects of the program can own memory.
PendingFrees& pending() {
    static PendingFrees& made = *new PendingFrees;
    return made;
}

// Frees and the beginnings of captures exclude each other. A free that sees no recording counts itself instead of
// locking the gate, and a beginning, before which the recording is visible, waits for the count to become 0.
constinit std::mutex gate;
constinit std::atomic<int> frees_in_progress{0};

// Returns false if the memory must be freed later, because the stream is in another capture or a call has failed.
bool try_free(const FreeingScope& scope, PendingFree& memory) noexcept {
    Backend& backend = memory.stream->device.backend();
    std::uint64_t capture = 0;
    try {
        if (memory.capture != 0 || scope.may_be_captured()) capture = backend.capture_of(memory.stream->handle);
        if (capture != 0 && capture != memory.capture) return false;
        backend.free_async(memory.address, memory.stream->handle);
        return true;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device_lost) return true;  // nothing is left to free
        // The memory of a graph that was not launched does not exist.
        if (memory.capture != 0 && capture == 0 && error.code() == ErrorCode::bad_argument) return true;
        memory.failure = std::current_exception();
    } catch (const std::bad_alloc&) {
        memory.failure = std::current_exception();
    }
    return false;
}

}  // namespace

FreeingScope::FreeingScope() noexcept {
    frees_in_progress.fetch_add(1);
    if (!anyone_recording()) return;
    frees_in_progress.fetch_sub(1);
    lock_ = std::unique_lock(gate);
}

FreeingScope::~FreeingScope() {
    if (!lock_.owns_lock()) frees_in_progress.fetch_sub(1);
}

void free_in_order(std::list<PendingFree> memory) noexcept {
    const FreeingScope scope;
    if (try_free(scope, memory.front())) return;
    PendingFrees& all = pending();
    const std::lock_guard lock(all.mutex);
    all.list.splice(all.list.end(), memory);
    all.count.store(all.list.size(), std::memory_order_release);
}

void check_frees(std::uint64_t capture) {
    PendingFrees& all = pending();
    if (all.count.load(std::memory_order_acquire) == 0) return;
    std::exception_ptr failure;
    {
        const std::lock_guard lock(all.mutex);
        for (PendingFree& each : all.list) {
            if (each.capture == capture && each.failure != nullptr) failure = std::exchange(each.failure, nullptr);
        }
    }
    if (failure != nullptr) std::rethrow_exception(failure);
}

void free_pending() noexcept {
    PendingFrees& all = pending();
    if (all.count.load(std::memory_order_acquire) == 0) return;
    std::list<PendingFree> freed;  // destroyed after the locks are released: the last use of a pool destroys the pool
    const FreeingScope scope;
    const std::lock_guard lock(all.mutex);
    for (auto each = all.list.begin(); each != all.list.end();) {
        const auto next = std::next(each);
        if (try_free(scope, *each)) freed.splice(freed.end(), all.list, each);
        each = next;
    }
    all.count.store(all.list.size(), std::memory_order_release);
}

std::unique_lock<std::mutex> hold_frees() noexcept {
    std::unique_lock lock(gate);
    while (frees_in_progress.load() != 0) std::this_thread::yield();
    return lock;
}

}  // namespace texton::detail
