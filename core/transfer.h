#pragma once
// Checks and helpers that copy() and fill() share, and copies through pinned buffers.
#include <optional>

#include <texton/stream.h>
#include <texton/view.h>

#include "core/backend.h"

namespace texton::detail {

/// Returns the size of a view in bytes and rows. Contiguous rows or slices of memory are merged into one row.
Box box_of(const MemoryLocation& location) noexcept;

/// A checked copy. `request` points into this object and into the views, so it cannot be copied or moved.
struct Transfer {
    /// Checks the views, which must outlive this object. Throws the errors of copy().
    Transfer(const ConstView& destination, const ConstView& source);
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    CopyRequest request;

private:
    std::optional<MemoryLocation> destination_;  // the destination, if it is a host pointer to page-locked memory
    std::optional<MemoryLocation> source_;       // the source, likewise
};

/// Throws Error{bad_argument} if the view is empty, and Error{released} if its memory was freed or unmapped.
void check_live(const MemoryLocation& location, const char* object);
/// Returns a part of a location. Throws the errors of View::region().
MemoryLocation region_of(const MemoryLocation& whole, const Region& region, const char* object);
/// Returns the location with the kind, the device and the owner of the page-locked memory if it is a host pointer to
/// such memory, or nullopt. Throws Error{not_registered} if only a part of the range is page-locked.
std::optional<MemoryLocation> page_locked(const MemoryLocation& location, const char* object);
/// Returns the device that holds the memory, or null for host memory (pageable, pinned or registered).
Backend* home(const MemoryLocation& location) noexcept;
/// Waits for the default stream of the location's device, also for host memory of a device. Does nothing if `runs` is
/// this device, because its own work is in the order of its default stream.
void wait_for_default_stream(const MemoryLocation& location, const Backend& runs);
/// Throws Error{wrong_device} if the stream cannot run work between memory of these devices. Null means host memory.
void check_stream(const Stream& stream, const Backend* destination, const Backend* source, const char* object);
/// Returns true if both are in the same level or plane of an array and share a texel.
bool share_texels(const MemoryLocation& a, const MemoryLocation& b) noexcept;
/// Returns true if the two boxes share a byte of memory or a texel of an array.
bool overlap(const MemoryLocation& a, const MemoryLocation& b, const Box& box) noexcept;

class Ring;

/// Copies between pageable memory and a CUDA device through a ring of pinned buffers. `backend` is the CUDA device. If
/// `stream` is null, the copy runs after the work of the default stream and is done at return. Otherwise uploads are
/// enqueued, and downloads are done at return.
void copy_staged(Backend& backend, const CopyRequest& request, const StreamHandle* stream);
/// Enqueues a copy within the device through a pinned host buffer, for copies that the device cannot run directly.
void copy_through_host(Backend& backend, const CopyRequest& request, StreamHandle stream);

/// A pinned buffer for work on a stream. It belongs to a ring. While the stream is captured, it is a new buffer that
/// the graph keeps. Used by one thread.
class HostStage {
public:
    /// Throws Error{capturing} if the stream is captured by other code than Graph::capture().
    HostStage(Backend& backend, StreamHandle stream, std::size_t bytes);
    ~HostStage();
    HostStage(const HostStage&) = delete;
    HostStage& operator=(const HostStage&) = delete;

    /// Maximum size in bytes.
    static constexpr std::size_t kBytes = std::size_t{8} << 20;
    /// Returns the buffer, for work on the stream.
    std::byte* buffer() const noexcept;
    /// Returns the buffer for writing by the host, after earlier work that uses it is done.
    std::byte* written_by_host() const;

private:
    Backend& backend_;
    StreamHandle stream_;
    std::unique_ptr<Ring> ring_;
    std::shared_ptr<Block> kept_;
};

/// Minimum size in bytes of a pageable copy that uses the ring.
inline constexpr std::size_t kStagedBytes = std::size_t{2} << 20;

}  // namespace texton::detail
