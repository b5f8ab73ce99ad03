#pragma once
#include <memory>

#include <texton/array.h>
#include <texton/stream.h>

namespace texton {

/// The two planes of a planar image, in memory of any kind.
struct Frame {
    View luma;    ///< plane 0, with the size of the image
    View chroma;  ///< plane 1: half the width and, except for nv16, half the height
};

/// Returns views of the planes of an image in host memory: all rows of luma, followed by all rows of chroma. `pitch` is
/// the distance between rows in bytes, the same for both planes; 0 means packed rows. The views do not keep the memory
/// alive.
///
/// Throws Error{bad_argument} if the format is not planar, if width or height is zero or odd, or if the depth is not 1.
/// Also throws the errors of host_view().
[[nodiscard]] Frame host_frame(void* data, Format format, Extent extent, std::size_t pitch = 0);

/// Copies both planes and returns when the copy is complete. Both planes are checked first, so nothing is written if
/// the arguments are not valid. Throws the errors of copy() for views.
void copy(const Frame& destination, const Frame& source);
/// Enqueues the copy of both planes on the stream. The views of both planes are checked before anything is enqueued.
/// Throws the errors of copy() for views.
void copy(const Frame& destination, const Frame& source, const Stream& stream);

/// Owns a planar CUDA array (nv12, p010, p016 or nv16). It has a luma plane and a chroma plane. Each plane is sampled
/// as a separate Array.
///
/// Copies refer to the same array. A default-constructed or moved-from object is empty: plane(), frame() and device()
/// throw Error{released}. Threads and streams: see Array.
class PlanarArray {
public:
    /// Creates an empty object without an array.
    PlanarArray() = default;
    /// Creates a planar array with undefined contents.
    ///
    /// Throws Error{bad_argument} if the format is not planar, if width or height is zero or odd, or if the depth is
    /// not 1. Throws Error{overflow} if the size exceeds the limit of the device, Error{out_of_memory} if the device
    /// has too little memory, and Error{capturing} while the calling thread records a graph.
    PlanarArray(const Device& device, Format format, Extent extent);

    Format format() const noexcept;  ///< Returns the planar format.
    Extent extent() const noexcept;  ///< Returns the size of the luma plane.
    Device device() const;           ///< Returns the device that has the memory.

    /// Returns a plane as an array: 0 is luma (r8_unorm or r16_unorm), 1 is chroma (rg8_unorm or rg16_unorm). A copy of
    /// the returned Array keeps both planes alive. Throws Error{out_of_bounds} for other indices.
    const Array& plane(int index) const;
    /// Returns views of both planes for copies. They keep the array alive.
    Frame frame() const;

private:
    Array planes_[2];
    Format format_ = Format::nv12;
    Extent extent_;
};

}  // namespace texton
