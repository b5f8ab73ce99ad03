#pragma once
// What copy() and fill() share: views checked and resolved into boxes of bytes.
#include <optional>

#include <texton/stream.h>
#include <texton/view.h>

#include "core/backend.h"

namespace texton::detail {

/// The bytes, rows and slices of a view; fewer dimensions where rows or slices touch.
Box box_of(const Place& place) noexcept;

/// A pair of views that may be copied. Holds what the request points to: neither copied nor moved.
struct Transfer {
    Transfer(const ConstView& destination, const ConstView& source);
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    CopyRequest request;

private:
    std::optional<Place> destination_;  // where a bare host pointer turned out to be page-locked
    std::optional<Place> source_;
};

/// Throws unless the view holds something, and its owner still does.
void check_live(const Place& place, const char* object);
/// The region of a place, checked as View::region() says.
Place region_of(const Place& whole, const Region& region, const char* object);
/// The page-locked place behind a bare host pointer, if it is one. Error{not_registered} if the range is partly page-locked.
std::optional<Place> page_locked(const Place& place, const char* object);
/// The device that memory lives on; null for the host's own, which every device reaches.
Backend* home(const Place& place) noexcept;
/// Error{wrong_device} unless work between memory at these homes (null: the host) may run on the stream.
void check_stream(const Stream& stream, const Backend* destination, const Backend* source, const char* object);
/// True if the two boxes share a byte, or a texel of an array.
bool overlap(const Place& a, const Place& b, const Box& box) noexcept;

class Ring;

/// Large copies from and to pageable memory, through pinned buffers. The backend is the CUDA device's. A null stream means a
/// stream of the ring's own, and done at return.
void copy_staged(Backend& backend, const CopyRequest& request, const StreamHandle* stream);
/// A copy within the device that must not be made by the device alone: through a pinned buffer, in the stream's order.
void copy_through_host(Backend& backend, const CopyRequest& request, StreamHandle stream);

/// A pinned buffer for work in a stream's order: of a ring; while a graph is recorded, its own, which the graph keeps.
class HostStage {
public:
    /// Error{capturing} where the stream is captured by others than Graph::capture.
    HostStage(Backend& backend, StreamHandle stream, std::size_t bytes);
    ~HostStage();
    HostStage(const HostStage&) = delete;
    HostStage& operator=(const HostStage&) = delete;

    /// Bytes that it holds at most.
    static constexpr std::size_t kBytes = std::size_t{8} << 20;
    /// For the stream's work to write and read.
    std::byte* buffer() const noexcept;
    /// For the host to write: waits until no earlier work uses it.
    std::byte* written_by_host() const;

private:
    Backend& backend_;
    StreamHandle stream_;
    std::unique_ptr<Ring> ring_;
    std::shared_ptr<Block> kept_;
};

/// From this size a pageable copy goes through the ring.
inline constexpr std::size_t kStagedBytes = std::size_t{2} << 20;

}  // namespace texton::detail
