#include "core/cuda/array_kernel.h"

// Rows are moved as raw bytes of any texel format, in units as wide as both sides allow. Surface accesses have 1 to 16
// bytes and must be aligned to their size. An access that crosses the end of an array's row is dropped as a whole, so
// the ends of a row are moved in smaller units.

namespace texton::detail {
namespace {

using Size = unsigned long long;

template <int bytes>
struct UnitOf;
template <>
struct UnitOf<1> {
    using Type = unsigned char;
};
template <>
struct UnitOf<2> {
    using Type = unsigned short;
};
template <>
struct UnitOf<4> {
    using Type = unsigned int;
};
template <>
struct UnitOf<8> {
    using Type = uint2;
};
template <>
struct UnitOf<16> {
    using Type = uint4;
};
template <int bytes>
using Unit = typename UnitOf<bytes>::Type;

struct At {
    Size byte, row, slice;
};

template <int bytes>
__device__ Unit<bytes> load(const SurfaceSide& side, const At& at) {
    using T = Unit<bytes>;
    const int x = side.x + static_cast<int>(at.byte);
    const int y = side.y + static_cast<int>(at.row);
    const int z = side.z + static_cast<int>(at.slice);
    T unit{};
    switch (side.shape) {
        case SurfaceShape::line: surf1Dread(&unit, side.surface, x, cudaBoundaryModeZero); break;
        case SurfaceShape::lines: surf1DLayeredread(&unit, side.surface, x, z, cudaBoundaryModeZero); break;
        case SurfaceShape::plane: surf2Dread(&unit, side.surface, x, y, cudaBoundaryModeZero); break;
        case SurfaceShape::planes: surf2DLayeredread(&unit, side.surface, x, y, z, cudaBoundaryModeZero); break;
        case SurfaceShape::volume: surf3Dread(&unit, side.surface, x, y, z, cudaBoundaryModeZero); break;
    }
    return unit;
}

template <int bytes>
__device__ void store(const SurfaceSide& side, const At& at, Unit<bytes> unit) {
    const int x = side.x + static_cast<int>(at.byte);
    const int y = side.y + static_cast<int>(at.row);
    const int z = side.z + static_cast<int>(at.slice);
    switch (side.shape) {
        case SurfaceShape::line: surf1Dwrite(unit, side.surface, x, cudaBoundaryModeZero); break;
        case SurfaceShape::lines: surf1DLayeredwrite(unit, side.surface, x, z, cudaBoundaryModeZero); break;
        case SurfaceShape::plane: surf2Dwrite(unit, side.surface, x, y, cudaBoundaryModeZero); break;
        case SurfaceShape::planes: surf2DLayeredwrite(unit, side.surface, x, y, z, cudaBoundaryModeZero); break;
        case SurfaceShape::volume: surf3Dwrite(unit, side.surface, x, y, z, cudaBoundaryModeZero); break;
    }
}

__device__ std::byte* address(const MemorySide& side, const At& at) {
    return side.address + at.slice * side.slice_pitch + at.row * side.pitch + at.byte;
}

template <int bytes>
__device__ Unit<bytes> load(const MemorySide& side, const At& at) {
    return *reinterpret_cast<const Unit<bytes>*>(address(side, at));
}

template <int bytes>
__device__ void store(const MemorySide& side, const At& at, Unit<bytes> unit) {
    *reinterpret_cast<Unit<bytes>*>(address(side, at)) = unit;
}

// A unit is at least as long as the pattern and starts at a multiple of the pattern's length.
template <int bytes>
__device__ Unit<bytes> load(const PatternSide& side, const At&) {
    if constexpr (bytes == 16) {
        return side.bytes;
    } else if constexpr (bytes == 8) {
        return make_uint2(side.bytes.x, side.bytes.y);
    } else {
        return static_cast<Unit<bytes>>(side.bytes.x);
    }
}

// Moves the largest piece that starts at at.byte, is aligned to its size and ends at `end` or before.
template <int bytes, class To, class From>
__device__ void move_piece(const To& to, const From& from, At& at, Size end) {
    if (at.byte % bytes == 0 && at.byte + bytes <= end) {
        store<bytes>(to, at, load<bytes>(from, at));
        at.byte += bytes;
    } else if constexpr (bytes > 1) {
        move_piece<bytes / 2>(to, from, at, end);
    }
}

template <int unit, class To, class From>
__global__ void __launch_bounds__(256) move(const To to, const From from, const MoveBox box) {
    constexpr unsigned kRows = rows_a_thread(unit);
    const Size begin = (static_cast<Size>(blockIdx.x) * blockDim.x + threadIdx.x) * unit;
    if (begin >= box.end) return;
    const bool whole = begin >= box.first && begin + unit <= box.end;
    const Size row_step = static_cast<Size>(gridDim.y) * blockDim.y * kRows;
    for (Size slice = blockIdx.z; slice < box.slices; slice += gridDim.z) {
        for (Size row = static_cast<Size>(blockIdx.y) * blockDim.y * kRows + threadIdx.y; row < box.rows;
             row += row_step) {
            if (whole) {
                Unit<unit> units[kRows];
#pragma unroll
                for (unsigned i = 0; i < kRows; ++i) {
                    const Size y = row + i * blockDim.y;
                    if (y < box.rows) units[i] = load<unit>(from, At{begin, y, slice});
                }
#pragma unroll
                for (unsigned i = 0; i < kRows; ++i) {
                    const Size y = row + i * blockDim.y;
                    if (y < box.rows) store<unit>(to, At{begin, y, slice}, units[i]);
                }
            } else {
                const Size end = begin + unit < box.end ? begin + unit : box.end;
                for (Size y = row; y < box.rows && y < row + kRows * blockDim.y; y += blockDim.y) {
                    At at{begin < box.first ? box.first : begin, y, slice};
                    while (at.byte < end) move_piece<unit>(to, from, at, end);
                }
            }
        }
    }
}

template <class To, class From>
const void* kernel_of(int unit) noexcept {
    switch (unit) {
        case 1: return reinterpret_cast<const void*>(&move<1, To, From>);
        case 2: return reinterpret_cast<const void*>(&move<2, To, From>);
        case 4: return reinterpret_cast<const void*>(&move<4, To, From>);
        case 8: return reinterpret_cast<const void*>(&move<8, To, From>);
        case 16: return reinterpret_cast<const void*>(&move<16, To, From>);
    }
    return nullptr;
}

}  // namespace

const void* move_kernel(MoveMethod method, int unit) noexcept {
    switch (method) {
        case MoveMethod::array_to_memory: return kernel_of<MemorySide, SurfaceSide>(unit);
        case MoveMethod::memory_to_array: return kernel_of<SurfaceSide, MemorySide>(unit);
        case MoveMethod::array_to_array: return kernel_of<SurfaceSide, SurfaceSide>(unit);
        case MoveMethod::pattern_to_array: return kernel_of<SurfaceSide, PatternSide>(unit);
        case MoveMethod::pattern_to_memory: return kernel_of<MemorySide, PatternSide>(unit);
    }
    return nullptr;
}

}  // namespace texton::detail
