#pragma once
// Streams and events.
#include <functional>
#include <memory>

#include <texton/device.h>

namespace texton {

namespace detail {
struct StreamState;
struct EventState;
}  // namespace detail

class Event;

/// A queue of a device, whose work runs in order.
///
/// Streams run concurrently with each other and with the host. Work on two streams is ordered only by wait(), or by the
/// host with synchronize(). This also holds for the default stream: streams that Texton creates do not wait for it
/// (cudaStreamNonBlocking).
///
/// Order of calls, for all functions of Texton:
/// - A function that takes a stream is ordered by this stream alone. It can return before its work is done.
/// - A function without a stream is ordered like cudaMemcpy: it runs after all work that the default stream of its
///   device has when it is called, and its work is done when it returns. A copy between two devices runs after the
///   default streams of both. It does not wait for streams that Texton creates: synchronize these first. As in CUDA,
///   blocking streams of other code and the default stream wait for each other.
///
/// If work of the CPU device fails, for example because the host has too little memory, the work behind it still runs.
/// The stream keeps its first failure until Stream::synchronize() or Device::synchronize() throws it as an Error. Until
/// then it is also thrown by other calls that wait for or query this work: idle(), Event::synchronize() and done(),
/// copies and fills of pageable memory on the stream and, for the default stream, calls without a stream. A stream that
/// waits for an event behind the failed work fails as well.
///
/// When main() returns or calls exit(), the work that CPU devices still have runs to its end before static objects are
/// destroyed. In destructors of static objects, streams of the CPU device work as before, but the work runs in the
/// thread that enqueues it. Work of a CUDA device must be done when main() returns. In a child that was forked after
/// the first use of a device, all functions that use the device throw Error{unsupported}.
///
/// A handle that is cheap to copy: copies refer to the same queue. Memory that was allocated on the stream in stream
/// order also keeps the queue alive until it is freed. When the queue is destroyed, work that is still enqueued runs to
/// its end. All functions are thread-safe.
class Stream {
public:
    /// Creates a stream. Lower values of `priority` are served first, if the device supports this. Values out of range
    /// are clamped.
    explicit Stream(const Device& device, int priority = 0);
    /// Returns the default stream of the device: CUDA's legacy default stream, or that of the CPU device.
    [[nodiscard]] static Stream default_of(const Device& device);
    // No moves: a handle always refers to its queue.
    Stream(const Stream&) = default;             ///< Copies the handle.
    Stream& operator=(const Stream&) = default;  ///< Copies the handle.

    const Device& device() const noexcept;  ///< Returns the device of the stream.
    /// Blocks until all work that is enqueued now is done. Throws Error{capturing} while the stream is captured.
    void synchronize() const;
    /// Returns true if all enqueued work is done. Throws Error{capturing} while the stream is captured.
    bool idle() const;
    /// Makes work that is enqueued later wait for the last record of `event`. Does nothing if the event was never
    /// recorded. Never blocks the host. The event can belong to another device of the same kind.
    ///
    /// Throws Error{wrong_device} for a device of another kind. Throws Error{capturing} if the stream is captured and
    /// the event was recorded outside of the capture.
    void wait(const Event& event) const;
    /// Enqueues a call of `function`, which runs on another thread: never on a thread that enqueues work or waits, so the
    /// function may lock a mutex that such a thread holds for a limited time. (Destructors of static objects are an
    /// exception; see above.) It must not throw, and must not use Texton or CUDA. In a graph, every launch calls it.
    /// Throws Error{bad_argument} if `function` is empty.
    void run(std::function<void()> function) const;
    bool capturing() const;  ///< Returns true while the stream is captured into a graph.

    bool operator==(const Stream& other) const noexcept;  ///< Returns true if both refer to the same queue.

    /// For internal use.
    explicit Stream(std::shared_ptr<detail::StreamState> state) noexcept : state_(std::move(state)) {}
    const std::shared_ptr<detail::StreamState>& state() const noexcept { return state_; }  ///< For internal use.

private:
    std::shared_ptr<detail::StreamState> state_;
};

/// Whether an event measures time. Events without timing are faster.
enum class EventTiming : std::uint8_t {
    on,  ///< Event::milliseconds_since() is available
    off  ///< no timing
};

/// A marker in a stream, which other streams and the host can wait for.
///
/// A handle that is cheap to copy: copies refer to the same event, which ends with the last of them. All functions are
/// thread-safe.
class Event {
public:
    /// Creates an event that was never recorded.
    explicit Event(const Device& device, EventTiming timing = EventTiming::on);
    Event(const Event&) = default;             ///< Copies the handle.
    Event& operator=(const Event&) = default;  ///< Copies the handle.

    const Device& device() const noexcept;  ///< Returns the device of the event.
    /// Places the event after all work that is enqueued on the stream now. Replaces the previous record. If the stream
    /// is captured, the record belongs to the graph: other streams can join the capture with Stream::wait(), but
    /// done(), synchronize() and milliseconds_since() throw Error{capturing} until the event is recorded again outside
    /// of a capture.
    ///
    /// Throws Error{wrong_device} if the stream belongs to another device.
    void record(const Stream& stream) const;
    /// Returns true if the work before the last record is done, or if the event was never recorded.
    bool done() const;
    /// Blocks until the work before the last record is done. Returns at once if the event was never recorded.
    void synchronize() const;
    /// Returns the milliseconds from `begin` to this event.
    ///
    /// Throws Error{bad_argument} if an event was created without timing, was never recorded or is not done, and
    /// Error{wrong_device} if the events belong to two devices.
    float milliseconds_since(const Event& begin) const;

    const std::shared_ptr<detail::EventState>& state() const noexcept { return state_; }  ///< For internal use.

private:
    std::shared_ptr<detail::EventState> state_;
};

}  // namespace texton
