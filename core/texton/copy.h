#pragma once
// Copies between memories of any kind.
#include <vector>

#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Copies texels between two memories of any kind, on one device or two, and returns when the copy is done.
///
/// The copy runs after the work of the default stream, but does not wait for other streams; see Stream. Copies between
/// host memories that belong to no device are made by the first CPU device.
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
/// If the source or the destination is pageable host memory, it has been read or written when the call returns.
/// Otherwise the call can return before the copy is done, and the caller must keep both memories until then. If the
/// stream is captured into a graph, the call reads and writes nothing: each launch does, so the caller must keep both
/// memories, pageable ones too, until the last launch is done.
///
/// The stream must belong to the device of the destination or of the source. For a copy between a CUDA device and the
/// CPU device it must belong to the CUDA device.
///
/// Throws the errors of copy() without a stream, before any work is enqueued. Throws Error{wrong_device} if the stream
/// belongs to another device. Throws Error{capturing} if the stream is captured and
/// - the graph would have to keep memory, and the capture was not started by Graph::capture() on this thread: this
///   concerns sparse and deferred arrays, and arrays that CUDA can only copy through host memory, or
/// - the copy is between an array of the CPU device and a CUDA device.
void copy(const View& destination, const ConstView& source, const Stream& stream);

/// A list of copies that are enqueued together, with a single call to the driver where the driver supports this.
///
/// The copies may run in any order, so none may write memory that another one reads or writes; this is not checked. The
/// batch holds the views, which keep their owners alive. Copies in flight do not hold the batch: the caller must keep
/// it, or the memories, until they are done. Several threads may call const member functions at once.
class CopyBatch {
public:
    /// Adds a copy. Throws the errors of copy() that concern the two views: bad_argument, overlap, released,
    /// not_registered and not_permitted. After an exception the batch is unchanged.
    void add(const View& destination, const ConstView& source);
    std::size_t size() const noexcept { return pairs_.size(); }  ///< Returns the number of copies.
    void clear() noexcept { pairs_.clear(); }                    ///< Removes all copies.
    /// Enqueues all copies. The batch is unchanged and can be run again.
    ///
    /// Throws the errors of copy() with a stream. After Error{capturing} or a failure of the driver, some of the copies
    /// may already be enqueued. After other errors none is.
    void run(const Stream& stream) const;

private:
    struct Pair {
        View destination;
        ConstView source;
    };
    std::vector<Pair> pairs_;
};

}  // namespace texton
