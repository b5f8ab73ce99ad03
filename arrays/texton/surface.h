#pragma once
#include <memory>
#include <span>
#include <vector>

#include <texton/array.h>

namespace texton {

namespace detail {
struct SurfaceState;
}

/// What read() and write() do with points outside of a surface. It applies to x, y and z, where z is a slice, layer or
/// face.
enum class Boundary : std::uint8_t {
    trap,   ///< throws Error{out_of_bounds} before anything is read or written
    clamp,  ///< accesses the nearest texel of the edge
    zero    ///< reads return 0, writes are discarded
};

/// The position of a texel in a surface. It is in texels, while the surface functions of kernels use bytes for x.
struct SurfacePoint {
    std::int32_t x = 0;  ///< column
    std::int32_t y = 0;  ///< row
    std::int32_t z = 0;  ///< slice of a 3D array, layer, or face (cubemap_layered: cube * 6 + face)
};

/// One level of an array that kernels can read and write. The array needs ArrayUsage::surface.
///
/// Copies are cheap and refer to the same surface, which keeps the array alive. Several threads may use a surface at
/// once. The caller must order accesses of different streams (also the default stream) to the same texels.
class Surface {
public:
    /// Creates a surface for a level of the array. Throws Error{released} if the array is empty, Error{not_permitted}
    /// if it was created without ArrayUsage::surface, Error{out_of_bounds} if the level does not exist, and
    /// Error{capturing} while the calling thread records a graph.
    explicit Surface(const Array& array, int level = 0);
    // There are no move operations, so a Surface is never empty.
    Surface(const Surface&) = default;             ///< Creates another handle of the same surface.
    Surface& operator=(const Surface&) = default;  ///< Refers to the same surface as the other handle.

    ArrayKind kind() const noexcept;  ///< Returns the kind of the array.
    Format format() const noexcept;   ///< Returns the format of the array.
    Extent extent() const noexcept;   ///< Returns the size of the level; the depth counts slices, layers or faces.
    Device device() const;            ///< Returns the device of the array.

    /// Returns the handle for kernels, a cudaSurfaceObject_t on a CUDA device. A copy of the Surface, or the array,
    /// must exist until the kernel has finished. Throws Error{not_mapped} for a deferred array without memory. If the
    /// mapping of a deferred array is still changing, the call waits for it.
    std::uint64_t handle() const;

    /// Returns true if both handles refer to the same surface.
    bool operator==(const Surface& other) const noexcept { return state_ == other.state_; }

    /// Returns the internal state. For internal use.
    const std::shared_ptr<detail::SurfaceState>& state() const noexcept { return state_; }

private:
    std::shared_ptr<detail::SurfaceState> state_;
};

/// Returns the packed texels at the points and blocks until they are read. The work runs after the work of the default
/// stream, but does not wait for other streams; see Stream. Throws Error{out_of_bounds} with Boundary::trap,
/// Error{not_mapped} for a deferred array without memory, and Error{capturing} while the calling thread records a
/// graph.
[[nodiscard]] std::vector<std::byte> read(const Surface& surface, std::span<const SurfacePoint> points,
                                          Boundary boundary = Boundary::trap);
/// Writes packed texels to the points and returns when they are stored. It is ordered with streams like read(). If
/// several points are equal, the texel of one of them is stored. Throws Error{bad_argument} if the number of bytes does
/// not match the number of points, and the errors of read().
void write(const Surface& surface, std::span<const SurfacePoint> points, std::span<const std::byte> texels,
           Boundary boundary = Boundary::trap);

}  // namespace texton
