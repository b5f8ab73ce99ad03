#pragma once
#include <memory>
#include <span>
#include <vector>

#include <texton/array.h>

namespace texton {

namespace detail {
struct SurfaceState;
}

/// What an access outside of a surface does, in x, y or z: slices, layers and faces are no other than rows.
enum class Boundary : std::uint8_t {
    trap,   ///< refused: Error{out_of_bounds} before anything is read or written
    clamp,  ///< goes to the nearest edge
    zero    ///< reads 0, writes nothing
};

/// A texel of a surface, counted in texels (kernels count x in bytes).
struct SurfacePoint {
    std::int32_t x = 0;
    std::int32_t y = 0;
    std::int32_t z = 0;  ///< slice of a 3D array, layer, or face (cubemap_layered: cube * 6 + face)
};

/// One level of an array that was made with usage.surface, as kernels write it. A cheap handle, which keeps its array.
class Surface {
public:
    /// Error{not_permitted} without usage.surface, Error{out_of_bounds} for a level that is not there.
    explicit Surface(const Array& array, int level = 0);
    // No moves: a handle always names its surface.
    Surface(const Surface&) = default;
    Surface& operator=(const Surface&) = default;

    ArrayKind kind() const noexcept;
    Format format() const noexcept;
    Extent extent() const noexcept;  ///< of the level; depth is slices, layers or faces
    Device device() const;

    /// For kernels: cudaSurfaceObject_t on a CUDA device. Error{not_mapped} for an array without memory.
    std::uint64_t handle() const;

    bool operator==(const Surface& other) const noexcept { return state_ == other.state_; }

    const std::shared_ptr<detail::SurfaceState>& state() const noexcept { return state_; }  ///< for Texton's own parts

private:
    std::shared_ptr<detail::SurfaceState> state_;
};

/// The texels at the points, packed, as the format stores them. Done when the call returns.
[[nodiscard]] std::vector<std::byte> read(const Surface& surface, std::span<const SurfacePoint> points,
                                          Boundary boundary = Boundary::trap);
/// Packed texels to the points. Points that meet: one of them wins. Error{bad_argument} unless there is a texel a point.
void write(const Surface& surface, std::span<const SurfacePoint> points, std::span<const std::byte> texels,
           Boundary boundary = Boundary::trap);

}  // namespace texton
