#pragma once
// Parallel loops of the CPU device.
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace texton::detail {

/// Returns the maximum number of threads that work at the same time.
inline std::size_t cpu_cores() { return static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()); }

/// A contiguous range of pieces, with the next one to run. Threads first take the pieces of their own share.
struct alignas(64) CpuShare {
    std::atomic<std::size_t> next;
    std::size_t end;
};

/// Calls body(i) for every i below `pieces` on all cores, and returns when all calls are done.
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
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(std::size_t{0}, count, take, tbb::simple_partitioner{}, context); });
    for (const CpuShare& share : shares) share.next.load(std::memory_order_acquire);
}

}  // namespace texton::detail
