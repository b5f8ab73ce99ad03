#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "arrays/cuda/grids.h"
#include "arrays/cuda/sampling.h"
#include "arrays/sampling.h"
#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_address.h"
#include "core/cuda/array.h"

// Translates the description of a texture to CUDA's structs and creates the texture object.

namespace texton::detail {
namespace {

cudaTextureFilterMode to_cuda(Filter filter) noexcept {
    return filter == Filter::linear ? cudaFilterModeLinear : cudaFilterModePoint;
}

bool reads_integers(Format format) noexcept {
    const FormatKind kind = info(format).kind;
    return kind == FormatKind::uint || kind == FormatKind::sint;
}

// Returns true if CUDA must convert integers to fractions. Arrays of unorm, snorm and srgb formats store integers.
// Packed texels are fractions already.
bool normalizes(Format format) noexcept {
    const FormatInfo& row = info(format);
    return row.layout != FormatLayout::packed && row.kind != FormatKind::floating && !reads_integers(format);
}

cudaTextureDesc describe(const Sampler& sampler, Format format) noexcept {
    cudaTextureDesc how{};
    std::transform(std::begin(sampler.address), std::end(sampler.address), how.addressMode,
                   [](AddressMode mode) { return cuda_address_mode(mode); });
    how.filterMode = to_cuda(sampler.filter);
    how.readMode = normalizes(format) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.sRGB = info(format).kind == FormatKind::srgb ? 1 : 0;
    std::copy(std::begin(sampler.border), std::end(sampler.border), how.borderColor);
    how.normalizedCoords = sampler.normalized_coordinates ? 1 : 0;
    how.maxAnisotropy = sampler.max_anisotropy;
    how.mipmapFilterMode = to_cuda(sampler.mip_filter);
    how.mipmapLevelBias = sampler.mip_bias;
    how.minMipmapLevelClamp = sampler.mip_min;
    how.maxMipmapLevelClamp = sampler.mip_max;
    how.disableTrilinearOptimization = sampler.trilinear_optimization ? 0 : 1;
    how.seamlessCubemap = sampler.seamless_cubemap ? 1 : 0;
    return how;
}

struct ArraySource {
    cudaResourceDesc resource{};
    std::optional<cudaResourceViewDesc> view;
};

ArraySource source_of(cudaArray_t array) noexcept {
    ArraySource source;
    source.resource.resType = cudaResourceTypeArray;
    source.resource.res.array.array = array;
    return source;
}

// CUDA filters integers only if the read mode is cudaReadModeNormalizedFloat, and it checks the format of the array,
// not of the view. This read mode does not change floats.
bool filters_float_view(const TextureRequest& request) noexcept {
    return request.sampler.filter == Filter::linear && info(request.format).kind == FormatKind::floating &&
           info(request.array->info.format).layout == FormatLayout::plain &&
           info(request.array->info.format).kind != FormatKind::floating;
}

// Uses a view only if it is necessary, because CUDA does not allow views of block-compressed arrays and has no view
// format for packed texels. A single level is used as a plain array, unless the array has layers or
// faces, which would be read from wrong locations.
ArraySource source_of(const TextureRequest& request) noexcept {
    const ArrayInfo& array = request.array->info;
    const CudaArray& native = cuda_array(request.array->handle);
    const TextureRange& range = request.range;
    const bool stands_alone =
        native.mipmapped == nullptr || (range.levels == 1 && !is_layered(array.kind) && !is_cube(array.kind));
    ArraySource source;
    if (stands_alone) {
        source = source_of(native.parts[static_cast<std::size_t>(request.array->part + range.first_level)]);
    } else {
        source.resource.resType = cudaResourceTypeMipmappedArray;
        source.resource.res.mipmap.mipmap = native.mipmapped;
    }
    const cudaResourceViewFormat format = view_format(request.format);
    const bool whole = range.layers == array.layers && (stands_alone || range.levels == array.levels);
    if (whole && format == view_format(array.format)) return source;
    // The dimensions of a view are those of the whole resource, even if it shows a part.
    const int level = stands_alone ? range.first_level : 0;
    const Extent extent = level_extent(array, level);
    cudaResourceViewDesc& view = source.view.emplace();
    view.format = format;
    view.width = extent.width;
    view.height = is_flat(array.kind) ? 0 : extent.height;
    const bool deep = array.kind != ArrayKind::array_1d && array.kind != ArrayKind::array_2d;
    view.depth = deep ? slice_count(array, level) : 0;
    view.firstMipmapLevel = static_cast<unsigned>(range.first_level - level);
    view.lastMipmapLevel = view.firstMipmapLevel + static_cast<unsigned>(range.levels - 1);
    if (is_layered(array.kind)) {  // a cubemap without layers has faces only
        // The driver takes the first layer of a cubemap as a face, and counts whole cubes from there to the last layer.
        // If the last face were passed instead, fetches past the end would leave the array.
        const std::size_t faces = is_cube(array.kind) ? 6 : 1;
        view.firstLayer = static_cast<unsigned>(range.first_layer * faces);
        view.lastLayer = static_cast<unsigned>(range.first_layer * faces + range.layers - 1);
    }
    return source;
}

cudaResourceDesc resource_of(const MemoryLocation& memory, Format format) noexcept {
    cudaResourceDesc resource{};
    if (memory.extent.height == 1) {
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = memory.address;
        resource.res.linear.desc = channel_descriptor(format);
        resource.res.linear.sizeInBytes = row_bytes(format, memory.extent.width);
    } else {
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory.address;
        resource.res.pitch2D.desc = channel_descriptor(format);
        resource.res.pitch2D.width = memory.extent.width;
        resource.res.pitch2D.height = memory.extent.height;
        resource.res.pitch2D.pitchInBytes = memory.pitch;
    }
    return resource;
}

void create_object(NativeTexture& texture) {
    const TextureDescription& is = texture.description;
    call<cudaCreateTextureObject>(&texture.value, &is.resource, &is.how, is.view ? &*is.view : nullptr);
}

}  // namespace

cudaTextureAddressMode cuda_address_mode(AddressMode mode) noexcept {
    switch (mode) {
        case AddressMode::wrap: return cudaAddressModeWrap;
        case AddressMode::clamp: return cudaAddressModeClamp;
        case AddressMode::mirror: return cudaAddressModeMirror;
        case AddressMode::border: return cudaAddressModeBorder;
    }
    return cudaAddressModeClamp;
}

AddressMode address_mode_of(CUaddress_mode mode) noexcept {
    static_assert(int{cudaAddressModeWrap} == CU_TR_ADDRESS_MODE_WRAP &&
                      int{cudaAddressModeClamp} == CU_TR_ADDRESS_MODE_CLAMP &&
                      int{cudaAddressModeMirror} == CU_TR_ADDRESS_MODE_MIRROR &&
                      int{cudaAddressModeBorder} == CU_TR_ADDRESS_MODE_BORDER,
                  "the runtime's modes must equal the driver's");
    for (int i = 0; i < kAddressModeCount; ++i) {
        const auto known = static_cast<AddressMode>(i);
        if (int{cuda_address_mode(known)} == int{mode}) return known;
    }
    return AddressMode::clamp;
}

std::unique_ptr<NativeTexture> make_cuda_texture(const TextureRequest& request) {
    auto texture = std::make_unique<NativeTexture>();
    TextureDescription& description = texture->description;
    cudaTextureDesc& how = description.how;
    how = describe(request.sampler, request.format);
    if (request.array != nullptr) {
        const ArraySource source = source_of(request);
        description.resource = source.resource;
        description.view = source.view;
        if (filters_float_view(request)) how.readMode = cudaReadModeNormalizedFloat;
        // For an array that is not mipmapped, the device ignores the mip filter. For a view of one level it does not.
        if (request.range.levels == 1) how.mipmapFilterMode = cudaFilterModePoint;
        texture->kind = request.array->info.kind;
        texture->touched = touched_texture(request);
    } else {
        description.resource = resource_of(*request.memory, request.format);
        const bool is_row = description.resource.resType == cudaResourceTypeLinear;
        texture->kind = is_row ? ArrayKind::array_1d : ArrayKind::array_2d;
    }
    create_object(*texture);
    return texture;
}

std::unique_ptr<NativeTexture> make_cuda_point_texture(const NativeTexture& texture) {
    auto points = std::make_unique<NativeTexture>(texture);
    cudaTextureDesc& how = points->description.how;
    how.filterMode = cudaFilterModePoint;
    how.mipmapFilterMode = cudaFilterModePoint;
    how.maxAnisotropy = 1;
    create_object(*points);
    return points;
}

cudaResourceViewFormat view_format(Format format) noexcept {
    const FormatInfo& row = info(format);
    const auto plain = [&row](int of_one_channel) {
        return static_cast<cudaResourceViewFormat>(of_one_channel + row.channels / 2);  // for 1, 2 and 4 channels
    };
    switch (static_cast<cudaChannelFormatKind>(row.cuda.kind)) {
        case cudaChannelFormatKindUnsigned:
            return plain(row.bits == 8    ? cudaResViewFormatUnsignedChar1
                         : row.bits == 16 ? cudaResViewFormatUnsignedShort1
                                          : cudaResViewFormatUnsignedInt1);
        case cudaChannelFormatKindSigned:
            return plain(row.bits == 8    ? cudaResViewFormatSignedChar1
                         : row.bits == 16 ? cudaResViewFormatSignedShort1
                                          : cudaResViewFormatSignedInt1);
        case cudaChannelFormatKindFloat:
            return plain(row.bits == 16 ? cudaResViewFormatHalf1 : cudaResViewFormatFloat1);
        case cudaChannelFormatKindUnsignedBlockCompressed1:
        case cudaChannelFormatKindUnsignedBlockCompressed1SRGB: return cudaResViewFormatUnsignedBlockCompressed1;
        case cudaChannelFormatKindUnsignedBlockCompressed2:
        case cudaChannelFormatKindUnsignedBlockCompressed2SRGB: return cudaResViewFormatUnsignedBlockCompressed2;
        case cudaChannelFormatKindUnsignedBlockCompressed3:
        case cudaChannelFormatKindUnsignedBlockCompressed3SRGB: return cudaResViewFormatUnsignedBlockCompressed3;
        case cudaChannelFormatKindUnsignedBlockCompressed4: return cudaResViewFormatUnsignedBlockCompressed4;
        case cudaChannelFormatKindSignedBlockCompressed4: return cudaResViewFormatSignedBlockCompressed4;
        case cudaChannelFormatKindUnsignedBlockCompressed5: return cudaResViewFormatUnsignedBlockCompressed5;
        case cudaChannelFormatKindSignedBlockCompressed5: return cudaResViewFormatSignedBlockCompressed5;
        case cudaChannelFormatKindUnsignedBlockCompressed6H: return cudaResViewFormatUnsignedBlockCompressed6H;
        case cudaChannelFormatKindSignedBlockCompressed6H: return cudaResViewFormatSignedBlockCompressed6H;
        case cudaChannelFormatKindUnsignedBlockCompressed7:
        case cudaChannelFormatKindUnsignedBlockCompressed7SRGB: return cudaResViewFormatUnsignedBlockCompressed7;
        default: return cudaResViewFormatNone;  // the format of the array
    }
}

}  // namespace texton::detail
