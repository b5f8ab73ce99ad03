#pragma once
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace texton::detail {

/// How many pieces of work run at the same time.
inline std::size_t cpu_cores() { return static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()); }

/// Pieces that a thread takes before it helps others with theirs.
struct alignas(64) CpuShare {
    std::atomic<std::size_t> next;
    std::size_t end;
};

/// Calls body(i) for every i below `pieces`, on all cores. A thread has pieces that follow each other, the same share of the
/// whole each time, so that what it made before may still be in its cache; who is done takes those of others, one by one:
/// cores that wake late, or are slower, hold nothing up. The calling thread does nothing else meanwhile: it may hold locks
/// that other tasks of its arena want. All threads have its modes of floats.
template <class Body>
void run_in_parallel(std::size_t pieces, const Body& body) {
    const std::size_t count = std::min(pieces, cpu_cores());
    std::vector<CpuShare> shares(count);
    // The counters also order what the threads do once more: thread sanitizers do not see how TBB does it.
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
