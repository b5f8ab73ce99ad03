#pragma once
// Adds the object and the numbers to errors of a backend, and manages what must wait for the end of a recording.
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <texton/error.h>

#include "core/backend.h"

namespace texton::detail {

/// A named number of an error.
using Number = std::pair<const char*, std::uint64_t>;

/// Throws a copy of the error with the object and the numbers added. For out_of_memory the message has the requested
/// and the free bytes; the first number is then the requested bytes. An error that already has an object is thrown
/// unchanged.
[[noreturn]] void rethrow_named(const Error& error, Backend* backend, const char* object,
                                std::initializer_list<Number> numbers);

/// Throws Error{unsupported} if the process was forked after the device was created. Accepts null.
void refuse_if_lost(const Backend* backend, const char* object);
/// Throws Error{out_of_memory}: the host has too little memory for the operation.
[[noreturn]] void refuse_host_memory(const char* object);

/// Calls `ask` and returns its result. Adds the object and the numbers to an Error, as rethrow_named(). For a request
/// of memory the first number must be the bytes. Throws Error{unsupported} without the call if the device was created
/// before a fork.
template <class Ask>
decltype(auto) request(Backend* backend, const char* object, std::initializer_list<Number> numbers, Ask&& ask) {
    refuse_if_lost(backend, object);
    try {
        return std::forward<Ask>(ask)();
    } catch (const Error& error) {
        rethrow_named(error, backend, object, numbers);
    } catch (const std::bad_alloc&) {
        refuse_host_memory(object);
    }
}

/// Throws Error{out_of_bounds}: more bytes were imported than exported.
[[noreturn]] void refuse_length(std::size_t asked, std::size_t exported);

/// Throws Error{capturing} while the calling thread records a graph, because the operation would invalidate the
/// capture. `what` is the operation, for example "copying without a stream".
void refuse_while_recording(const char* object, const char* what);
/// Marks the calling thread as recording. Graph::capture() holds it from before the capture begins until after it has
/// ended. Recordings of a thread can be nested.
class RecordingScope {
public:
    RecordingScope() noexcept;
    ~RecordingScope();
    RecordingScope(const RecordingScope&) = delete;
    RecordingScope& operator=(const RecordingScope&) = delete;

    /// Returns the blocks that were passed to keep_in_recording() since this object was created, each once.
    std::vector<std::shared_ptr<const Block>> kept() const;

private:
    std::size_t first_kept_;
};
/// Makes the graph that the calling thread records keep the block. If recordings are nested, all their graphs keep it,
/// because only the driver knows which graph contains the work.
void keep_in_recording(std::shared_ptr<const Block> block);
/// Returns true while the calling thread records a graph.
bool recording() noexcept;
/// Returns true while any thread records a graph.
bool anyone_recording() noexcept;

/// Keeps the action until the recording of the calling thread has ended. Requires recording(). Returns false, and leaves
/// the action unchanged, if the host has no memory for this.
[[nodiscard]] bool after_recording(std::function<void()>& action) noexcept;

/// For destructors: runs the action, or runs it after the recording if the calling thread records a graph, because
/// freeing could invalidate the capture. If the host has no memory to keep the action until then, it runs at once. The
/// action must not throw.
template <class Action>
void outside_recording(Action&& action) noexcept {
    if (!recording()) {
        action();
        return;
    }
    std::function<void()> later;
    try {
        later = std::forward<Action>(action);
    } catch (const std::bad_alloc&) {
        action();  // not moved yet, because std::function allocates its memory first
        return;
    }
    if (!after_recording(later)) later();
}

/// A function of a backend that frees memory.
using FreeFunction = void (Backend::*)(std::byte*) noexcept;
/// Frees the memory, with outside_recording().
void free_outside_recording(Backend& backend, FreeFunction free, std::byte* address) noexcept;

}  // namespace texton::detail
