#include "core/cpu/stream.h"

#include <algorithm>
#include <cfenv>
#include <cstdlib>
#include <iterator>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <texton/error.h>

// A stream's thread takes the whole queue at once, runs it item by item, and counts the items that are done. A thread
// that waits for a position waits for this count. If nobody runs the queue, the waiter runs the items up to its
// position, but no more, because later items may wait for something that the waiter does next. The lock is held around
// a batch, and for a single item only if somebody waits.
//
// Threads are detached, because a stream may outlive static objects. When the process ends, an atexit handler stops the
// threads between two items, so that no work accesses memory that static destructors free.

namespace texton::detail {
namespace {

thread_local const CpuStream* own_stream = nullptr;
std::atomic<bool> ending{false};

// Number of times that an idle thread checks for work before it sleeps. This takes about as long as waking the thread.
constexpr int kLooks = 400;

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}  // namespace

// The streams whose thread runs. Never destroyed.
class CpuWorkers {
public:
    static CpuWorkers& instance() {
        static CpuWorkers& made = *new CpuWorkers;
        return made;
    }
    void add(std::shared_ptr<CpuStream> stream) {
        const std::lock_guard lock(mutex_);
        streams_.insert(std::move(stream));
    }
    void remove(const std::shared_ptr<CpuStream>& stream) {
        const std::lock_guard lock(mutex_);
        streams_.erase(streams_.find(stream));
        if (streams_.empty()) empty_.notify_all();
    }

private:
    CpuWorkers() {
        std::atexit([] { instance().stop(); });
    }

    void stop() {
        using namespace std::chrono_literals;
        ending.store(true);
        std::unique_lock lock(mutex_);
        const auto running = streams_;
        lock.unlock();  // a stream that starts its thread holds its own lock when it takes this one
        for (const auto& stream : running) {
            const std::lock_guard inner(stream->mutex_);
            stream->work_.notify_all();
            stream->done_.notify_all();
        }
        lock.lock();
        empty_.wait_for(lock, 1s, [this] { return streams_.empty(); });
    }

    std::mutex mutex_;
    std::condition_variable empty_;
    // Contains a stream twice while one thread ends and the next starts.
    std::multiset<std::shared_ptr<CpuStream>> streams_;
};

bool CpuTicket::done() const noexcept { return stream == nullptr || stream->reached(sequence); }

void CpuTicket::wait() const {
    if (stream != nullptr) stream->wait_until(sequence);
}

bool CpuTicket::covers(const CpuStream& other, std::uint64_t other_sequence) const noexcept {
    if (stream.get() == &other) return sequence >= other_sequence;
    if (clock == nullptr) return false;
    const auto entry = clock->find(other.id());
    return entry != clock->end() && entry->second >= other_sequence;
}

CpuStream::CpuStream() : id_(next_id()) {}

bool CpuStream::in_work() noexcept { return own_stream != nullptr; }
bool CpuStream::process_ends() noexcept { return ending.load(std::memory_order_relaxed); }

CpuTicket CpuStream::enqueue(Work work) {
    const std::lock_guard lock(mutex_);
    if (!has_worker_) start_worker();
    queue_.push_back(std::move(work));
    pending_.store(queue_.size(), std::memory_order_release);
    ++submitted_;
    if (sleeping_) work_.notify_one();
    return {shared_from_this(), submitted_, clock_};
}

CpuTicket CpuStream::position() const {
    const std::lock_guard lock(mutex_);
    return {std::const_pointer_cast<CpuStream>(shared_from_this()), submitted_, clock_};
}

void CpuStream::wait_for(const CpuTicket& ticket) {
    if (ticket.stream == nullptr || ticket.stream.get() == this) return;
    if (!ticket.done()) enqueue([ticket] { ticket.wait(); });
    const std::lock_guard lock(mutex_);
    auto merged = std::make_shared<CpuClock>(clock_ ? *clock_ : CpuClock{});
    const auto learn = [&](std::uint64_t stream, std::uint64_t sequence) {
        std::uint64_t& known = (*merged)[stream];
        known = std::max(known, sequence);
    };
    if (ticket.clock != nullptr) {
        for (const auto& [stream, sequence] : *ticket.clock) learn(stream, sequence);
    }
    learn(ticket.stream->id(), ticket.sequence);
    clock_ = std::move(merged);
}

void CpuStream::wait_until(std::uint64_t sequence) {
    if (reached(sequence) || own_stream == this) return;
    std::unique_lock lock(mutex_);
    waiters_.fetch_add(1);
    while (!reached(sequence) && !process_ends()) {
        if (runs_ || queue_.empty()) {
            done_.wait(lock);
        } else {
            run(lock, std::min(queue_.size(), static_cast<std::size_t>(sequence - completed_.load())));
        }
    }
    waiters_.fetch_sub(1);
}

void CpuStream::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    work_.notify_one();
}

void CpuStream::join() {
    if (own_stream == this) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return (!has_worker_ && !runs_) || process_ends(); });
}

std::shared_ptr<CpuCapture> CpuStream::capture() const {
    if (!capturing_.load(std::memory_order_acquire)) return nullptr;
    const std::lock_guard lock(mutex_);
    return capture_;
}

void CpuStream::set_capture(std::shared_ptr<CpuCapture> capture) {
    const std::lock_guard lock(mutex_);
    capture_ = std::move(capture);
    capturing_.store(capture_ != nullptr, std::memory_order_release);
}

void CpuStream::start_worker() {
    const auto self = shared_from_this();
    CpuWorkers::instance().add(self);
    try {
        std::thread([self] {
            self->serve();
            CpuWorkers::instance().remove(self);
        }).detach();
    } catch (const std::system_error& error) {
        CpuWorkers::instance().remove(self);
        throw Error({.code = ErrorCode::device_failure,
                     .problem = std::string("the system cannot start a thread for the stream: ") + error.what(),
                     .remedy = "Use fewer streams at the same time.",
                     .call = "pthread_create"});
    }
    has_worker_ = true;
}

void CpuStream::serve() {
    for (;;) {
        for (int look = 0; look < kLooks && pending_.load(std::memory_order_acquire) == 0; ++look) {
            std::this_thread::yield();
        }
        std::unique_lock lock(mutex_);
        sleeping_ = true;
        work_.wait(lock, [this] { return process_ends() || (queue_.empty() ? closed_ : !runs_); });
        sleeping_ = false;
        if (queue_.empty() || process_ends()) {
            has_worker_ = false;
            done_.notify_all();
            return;
        }
        run(lock, queue_.size());
    }
}

void CpuStream::run(std::unique_lock<std::mutex>& lock, std::size_t count) noexcept {
    runs_ = true;
    if (count == queue_.size()) {
        batch_.swap(queue_);
    } else {
        const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
        batch_.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
        queue_.erase(queue_.begin(), end);
    }
    pending_.store(queue_.size(), std::memory_order_release);
    lock.unlock();
    const CpuStream* const outer = std::exchange(own_stream, this);
    std::fenv_t modes;  // of the waiting thread
    std::fegetenv(&modes);
    std::fesetenv(FE_DFL_ENV);
    for (Work& work : batch_) {
        if (process_ends()) break;
        work();
        work = nullptr;  // destroys the item's captures before the item counts as done
        completed_.fetch_add(1);
        if (waiters_.load() == 0) continue;
        const std::lock_guard inner(mutex_);
        done_.notify_all();
    }
    std::fesetenv(&modes);
    own_stream = outer;
    lock.lock();
    batch_.clear();
    runs_ = false;
    if (sleeping_) work_.notify_one();
    done_.notify_all();
}

}  // namespace texton::detail
