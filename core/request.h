#pragma once
// Adds the object and the numbers to errors of a backend, and manages what must wait for the end of a recording.
#include <initializer_list>
#include <memory>
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

/// Calls `ask` and returns its result. Adds the object and the numbers to an Error, as rethrow_named(). For a request
/// of memory the first number must be the bytes.
template <class Ask>
decltype(auto) request(Backend* backend, const char* object, std::initializer_list<Number> numbers, Ask&& ask) {
    try {
        return std::forward<Ask>(ask)();
    } catch (const Error& error) {
        rethrow_named(error, backend, object, numbers);
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

/// Runs the action when the recording of the calling thread has ended. Requires recording().
void after_recording(std::function<void()> action);

/// A function of a backend that frees memory.
using FreeFunction = void (Backend::*)(std::byte*) noexcept;
/// Frees the memory. While the calling thread records a graph, frees it after the recording instead, because freeing
/// would invalidate the capture.
void free_outside_recording(Backend& backend, FreeFunction free, std::byte* address) noexcept;

}  // namespace texton::detail
