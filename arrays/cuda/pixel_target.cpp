#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/cuda/sampling.h"
#include "arrays/unit/texel_format.h"
#include "core/block.h"
#include "core/cuda/array.h"

namespace texton::detail {
namespace {

// Returns the device's address of the memory. For host memory it may differ from the host's address.
std::byte* device_address(const Place& place) {
    if (place.kind != MemoryKind::pinned && place.kind != MemoryKind::registered) return place.address;
    cudaPointerAttributes is{};
    if (ask<cudaPointerGetAttributes>(&is, place.address) == cudaSuccess && is.devicePointer != nullptr)
        return static_cast<std::byte*>(is.devicePointer);
    throw Error({.code = ErrorCode::wrong_device,
                 .object = {},
                 .problem = fmt::format("the GPU has no address for the {} memory at {}", name(place.kind),
                                        static_cast<const void*>(place.address)),
                 .remedy = "Allocate or register the memory with this device, or as portable and mapped."});
}

}  // namespace

PixelTarget cuda_pixel_target(const Place& picture) {
    PixelTarget target;
    target.format.stored = texel_format(picture.format);
    target.width = static_cast<std::uint32_t>(picture.extent.width);
    target.height = static_cast<std::uint32_t>(picture.extent.height);
    target.depth = static_cast<std::uint32_t>(picture.extent.depth);
    if (picture.kind != MemoryKind::array) {
        target.address = device_address(picture);
        target.pitch = picture.pitch;
        target.slice_pitch = picture.slice_pitch;
        const std::uintptr_t places =
            reinterpret_cast<std::uintptr_t>(target.address) | target.pitch | target.slice_pitch;
        target.aligned = places % target.format.stored.bytes == 0;
        return target;
    }
    const CudaArray& array = cuda_array(picture.array);
    if (!array.has_surfaces) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = {},
                     .problem = "the array has no surface access, which CUDA kernels need to write to it",
                     .remedy = "Write to memory, and use copy() from there to the array."});
    }
    target.surface = surface_of(array, picture.array_part);
    target.kind = array.info.kind;
    target.offset[0] = static_cast<std::int32_t>(picture.array_offset.x);
    target.offset[1] = static_cast<std::int32_t>(picture.array_offset.y);
    target.offset[2] = static_cast<std::int32_t>(picture.array_offset.z);
    return target;
}

}  // namespace texton::detail
