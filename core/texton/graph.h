#pragma once
// Graphs: work that is recorded once and launched many times.
#include <functional>
#include <memory>

#include <texton/stream.h>

namespace texton {

namespace detail {
struct GraphState;
}

/// A recorded sequence of operations, which is launched as a whole, any number of times.
///
/// A handle that is cheap to copy: copies refer to the same graph. The graph is destroyed with the last copy; launches
/// in flight then run to their end. Several threads may launch a graph. Its launches run one after another, even on
/// different streams.
///
/// The caller must keep everything that the graph reads and writes until its launches are done: views do not keep their
/// owners alive inside a graph. Sparse and deferred arrays are an exception: the graph keeps them, and each launch uses
/// the memory that they have at that time. Memory that is allocated during the capture belongs to the graph; see
/// Linear.
class Graph {
public:
    /// Calls `record` and returns a graph of the work that it enqueues on `stream`. The work does not run.
    ///
    /// The graph also contains the work of every stream that waits for an event recorded on `stream`. `stream` must
    /// wait for an event of each of these streams before `record` returns.
    ///
    /// During the call, the following throw Error{capturing} on the calling thread: allocating memory outside of stream
    /// order (the constructors of Linear, Pitched2D, Pinned, ...), creating arrays, textures or surfaces, mapping or
    /// unmapping memory, copying or filling without a stream, waiting for a captured stream or for the device, and
    /// querying or changing a pool. Destructors of such objects free the memory after the recording; for AddressRange
    /// see there.
    ///
    /// Throws
    /// - Error{bad_argument} if `record` is empty,
    /// - Error{capturing} if `stream` is a default stream or is being captured, if a stream did not join, or if an
    ///   operation cannot be recorded,
    /// - the exceptions of `record`.
    ///
    /// After an exception no graph exists and none of the work has run. A capture that this call started has ended.
    [[nodiscard]] static Graph capture(const Stream& stream, const std::function<void()>& record);

    // No moves: a handle always refers to its graph.
    Graph(const Graph&) = default;             ///< Copies the handle.
    Graph& operator=(const Graph&) = default;  ///< Copies the handle.

    /// Enqueues the graph's work on a stream, and returns without waiting for it. If the stream is captured, nothing
    /// runs: a copy of this graph becomes a part of the captured graph. CUDA does not allow this for a graph that
    /// allocates memory.
    ///
    /// Throws Error{wrong_device} if the stream belongs to another device, and Error{not_mapped} if a deferred array of
    /// the graph has no memory.
    void launch(const Stream& stream) const;
    std::size_t size() const noexcept;      ///< Returns the number of recorded operations.
    const Device& device() const noexcept;  ///< Returns the device of the graph.

    const std::shared_ptr<detail::GraphState>& state() const noexcept { return state_; }  ///< For internal use.

private:
    explicit Graph(std::shared_ptr<detail::GraphState> state) noexcept : state_(std::move(state)) {}
    std::shared_ptr<detail::GraphState> state_;
};

}  // namespace texton
