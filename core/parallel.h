#pragma once
// Parallel loops of the CPU device.
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace texton::detail {

/// Threads that compute for one device only.
class CpuThreads {
public:
    explicit CpuThreads(int count) : arena_(count) {}

    std::size_t count() const { return static_cast<std::size_t>(arena_.max_concurrency()); }
    /// Calls a function whose parallel loops use these threads.
    template <class Function>
    void run(const Function& function) {
        if (count() > 1) return arena_.execute(function);
        const std::lock_guard lock(one_);  // TBB lets two threads enter an arena of one thread
        function();
    }

private:
    tbb::task_arena arena_;
    std::recursive_mutex one_;
};

/// The threads that run the parallel loops of this thread. Null: the threads that all devices share.
inline thread_local CpuThreads* cpu_threads = nullptr;

/// Makes the parallel loops of this thread run on the threads of a device, until the end of the scope.
class CpuThreadsScope {
public:
    explicit CpuThreadsScope(CpuThreads* threads) noexcept : before_(std::exchange(cpu_threads, threads)) {}
    ~CpuThreadsScope() { cpu_threads = before_; }
    CpuThreadsScope(const CpuThreadsScope&) = delete;
    CpuThreadsScope& operator=(const CpuThreadsScope&) = delete;

private:
    CpuThreads* before_;
};

/// Returns the maximum number of threads that work at the same time.
inline std::size_t cpu_cores() {
    return cpu_threads != nullptr ? cpu_threads->count()
                                  : static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
}

/// A contiguous range of pieces, with the next one to run. Threads first take the pieces of their own share.
struct alignas(64) CpuShare {
    std::atomic<std::size_t> next;
    std::size_t end;
};

/// Calls body(i) for every i below `pieces` on all cores, or on all threads of the device whose work this is, and
/// returns when all calls are done.
///
/// Each thread has a contiguous share of the pieces. For equal `pieces` the shares are the same in each call, so the
/// results of a previous call can still be in the thread's cache. A thread that has finished its share takes pieces of
/// other shares one by one, so cores that start late or are slower do not delay the loop.
///
/// The calling thread runs no other tasks during the call, so it may hold locks that other tasks of its arena need. All
/// threads use the floating-point settings of the calling thread.
template <class Body>
void run_in_parallel(std::size_t pieces, const Body& body) {
    const std::size_t count = std::min(pieces, cpu_cores());
    std::vector<CpuShare> shares(count);
    // Release and acquire order the threads for thread sanitizers, which do not see the synchronization inside TBB.
    for (std::size_t i = 0; i < count; ++i) {
        shares[i].end = pieces * (i + 1) / count;
        shares[i].next.store(pieces * i / count, std::memory_order_release);
    }
    const auto take = [&](std::size_t) {
        const auto own = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
        for (std::size_t k = 0; k < count; ++k) {
            CpuShare& share = shares[(own + k) % count];
            std::size_t i;
            while ((i = share.next.fetch_add(1, std::memory_order_acq_rel)) < share.end) body(i);
        }
    };
    tbb::task_group_context context(tbb::task_group_context::isolated, tbb::task_group_context::fp_settings);
    const auto loop = [&] {
        tbb::this_task_arena::isolate(
            [&] { tbb::parallel_for(std::size_t{0}, count, take, tbb::simple_partitioner{}, context); });
    };
    if (cpu_threads != nullptr) {
        cpu_threads->run(loop);
    } else {
        loop();
    }
    for (const CpuShare& share : shares) share.next.load(std::memory_order_acquire);
}

}  // namespace texton::detail
