#pragma once
#include <memory>

#include <texton/array.h>
#include <texton/stream.h>

namespace texton {

/// The two planes of a planar picture, in memory of any kind.
struct Frame {
    View luma;
    View chroma;  ///< half as wide; half as high, too, but for nv16
};

/// The planes of a frame in host memory: the rows of luma, then those of chroma. `pitch` 0 means packed; the planes share it.
/// Errors as host_view(); bad_argument unless the format is planar and both sides are even.
[[nodiscard]] Frame host_frame(void* data, Format format, Extent extent, std::size_t pitch = 0);

/// Copies both planes.
void copy(const Frame& destination, const Frame& source);
void copy(const Frame& destination, const Frame& source, const Stream& stream);

/// Owns a planar array (nv12, p010, p016, nv16): one object for the driver, with a plane for luma and one for chroma, each of
/// which is sampled as an array of its own. Move-only.
class PlanarArray {
public:
    PlanarArray() = default;
    /// Error{bad_argument} unless the format is planar and both sides are even, Error{overflow} above the device's limit.
    PlanarArray(const Device& device, Format format, Extent extent);

    Format format() const noexcept;
    Extent extent() const noexcept;
    Device device() const;

    /// Plane 0 or 1 as an array: r8_unorm and rg8_unorm, or the same with 16. It keeps the whole alive.
    const Array& plane(int index) const;
    Frame frame() const;

private:
    Array planes_[2];
    Format format_ = Format::nv12;
    Extent extent_;
};

}  // namespace texton
