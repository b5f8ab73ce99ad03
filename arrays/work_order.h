#pragma once
// The order between the work on an array and the changes of its memory.
#include <memory>
#include <mutex>
#include <vector>

#include <texton/stream.h>

namespace texton::detail {

/// Work that is enqueued on the stream from now on comes after the event. Between a CUDA and a CPU device the host waits.
void order(const Stream& stream, const Event& event);

/// What an array's memory is used for, stream by stream, and when it last changed. A change comes after all uses before it; a
/// use after the last change. Any thread may call.
class WorkOrder {
public:
    /// Work was enqueued on the stream.
    void used_on(const Stream& stream);
    /// What follows on the stream comes after the last change; a null stream: the host waits for it.
    void wait_for_change(const Stream* stream);

    /// What follows on the stream, a change, comes after all uses and the last change.
    void wait_for_all(const Stream& stream);
    /// The event marks the end of a change that waited for all.
    void changed(std::shared_ptr<const Event> done) noexcept;

    /// The host waits for everything.
    void finish() noexcept;

private:
    struct Use {
        std::weak_ptr<StreamState> stream;  // a handle may come again for another stream
        Event event;
        bool pending;  // a change that waited for it makes it past
    };
    Use& use_of(const Stream& stream);

    std::mutex mutex_;
    std::vector<Use> uses_;
    std::shared_ptr<const Event> change_;
};

}  // namespace texton::detail
