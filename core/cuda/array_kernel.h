#pragma once
// The CUDA kernels for copies and fills of arrays, as code compiled by the host compiler launches them.
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include <texton/host_device.h>

namespace texton::detail {

/// Addressing of a surface: 1D, layered 1D, 2D, layered 2D or 3D. Faces of cubemaps are layers.
enum class SurfaceShape : std::uint8_t { line, lines, plane, planes, volume };

/// One side of a move: a box in an array.
struct SurfaceSide {
    cudaSurfaceObject_t surface = 0;
    SurfaceShape shape = SurfaceShape::plane;
    int x = 0;  // bytes
    int y = 0;
    int z = 0;  // slice, layer or face
};
/// One side of a move: a box in memory of the device. Pitches are in bytes.
struct MemorySide {
    std::byte* address = nullptr;
    unsigned long long pitch = 0;
    unsigned long long slice_pitch = 0;
};
/// Source of a fill: the pattern, repeated to 16 bytes.
struct PatternSide {
    uint4 bytes{};
};

/// The box that is moved. Both sides start `first` bytes before the box, so that rows start at a multiple of the unit.
struct MoveBox {
    // first byte of a row to move, counted from the start of the sides
    unsigned long long first = 0;
    // end of the bytes to move, counted from the start of the sides
    unsigned long long end = 0;
    unsigned long long rows = 1;
    unsigned long long slices = 1;
};

/// Memory types of the two sides.
enum class MoveMethod : std::uint8_t {
    array_to_memory,
    memory_to_array,
    array_to_array,
    pattern_to_array,
    pattern_to_memory
};

/// Returns the CUDA kernel for cudaLaunchKernel, or null if `unit` is not 1, 2, 4, 8 or 16. Its arguments are the
/// destination side, the source side and a MoveBox. Each thread moves units of `unit` bytes in rows_a_thread(unit) rows
/// that are blockDim.y apart.
///
/// The grid must cover a row in x; in y and z it may have any size. Addresses, pitches and byte positions in arrays
/// must be multiples of the unit. The first and the last unit of a row may be moved in part, in pieces of at least one
/// texel.
const void* move_kernel(MoveMethod method, int unit) noexcept;

/// Returns the rows that each thread moves. Narrow units need more rows per thread to keep enough bytes in flight.
TEXTON_HD constexpr unsigned rows_a_thread(int unit) noexcept { return unit == 16 ? 1 : 4; }

}  // namespace texton::detail
