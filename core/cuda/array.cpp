#include "core/cuda/array.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "core/cuda/array_copy.h"
#include "core/cuda/shape.h"
#include "core/request.h"

// Creates arrays of every kind and maps memory to sparse and deferred arrays.
//
// Every array is created with surface access if the driver allows it, even if the caller does not request surfaces.
// Copies and fills can then run as CUDA kernels, which are four times as fast as the driver's copies.

namespace texton::detail {
namespace {

struct PlanarFormat {
    Format format;
    CUarray_format cuda;
};
constexpr PlanarFormat kPlanarFormats[] = {
    {Format::nv12, CU_AD_FORMAT_NV12},
    {Format::p010, CU_AD_FORMAT_P010},
    {Format::p016, CU_AD_FORMAT_P016},
    {Format::nv16, CU_AD_FORMAT_NV16},
};

bool is_planar(const ArrayInfo& array) noexcept { return info(array.format).layout == FormatLayout::planar; }

// CUDA expects 0 for dimensions that a kind does not have. The depth holds the layers and faces.
cudaExtent cuda_sides(const ArrayInfo& array) noexcept {
    const bool deep = array.kind != ArrayKind::array_1d && array.kind != ArrayKind::array_2d;
    return cuda_extent(array.extent.width, is_flat(array.kind) ? 0 : array.extent.height,
                       deep ? slice_count(array, 0) : 0);
}

// The size limits of surfaces equal the limits of textures, except for 1D arrays.
bool takes_surfaces(const ArrayInfo& array, ArrayBacking backing, int ordinal) {
    if (backing == ArrayBacking::sparse || info(array.format).layout == FormatLayout::block) return false;
    if (array.kind != ArrayKind::array_1d) return true;
    int widest = 0;
    call<cudaDeviceGetAttribute>(&widest, cudaDevAttrMaxSurface1DWidth, ordinal);
    return array.extent.width <= static_cast<std::size_t>(widest);
}

unsigned flags_of(const CudaArray& array) noexcept {
    unsigned flags = cudaArrayDefault;
    if (is_layered(array.info.kind)) flags |= cudaArrayLayered;
    if (is_cube(array.info.kind)) flags |= cudaArrayCubemap;
    if (array.info.usage.gather) flags |= cudaArrayTextureGather;
    if (array.has_surfaces) flags |= cudaArraySurfaceLoadStore;
    switch (array.backing) {
        case ArrayBacking::own: break;
        case ArrayBacking::sparse: flags |= cudaArraySparse; break;
        case ArrayBacking::deferred: flags |= cudaArrayDeferredMapping; break;
    }
    return flags;
}

// The runtime can create planar arrays of only one format. The driver can create all four.
void make_planar(CudaArray& array) {
    const auto row = std::find_if(std::begin(kPlanarFormats), std::end(kPlanarFormats),
                                  [&](const PlanarFormat& each) { return each.format == array.info.format; });
    CUDA_ARRAY3D_DESCRIPTOR how{};
    how.Width = array.info.extent.width;
    how.Height = array.info.extent.height;
    how.Format = row->cuda;
    how.NumChannels = 3;
    how.Flags = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    CUarray made = nullptr;
    driver<cuArray3DCreate>(&made, &how);
    array.plain = reinterpret_cast<cudaArray_t>(made);
    for (int plane = 0; plane < plane_count(array.info.format); ++plane) {
        call<cudaArrayGetPlane>(&array.parts.emplace_back(), array.plain, static_cast<unsigned>(plane));
    }
}

void make_mipmapped(CudaArray& array) {
    const cudaChannelFormatDesc channels = channel_descriptor(array.info.format);
    const auto levels = static_cast<unsigned>(array.info.levels);
    call<cudaMallocMipmappedArray>(&array.mipmapped, &channels, cuda_sides(array.info), levels, flags_of(array));
    for (unsigned level = 0; level < levels; ++level) {
        call<cudaGetMipmappedArrayLevel>(&array.parts.emplace_back(), array.mipmapped, level);
    }
}

void make_plain(CudaArray& array) {
    const cudaChannelFormatDesc channels = channel_descriptor(array.info.format);
    if (array.info.kind == ArrayKind::array_2d) {
        const Extent& extent = array.info.extent;
        call<cudaMallocArray>(&array.plain, &channels, extent.width, extent.height, flags_of(array));
    } else {
        call<cudaMalloc3DArray>(&array.plain, &channels, cuda_sides(array.info), flags_of(array));
    }
    array.parts.push_back(array.plain);
}

// Fills in the fields of the map request that tiles and whole arrays have in common. A null `memory` unmaps.
CUarrayMapInfo map_info(const CudaArray& array, PhysicalHandle memory, std::size_t offset, int ordinal) noexcept {
    CUarrayMapInfo out{};
    if (array.mipmapped != nullptr) {
        out.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        out.resource.mipmap = reinterpret_cast<CUmipmappedArray>(array.mipmapped);
    } else {
        out.resourceType = CU_RESOURCE_TYPE_ARRAY;
        out.resource.array = reinterpret_cast<CUarray>(array.plain);
    }
    out.memOperationType = memory != nullptr ? CU_MEM_OPERATION_TYPE_MAP : CU_MEM_OPERATION_TYPE_UNMAP;
    out.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    out.memHandle.memHandle = memory != nullptr ? memory->value : 0;
    out.offset = offset;
    out.deviceBitMask = 1U << ordinal;
    return out;
}

CUstream driver_stream(StreamHandle stream) noexcept { return native(stream); }

}  // namespace

CudaArray::~CudaArray() {
    // A CUDA kernel that is still in flight may use a surface. The wait costs little, because freeing the array waits
    // too.
    if (!surfaces.empty()) finish_device();
    for (const cudaSurfaceObject_t surface : surfaces) (void)ask<cudaDestroySurfaceObject>(surface);
    if (!owned) return;
    if (plain != nullptr) (void)ask<cudaFreeArray>(plain);
    if (mipmapped != nullptr) (void)ask<cudaFreeMipmappedArray>(mipmapped);
}

void CudaArray::disown() noexcept {
    owned = false;
    surfaces.clear();
}

cudaChannelFormatDesc channel_descriptor(Format format) noexcept {
    const CudaChannels& is = info(format).cuda;
    return {is.bits[0], is.bits[1], is.bits[2], is.bits[3], static_cast<cudaChannelFormatKind>(is.kind)};
}

void CudaArray::make_surfaces() {
    for (const cudaArray_t part : parts) {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = part;
        call<cudaCreateSurfaceObject>(&surfaces.emplace_back(), &resource);
    }
}

ArrayHandle CudaBackend::create_array(const ArrayInfo& info, ArrayBacking backing) {
    const DeviceScope scope(ordinal_);
    std::call_once(move_kernels_, load_move_kernels);
    auto array = std::make_unique<CudaArray>();
    array->info = info;
    array->backing = backing;
    array->parts.reserve(static_cast<std::size_t>(std::max(info.levels, plane_count(info.format))));
    if (is_planar(info)) {
        make_planar(*array);
    } else {
        array->has_surfaces = takes_surfaces(info, backing, ordinal_);
        if (info.levels > 1) {
            make_mipmapped(*array);
        } else {
            make_plain(*array);
        }
        if (array->has_surfaces) array->make_surfaces();
    }
    return reinterpret_cast<ArrayHandle>(array.release());
}

void CudaBackend::destroy_array(ArrayHandle array) noexcept {
    std::unique_ptr<CudaArray> owned(&cuda_array(array));
    quietly([&] {
        const FreeScope scope(ordinal_);
        owned.reset();
    });
    if (owned != nullptr) owned->disown();  // the device could not be made current, so its memory cannot be freed
}

MemoryRequirements CudaBackend::array_requirements(ArrayHandle deferred) {
    const CudaArray& array = cuda_array(deferred);
    const DeviceScope scope(ordinal_);
    cudaArrayMemoryRequirements is{};
    if (array.mipmapped != nullptr) {
        call<cudaMipmappedArrayGetMemoryRequirements>(&is, array.mipmapped, ordinal_);
    } else {
        call<cudaArrayGetMemoryRequirements>(&is, array.plain, ordinal_);
    }
    return {.bytes = is.size, .alignment = is.alignment};
}

SparseProperties CudaBackend::array_tiles(ArrayHandle sparse) {
    const CudaArray& array = cuda_array(sparse);
    const DeviceScope scope(ordinal_);
    cudaArraySparseProperties is{};
    if (array.mipmapped != nullptr) {
        call<cudaMipmappedArrayGetSparseProperties>(&is, array.mipmapped);
    } else {
        call<cudaArrayGetSparseProperties>(&is, array.plain);
    }
    // For a plain array the driver reports level 0, whether it has no mip tail or is all tail. The tail's size tells
    // the two apart.
    const bool tail = is.miptailSize != 0;
    return {.tile = {is.tileExtent.width, is.tileExtent.height, is.tileExtent.depth},
            .first_tail_level = tail ? static_cast<int>(is.miptailFirstLevel) : array.info.levels,
            .tail_bytes = is.miptailSize,
            .tail_per_layer = (is.flags & cudaArraySparsePropertiesSingleMipTail) == 0};
}

// Tiles and mip tails go to the driver in separate lists. If a tail follows tiles in one list, driver 580 maps only the
// tiles and still reports success.
void CudaBackend::map_tiles(std::span<const TileMapRequest> requests, StreamHandle stream) {
    const DeviceScope scope(ordinal_);
    std::vector<CUarrayMapInfo> levels;
    std::vector<CUarrayMapInfo> tails;
    levels.reserve(requests.size());
    ArrayHandle asked = nullptr;
    SparseProperties tiles;
    for (const TileMapRequest& request : requests) {
        CUarrayMapInfo entry = map_info(cuda_array(request.array), request.memory, request.memory_offset, ordinal_);
        if (request.tail) {
            if (request.array != asked) tiles = array_tiles(request.array);
            asked = request.array;
            entry.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
            entry.subresource.miptail.layer = tiles.tail_per_layer ? static_cast<unsigned>(request.layer) : 0;
            entry.subresource.miptail.size = tiles.tail_bytes;
            tails.push_back(entry);
            continue;
        }
        entry.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
        entry.subresource.sparseLevel = {.level = static_cast<unsigned>(request.level),
                                         .layer = static_cast<unsigned>(request.layer),
                                         .offsetX = static_cast<unsigned>(request.offset.x),
                                         .offsetY = static_cast<unsigned>(request.offset.y),
                                         .offsetZ = static_cast<unsigned>(request.offset.z),
                                         .extentWidth = static_cast<unsigned>(request.extent.width),
                                         .extentHeight = static_cast<unsigned>(request.extent.height),
                                         .extentDepth = static_cast<unsigned>(request.extent.depth)};
        levels.push_back(entry);
    }
    for (auto* list : {&levels, &tails}) {
        if (list->empty()) continue;
        driver<cuMemMapArrayAsync>(list->data(), static_cast<unsigned>(list->size()), driver_stream(stream));
    }
}

void CudaBackend::map_array(ArrayHandle deferred, PhysicalHandle memory, std::size_t offset, StreamHandle stream) {
    const DeviceScope scope(ordinal_);
    CUarrayMapInfo all = map_info(cuda_array(deferred), memory, offset, ordinal_);
    driver<cuMemMapArrayAsync>(&all, 1U, driver_stream(stream));
}

}  // namespace texton::detail
