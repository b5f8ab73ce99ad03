#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/cuda/sampling.h"
#include "arrays/unit/texel_format.h"
#include "core/block.h"
#include "core/cuda/array.h"

namespace texton::detail {
namespace {

// Returns the device's address of the memory. For host memory it may differ from the host's address.
std::byte* device_address(const MemoryLocation& location) {
    if (location.kind != MemoryKind::pinned && location.kind != MemoryKind::registered) return location.address;
    cudaPointerAttributes is{};
    if (ask<cudaPointerGetAttributes>(&is, location.address) == cudaSuccess && is.devicePointer != nullptr)
        return static_cast<std::byte*>(is.devicePointer);
    throw Error({.code = ErrorCode::wrong_device,
                 .object = {},
                 .problem = fmt::format("the GPU has no address for the {} memory at {}", name(location.kind),
                                        static_cast<const void*>(location.address)),
                 .remedy = "Allocate or register the memory with this device, or as portable and mapped."});
}

}  // namespace

PixelTarget cuda_pixel_target(const MemoryLocation& image) {
    PixelTarget target;
    target.format.stored = texel_format(image.format);
    target.width = static_cast<std::uint32_t>(image.extent.width);
    target.height = static_cast<std::uint32_t>(image.extent.height);
    target.depth = static_cast<std::uint32_t>(image.extent.depth);
    if (image.kind != MemoryKind::array) {
        target.address = device_address(image);
        target.pitch = image.pitch;
        target.slice_pitch = image.slice_pitch;
        const std::uintptr_t combined =
            reinterpret_cast<std::uintptr_t>(target.address) | target.pitch | target.slice_pitch;
        target.aligned = combined % target.format.stored.bytes == 0;
        return target;
    }
    const CudaArray& array = cuda_array(image.array);
    if (!array.has_surfaces) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = {},
                     .problem = "the array has no surfaces, which kernels need to write",
                     .remedy = "Write to memory, and use copy() from there to the array."});
    }
    target.surface = surface_of(array, image.array_part);
    target.kind = array.info.kind;
    target.offset[0] = static_cast<std::int32_t>(image.array_offset.x);
    target.offset[1] = static_cast<std::int32_t>(image.array_offset.y);
    target.offset[2] = static_cast<std::int32_t>(image.array_offset.z);
    return target;
}

}  // namespace texton::detail
