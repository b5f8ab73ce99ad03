#pragma once
// Streams of the CPU device: queues, each with a thread of its own, so that a missing wait shows as it does on a GPU. A
// thread that waits for a stream does the work that the stream's own has not begun: waking two threads costs more than
// many a kernel.
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

/// How far other streams had come at a point that a stream has waited for: sequence by stream id.
using CpuClock = std::map<std::uint64_t, std::uint64_t>;

/// A point in a stream's queue, and what is done when it is reached.
struct CpuTicket {
    std::shared_ptr<CpuStream> stream;  ///< null: done since ever
    std::uint64_t sequence = 0;
    std::shared_ptr<const CpuClock> clock;

    bool done() const noexcept;
    void wait() const;
    /// True if whatever was enqueued on `id` up to `sequence` is done when this is.
    bool covers(const CpuStream& other, std::uint64_t other_sequence) const noexcept;
};

class CpuStream : public std::enable_shared_from_this<CpuStream> {
public:
    CpuStream();

    std::uint64_t id() const noexcept { return id_; }
    CpuTicket enqueue(Work work);
    /// All that is enqueued so far.
    CpuTicket position() const;
    /// Later work waits for the ticket. Never blocks the caller.
    void wait_for(const CpuTicket& ticket);

    bool reached(std::uint64_t sequence) const noexcept {
        return completed_.load(std::memory_order_acquire) >= sequence;
    }
    /// Returns at once in the stream's own work, which would wait for itself, and when the process ends.
    void wait_until(std::uint64_t sequence);
    /// The thread ends when the queue is empty. Work may still be enqueued: it then starts again.
    void close();
    /// Waits for the thread's end after close().
    void join();

    /// The capture that takes this stream's work instead of the queue; null if none does.
    std::shared_ptr<CpuCapture> capture() const;
    void set_capture(std::shared_ptr<CpuCapture> capture);

    /// True in the work of any stream.
    static bool in_work() noexcept;
    /// The process ends: streams stop after what they are doing, and nothing waits for them any more.
    static bool process_ends() noexcept;

private:
    friend class CpuWorkers;
    void start_worker();
    void serve();
    /// Takes that much from the queue and does it, without the lock.
    void run(std::unique_lock<std::mutex>& lock, std::size_t count) noexcept;

    const std::uint64_t id_;
    mutable std::mutex mutex_;
    std::condition_variable work_;  // something to do
    std::condition_variable done_;  // something done, while there are waiters
    std::vector<Work> queue_;
    std::vector<Work> batch_;  // of whoever runs
    std::uint64_t submitted_ = 0;
    std::atomic<std::uint64_t> completed_{0};
    std::atomic<std::uint64_t> pending_{0};  // length of queue_, for the worker to look at without the lock
    std::atomic<int> waiters_{0};
    std::shared_ptr<const CpuClock> clock_;
    bool sleeping_ = false;  // the worker
    bool has_worker_ = false;
    bool runs_ = false;  // somebody does the work of batch_
    bool closed_ = false;
    std::atomic<bool> capturing_{false};
    std::shared_ptr<CpuCapture> capture_;
};

/// What an event remembers of its last record.
struct CpuRecord {
    CpuTicket ticket;
    std::chrono::steady_clock::time_point time;  // written by the stream before the ticket is done
};

}  // namespace texton::detail
