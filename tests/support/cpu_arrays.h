#pragma once
// Base of tests that use the arrays of a CPU device through the Backend interface. Each test has its own device; the
// class creates arrays, maps memory to them, and writes and reads packed texels.
#include <algorithm>
#include <random>

#include "core/cpu/array.h"
#include "tests/support/cpu_device.h"

namespace texton::detail {

using Bytes = std::vector<std::byte>;

inline constexpr ArrayKind kArrayKinds[] = {ArrayKind::array_1d,       ArrayKind::array_2d,   ArrayKind::array_3d,
                                            ArrayKind::layered_1d,     ArrayKind::layered_2d, ArrayKind::cubemap,
                                            ArrayKind::cubemap_layered};

inline bool can_be_sparse(ArrayKind kind) {
    return kind == ArrayKind::array_2d || kind == ArrayKind::array_3d || kind == ArrayKind::layered_2d;
}

// Describes an array with two layers and all levels. The caller passes odd dimensions.
inline ArrayInfo info_of(ArrayKind kind, Format format, Extent sides) {
    ArrayInfo info{.format = format, .extent = sides, .kind = kind, .layers = is_layered(kind) ? 2U : 1U};
    if (is_flat(kind)) info.extent.height = 1;
    if (is_cube(kind)) info.extent.height = sides.width;
    if (kind != ArrayKind::array_3d) info.extent.depth = 1;
    if (plane_count(format) == 1) info.levels = full_levels(info);
    return info;
}

inline Bytes random_bytes(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(count);
    for (std::byte& each : bytes)
        each = static_cast<std::byte>(1 + random() % 255);  // never 0: unmapped texels read as 0
    return bytes;
}

// Destroys arrays and memory for tiles at the end of the test.
class CpuArrayTest : public CpuDeviceTest {
protected:
    ~CpuArrayTest() override { destroy_all(); }
    ArrayHandle array(const ArrayInfo& info, ArrayBacking backing = ArrayBacking::own) {
        return arrays_.emplace_back(device().create_array(info, backing));
    }
    void destroy(ArrayHandle handle) {
        std::erase(arrays_, handle);
        device().destroy_array(handle);
    }
    PhysicalHandle memory(std::size_t bytes) {
        const PhysicalInfo info{.location = own(), .tile_pool = true};
        const std::size_t unit = device().physical_granularity(info, Granularity::minimum);
        return memories_.emplace_back(device().create_physical((bytes + unit - 1) / unit * unit, info));
    }
    void release(PhysicalHandle handle) {
        std::erase(memories_, handle);
        device().release_physical(handle);
    }
    void destroy_all() {
        while (!arrays_.empty()) destroy(arrays_.back());
        while (!memories_.empty()) release(memories_.back());
    }

    static MemoryLocation location_of(ArrayHandle handle, int part, Offset offset, Format format) {
        MemoryLocation location;
        location.array = handle;
        location.array_part = part;
        location.array_offset = offset;
        location.kind = MemoryKind::array;
        location.format = format;
        return location;
    }
    struct Packed {
        MemoryLocation location;
        Box box;
    };
    static Packed packed(Bytes& bytes, Format format, Extent extent) {
        Packed packed{at(bytes.data(), row_bytes(format, extent.width), MemoryKind::host),
                      {row_bytes(format, extent.width), row_count(format, extent.height), extent.depth}};
        packed.location.slice_pitch = packed.location.pitch * packed.box.rows;
        return packed;
    }
    void write(ArrayHandle handle, int part, Bytes texels, Region region, const StreamHandle* stream = nullptr) {
        const Format format = cpu_array(handle).part_format(part);
        const Packed from = packed(texels, format, region.extent);
        const MemoryLocation to = location_of(handle, part, region.offset, format);
        device().copy({&to, &from.location, from.box}, stream);
    }
    Bytes read(ArrayHandle handle, int part, Region region, const StreamHandle* stream = nullptr) {
        const Format format = cpu_array(handle).part_format(part);
        Bytes texels(packed_bytes(format, region.extent), std::byte{0xEE});
        const Packed to = packed(texels, format, region.extent);
        const MemoryLocation from = location_of(handle, part, region.offset, format);
        device().copy({&to.location, &from, to.box}, stream);
        return texels;
    }
    static Region whole(ArrayHandle handle, int part) {
        return {{}, cpu_array(handle).parts[static_cast<std::size_t>(part)].extent};
    }
    static Bytes example(ArrayHandle handle, int part, unsigned seed) {
        return random_bytes(packed_bytes(cpu_array(handle).part_format(part), whole(handle, part).extent),
                            seed + static_cast<unsigned>(part));
    }

    TileMapRequest level_request(ArrayHandle handle, int level, std::size_t layer, PhysicalHandle from,
                                 std::size_t offset) {
        const ArrayInfo& info = cpu_array(handle).info;
        Extent extent = level_extent(info, level);
        return {.array = handle,
                .level = level,
                .layer = layer,
                .offset = {},
                .extent = extent,
                .memory = from,
                .memory_offset = offset};
    }
    static TileMapRequest tail_request(ArrayHandle handle, std::size_t layer, PhysicalHandle from, std::size_t offset) {
        TileMapRequest request;
        request.array = handle;
        request.tail = true;
        request.layer = layer;
        request.memory = from;
        request.memory_offset = offset;
        return request;
    }
    /// Maps all tiles and mip tails, or all of a deferred array, and waits. Does nothing for arrays that own their
    /// memory.
    void map_all(ArrayHandle handle, const StreamHandle on = nullptr) {
        const CpuArray& mapped = cpu_array(handle);
        if (mapped.backing == ArrayBacking::own) return;
        if (mapped.backing == ArrayBacking::deferred) {
            device().map_array(handle, memory(device().array_requirements(handle).bytes), 0, on);
            device().synchronize_stream(on);
            return;
        }
        const SparseProperties tiles = device().array_tiles(handle);
        const PhysicalHandle from = memory(mapped.bytes);
        const std::size_t layers = is_layered(mapped.info.kind) ? mapped.info.layers : 1;
        std::vector<TileMapRequest> requests;
        std::size_t offset = 0;
        for (std::size_t layer = 0; layer < layers; ++layer) {
            for (int level = 0; level < std::min(tiles.first_tail_level, mapped.info.levels); ++level) {
                requests.push_back(level_request(handle, level, layer, from, offset));
                const Extent count = mapped.parts[static_cast<std::size_t>(level)].tile_count;
                offset += count.width * count.height * count.depth * kTileBytes;
            }
            if (tiles.tail_bytes == 0 || (layer > 0 && !tiles.tail_per_layer)) continue;
            requests.push_back(tail_request(handle, layer, from, offset));
            offset += tiles.tail_bytes;
        }
        EXPECT_EQ(offset, mapped.bytes);
        device().map_tiles(requests, on);
        device().synchronize_stream(on);
    }
    /// Describes one tile of level 0.
    TileMapRequest tile(ArrayHandle handle, Offset tile, PhysicalHandle from, std::size_t offset = 0) {
        const CpuLevel& level = cpu_array(handle).parts[0];
        const Offset first{tile.x * level.tile.width, tile.y * level.tile.height, tile.z * level.tile.depth};
        return {.array = handle,
                .offset = first,
                .extent = {std::min(level.tile.width, level.extent.width - first.x),
                           std::min(level.tile.height, level.extent.height - first.y), level.tile.depth},
                .memory = from,
                .memory_offset = offset};
    }
    void map(const TileMapRequest& request) {
        device().map_tiles({&request, 1}, nullptr);
        device().synchronize_stream(nullptr);
    }

private:
    std::vector<ArrayHandle> arrays_;
    std::vector<PhysicalHandle> memories_;
};

}  // namespace texton::detail
