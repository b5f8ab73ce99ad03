#pragma once
// Streams of the CPU device. Each stream has a queue and a thread, so that a missing wait has the same effect as on a
// GPU. A thread that waits for a stream runs the work that the stream's thread has not started, because waking two
// threads takes longer than many operations. Functions of the user are an exception; see RunsOn.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace texton::detail {

class CpuCapture;
class CpuStream;
class CpuThreads;

using Work = std::function<void()>;

/// Which thread may run an item of work.
enum class RunsOn : std::uint8_t {
    any_thread,  ///< also a thread that waits for the stream
    own_thread   ///< only the stream's thread: functions of the user, which may lock what a waiting thread has locked
};

/// Progress of other streams that a stream has waited for: sequence numbers by stream id.
using CpuClock = std::map<std::uint64_t, std::uint64_t>;

/// A position in a stream's queue, and the positions of other streams that are reached before it.
struct CpuTicket {
    std::shared_ptr<CpuStream> stream;  ///< null if the position was always reached
    std::uint64_t sequence = 0;
    std::shared_ptr<const CpuClock> clock;

    bool done() const noexcept;
    /// Waits until the position is reached. Does not report failures.
    void wait() const noexcept;
    /// Throws the failure of work up to the position, which is reached. The stream keeps the failure.
    void check() const;
    /// Returns true if everything enqueued on `other` up to `other_sequence` is done when this position is reached.
    bool covers(const CpuStream& other, std::uint64_t other_sequence) const noexcept;
};

/// A queue of work with its own thread. Thread-safe. The thread starts with the first work and keeps the stream alive
/// while it runs.
///
/// An exception of work is a failure of the stream. Later work still runs. The stream keeps its first failure until
/// report_failure(), and passes it on to streams that wait for a position after it.
///
/// When main() returns or calls exit(), all streams are drained before static objects are destroyed. From then on a
/// stream has no thread: the thread that enqueues work runs it.
class CpuStream : public std::enable_shared_from_this<CpuStream> {
public:
    /// `threads` run the parallel loops of the work; null: the threads that all devices share.
    explicit CpuStream(std::shared_ptr<CpuThreads> threads = nullptr);

    std::uint64_t id() const noexcept { return id_; }
    /// Returns the id of the stream that was created last.
    static std::uint64_t last_id() noexcept;
    /// Adds work to the end of the queue and returns its position. Throws Error{device_failure} if no thread can be
    /// started.
    CpuTicket enqueue(Work work, RunsOn runs_on = RunsOn::any_thread);
    /// Returns the position after all work that is enqueued so far.
    CpuTicket position() const noexcept;
    /// Makes later work wait for the ticket. Never blocks the caller.
    void wait_for(const CpuTicket& ticket);

    bool reached(std::uint64_t sequence) const noexcept {
        return completed_.load(std::memory_order_acquire) >= sequence;
    }
    /// Waits until the position is reached. Returns immediately in the stream's own work, which would wait for itself.
    void wait_until(std::uint64_t sequence) noexcept;
    /// Throws the failure of work up to the position as an Error, and forgets it.
    void report_failure(std::uint64_t sequence);
    /// Returns the failure of work up to the position, or null. The stream keeps it.
    std::exception_ptr failure(std::uint64_t sequence) const noexcept;
    /// Ends the thread when the queue is empty. Work may still be enqueued and starts the thread again.
    void close() noexcept;
    /// Returns true after close() if all work is done.
    bool finished() const noexcept;
    /// Waits until the thread ends after close().
    void join();

    /// Returns the capture that takes this stream's work instead of the queue, or null if there is none.
    std::shared_ptr<CpuCapture> capture() const;
    void set_capture(std::shared_ptr<CpuCapture> capture);

    /// Returns true in the work of any stream.
    static bool in_work() noexcept;

private:
    friend class CpuWorkers;
    struct Item {
        Work work;
        RunsOn runs_on = RunsOn::any_thread;
    };

    // These functions require the lock.
    void start_worker();
    bool has_work() const noexcept { return next_ < batch_.size() || !queue_.empty(); }
    bool runs_here() const noexcept { return runs_ && runner_ == std::this_thread::get_id(); }
    RunsOn next_runs_on() const noexcept { return next_ < batch_.size() ? batch_[next_].runs_on : queue_[0].runs_on; }
    void wait_until(std::unique_lock<std::mutex>& lock, std::uint64_t sequence) noexcept;
    /// Runs up to `count` items without the lock. Stops before an item for the stream's thread unless `own_thread`.
    void run(std::unique_lock<std::mutex>& lock, std::size_t count, bool own_thread) noexcept;

    void serve() noexcept;
    void run(Work& work) noexcept;

    const std::uint64_t id_;
    const std::shared_ptr<CpuThreads> threads_;
    mutable std::mutex mutex_;
    std::condition_variable work_;  // signals that there is work
    std::condition_variable done_;  // signals that work is done, if there are waiters
    std::vector<Item> queue_;
    std::vector<Item> batch_;  // items taken from the queue; changed only by the thread that runs work
    std::size_t next_ = 0;     // the first item of batch_ that has not run
    std::uint64_t submitted_ = 0;
    std::atomic<std::uint64_t> completed_{0};
    std::atomic<std::uint64_t> pending_{0};  // items that nobody runs, so the worker can check it without the lock
    std::atomic<int> waiters_{0};
    std::shared_ptr<const CpuClock> clock_;
    std::exception_ptr failure_;   // of the first work that failed since the last report
    std::uint64_t failed_at_ = 0;  // position of that work
    std::thread::id runner_;       // the thread that runs work, if `runs_`
    bool sleeping_ = false;        // true while the worker sleeps
    bool has_worker_ = false;
    bool runs_ = false;  // true while a thread runs work
    std::atomic<bool> closed_ = false;
    std::atomic<bool> capturing_{false};
    std::shared_ptr<CpuCapture> capture_;
};

/// The last record of an event.
struct CpuRecord {
    CpuTicket ticket;
    std::chrono::steady_clock::time_point time;  // set by the stream before the ticket is reached
};

}  // namespace texton::detail
