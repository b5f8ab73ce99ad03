#pragma once
// Enqueuing work on memory whose mapping can change: sparse and deferred arrays.
#include <span>
#include <vector>

#include <texton/stream.h>

#include "core/block.h"

namespace texton::detail {

/// Prevents changes to the mapping of sparse and deferred arrays while work on them is enqueued. Does nothing for other
/// memory.
///
///     BackingUse use(kCopy, stream, {&destination.owner, &source.owner}); backend.copy(...); use.enqueued();  // not
///     without a stream, because the work is done already
///
/// The constructor locks the mappings, and the destructor unlocks them. All threads lock in the same order, so they
/// cannot deadlock. Work without a stream waits for the last mapping on the host; work with a stream waits on the
/// stream.
///
/// If the calling thread records the stream into a graph, the graph keeps the memory from the constructor on, and each
/// launch is such a use. The constructors throw Error{not_mapped} if a deferred array has no memory, and
/// Error{capturing} if the stream is captured by other code than Graph::capture().
class BackingUse {
public:
    using Owner = std::shared_ptr<const Block>;

    /// For work that is done before this object is destroyed.
    BackingUse(const char* object, const Owner& first, const Owner& second = nullptr);
    /// For work that is enqueued on the stream, which must outlive this object.
    BackingUse(const char* object, const Stream& stream, const Owner& first, const Owner& second = nullptr);
    BackingUse(const char* object, const Stream& stream, std::span<const Owner> owners);
    ~BackingUse();
    BackingUse(const BackingUse&) = delete;
    BackingUse& operator=(const BackingUse&) = delete;

    /// Tells the memory that work was enqueued on the stream. Call it once, after enqueuing.
    void enqueued();

private:
    void add(const Owner& owner);
    void hold(const char* object);
    void release(std::size_t count) noexcept;

    const Stream* stream_ = nullptr;
    std::vector<Owner> held_;  // the owners with a Backing, each once, sorted by address
    bool recorded_ = false;    // true if the stream is recorded into a graph
};

}  // namespace texton::detail
