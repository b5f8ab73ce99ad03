#pragma once
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <cstddef>

namespace texton::detail {

/// How many pieces of work run at the same time.
inline std::size_t cpu_cores() { return static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()); }

/// Calls body(i) for every i below `pieces`, on all cores. The calling thread does nothing else meanwhile: it may hold
/// locks that other tasks of its arena want.
///
/// The flags order what the threads do once more: thread sanitizers do not see how TBB does it.
template <class Body>
void run_in_parallel(std::size_t pieces, const Body& body) {
    std::atomic<bool> begun{false};
    std::atomic<std::size_t> done{0};
    begun.store(true, std::memory_order_release);
    tbb::this_task_arena::isolate([&] {
        tbb::parallel_for(
            std::size_t{0}, pieces,
            [&](std::size_t i) {
                begun.load(std::memory_order_acquire);
                body(i);
                done.fetch_add(1, std::memory_order_release);
            },
            tbb::static_partitioner{});
    });
    done.load(std::memory_order_acquire);
}

}  // namespace texton::detail
