#include <texton/cuda_arrays.h>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <texton/cuda_interop.h>
#include <texton/error.h>

#include "arrays/array_block.h"
#include "arrays/cuda/sampling.h"
#include "arrays/texture_state.h"
#include "core/cuda/array.h"

namespace texton {
namespace {

constexpr const char* kNative = "texton::native";
constexpr const char* kNativeMipmapped = "texton::native_mipmapped";
constexpr const char* kAdoptArray = "texton::adopt_array";
constexpr const char* kAdoptMipmapped = "texton::adopt_mipmapped_array";
constexpr const char* kAdoptTexture = "texton::adopt_texture";

detail::CudaBackend& cuda_backend(const Device& device, const char* object) {
    if (device.kind() == DeviceKind::cuda) return static_cast<detail::CudaBackend&>(device.backend());
    throw Error({.code = ErrorCode::wrong_device,
                 .object = object,
                 .problem = fmt::format("a CUDA device is required, but the device is {}", device.name()),
                 .remedy = "Pass an object of a CUDA device: see Device::kind()."});
}

void check_handle(bool there, const char* object) {
    if (there) return;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = "the handle is null",
                 .remedy = "Pass a handle that CUDA returned."});
}

detail::CudaArray& cuda_array(const Array& array, const char* object) {
    const detail::ArrayBlock& block = detail::live(array, object);
    (void)cuda_backend(Device(*block.backend), object);
    return detail::cuda_array(block.handle);
}

template <class Adopt>
Array adopt(const Device& device, const char* object, const Adopt& adopt_handle) {
    detail::CudaBackend& backend = cuda_backend(device, object);
    auto block = std::make_shared<detail::ArrayBlock>(backend, ArrayInfo{}, std::size_t{0});
    block->handle = detail::request(&backend, object, {}, [&] { return adopt_handle(backend); });
    block->info = detail::cuda_array(block->handle).info;
    block->bytes = packed_bytes(block->info);
    return Array(std::move(block));
}

// --- properties of adopted textures ----------------------------------------------------------------------------------

Sampler sampler_of(const CUDA_TEXTURE_DESC& how) noexcept {
    const auto filter = [](CUfilter_mode mode) {
        return mode == CU_TR_FILTER_MODE_LINEAR ? Filter::linear : Filter::point;
    };
    Sampler sampler;
    std::transform(std::begin(how.addressMode), std::end(how.addressMode), sampler.address,
                   [](CUaddress_mode mode) { return detail::address_mode_of(mode); });
    sampler.filter = filter(how.filterMode);
    sampler.mip_filter = filter(how.mipmapFilterMode);
    sampler.normalized_coordinates = (how.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    sampler.seamless_cubemap = (how.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    sampler.trilinear_optimization = (how.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) == 0;
    sampler.max_anisotropy = static_cast<std::uint8_t>(std::clamp(how.maxAnisotropy, 1U, 16U));
    sampler.mip_bias = how.mipmapLevelBias;
    sampler.mip_min = how.minMipmapLevelClamp;
    sampler.mip_max = how.maxMipmapLevelClamp;
    std::copy(std::begin(how.borderColor), std::end(how.borderColor), sampler.border);
    return sampler;
}

template <class Matches>
Format find_format(const Matches& matches) {
    for (const FormatInfo& row : formats()) {
        if (matches(row)) return row.format;
    }
    throw Error({.code = ErrorCode::unsupported,
                 .object = {},
                 .problem = "no texton::Format matches the texels of the texture",
                 .remedy = "Use the texture through CUDA only, or create one with another format."});
}

/// Returns the format in which fetches return texels that are stored in the format `stored`.
Format as_read(Format stored, unsigned flags) {
    const FormatInfo& is = info(stored);
    const bool fractions = (flags & CU_TRSF_READ_AS_INTEGER) == 0 && is.bits <= 16;
    FormatKind kind = is.kind;
    if (fractions && kind == FormatKind::uint) kind = FormatKind::unorm;
    if (fractions && kind == FormatKind::sint) kind = FormatKind::snorm;
    if (kind == FormatKind::unorm && (flags & CU_TRSF_SRGB) != 0) kind = FormatKind::srgb;
    if (kind == is.kind) return stored;
    return find_format([&](const FormatInfo& row) {
        return row.kind == kind && detail::view_format(row.format) == detail::view_format(stored);
    });
}

Format stored_as(const cudaChannelFormatDesc& channels) {
    return find_format([&](const FormatInfo& row) {
        const cudaChannelFormatDesc is = detail::channel_descriptor(row.format);
        return row.layout == FormatLayout::plain && is.x == channels.x && is.y == channels.y && is.z == channels.z &&
               is.w == channels.w && is.f == channels.f;
    });
}

// The description of an adopted texture.
struct Foreign {
    cudaResourceDesc resource{};
    CUDA_TEXTURE_DESC how{};
    CUDA_RESOURCE_VIEW_DESC view{};  // the format is CU_RES_VIEW_FORMAT_NONE if the texture has no view
};

Foreign ask_of(cudaTextureObject_t texture) {
    Foreign is;
    detail::call<cudaGetTextureObjectResourceDesc>(&is.resource, texture);
    // These calls use the driver, because the runtime of CUDA 13.0 reports views for textures without a view. Neither
    // of them reports the border color, which stays 0.
    detail::driver<cuTexObjectGetTextureDesc>(&is.how, texture);
    detail::quietly(
        // Fails if the texture has no view.
        [&] { detail::driver<cuTexObjectGetResourceViewDesc>(&is.view, texture); });
    return is;
}

void set_array(detail::TextureState& state, const Array& array, const Foreign& is) {
    const ArrayInfo& info = array.info();
    Format stored = info.format;
    int first_level = 0;
    state.levels = info.levels;
    state.layers = info.layers;
    if (const CUDA_RESOURCE_VIEW_DESC& view = is.view; view.format != CU_RES_VIEW_FORMAT_NONE) {
        const auto format = static_cast<cudaResourceViewFormat>(view.format);
        stored = find_format([&](const FormatInfo& row) { return detail::view_format(row.format) == format; });
        first_level = static_cast<int>(view.firstMipmapLevel);
        // The driver accepts views with more levels than the array has.
        state.first_level = first_level;
        state.levels = std::min(static_cast<int>(view.lastMipmapLevel) + 1, info.levels) - first_level;
        if (is_layered(info.kind)) {
            // For cubemaps, the first layer of a view is a face, but the layers from there to the last are counted in
            // cubes.
            const std::size_t faces = info.kind == ArrayKind::cubemap_layered ? 6 : 1;
            state.layers = std::min<std::size_t>(view.lastLayer - view.firstLayer + 1,
                                                 info.layers - std::min(view.firstLayer / faces, info.layers));
        }
    }
    state.source = TextureSource::array;
    state.kind = info.kind;
    state.format = as_read(stored, is.how.flags);
    state.extent = level_extent(info, first_level);
    if (block_side(stored) != block_side(info.format)) {  // the array stores the blocks as integers
        state.extent.width *= block_side(stored);
        state.extent.height *= block_side(stored);
    }
    state.gathers = info.usage.gather;
}

void set_memory(detail::TextureState& state, const Foreign& is) {
    const bool linear = is.resource.resType == cudaResourceTypeLinear;
    const Format stored = stored_as(linear ? is.resource.res.linear.desc : is.resource.res.pitch2D.desc);
    state.source = linear ? TextureSource::linear : TextureSource::pitched;
    state.kind = linear ? ArrayKind::array_1d : ArrayKind::array_2d;
    state.format = as_read(stored, is.how.flags);
    state.extent = linear ? Extent{is.resource.res.linear.sizeInBytes / info(stored).bytes}
                          : Extent{is.resource.res.pitch2D.width, is.resource.res.pitch2D.height};
    if (linear) return;
    state.memory.address = static_cast<std::byte*>(is.resource.res.pitch2D.devPtr);
    state.memory.pitch = is.resource.res.pitch2D.pitchInBytes;
    state.memory.format = state.format;
    state.memory.extent = state.extent;
}

void describe(detail::TextureState& state, const Device& device, cudaTextureObject_t texture) {
    const Foreign is = ask_of(texture);
    state.sampler = sampler_of(is.how);
    const auto set = [&](const auto& adopt_handle) {
        set_array(state, adopt(device, kAdoptTexture, adopt_handle), is);
    };
    switch (is.resource.resType) {
        case cudaResourceTypeArray:
            set([&](detail::CudaBackend& backend) {
                return detail::adopt_array(backend, is.resource.res.array.array, std::nullopt);
            });
            break;
        case cudaResourceTypeMipmappedArray:
            set([&](detail::CudaBackend& backend) {
                return detail::adopt_mipmapped_array(backend, is.resource.res.mipmap.mipmap, std::nullopt);
            });
            break;
        case cudaResourceTypeLinear:
        case cudaResourceTypePitch2D: set_memory(state, is); break;
    }
}

}  // namespace

cudaArray_t native(const Array& array, int level) {
    const detail::CudaArray& is = cuda_array(array, kNative);
    const int levels = array.info().levels;
    if (level >= 0 && level < levels) return is.parts[static_cast<std::size_t>(array.block()->part + level)];
    throw Error(
        {.code = ErrorCode::out_of_bounds,
         .object = kNative,
         .problem = fmt::format("level {} was requested, but the number of levels is {}", level, levels),
         .remedy = "Pass a level from 0 to the number of levels minus 1.",
         .numbers = {{"level", static_cast<std::uint64_t>(level)}, {"levels", static_cast<std::uint64_t>(levels)}}});
}

cudaMipmappedArray_t native_mipmapped(const Array& array) {
    const detail::CudaArray& is = cuda_array(array, kNativeMipmapped);
    if (is.mipmapped != nullptr) return is.mipmapped;
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kNativeMipmapped,
                 .problem = "the array has one level, so it is not a mipmapped array in CUDA",
                 .remedy = "Use native(array), or create the array with several levels."});
}

cudaTextureObject_t native(const Texture& texture) {
    (void)cuda_backend(texture.device(), kNative);
    return texture.handle();
}

cudaSurfaceObject_t native(const Surface& surface) {
    (void)cuda_backend(surface.device(), kNative);
    return surface.handle();
}

Array adopt_array(const Device& device, cudaArray_t array, std::optional<Format> format) {
    return adopt(device, kAdoptArray, [&](detail::CudaBackend& backend) {
        check_handle(array != nullptr, kAdoptArray);
        return detail::adopt_array(backend, array, format);
    });
}

Array adopt_mipmapped_array(const Device& device, cudaMipmappedArray_t array, std::optional<Format> format) {
    return adopt(device, kAdoptMipmapped, [&](detail::CudaBackend& backend) {
        check_handle(array != nullptr, kAdoptMipmapped);
        return detail::adopt_mipmapped_array(backend, array, format);
    });
}

Texture adopt_texture(const Device& device, cudaTextureObject_t texture) {
    detail::CudaBackend& backend = cuda_backend(device, kAdoptTexture);
    check_handle(texture != 0, kAdoptTexture);
    auto state = std::make_shared<detail::TextureState>(backend);
    detail::request(&backend, kAdoptTexture, {}, [&] {
        const detail::DeviceScope scope(backend.ordinal());
        describe(*state, device, texture);
    });
    state->handle = new detail::NativeTexture{texture, state->kind, false};
    return Texture(std::move(state));
}

}  // namespace texton
