#pragma once
// Copies between memories of any kind.
#include <vector>

#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Copies texels between two memories of any kind, on one device or two, and returns when the copy is done.
///
/// Both views must have the same extent. Their formats must have the same bytes per texel, and the same block size; the
/// bits are not converted. Large copies from or to pageable host memory use a ring of pinned buffers, which is several
/// times as fast as CUDA's own copy. Several threads may call this function at once.
///
/// Throws
/// - Error{bad_argument} if a view is empty, or if extents, texel sizes or block sizes differ,
/// - Error{overlap} if the views share bytes or texels,
/// - Error{released} if the memory of a view was freed or unmapped,
/// - Error{not_registered} if only a part of a host range is pinned or registered,
/// - Error{not_permitted} if the host would read write-combined memory,
/// - Error{not_mapped} if a deferred array has no memory,
/// - Error{capturing} if the calling thread records a graph.
void copy(const View& destination, const ConstView& source);
/// Enqueues the copy on a stream.
///
/// Pageable host memory is read before the call returns. If the destination is pageable host memory, it is written
/// before the call returns. For other memory the call can return before the copy is done, and the caller must keep both
/// memories until then. If the stream is captured into a graph, each launch reads and writes the memory, so it must
/// outlive the graph.
///
/// The stream must belong to the device of the destination or of the source. For a copy between a CUDA device and the
/// CPU device it must belong to the CUDA device.
///
/// Throws the errors of copy() without a stream, before any work is enqueued. Throws Error{wrong_device} if the stream
/// belongs to another device. Throws Error{capturing} if the stream is captured and
/// - an array is sparse or deferred, and the capture was not started by Graph::capture(), or
/// - the copy is between an array of the CPU device and a CUDA device.
void copy(const View& destination, const ConstView& source, const Stream& stream);

/// A list of copies that run with one call to the driver, if it supports that.
///
/// The copies may run in any order, so none may write memory that another one reads or writes; this is not checked. The
/// batch holds the views, which keep their owners alive. Several threads may run a constant batch at once.
class CopyBatch {
public:
    /// Adds a copy. Throws the errors of copy() for the pair; the batch is then unchanged.
    void add(const View& destination, const ConstView& source);
    std::size_t size() const noexcept { return pairs_.size(); }  ///< Returns the number of copies.
    void clear() noexcept { pairs_.clear(); }                    ///< Removes all copies.
    /// Enqueues all copies. The batch is unchanged and can be run again. Throws the errors of copy().
    void run(const Stream& stream) const;

private:
    struct Pair {
        View destination;
        ConstView source;
    };
    std::vector<Pair> pairs_;
};

}  // namespace texton
