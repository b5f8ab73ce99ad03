#pragma once
// How work is enqueued on memory whose backing may change: sparse and deferred arrays.
#include <span>
#include <vector>

#include <texton/stream.h>

#include "core/block.h"

namespace texton::detail {

/// Holds the backing of what it was given from before work is enqueued until after. Costs nothing for plain memory.
///
///     BackingUse use(kCopy, stream, {&destination.owner, &source.owner});
///     backend.copy(...);
///     use.enqueued();  // or without a stream: nothing, for the work is done already
///
/// While the calling thread records the stream into a graph, the graph keeps the memory and each launch is such a use.
/// Error{not_mapped} from the constructor; Error{capturing} if the stream is captured by others than Graph::capture.
class BackingUse {
public:
    using Owner = std::shared_ptr<const Block>;

    /// For work that is done before the use ends.
    BackingUse(const char* object, const Owner& first, const Owner& second = nullptr);
    /// For work on the stream.
    BackingUse(const char* object, const Stream& stream, const Owner& first, const Owner& second = nullptr);
    BackingUse(const char* object, const Stream& stream, std::span<const Owner> owners);
    ~BackingUse();
    BackingUse(const BackingUse&) = delete;
    BackingUse& operator=(const BackingUse&) = delete;

    void enqueued();

private:
    void add(const Owner& owner);
    void hold(const char* object);
    void release(std::size_t count) noexcept;

    const Stream* stream_ = nullptr;
    std::vector<Owner> held_;  // those with a Backing, each once, in the order of their addresses
    bool recorded_ = false;    // the stream's graph keeps them
};

}  // namespace texton::detail
