#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "core/cuda/array.h"

// Adopts arrays that were created by other code. Their properties are queried from the driver.

namespace texton::detail {
namespace {

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = {}, .problem = std::move(problem), .remedy = std::move(remedy)});
}

// Texton creates unorm and snorm arrays with integer channels, and textures convert them to fractions. Other code may
// use CUDA's channel kinds for normalized formats, which are accepted here.
bool fits(const FormatInfo& row, const cudaChannelFormatDesc& channels) noexcept {
    const cudaChannelFormatDesc is = channel_descriptor(row.format);
    if (is.x != channels.x || is.y != channels.y || is.z != channels.z || is.w != channels.w) return false;
    const int kind = channels.f;
    const bool unorm =
        kind >= cudaChannelFormatKindUnsignedNormalized8X1 && kind <= cudaChannelFormatKindUnsignedNormalized16X4;
    const bool snorm =
        kind >= cudaChannelFormatKindSignedNormalized8X1 && kind <= cudaChannelFormatKindSignedNormalized16X4;
    if (!unorm && !snorm) return is.f == channels.f;
    if (row.layout != FormatLayout::plain) return false;
    return snorm ? row.kind == FormatKind::snorm : row.kind == FormatKind::unorm || row.kind == FormatKind::srgb;
}

Format format_of(const cudaChannelFormatDesc& channels, std::optional<Format> named) {
    if (named) {
        if (fits(info(*named), channels)) return *named;
        refuse(
            ErrorCode::bad_argument,
            fmt::format("format {} was given, but the array's channels have {}, {}, {} and {} bits and are of kind {}",
                        name(*named), channels.x, channels.y, channels.z, channels.w, static_cast<int>(channels.f)),
            "Pass a format with these channels, or no format.");
    }
    const auto rows = formats();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const FormatInfo& each) { return fits(each, channels); });
    if (row != rows.end()) return row->format;
    refuse(ErrorCode::unsupported, "no texton::Format matches the texels of the array",
           "Access the array through CUDA only.");
}

// Planar arrays can be detected only through the driver, because the runtime does not describe all of them.
void refuse_planar(cudaArray_t array) {
    CUDA_ARRAY3D_DESCRIPTOR is{};
    driver<cuArray3DGetDescriptor>(&is, reinterpret_cast<CUarray>(array));
    if (is.NumChannels == 3 && (is.Flags & CUDA_ARRAY3D_VIDEO_ENCODE_DECODE) != 0) {
        refuse(ErrorCode::unsupported, "the array is planar", "Adopt its planes one by one: see cudaArrayGetPlane().");
    }
}

// Sets kind, extent and usage from `first`, which is the array itself or its first level.
void describe(CudaArray& array, cudaArray_t first, std::optional<Format> format) {
    refuse_planar(first);
    cudaChannelFormatDesc channels{};
    cudaExtent sides{};
    unsigned flags = 0;
    call<cudaArrayGetInfo>(&channels, &sides, &flags, first);
    if ((flags & cudaArrayDeferredMapping) != 0) {
        refuse(ErrorCode::unsupported,
               "the array has deferred mapping, and CUDA does not report whether memory is mapped to it",
               "Create it as a texton::DeferredArray, which keeps track of its memory.");
    }
    const bool layered = (flags & cudaArrayLayered) != 0;
    ArrayInfo& is = array.info;
    is.format = format_of(channels, format);
    is.extent = {sides.width, std::max<std::size_t>(1, sides.height), 1};
    if ((flags & cudaArrayCubemap) != 0) {
        is.kind = layered ? ArrayKind::cubemap_layered : ArrayKind::cubemap;
        is.layers = sides.depth / 6;
    } else if (layered) {
        is.kind = sides.height == 0 ? ArrayKind::layered_1d : ArrayKind::layered_2d;
        is.layers = sides.depth;
    } else if (sides.depth != 0) {
        is.kind = ArrayKind::array_3d;
        is.extent.depth = sides.depth;
    } else {
        is.kind = sides.height == 0 ? ArrayKind::array_1d : ArrayKind::array_2d;
    }
    is.levels = static_cast<int>(array.parts.size());
    is.usage = {.surface = (flags & cudaArraySurfaceLoadStore) != 0, .gather = (flags & cudaArrayTextureGather) != 0};
    array.has_surfaces = is.usage.surface;
    if (array.has_surfaces) array.make_surfaces();
    array.backing = (flags & cudaArraySparse) != 0 ? ArrayBacking::sparse : ArrayBacking::own;
}

}  // namespace

ArrayHandle adopt_array(CudaBackend& backend, cudaArray_t array, std::optional<Format> format) {
    const DeviceScope scope(backend.ordinal());
    auto adopted = std::make_unique<CudaArray>();
    adopted->owned = false;
    adopted->plain = array;
    adopted->parts.push_back(array);
    describe(*adopted, array, format);
    return reinterpret_cast<ArrayHandle>(adopted.release());
}

ArrayHandle adopt_mipmapped_array(CudaBackend& backend, cudaMipmappedArray_t array, std::optional<Format> format) {
    const DeviceScope scope(backend.ordinal());
    auto adopted = std::make_unique<CudaArray>();
    adopted->owned = false;
    adopted->mipmapped = array;
    cudaArray_t level = nullptr;
    call<cudaGetMipmappedArrayLevel>(&level, array, 0U);
    do {
        adopted->parts.push_back(level);
    } while (ask<cudaGetMipmappedArrayLevel>(&level, array, static_cast<unsigned>(adopted->parts.size())) ==
             cudaSuccess);
    describe(*adopted, adopted->parts.front(), format);
    return reinterpret_cast<ArrayHandle>(adopted.release());
}

}  // namespace texton::detail
