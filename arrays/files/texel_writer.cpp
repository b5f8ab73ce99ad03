#include "arrays/files/texel_writer.h"

#include <atomic>
#include <exception>
#include <mutex>

#include "core/parallel.h"

namespace texton::detail {

void TexelWriter::for_each_piece(std::size_t threads, std::size_t pieces,
                                 const std::function<void(std::size_t piece, std::size_t thread)>& make) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    run_in_parallel(threads, [&](std::size_t thread) {
        try {
            for (std::size_t i = next++; i < pieces; i = next++) make(i, thread);
        } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
        }
    });
    if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace texton::detail
