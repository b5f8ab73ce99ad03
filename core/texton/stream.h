#pragma once
#include <functional>
#include <memory>

#include <texton/device.h>

namespace texton {

namespace detail {
struct StreamState;
struct EventState;
}  // namespace detail

class Event;

/// A queue of work of one device, in order. Streams run beside each other, and beside the host: nothing waits but for what
/// wait() and synchronize() say. Streams of Texton do not wait for CUDA's default stream (they are non-blocking).
///
/// A cheap handle: copies name the same queue, which ends when the last of them and the last memory that is freed on it go.
class Stream {
public:
    /// Higher-priority streams (negative numbers) are served first where the device can; others are clamped.
    explicit Stream(const Device& device, int priority = 0);
    /// CUDA's legacy default stream of the device; the CPU device has one of its own.
    [[nodiscard]] static Stream default_of(const Device& device);
    // No moves: a handle always names its queue.
    Stream(const Stream&) = default;
    Stream& operator=(const Stream&) = default;

    const Device& device() const noexcept;
    /// Blocks until all work enqueued so far is done. Throws Error{capturing} while the stream is being captured.
    void synchronize() const;
    /// True if no work is left. Throws Error{capturing} while the stream is being captured.
    bool idle() const;
    /// Work enqueued from now on starts after `event`'s last record is done. Never blocks the host. An event of another
    /// device of the same kind is fine.
    void wait(const Event& event) const;
    /// Calls `function` on another thread, in stream order. It must neither throw nor use Texton or CUDA.
    void run(std::function<void()> function) const;
    bool capturing() const;

    bool operator==(const Stream& other) const noexcept;  ///< the same queue

    /// For Texton's own parts.
    explicit Stream(std::shared_ptr<detail::StreamState> state) noexcept : state_(std::move(state)) {}
    const std::shared_ptr<detail::StreamState>& state() const noexcept { return state_; }

private:
    std::shared_ptr<detail::StreamState> state_;
};

enum class EventTiming : std::uint8_t { on, off };

/// A mark in a stream. A cheap handle, like Stream.
class Event {
public:
    explicit Event(const Device& device, EventTiming timing = EventTiming::on);
    Event(const Event&) = default;
    Event& operator=(const Event&) = default;

    const Device& device() const noexcept;
    void record(const Stream& stream) const;
    /// True if the work before the last record is done, or if there was none.
    bool done() const;
    void synchronize() const;
    /// Milliseconds from `begin` to this event. Both must be recorded, done, and made with timing.
    float milliseconds_since(const Event& begin) const;

    const std::shared_ptr<detail::EventState>& state() const noexcept { return state_; }  ///< for Texton's own parts

private:
    std::shared_ptr<detail::EventState> state_;
};

}  // namespace texton
