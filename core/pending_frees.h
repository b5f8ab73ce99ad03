#pragma once
// Frees of pool memory in the order of a stream that may be being captured.
#include <cstdint>
#include <list>
#include <mutex>

#include "core/block.h"

namespace texton::detail {

/// Frees memory of a pool in the order of its stream; the list has one element. A graph capture can only free memory
/// that was allocated in it: if the stream is in another capture, the memory is freed by a later call of
/// free_pending(). So it is if a call of the device fails.
void free_in_order(std::list<PendingFree> memory) noexcept;

/// Throws the failure of a free in the capture, if there is one. The graph of the capture would never free this memory,
/// so the capture must be
/// abandoned. The memory is freed after that.
void check_frees(std::uint64_t capture);

/// Frees the pending memory whose streams are no longer being captured. Called when a recording has ended, when a
/// stream or device is synchronized, and at each operation of a pool. Costs one atomic load if no memory is pending.
void free_pending() noexcept;

/// Prevents that a stream enters a capture while memory is freed in its order. While no thread records a graph, frees
/// of several threads run at once.
class FreeingScope {
public:
    FreeingScope() noexcept;
    ~FreeingScope();
    FreeingScope(const FreeingScope&) = delete;
    FreeingScope& operator=(const FreeingScope&) = delete;

    /// Returns true if a thread records a graph. Otherwise only code other than Graph::capture() can capture the
    /// stream, and the driver refuses the free.
    bool may_be_captured() const noexcept { return lock_.owns_lock(); }

private:
    std::unique_lock<std::mutex> lock_;
};

/// Waits for frees in progress and prevents others while the lock is held. Hold it while a stream enters a capture. A
/// RecordingScope must exist.
[[nodiscard]] std::unique_lock<std::mutex> hold_frees() noexcept;

}  // namespace texton::detail
