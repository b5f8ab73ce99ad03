#include <texton/error.h>

#include "core/cpu/array.h"
#include "core/cpu/device.h"

namespace texton::detail {
namespace {

// Mapped memory is kept alive until it is unmapped, as the CUDA driver does.
struct PageMapping {
    CpuArray* array;
    std::size_t page;
    std::shared_ptr<const CpuPhysical> memory;  // null to unmap
    std::byte* address;
};

std::shared_ptr<const CpuPhysical> tile_memory(PhysicalHandle handle) {
    if (handle == nullptr) return nullptr;
    std::shared_ptr<const CpuPhysical> memory = cpu_physical(handle);
    if (memory->address() == nullptr) {
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = "the memory was not created for tiles, so no array can be mapped to it",
                     .remedy = "Set tile_pool in the PhysicalInfo of the memory."});
    }
    return memory;
}

void add_pages(const TileMapRequest& request, std::vector<PageMapping>& mappings) {
    CpuArray& array = cpu_array(request.array);
    const auto memory = tile_memory(request.memory);
    std::byte* address = memory == nullptr ? nullptr : memory->address() + request.memory_offset;
    const auto add = [&](std::size_t page) {
        mappings.push_back({&array, page, memory, address});
        if (address != nullptr) address += kTileBytes;
    };
    if (request.tail) {
        const std::size_t pages = sparse_sizes(array.info).tail_bytes / kTileBytes;
        const auto first = static_cast<std::size_t>(array.parts.back().tiles - array.pages.data());
        for (std::size_t i = 0; i < pages; ++i) add(first + request.layer * pages + i);
        return;
    }
    const CpuLevel& level = array.parts[static_cast<std::size_t>(request.level)];
    const auto first = static_cast<std::size_t>(level.tiles - array.pages.data());
    const auto end = [](std::size_t offset, std::size_t extent, std::size_t tile) {
        return (offset + extent + tile - 1) / tile;
    };
    const std::size_t z_begin = request.offset.z / level.tile.depth;
    const std::size_t z_end = end(request.offset.z, request.extent.depth, level.tile.depth);
    const std::size_t y_begin = request.offset.y / level.tile.height;
    const std::size_t y_end = end(request.offset.y, request.extent.height, level.tile.height);
    const std::size_t x_begin = request.offset.x / level.tile.width;
    const std::size_t x_end = end(request.offset.x, request.extent.width, level.tile.width);
    for (std::size_t z = z_begin; z < z_end; ++z) {
        for (std::size_t y = y_begin; y < y_end; ++y) {
            const std::size_t row = ((request.layer * level.tile_count.depth + z) * level.tile_count.height + y);
            for (std::size_t x = x_begin; x < x_end; ++x) add(first + row * level.tile_count.width + x);
        }
    }
}

}  // namespace

ArrayHandle CpuDevice::create_array(const ArrayInfo& info, ArrayBacking backing) {
    auto array = make_cpu_array(info, backing);
    if (backing == ArrayBacking::own) {
        array->memory = allocate(array->bytes);
        array->place(array->memory);
    }
    return reinterpret_cast<ArrayHandle>(array.release());
}

void CpuDevice::destroy_array(ArrayHandle handle) noexcept {
    when_idle([this, array = &cpu_array(handle)] {
        if (array->memory != nullptr) release_block(array->memory);
        delete array;
    });
}

MemoryRequirements CpuDevice::array_requirements(ArrayHandle deferred) {
    return deferred_sizes(cpu_array(deferred).info);
}

SparseProperties CpuDevice::array_tiles(ArrayHandle sparse) { return sparse_sizes(cpu_array(sparse).info); }

void CpuDevice::map_tiles(std::span<const TileMapRequest> requests, StreamHandle handle) {
    const auto on = stream(handle);
    if (on->capture() != nullptr) {
        refuse_capturing("the mapping of tiles cannot be captured", "Map the tiles before or after the capture.");
    }
    std::vector<PageMapping> mappings;
    for (const TileMapRequest& request : requests) add_pages(request, mappings);
    on->enqueue([mappings = std::move(mappings)] {
        for (const PageMapping& mapping : mappings) {
            mapping.array->pages[mapping.page] = mapping.address;
            mapping.array->owners[mapping.page] = mapping.memory;
        }
    });
}

void CpuDevice::map_array(ArrayHandle deferred, PhysicalHandle physical, std::size_t offset, StreamHandle handle) {
    const auto on = stream(handle);
    if (on->capture() != nullptr) {
        refuse_capturing("the mapping of an array cannot be captured", "Map the array before or after the capture.");
    }
    on->enqueue([array = &cpu_array(deferred), memory = tile_memory(physical), offset] {
        array->place(memory == nullptr ? nullptr : memory->address() + offset);
        array->owners[0] = memory;
    });
}

}  // namespace texton::detail
