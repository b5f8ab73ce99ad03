#include "core/cpu/stream.h"

#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <cstdlib>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <texton/error.h>

#include "core/backend.h"
#include "core/parallel.h"

// A stream's thread takes the whole queue at once, runs it item by item, and counts the items that are done. A thread
// that waits for a position waits for this count. If nobody runs the queue, the waiter runs the items up to its
// position, but no more, because later items may wait for something that the waiter does next. It leaves functions of
// the user to the stream's thread. The lock is held around a batch, and for a single item only if somebody waits.
//
// Threads are detached, because a stream may outlive static objects. exit() destroys the thread-local objects of its
// thread before all static objects, however late these were made. Therefore a thread-local object of the main thread
// drains the streams. An atexit handler drains them again, because other threads may enqueue work until then, and ends
// the threads. In a forked child the threads do not exist, so both do nothing there.

namespace texton::detail {
namespace {

thread_local const CpuStream* own_stream = nullptr;
std::atomic<bool> ending{false};

// Number of times that an idle thread checks for work before it sleeps. This takes about as long as waking the thread.
constexpr int kLooks = 400;

std::atomic<std::uint64_t> newest_id{0};

bool process_ends() noexcept { return ending.load(); }

// Throws the exception of failed work as an Error.
[[noreturn]] void throw_failure(const std::exception_ptr& failure) {
    ErrorCode code = ErrorCode::device_failure;
    std::string problem = "it threw an object that is not a std::exception";
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        code = error.code();
        problem = error.object().empty() ? error.problem() : error.object() + ": " + error.problem();
    } catch (const std::bad_alloc&) {
        code = ErrorCode::out_of_memory;
        problem = "the host has too little memory";
    } catch (const std::exception& error) {
        problem = error.what();
    } catch (...) {
        // Nothing is known about it.
    }
    throw Error(
        {.code = code,
         .object = "texton::Stream",
         .problem = "earlier work of the stream failed: " + problem,
         .remedy = "The results of this work, and of work that depends on it, are not valid. Repeat the work."});
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
    /// Waits until no stream has work. Does nothing in work and in a forked child.
    void drain() noexcept {
        if (CpuStream::in_work() || fork_count() != forks_) return;
        for (bool idle = false; !idle;) {
            idle = true;
            for_each([&](CpuStream& stream) {
                const CpuTicket position = stream.position();
                idle = idle && position.done();
                position.wait();
            });
        }
    }

private:
    CpuWorkers() {
        if (std::atexit([] { instance().stop(); }) != 0) throw std::bad_alloc();
    }

    // Does not allocate memory. Calls `visit` without the lock, because a stream that starts its thread holds its own
    // lock when it takes this one.
    template <class Visit>
    void for_each(const Visit& visit) noexcept {
        std::shared_ptr<CpuStream> stream;
        for (;;) {
            {
                const std::lock_guard lock(mutex_);
                const auto next = stream == nullptr ? streams_.begin() : streams_.upper_bound(stream);
                if (next == streams_.end()) return;
                stream = *next;
            }
            visit(*stream);
        }
    }

    void stop() noexcept {
        if (CpuStream::in_work() || fork_count() != forks_) return;
        drain();
        ending.store(true);
        for_each([](CpuStream& stream) {
            const std::lock_guard inner(stream.mutex_);
            stream.work_.notify_all();
        });
        std::unique_lock lock(mutex_);
        empty_.wait(lock, [this] { return streams_.empty(); });
    }

    const unsigned forks_ = fork_count();
    std::mutex mutex_;
    std::condition_variable empty_;
    // Contains a stream twice while one thread ends and the next starts.
    std::multiset<std::shared_ptr<CpuStream>> streams_;
};

namespace {

// Drains the streams when the main thread ends.
class MainThreadEnd {
public:
    ~MainThreadEnd() {
        if (gettid() == getpid()) CpuWorkers::instance().drain();
    }
    void arm() noexcept {}
};
thread_local MainThreadEnd main_thread_end;

}  // namespace

bool CpuTicket::done() const noexcept { return stream == nullptr || stream->reached(sequence); }

void CpuTicket::wait() const noexcept {
    if (stream != nullptr) stream->wait_until(sequence);
}

void CpuTicket::check() const {
    const std::exception_ptr failed = stream == nullptr ? nullptr : stream->failure(sequence);
    if (failed != nullptr) throw_failure(failed);
}

bool CpuTicket::covers(const CpuStream& other, std::uint64_t other_sequence) const noexcept {
    if (stream.get() == &other) return sequence >= other_sequence;
    if (clock == nullptr) return false;
    const auto entry = clock->find(other.id());
    return entry != clock->end() && entry->second >= other_sequence;
}

CpuStream::CpuStream(std::shared_ptr<CpuThreads> threads) : id_(++newest_id), threads_(std::move(threads)) {}

std::uint64_t CpuStream::last_id() noexcept { return newest_id.load(); }
bool CpuStream::in_work() noexcept { return own_stream != nullptr; }

CpuTicket CpuStream::enqueue(Work work, RunsOn runs_on) {
    main_thread_end.arm();
    std::unique_lock lock(mutex_);
    if (!has_worker_ && !process_ends()) start_worker();
    queue_.push_back({std::move(work), runs_on});
    pending_.fetch_add(1, std::memory_order_release);
    CpuTicket ticket{shared_from_this(), ++submitted_, clock_};
    if (sleeping_) work_.notify_one();
    if (!has_worker_) wait_until(lock, ticket.sequence);
    return ticket;
}

CpuTicket CpuStream::position() const noexcept {
    const std::lock_guard lock(mutex_);
    return {std::const_pointer_cast<CpuStream>(shared_from_this()), submitted_, clock_};
}
void CpuStream::wait_for(const CpuTicket& ticket) {
    if (ticket.stream == nullptr || ticket.stream.get() == this) return;
    if (!ticket.done() || ticket.stream->failure(ticket.sequence) != nullptr) {
        enqueue([ticket] {
            ticket.wait();
            const std::exception_ptr failed = ticket.stream->failure(ticket.sequence);
            if (failed != nullptr) std::rethrow_exception(failed);
        });
    }
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

void CpuStream::wait_until(std::uint64_t sequence) noexcept {
    if (reached(sequence)) return;
    std::unique_lock lock(mutex_);
    wait_until(lock, sequence);
}

void CpuStream::wait_until(std::unique_lock<std::mutex>& lock, std::uint64_t sequence) noexcept {
    if (runs_here()) return;
    waiters_.fetch_add(1);
    while (!reached(sequence)) {
        const bool own_thread = !has_worker_;  // after the end of main()
        if (runs_ || !has_work() || (next_runs_on() == RunsOn::own_thread && !own_thread)) {
            done_.wait(lock);
        } else {
            run(lock, static_cast<std::size_t>(sequence - completed_.load()), own_thread);
        }
    }
    waiters_.fetch_sub(1);
}

void CpuStream::report_failure(std::uint64_t sequence) {
    std::exception_ptr failed;
    {
        const std::lock_guard lock(mutex_);
        if (failure_ == nullptr || failed_at_ > sequence) return;
        failed = std::exchange(failure_, nullptr);
    }
    throw_failure(failed);
}

std::exception_ptr CpuStream::failure(std::uint64_t sequence) const noexcept {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr && failed_at_ <= sequence ? failure_ : nullptr;
}

void CpuStream::close() noexcept {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    work_.notify_one();
}

bool CpuStream::finished() const noexcept {
    const std::lock_guard lock(mutex_);
    return closed_ && reached(submitted_);
}

void CpuStream::join() {
    std::unique_lock lock(mutex_);
    if (runs_here()) return;
    done_.wait(lock, [this] { return !has_worker_ && !runs_; });
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
    } catch (...) {
        CpuWorkers::instance().remove(self);
        throw;
    }
    has_worker_ = true;
}

void CpuStream::serve() noexcept {
    for (;;) {
        for (int look = 0; look < kLooks && pending_.load(std::memory_order_acquire) == 0 && !closed_; ++look) {
            std::this_thread::yield();
        }
        std::unique_lock lock(mutex_);
        sleeping_ = true;
        work_.wait(lock, [this] { return has_work() ? !runs_ : closed_ || process_ends(); });
        sleeping_ = false;
        if (!has_work()) {
            has_worker_ = false;
            done_.notify_all();
            return;
        }
        run(lock, SIZE_MAX, true);
    }
}

void CpuStream::run(std::unique_lock<std::mutex>& lock, std::size_t count, bool own_thread) noexcept {
    if (next_ == batch_.size()) {
        batch_.clear();
        next_ = 0;
        batch_.swap(queue_);
    }
    const std::size_t begin = next_;
    std::size_t end = begin + std::min(count, batch_.size() - begin);
    if (!own_thread) {
        const auto stops = [](const Item& item) { return item.runs_on == RunsOn::own_thread; };
        const auto first = batch_.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = batch_.begin() + static_cast<std::ptrdiff_t>(end);
        end = static_cast<std::size_t>(std::find_if(first, last, stops) - batch_.begin());
    }
    next_ = end;
    pending_.fetch_sub(end - begin, std::memory_order_release);
    runs_ = true;
    runner_ = std::this_thread::get_id();
    lock.unlock();
    const CpuStream* const outer = std::exchange(own_stream, this);
    std::fenv_t modes;  // of the calling thread
    std::fegetenv(&modes);
    std::fesetenv(FE_DFL_ENV);
    {
        const CpuThreadsScope scope(threads_.get());
        for (std::size_t i = begin; i < end; ++i) run(batch_[i].work);
    }
    std::fesetenv(&modes);
    own_stream = outer;
    lock.lock();
    runs_ = false;
    if (sleeping_) work_.notify_one();
    done_.notify_all();
}

void CpuStream::run(Work& work) noexcept {
    try {
        work();
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (failure_ == nullptr) {
            failure_ = std::current_exception();
            failed_at_ = completed_.load() + 1;
        }
    }
    work = nullptr;  // destroys the captures before the item counts as done
    completed_.fetch_add(1);
    if (waiters_.load() == 0) return;
    const std::lock_guard lock(mutex_);
    done_.notify_all();
}

}  // namespace texton::detail
