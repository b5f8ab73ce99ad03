#pragma once
// Orders the work on an array and the changes of its memory.
#include <memory>
#include <mutex>
#include <vector>

#include <texton/stream.h>

namespace texton::detail {

/// Orders later work of the stream after the event. If one of them belongs to a CUDA device and the other to the CPU
/// device, the host waits.
void order(const Stream& stream, const Event& event);

/// Tracks the uses of an array's memory on each stream and the last change of the memory. A change is ordered after all
/// earlier uses, and a use after the last change. Thread-safe.
class WorkOrder {
public:
    /// Records that work on the memory was enqueued on the stream.
    void used_on(const Stream& stream);
    /// Orders later work of the stream after the last change. If `stream` is null, the host waits for the change.
    void wait_for_change(const Stream* stream);

    /// Orders later work of the stream, which will change the memory, after all uses and the last change.
    void wait_for_all(const Stream& stream);
    /// Records the end of a change that was enqueued after wait_for_all().
    void changed(std::shared_ptr<const Event> done) noexcept;

    /// Waits on the host until all uses and the last change are complete.
    void finish() noexcept;

private:
    struct Use {
        std::weak_ptr<StreamState> stream;  // not a handle, because CUDA may reuse handles
        Event event;
        bool pending;  // false if a later change has waited for the event
    };
    Use& use_of(const Stream& stream);

    std::mutex mutex_;
    std::vector<Use> uses_;
    std::shared_ptr<const Event> change_;
};

}  // namespace texton::detail
