#pragma once
#include <vector>

#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Copies texels between any two memories: host, pinned, registered, managed, linear, pitched, mapped, symbol, array, of one
/// device or two. Both views have the same extent, and formats with the same bytes a texel; bits are not converted.
///
/// Without a stream the copy is done when the call returns. With one, it runs in the stream's order; pageable host memory is
/// read during the call, and written before it returns, as CUDA does. (Recorded into a graph, it is read and written at
/// launch, and must stay.) Large pageable copies go through a ring of pinned buffers, several times as fast as CUDA's own.
///
/// The stream must be of the destination's or the source's device; between a CUDA device and the CPU device, of the CUDA one.
/// Errors: bad_argument (extents or texel sizes differ, an empty view), overlap, released, wrong_device, not_registered (a
/// host range that is only partly registered), not_permitted (the host would read write-combined memory), not_mapped (a
/// deferred array without memory), capturing (on a stream that is captured by others than Graph::capture, for sparse and
/// deferred arrays; between an array of the CPU device and a CUDA device, on any that is captured).
void copy(const View& destination, const ConstView& source);
void copy(const View& destination, const ConstView& source, const Stream& stream);

/// Many copies in one call to the driver, where it has one. They may run in any order, so that none may write what another
/// touches: Error{overlap} in add() is only raised for the two sides of one copy.
class CopyBatch {
public:
    /// Checks the pair as copy() does.
    void add(const View& destination, const ConstView& source);
    std::size_t size() const noexcept { return pairs_.size(); }
    void clear() noexcept { pairs_.clear(); }
    /// Enqueues all; the batch stays as it is and can be run again.
    void run(const Stream& stream) const;

private:
    struct Pair {
        View destination;
        ConstView source;
    };
    std::vector<Pair> pairs_;
};

}  // namespace texton
