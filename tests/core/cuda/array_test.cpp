// Arrays of the CUDA device through the backend: the arrays that the driver creates, mapping of memory, and adoption of
// foreign arrays.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <texton/error.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/physical.h>

#include "tests/support/cuda_arrays.h"

namespace texton {
namespace {

using detail::ArrayBacking;
using detail::ArrayHandle;
using detail::Box;
using detail::MemoryLocation;
using test::box_of;
using test::Bytes;
using test::HeldArray;
using test::Rows;

class CudaArrayTest : public test::OnCudaArrays {};
INSTANTIATE_TEST_SUITE_P(Devices, CudaArrayTest, testing::Values(DeviceKind::cuda), test::device_label);

TEST_P(CudaArrayTest, TheDriverCreatesTheRequestedArray) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const int levels : {1, 3}) {
            for (const ArrayBacking backing : {ArrayBacking::own, ArrayBacking::sparse, ArrayBacking::deferred}) {
                const bool sparse_kind =
                    kind == ArrayKind::array_2d || kind == ArrayKind::array_3d || kind == ArrayKind::layered_2d;
                if (backing == ArrayBacking::sparse && !sparse_kind) continue;
                ArrayInfo info = test::info_of(kind, Format::rgba8_unorm, levels);
                info.usage.gather = kind == ArrayKind::array_2d;
                SCOPED_TRACE(test::describe(info));
                const HeldArray array(backend(), info, backing);
                ASSERT_EQ(array.cuda().parts.size(), static_cast<std::size_t>(levels));
                for (int level = 0; level < levels; ++level) {
                    cudaChannelFormatDesc channels{};
                    cudaExtent sides{};
                    unsigned flags = 0;
                    detail::call<cudaArrayGetInfo>(&channels, &sides, &flags,
                                                   array.cuda().parts[static_cast<std::size_t>(level)]);
                    const Extent extent = level_extent(info, level);
                    const bool deep = kind != ArrayKind::array_1d && kind != ArrayKind::array_2d;
                    EXPECT_EQ(sides.width, extent.width);
                    EXPECT_EQ(sides.height, is_flat(kind) ? 0 : extent.height);
                    EXPECT_EQ(sides.depth, deep ? slice_count(info, level) : 0);
                    EXPECT_EQ(channels.x, 8);
                    EXPECT_EQ(channels.w, 8);
                    EXPECT_EQ(channels.f, cudaChannelFormatKindUnsigned);
                    EXPECT_EQ((flags & cudaArrayLayered) != 0, is_layered(kind));
                    EXPECT_EQ((flags & cudaArrayCubemap) != 0, is_cube(kind));
                    EXPECT_EQ((flags & cudaArrayTextureGather) != 0, info.usage.gather);
                    EXPECT_EQ((flags & cudaArraySparse) != 0, backing == ArrayBacking::sparse);
                    EXPECT_EQ((flags & cudaArrayDeferredMapping) != 0, backing == ArrayBacking::deferred);
                    EXPECT_EQ((flags & cudaArraySurfaceLoadStore) != 0, backing != ArrayBacking::sparse);
                }
            }
        }
    }
}

TEST_P(CudaArrayTest, ArraysTooWideForSurfacesAreCreatedWithoutSurfaceAccess) {
    const HeldArray wide(backend(), {.format = Format::r8_uint, .extent = {100000}, .kind = ArrayKind::array_1d});
    EXPECT_FALSE(wide.cuda().has_surfaces);
    Bytes bytes = test::pattern(100000, 3);
    write(wide, 0, bytes);
    EXPECT_TRUE(test::same_bytes(read(wide, 0), bytes));
}

TEST_P(CudaArrayTest, RuntimeAndDriverReturnTheSamePlanes) {
    for (const Format format : {Format::nv12, Format::p010, Format::p016, Format::nv16}) {
        SCOPED_TRACE(std::string(name(format)));
        const HeldArray array(backend(), {.format = format, .extent = {32, 18}});
        ASSERT_EQ(array.cuda().parts.size(), 2u);
        for (unsigned plane = 0; plane < 2; ++plane) {
            CUarray other = nullptr;
            const detail::DeviceScope scope(backend().ordinal());
            detail::driver<cuArrayGetPlane>(&other, reinterpret_cast<CUarray>(array.cuda().plain), plane);
            EXPECT_EQ(reinterpret_cast<cudaArray_t>(other), array.cuda().parts[plane]);
        }
    }
}

TEST_P(CudaArrayTest, RefusedArraysNameTheFailedCall) {
    const auto refused = [&](const ArrayInfo& info, std::string_view call) {
        try {
            const HeldArray array(backend(), info);
            ADD_FAILURE() << test::describe(info) << " was created";
        } catch (const Error& error) {
            EXPECT_EQ(error.call(), call);
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        }
    };
    refused({.format = Format::r8_uint, .extent = {std::size_t{1} << 20, 4}}, "cudaMallocArray");
    refused({.format = Format::r8_uint, .extent = {1 << 20, 4}, .levels = 2}, "cudaMallocMipmappedArray");
    refused({.format = Format::r8_uint, .extent = {1 << 20}, .kind = ArrayKind::layered_1d}, "cudaMalloc3DArray");
    refused({.format = Format::nv12, .extent = {31, 17}}, "cuArray3DCreate");
}

TEST_P(CudaArrayTest, FailedArrayCreationLeaksNoMemory) {
    const ArrayInfo huge{.format = Format::rgba32_uint, .extent = {16384, 16384, 16384}, .kind = ArrayKind::array_3d};
    const ArrayInfo mips{.format = Format::rgba32_uint,
                         .extent = {32768, 32768},
                         .kind = ArrayKind::layered_2d,
                         .layers = 2048,
                         .levels = 16};
    const auto fails = [&](const ArrayInfo& info) {
        try {
            const HeldArray array(backend(), info);
            ADD_FAILURE() << test::describe(info) << " was created";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        }
    };
    fails(huge);
    fails(mips);
    const std::size_t before = backend().memory_info().free;
    for (int i = 0; i < 20; ++i) {
        fails(huge);
        fails(mips);
    }
    EXPECT_EQ(backend().memory_info().free, before);
}

TEST_P(CudaArrayTest, ArraysCopiedByAKernelFreeAllTheirMemory) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {2048, 2048}};
    const Linear memory(device(), packed_bytes(info));
    fill(memory.view(), std::uint8_t{0});
    const auto copied = [&] {
        const HeldArray array(backend(), info);
        const MemoryLocation to = array.location(0, array.whole(0));
        const Box box = box_of(info.format, info.extent);
        const MemoryLocation from = Rows::packed(box).location(memory, backend(), info.format, info.extent);
        backend().copy({&to, &from, box}, nullptr);
        EXPECT_NE(array.cuda().surfaces.at(0), 0u);
    };
    copied();
    const std::size_t before = backend().memory_info().free;
    for (int i = 0; i < 50; ++i) copied();
    EXPECT_EQ(backend().memory_info().free, before);
}

TEST_P(CudaArrayTest, AListOfTilesIsMappedCompletelyOrNotAtAll) {
    const ArrayInfo info{.format = Format::r32_uint, .extent = {256, 256}};
    const HeldArray array(backend(), info, ArrayBacking::sparse);
    const SparseProperties tiles = backend().array_tiles(array.handle());
    ASSERT_EQ(tiles.tile, (Extent{128, 128}));
    const Physical memory(device(), std::size_t{2} << 20, {.tile_pool = true});
    const auto request = [&](std::size_t x, std::size_t slot) {
        return detail::TileMapRequest{.array = array.handle(),
                                      .offset = {x, 0, 0},
                                      .extent = tiles.tile,
                                      .memory = memory.handle(),
                                      .memory_offset = slot * kTileBytes};
    };
    Bytes texels = test::pattern(256 * 256 * 4, 4);
    const auto seen = [&] {
        write(array, 0, texels);
        return read(array, 0);
    };
    const detail::TileMapRequest wrong[] = {request(0, 0), request(64, 1)};  // 64 is inside a tile
    EXPECT_THROW(backend().map_tiles(wrong, nullptr), Error);
    EXPECT_TRUE(test::all_bytes(seen(), 0));
    const detail::TileMapRequest right[] = {request(0, 0), request(128, 1)};
    backend().map_tiles(right, nullptr);
    const std::size_t half = texels.size() / 2;  // the upper row of tiles
    Bytes expected = texels;
    std::fill(expected.begin() + static_cast<std::ptrdiff_t>(half), expected.end(), std::byte{});
    EXPECT_TRUE(test::same_bytes(seen(), expected));
    detail::TileMapRequest away = request(0, 0);
    away.extent = {256, 128};
    away.memory = nullptr;
    backend().map_tiles({&away, 1}, nullptr);
    EXPECT_TRUE(test::all_bytes(seen(), 0));
}

TEST_P(CudaArrayTest, ADeferredArrayShowsTheContentsOfItsMemory) {
    for (const ArrayKind kind : test::all_kinds()) {
        const ArrayInfo info = test::info_of(kind, Format::rgba8_unorm, 2);
        SCOPED_TRACE(test::describe(info));
        const HeldArray array(backend(), info, ArrayBacking::deferred);
        const MemoryRequirements needs = backend().array_requirements(array.handle());
        ASSERT_GT(needs.bytes, 0u);
        ASSERT_LE(needs.bytes, std::size_t{2} << 20);
        const Physical a(device(), std::size_t{2} << 20, {.tile_pool = true});
        const Physical b(device(), std::size_t{2} << 20, {.tile_pool = true});
        Bytes in_a = test::pattern(test::box_bytes(info.format, array.whole(1).extent), 1);
        Bytes in_b = test::pattern(in_a.size(), 2);
        backend().map_array(array.handle(), a.handle(), 0, nullptr);
        write(array, 1, in_a);
        backend().map_array(array.handle(), b.handle(), 0, nullptr);
        write(array, 1, in_b);
        EXPECT_TRUE(test::same_bytes(read(array, 1), in_b));
        backend().map_array(array.handle(), a.handle(), 0, nullptr);
        EXPECT_TRUE(test::same_bytes(read(array, 1), in_a));
        backend().synchronize();
        backend().map_array(array.handle(), nullptr, 0, nullptr);
    }
}

class Raw {
public:
    Raw(cudaChannelFormatDesc channels, cudaExtent sides, unsigned flags) {
        detail::call<cudaMalloc3DArray>(&array_, &channels, sides, flags);
    }
    ~Raw() { (void)detail::ask<cudaFreeArray>(array_); }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;
    cudaArray_t get() const { return array_; }

private:
    cudaArray_t array_ = nullptr;
};

TEST_P(CudaArrayTest, AdoptedArraysHaveTheInfoOfTheDriver) {
    const detail::DeviceScope scope(backend().ordinal());
    for (const ArrayKind kind : test::all_kinds()) {
        ArrayInfo info = test::info_of(kind, Format::rgba8_unorm, 3);
        SCOPED_TRACE(test::describe(info));
        info.usage = {.surface = true, .gather = kind == ArrayKind::array_2d};
        const HeldArray array(backend(), info);
        const ArrayHandle all = detail::adopt_mipmapped_array(backend(), array.cuda().mipmapped, info.format);
        EXPECT_EQ(detail::cuda_array(all).info, info);
        EXPECT_TRUE(detail::cuda_array(all).has_surfaces);
        backend().destroy_array(all);
        const ArrayHandle one = detail::adopt_array(backend(), array.cuda().parts[1], std::nullopt);
        ArrayInfo level = info;
        level.format = Format::rgba8_uint;
        level.extent = level_extent(info, 1);
        level.levels = 1;
        EXPECT_EQ(detail::cuda_array(one).info, level);
        backend().destroy_array(one);
        EXPECT_EQ(read(array, 1).size(),
                  test::box_bytes(info.format, array.whole(1).extent));  // the foreign array still exists
    }
}

TEST_P(CudaArrayTest, TheFormatOfAnAdoptedArrayFollowsItsChannels) {
    const detail::DeviceScope scope(backend().ordinal());
    const auto format_of = [&](cudaChannelFormatDesc channels, std::optional<Format> named) {
        const Raw raw(channels, detail::cuda_extent(16, 16, 0), 0);
        const ArrayHandle adopted = detail::adopt_array(backend(), raw.get(), named);
        const Format format = detail::cuda_array(adopted).info.format;
        backend().destroy_array(adopted);
        return format;
    };
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::planar) continue;
        EXPECT_EQ(format_of(detail::channel_descriptor(row.format), row.format), row.format) << row.name;
    }
    const cudaChannelFormatDesc normalized{8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4};
    EXPECT_EQ(format_of(normalized, std::nullopt), Format::rgba8_unorm);
    EXPECT_EQ(format_of(normalized, Format::rgba8_srgb), Format::rgba8_srgb);
    const cudaChannelFormatDesc integers{8, 8, 8, 8, cudaChannelFormatKindUnsigned};
    const auto refused = [&](cudaChannelFormatDesc channels, Format named) {
        try {
            (void)format_of(channels, named);
            ADD_FAILURE() << name(named) << " was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        }
    };
    refused(normalized, Format::rgba8_uint);
    refused(integers, Format::r32_uint);
    refused(integers, Format::rgba8_sint);
    refused({32, 0, 0, 0, cudaChannelFormatKindFloat}, Format::r32_uint);
}

TEST_P(CudaArrayTest, AdoptingPlanarAndDeferredArraysIsRefused) {
    const detail::DeviceScope scope(backend().ordinal());
    const auto refused = [&](cudaArray_t array) {
        try {
            backend().destroy_array(detail::adopt_array(backend(), array, std::nullopt));
            ADD_FAILURE() << "the array was adopted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unsupported);
        }
    };
    for (const Format format : {Format::nv12, Format::p010}) {
        const HeldArray planar(backend(), {.format = format, .extent = {32, 32}});
        refused(planar.cuda().plain);
        const ArrayHandle plane = detail::adopt_array(backend(), planar.cuda().parts[1], std::nullopt);
        EXPECT_EQ(detail::cuda_array(plane).info.extent, (Extent{16, 16}));
        backend().destroy_array(plane);
    }
    const HeldArray deferred(backend(), test::info_of(ArrayKind::array_2d, Format::r8_uint, 1), ArrayBacking::deferred);
    refused(deferred.cuda().plain);
}

}  // namespace
}  // namespace texton
