#pragma once
#include <functional>
#include <memory>

#include <texton/stream.h>

namespace texton {

namespace detail {
struct GraphState;
}

/// Work recorded once and launched as a whole, any number of times.
///
/// What a graph touches must outlive its launches: views do not keep their owners alive inside a graph. But sparse and deferred
/// arrays it does keep, and each launch is a use of theirs, with the memory that they have then. Memory that was allocated
/// while capturing belongs to the graph; see Linear.
class Graph {
public:
    /// Runs `record`, in which everything enqueued on `stream`, and on streams that wait for events recorded on it, is
    /// recorded instead of run. Streams joined that way must be joined back before `record` returns. If `record` throws, the
    /// capture ends, nothing is kept and the exception goes on.
    /// While recording, the calling thread cannot allocate or free with the host's order (Linear, Pitched2D, ...), copy or
    /// fill without a stream, wait, or ask a pool for its figures: Error{capturing}.
    [[nodiscard]] static Graph capture(const Stream& stream, const std::function<void()>& record);

    // No moves: a handle always names its graph.
    Graph(const Graph&) = default;
    Graph& operator=(const Graph&) = default;

    /// Error{wrong_device}, Error{not_mapped} if a deferred array that it uses has no memory.
    void launch(const Stream& stream) const;
    /// How many operations were recorded.
    std::size_t size() const noexcept;
    const Device& device() const noexcept;

    const std::shared_ptr<detail::GraphState>& state() const noexcept { return state_; }  ///< for Texton's own parts

private:
    explicit Graph(std::shared_ptr<detail::GraphState> state) noexcept : state_(std::move(state)) {}
    std::shared_ptr<detail::GraphState> state_;
};

}  // namespace texton
