#include "core/cuda/array_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/block.h"
#include "core/cuda/array.h"
#include "core/cuda/array_kernel.h"

// Chooses the width of the units and the shape of the thread blocks.
//
// Measured on an H200 with 1 GiB, counting bytes read and bytes written: units of 16 bytes in blocks of 16 x 16 threads
// reach 3940 to 4220 GB/s for every kind of array and texels of 1 to 16 bytes. cudaMemcpy3D reaches 850 GB/s for 2D
// arrays and 1540 to 2100 GB/s for other kinds. Blocks with 32 or more threads in x are a third slower when they write
// to arrays. The CUDA kernels are faster at every size: a copy of 4 KiB takes 2.9 us, and the driver's copy takes 4.5
// us.

namespace texton::detail {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMaxBlocks = 65535;  // limit of the grid in y and z

SurfaceShape shape_of(ArrayKind kind) noexcept {
    switch (kind) {
        case ArrayKind::array_1d: return SurfaceShape::line;
        case ArrayKind::layered_1d: return SurfaceShape::lines;
        case ArrayKind::array_2d: return SurfaceShape::plane;
        case ArrayKind::array_3d: return SurfaceShape::volume;
        case ArrayKind::layered_2d:
        case ArrayKind::cubemap:
        case ArrayKind::cubemap_layered: break;
    }
    return SurfaceShape::planes;
}

// Returns the largest power of two, at most 16, that divides the number.
int divisor(std::uint64_t number) noexcept { return 1 << std::min(4, std::countr_zero(number)); }

std::size_t x_bytes(const MemoryLocation& array) noexcept { return array.array_offset.x * info(array.format).bytes; }

// Returns the side that starts `before` bytes before the location.
SurfaceSide surface_side(const MemoryLocation& location, std::size_t before) {
    CudaArray& array = cuda_array(location.array);
    return {.surface = surface_of(array, location.array_part),
            .shape = shape_of(array.info.kind),
            .x = static_cast<int>(x_bytes(location) - before),
            .y = static_cast<int>(location.array_offset.y),
            .z = static_cast<int>(location.array_offset.z)};
}

MemorySide memory_side(const MemoryLocation& location, std::size_t before) noexcept {
    return {.address = location.address - before, .pitch = location.pitch, .slice_pitch = location.slice_pitch};
}

PatternSide pattern_side(const FillRequest& request) noexcept {
    std::array<std::byte, 16> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = request.pattern[i % static_cast<std::size_t>(request.pattern_bytes)];
    }
    return {.bytes = std::bit_cast<uint4>(bytes)};
}

// Returns true if it is certain that the device may access the memory, because an invalid access ends the context.
// Memory of a pool may be host memory. Managed memory may be anywhere, and the driver moves it best if it performs the
// copy itself.
bool kernel_reaches(const MemoryLocation& location, const CudaBackend& backend) {
    if (location.backend != &backend) return false;
    switch (location.kind) {
        case MemoryKind::array: return cuda_array(location.array).has_surfaces;
        case MemoryKind::pitched:
        case MemoryKind::mapped:
        case MemoryKind::symbol: return true;
        case MemoryKind::linear: break;
        case MemoryKind::host:
        case MemoryKind::pinned:
        case MemoryKind::registered:
        case MemoryKind::managed: return false;
    }
    if (dynamic_cast<const PlainBlock*>(location.owner.get()) != nullptr) return true;
    cudaPointerAttributes is{};
    return ask<cudaPointerGetAttributes>(&is, location.address) == cudaSuccess && is.type == cudaMemoryTypeDevice;
}

// Returns the widest unit for which the rows of both sides have the same alignment.
int common_unit(const MemoryLocation& to, const MemoryLocation& from, const Box& box) noexcept {
    if (to.kind == MemoryKind::array && from.kind == MemoryKind::array) return divisor(x_bytes(to) - x_bytes(from));
    const MemoryLocation& memory = to.kind == MemoryKind::array ? from : to;
    const MemoryLocation& array = to.kind == MemoryKind::array ? to : from;
    std::uint64_t distances = reinterpret_cast<std::uintptr_t>(memory.address) - x_bytes(array);
    if (box.rows > 1) distances |= memory.pitch;
    if (box.slices > 1) distances |= memory.slice_pitch;
    return divisor(distances);
}

template <class To, class From>
void launch(MoveMethod method, To to, From from, const Box& box, std::size_t before, int unit, cudaStream_t stream,
            unsigned max_down = 16) {
    MoveBox move{.first = before, .end = before + box.row_bytes, .rows = box.rows, .slices = box.slices};
    const std::size_t units = (move.end + static_cast<std::size_t>(unit) - 1) / static_cast<std::size_t>(unit);
    const std::size_t row_groups = (box.rows + rows_a_thread(unit) - 1) / rows_a_thread(unit);
    const auto down = static_cast<unsigned>(std::min<std::size_t>(std::bit_ceil(row_groups), unit > 2 ? max_down : 8));
    const unsigned across = kThreads / down;
    const auto blocks = [](std::size_t count, std::size_t each) { return (count + each - 1) / each; };
    const dim3 grid{static_cast<unsigned>(blocks(units, across)),
                    static_cast<unsigned>(std::min(blocks(row_groups, down), kMaxBlocks)),
                    static_cast<unsigned>(std::min(box.slices, kMaxBlocks))};
    void* arguments[] = {&to, &from, &move};
    call<cudaLaunchKernel>(move_kernel(method, unit), grid, dim3{across, down, 1}, arguments, std::size_t{0}, stream);
}

}  // namespace

bool copy_by_kernel(const CudaBackend& backend, const CopyRequest& request, cudaStream_t stream) {
    const MemoryLocation& to = *request.destination;
    const MemoryLocation& from = *request.source;
    const bool to_array = to.kind == MemoryKind::array;
    const bool from_array = from.kind == MemoryKind::array;
    if (!to_array && !from_array) return false;
    if (!kernel_reaches(to, backend) || !kernel_reaches(from, backend)) return false;
    const int unit = common_unit(to, from, request.box);
    // Surface accesses of 1 byte to wider texels have not been verified to work, so the driver makes these copies.
    if (unit == 1 && info(to.format).bytes > 1) return false;
    const DeviceScope scope(backend.ordinal());
    const std::size_t before = x_bytes(to_array ? to : from) % static_cast<std::size_t>(unit);
    if (!from_array) {
        launch(MoveMethod::memory_to_array, surface_side(to, before), memory_side(from, before), request.box, before,
               unit, stream);
    } else if (!to_array) {
        launch(MoveMethod::array_to_memory, memory_side(to, before), surface_side(from, before), request.box, before,
               unit, stream);
    } else {
        launch(MoveMethod::array_to_array, surface_side(to, before), surface_side(from, before), request.box, before,
               unit, stream);
    }
    return true;
}

bool fill_array_by_kernel(const CudaBackend& backend, const FillRequest& request, cudaStream_t stream) {
    const MemoryLocation& to = *request.destination;
    if (!kernel_reaches(to, backend)) return false;
    constexpr int kUnit = 16;
    const DeviceScope scope(backend.ordinal());
    const std::size_t before = x_bytes(to) % kUnit;
    // Texels of 16 bytes use 64 rows per block, because 16 rows reach only 4000 GB/s.
    const unsigned down = info(to.format).bytes == kUnit ? 64 : 16;
    launch(MoveMethod::pattern_to_array, surface_side(to, before), pattern_side(request), request.box, before, kUnit,
           stream, down);
    return true;
}

void fill_memory_by_kernel(const CudaBackend& backend, const FillRequest& request, cudaStream_t stream) {
    const MemoryLocation& to = *request.destination;
    std::uint64_t distances = 16;
    if (request.box.rows > 1) distances |= to.pitch;
    if (request.box.slices > 1) distances |= to.slice_pitch;
    const int unit = divisor(distances);
    const DeviceScope scope(backend.ordinal());
    const std::size_t before = reinterpret_cast<std::uintptr_t>(to.address) % static_cast<std::size_t>(unit);
    launch(MoveMethod::pattern_to_memory, memory_side(to, before), pattern_side(request), request.box, before, unit,
           stream);
}

void load_move_kernels() {
    for (const MoveMethod method :
         {MoveMethod::array_to_memory, MoveMethod::memory_to_array, MoveMethod::array_to_array,
          MoveMethod::pattern_to_array, MoveMethod::pattern_to_memory}) {
        for (const int unit : {1, 2, 4, 8, 16}) {
            cudaFuncAttributes unused{};
            call<cudaFuncGetAttributes>(&unused, move_kernel(method, unit));
        }
    }
}

}  // namespace texton::detail
