#pragma once
// Streams of the CPU device. Each stream has a queue and a thread, so that a missing wait has the same effect as on a
// GPU. A thread that waits for a stream runs the work that the stream's thread has not started, because waking two
// threads takes longer than many operations.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace texton::detail {

class CpuCapture;
class CpuStream;

using Work = std::function<void()>;

/// Progress of other streams that a stream has waited for: sequence numbers by stream id.
using CpuClock = std::map<std::uint64_t, std::uint64_t>;

/// A position in a stream's queue, and the positions of other streams that are reached before it.
struct CpuTicket {
    std::shared_ptr<CpuStream> stream;  ///< null if the position was always reached
    std::uint64_t sequence = 0;
    std::shared_ptr<const CpuClock> clock;

    bool done() const noexcept;
    void wait() const;
    /// Returns true if everything enqueued on `other` up to `other_sequence` is done when this position is reached.
    bool covers(const CpuStream& other, std::uint64_t other_sequence) const noexcept;
};

/// A queue of work with its own thread. Thread-safe. The thread starts with the first work and keeps the stream alive
/// while it runs. Work must not throw.
class CpuStream : public std::enable_shared_from_this<CpuStream> {
public:
    CpuStream();

    std::uint64_t id() const noexcept { return id_; }
    /// Adds work to the end of the queue and returns its position. Throws Error{device_failure} if no thread can be
    /// started.
    CpuTicket enqueue(Work work);
    /// Returns the position after all work that is enqueued so far.
    CpuTicket position() const;
    /// Makes later work wait for the ticket. Never blocks the caller.
    void wait_for(const CpuTicket& ticket);

    bool reached(std::uint64_t sequence) const noexcept {
        return completed_.load(std::memory_order_acquire) >= sequence;
    }
    /// Waits until the position is reached. Returns immediately in the stream's own work, which would wait for itself,
    /// and when the process ends.
    void wait_until(std::uint64_t sequence);
    /// Ends the thread when the queue is empty. Work may still be enqueued and starts the thread again.
    void close();
    /// Waits until the thread ends after close().
    void join();

    /// Returns the capture that takes this stream's work instead of the queue, or null if there is none.
    std::shared_ptr<CpuCapture> capture() const;
    void set_capture(std::shared_ptr<CpuCapture> capture);

    /// Returns true in the work of any stream.
    static bool in_work() noexcept;
    /// Returns true when the process ends. Streams then stop after their current work item, and nothing waits for them.
    static bool process_ends() noexcept;

private:
    friend class CpuWorkers;
    void start_worker();
    void serve();
    /// Takes `count` items from the queue and runs them without the lock.
    void run(std::unique_lock<std::mutex>& lock, std::size_t count) noexcept;

    const std::uint64_t id_;
    mutable std::mutex mutex_;
    std::condition_variable work_;  // signals that there is work
    std::condition_variable done_;  // signals that work is done, if there are waiters
    std::vector<Work> queue_;
    std::vector<Work> batch_;  // the items of the thread that runs work
    std::uint64_t submitted_ = 0;
    std::atomic<std::uint64_t> completed_{0};
    std::atomic<std::uint64_t> pending_{0};  // length of queue_, so the worker can check it without the lock
    std::atomic<int> waiters_{0};
    std::shared_ptr<const CpuClock> clock_;
    bool sleeping_ = false;  // true while the worker sleeps
    bool has_worker_ = false;
    bool runs_ = false;  // true while a thread runs the items of batch_
    bool closed_ = false;
    std::atomic<bool> capturing_{false};
    std::shared_ptr<CpuCapture> capture_;
};

/// The last record of an event.
struct CpuRecord {
    CpuTicket ticket;
    std::chrono::steady_clock::time_point time;  // set by the stream before the ticket is reached
};

}  // namespace texton::detail
