#pragma once
// The kernels behind copies and fills of arrays, for the host compiler to launch.
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include <texton/host_device.h>

namespace texton::detail {

/// How a surface is addressed. Faces of cubes are layers.
enum class SurfaceShape : std::uint8_t { line, lines, plane, planes, volume };

/// A box of bytes in an array...
struct SurfaceSide {
    cudaSurfaceObject_t surface = 0;
    SurfaceShape shape = SurfaceShape::plane;
    int x = 0;  // bytes
    int y = 0;
    int z = 0;  // slice, layer or face
};
/// ... in the device's memory...
struct MemorySide {
    std::byte* address = nullptr;
    unsigned long long pitch = 0;
    unsigned long long slice_pitch = 0;
};
/// ... or of a pattern, repeated to 16 bytes.
struct PatternSide {
    uint4 bytes{};
};

/// The bytes of a row that are moved: both sides begin `first` bytes before the first one, where a unit begins.
struct MoveBox {
    unsigned long long first = 0;
    unsigned long long end = 0;
    unsigned long long rows = 1;
    unsigned long long slices = 1;
};

enum class MoveWay : std::uint8_t {
    array_to_memory,
    memory_to_array,
    array_to_array,
    pattern_to_array,
    pattern_to_memory
};

/// For cudaLaunchKernel, with the arguments (to, from, MoveBox); null if there is none. Each thread moves units of `unit`
/// bytes (1, 2, 4, 8 or 16), in rows_a_thread(unit) rows blockDim.y apart. Blocks must cover a row; rows and slices are
/// covered by any grid. Addresses, pitches and positions in arrays must be multiples of the unit; the first and the last unit of a
/// row may be moved in part, down to the size of a texel.
const void* move_kernel(MoveWay way, int unit) noexcept;

/// More for narrow units, so that enough bytes are under way.
TEXTON_HD constexpr unsigned rows_a_thread(int unit) noexcept { return unit == 16 ? 1 : 4; }

}  // namespace texton::detail
