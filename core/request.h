#pragma once
// Gives a failure from below the seam its name: who asked, and with which numbers.
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <texton/error.h>

#include "core/backend.h"

namespace texton::detail {

using Number = std::pair<const char*, std::uint64_t>;

/// Rethrows as an Error with the object and the numbers added; out of memory gets what was asked for and what is free.
[[noreturn]] void rethrow_named(const Error& error, Backend* backend, const char* object,
                                std::initializer_list<Number> numbers);

/// Calls `ask` and names what it throws. Costs nothing where nothing is thrown. The first number of a request for memory is
/// the bytes asked for.
template <class Ask>
decltype(auto) request(Backend* backend, const char* object, std::initializer_list<Number> numbers, Ask&& ask) {
    try {
        return std::forward<Ask>(ask)();
    } catch (const Error& error) {
        rethrow_named(error, backend, object, numbers);
    }
}

/// Error{out_of_bounds}: more bytes were imported than were exported.
[[noreturn]] void refuse_length(std::size_t asked, std::size_t exported);

/// Error{capturing} while the calling thread records a graph: the call would break the capture.
void refuse_while_recording(const char* object, const char* what);
/// Held by Graph::capture from before the recording begins until after it has ended.
class RecordingScope {
public:
    RecordingScope() noexcept;
    ~RecordingScope();
    RecordingScope(const RecordingScope&) = delete;
    RecordingScope& operator=(const RecordingScope&) = delete;

    /// What keep_in_recording() was given since it began.
    std::vector<std::shared_ptr<const Block>> kept() const;

private:
    std::size_t first_kept_;
};
/// The graph that the calling thread records keeps the block, whose backing its launches use. (Of recordings within each
/// other, all do: which one the work went into, only the driver knows.)
void keep_in_recording(std::shared_ptr<const Block> block);
/// True while the calling thread records.
bool recording() noexcept;
/// True while any thread does.
bool anyone_recording() noexcept;

/// Runs when the calling thread's recording has ended.
void after_recording(std::function<void()> action);

using FreeFunction = void (Backend::*)(std::byte*) noexcept;
/// Frees now; while the calling thread records, when its recording has ended: a free in between would break the capture.
void free_outside_recording(Backend& backend, FreeFunction free, std::byte* address) noexcept;

}  // namespace texton::detail
