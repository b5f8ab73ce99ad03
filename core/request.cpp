#include "core/request.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "core/pending_frees.h"

namespace texton::detail {
namespace {

std::atomic<int> all_recordings{0};
thread_local int open_recordings = 0;
thread_local std::vector<std::function<void()>> deferred;
thread_local std::vector<std::shared_ptr<const Block>> kept_blocks;
std::atomic<unsigned> forks{0};

}  // namespace

unsigned fork_count() {
    static const bool counts = [] {
        if (pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) != 0) {
            refuse_host_memory("texton::Device");
        }
        return true;
    }();
    (void)counts;
    return forks.load(std::memory_order_relaxed);
}

void refuse_if_lost(const Backend* backend, const char* object) {
    if (backend == nullptr || !backend->lost()) return;
    throw Error({.code = ErrorCode::unsupported,
                 .object = object,
                 .problem = fmt::format("{} was used before this process was forked, and cannot be used in the child",
                                        backend->properties().name),
                 .remedy = "Fork before the first use of Texton, or start another program in the child with exec()."});
}

void refuse_host_memory(const char* object) {
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = object,
                 .problem = "the host has too little memory for the operation",
                 .remedy = "Free memory of the host first."});
}

void rethrow_named(const Error& error, Backend* backend, const char* object, std::initializer_list<Number> numbers) {
    if (!error.object().empty()) throw error;  // it already has an object
    ErrorParts parts{.code = error.code(),
                     .object = object,
                     .problem = error.problem(),
                     .remedy = error.remedy(),
                     .numbers = error.numbers(),
                     .call = error.call(),
                     .cuda_name = error.cuda_name()};
    const bool out_of_memory = error.code() == ErrorCode::out_of_memory && backend != nullptr && numbers.size() > 0;
    if (out_of_memory) parts.numbers.clear();  // so that every device reports the same numbers
    for (const Number& number : numbers) parts.numbers.emplace_back(number.first, number.second);
    if (out_of_memory) {
        std::size_t free = 0;
        try {
            free = backend->memory_info().free;
        } catch (const Error&) {
            // The device cannot report its free memory. The original failure is reported with 0 free bytes.
        }
        parts.numbers.emplace_back("free", free);
        parts.problem = fmt::format("{} bytes were requested on {}, but only {} bytes are free",
                                    numbers.begin()->second, backend->properties().name, free);
        parts.remedy = "Request less memory, or free memory of the device first.";
    }
    throw Error(std::move(parts));
}

void refuse_length(std::size_t asked, std::size_t exported) {
    throw Error({.code = ErrorCode::out_of_bounds,
                 .problem = fmt::format("an import of {} bytes was requested, but the other process exported {}", asked,
                                        exported),
                 .remedy = "Pass the size of the exported memory.",
                 .numbers = {{"bytes", asked}, {"exported", exported}}});
}

void refuse_while_recording(const char* object, const char* what) {
    if (open_recordings == 0) return;
    throw Error(
        {.code = ErrorCode::capturing,
         .object = object,
         .problem = fmt::format("{} is not possible while this thread records a graph", what),
         .remedy = "Call this before or after Graph::capture(), or pass a stream if the function accepts one."});
}

RecordingScope::RecordingScope() noexcept : first_kept_(kept_blocks.size()) {
    ++open_recordings;
    ++all_recordings;
}
RecordingScope::~RecordingScope() {
    --all_recordings;
    if (--open_recordings > 0) return;
    kept_blocks.clear();
    for (const auto& action : std::exchange(deferred, {})) action();
    free_pending();
}

std::vector<std::shared_ptr<const Block>> RecordingScope::kept() const {
    std::vector<std::shared_ptr<const Block>> blocks(kept_blocks.begin() + static_cast<std::ptrdiff_t>(first_kept_),
                                                     kept_blocks.end());
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks;
}

void keep_in_recording(std::shared_ptr<const Block> block) { kept_blocks.push_back(std::move(block)); }

bool after_recording(std::function<void()>& action) noexcept {
    try {
        deferred.emplace_back();
    } catch (const std::bad_alloc&) {
        return false;
    }
    deferred.back().swap(action);
    return true;
}

bool recording() noexcept { return open_recordings > 0; }
bool anyone_recording() noexcept { return all_recordings.load() > 0; }

void free_outside_recording(Backend& backend, FreeFunction free, std::byte* address) noexcept {
    outside_recording([&backend, free, address] { (backend.*free)(address); });
}

}  // namespace texton::detail
