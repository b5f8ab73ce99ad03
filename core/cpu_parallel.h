#pragma once
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace texton::detail {

/// How many pieces of work run at the same time.
inline std::size_t cpu_cores() { return static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()); }

/// Calls body(i) for every i below `pieces`, on all cores. Each takes the next when it is free: cores that wake late, or are
/// slower, hold nothing up. The calling thread does nothing else meanwhile: it may hold locks that other tasks of its arena
/// want.
template <class Body>
void run_in_parallel(std::size_t pieces, const Body& body) {
    // It also orders what the threads do once more: thread sanitizers do not see how TBB does it.
    std::atomic<std::size_t> next;
    next.store(0, std::memory_order_release);
    const auto take = [&](std::size_t) {
        std::size_t i;
        while ((i = next.fetch_add(1, std::memory_order_acq_rel)) < pieces) body(i);
    };
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(std::size_t{0}, std::min(pieces, cpu_cores()), take, tbb::simple_partitioner{}); });
    next.load(std::memory_order_acquire);
}

}  // namespace texton::detail
