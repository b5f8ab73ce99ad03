#include <texton/array.h>

#include <optional>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/sparse_array.h>
#include <texton/texture.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::download;
using test::expect_error;
using test::pattern;
using test::same_bytes;
using test::upload;

ArrayInfo cubes(int levels = 1) {
    return {.format = Format::rg8_uint,
            .extent = {8, 8},
            .kind = ArrayKind::cubemap_layered,
            .layers = 2,
            .levels = levels};
}

class ArrayTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayTest, test::every_device(), test::device_label);

TEST_P(ArrayTest, TexelsOfEveryFormatRoundTrip) {
    for (const Format format : test::array_formats()) {
        SCOPED_TRACE(name(format));
        const ArrayInfo info{.format = format, .extent = {53, 29}};
        const Array array(device(), info);
        EXPECT_EQ(array.info(), info);
        EXPECT_EQ(array.device(), device());
        EXPECT_EQ(array.view().kind(), MemoryKind::array);
        EXPECT_EQ(array.view().extent(), info.extent);
        EXPECT_EQ(array.view().data(), nullptr);
        const test::Bytes bytes = pattern(packed_bytes(format, info.extent), 1);
        upload(array.view(), bytes);
        EXPECT_TRUE(same_bytes(download(array.view()), bytes));
    }
}

TEST_P(ArrayTest, LevelsOfEveryKindAreViewedAsTexels) {
    for (const ArrayKind kind : test::all_kinds()) {
        const ArrayInfo info = test::small_info(kind, Format::rgba8_unorm);
        SCOPED_TRACE(test::describe(info));
        const Array array(device(), info);
        const test::ReferenceArray reference(info, 1);
        for (int level = 0; level < info.levels; ++level) {
            EXPECT_EQ(array.view({.level = level}).extent(), test::level_box(info, level));
        }
        test::upload(array, reference);
        EXPECT_TRUE(test::holds(array, reference));
    }
}

TEST_P(ArrayTest, ALayerSharesItsTexelsWithTheLevel) {
    for (const ArrayKind kind : {ArrayKind::layered_1d, ArrayKind::layered_2d}) {
        const ArrayInfo info = test::small_info(kind, Format::r16_uint);
        SCOPED_TRACE(test::describe(info));
        const Array array(device(), info);
        const test::ReferenceArray reference(info, 2);
        for (int level = 0; level < info.levels; ++level) {
            const Extent box = test::level_box(info, level);
            for (std::size_t layer = 0; layer < info.layers; ++layer) {
                const View view = array.view({.level = level, .layer = layer});
                EXPECT_EQ(view.extent(), (Extent{box.width, box.height, 1}));
                upload(view, reference.read(level, {{0, 0, layer}, {box.width, box.height, 1}}));
            }
        }
        EXPECT_TRUE(test::holds(array, reference));
    }
}

TEST_P(ArrayTest, ACubeFaceSharesItsTexelsWithTheLevel) {
    const ArrayInfo info = cubes(4);
    const Array array(device(), info);
    const test::ReferenceArray reference(info, 3);
    test::upload(array, reference);
    for (int level = 0; level < info.levels; ++level) {
        const std::size_t width = test::level_box(info, level).width;
        for (std::size_t cube = 0; cube < 2; ++cube) {
            EXPECT_TRUE(same_bytes(download(array.view({.level = level, .layer = cube})),
                                   reference.read(level, {{0, 0, cube * 6}, {width, width, 6}})));
            for (int face = 0; face < 6; ++face) {
                const std::size_t z = cube * 6 + static_cast<std::size_t>(face);
                EXPECT_TRUE(same_bytes(download(array.view({.level = level, .layer = cube, .face = face})),
                                       reference.read(level, {{0, 0, z}, {width, width, 1}})));
            }
        }
    }
}

TEST_P(ArrayTest, ASubresourceRegionIsRelativeToTheSubresource) {
    const Array array(device(), cubes(2));
    const test::ReferenceArray reference(array.info(), 4);
    test::upload(array, reference);
    const Region region{{1, 2, 1}, {2, 1, 3}};
    const Subresource part{.level = 1, .layer = 1, .region = region};
    const test::Bytes expected = reference.read(1, {{1, 2, 7}, {2, 1, 3}});
    EXPECT_TRUE(same_bytes(download(array.view(part)), expected));
    EXPECT_TRUE(same_bytes(download(array.view({.level = 1, .layer = 1}).region(region)), expected));
}

TEST_P(ArrayTest, RegionsAreCopiedBetweenArraysAndOtherMemory) {
    const Stream stream(device());
    const Extent extent{61, 17};
    const Array first(device(), {Format::rgba8_uint, extent});
    const Array second(device(), {Format::rgba8_uint, extent});
    const Pitched2D pitched(device(), Format::rgba8_uint, extent);
    const test::Bytes bytes = pattern(61 * 17 * 4, 2);
    upload(pitched.view(), bytes);
    const test::Bytes in_first = pattern(bytes.size(), 3);
    const test::Bytes in_second = pattern(bytes.size(), 4);
    upload(first.view(), in_first);
    upload(second.view(), in_second);
    const Region from{{5, 3}, {40, 9}};
    const Region center{{20, 8}, {40, 9}};
    const Region to{{0, 1}, {40, 9}};
    copy(first.view().region(center), pitched.view().region(from), stream);
    copy(second.view().region(to), first.view().region(center), stream);
    stream.synchronize();
    const test::Bytes expected = download(pitched.view().region(from));
    EXPECT_TRUE(same_bytes(download(second.view().region(to)), expected));
    // Texels around the regions are unchanged.
    EXPECT_TRUE(same_bytes(download(first.view().region({{0, 0}, {61, 8}})), std::span(in_first).first(61 * 8 * 4)));
    EXPECT_TRUE(same_bytes(download(second.view().region({{0, 0}, {61, 1}})), std::span(in_second).first(61 * 4)));
    copy(pitched.view().region(to), second.view().region(to));
    EXPECT_TRUE(same_bytes(download(pitched.view().region(to)), expected));
}

TEST_P(ArrayTest, PartsOfAnArrayAreCopiedWithinTheArray) {
    const ArrayInfo info{
        .format = Format::rgba16_uint, .extent = {16, 8}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 2};
    const Array array(device(), info);
    test::ReferenceArray reference(info, 5);
    test::upload(array, reference);
    copy(array.view({.layer = 2}), array.view({.layer = 0}));
    reference.write(0, {{0, 0, 2}, {16, 8, 1}}, reference.read(0, {{0, 0, 0}, {16, 8, 1}}));
    const Region corner{{0, 0, 0}, {8, 4, 1}};
    copy(array.view({.level = 1, .layer = 1}), array.view({.layer = 1, .region = corner}));
    reference.write(1, {{0, 0, 1}, {8, 4, 1}}, reference.read(0, {{0, 0, 1}, {8, 4, 1}}));
    // Adjacent regions of one layer.
    copy(array.view({.layer = 0, .region = Region{{8, 0, 0}, {8, 8, 1}}}),
         array.view({.layer = 0, .region = Region{{0, 0, 0}, {8, 8, 1}}}));
    reference.write(0, {{8, 0, 0}, {8, 8, 1}}, reference.read(0, {{0, 0, 0}, {8, 8, 1}}));
    EXPECT_TRUE(test::holds(array, reference));
}

TEST_P(ArrayTest, CopyingBetweenOverlappingPartsIsRefused) {
    const Array array(device(), {.format = Format::r8_uint, .extent = {16, 16, 4}, .kind = ArrayKind::array_3d});
    const auto part = [&](std::size_t x, std::size_t y, std::size_t z) {
        return array.view({.region = Region{{x, y, z}, {8, 8, 2}}});
    };
    expect_error([&] { copy(part(0, 0, 0), part(7, 7, 1)); }, ErrorCode::overlap, "texton::copy", {"texels"});
    expect_error([&] { copy(part(8, 8, 2), part(1, 1, 1)); }, ErrorCode::overlap, "texton::copy", {"texels"});
    expect_error([&] { copy(array.view(), array.view()); }, ErrorCode::overlap, "texton::copy");
    upload(array.view(), pattern(16 * 16 * 4, 6));
    copy(part(0, 0, 0), part(8, 0, 0));
    copy(part(0, 0, 0), part(0, 8, 0));
    copy(part(0, 0, 0), part(0, 0, 2));
    EXPECT_TRUE(same_bytes(download(part(0, 0, 0)), download(part(0, 0, 2))));
}

TEST_P(ArrayTest, BlocksAreCopiedBetweenFormatsOfTheSameSize) {
    const Extent extent{13, 9};
    const Array from(device(), {.format = Format::bc1_unorm, .extent = extent, .levels = 4});
    const Array to(device(), {.format = Format::bc4_snorm, .extent = extent, .levels = 4});
    for (int level = 0; level < 4; ++level) {  // the last levels are smaller than a block
        SCOPED_TRACE(level);
        const View source = from.view({.level = level});
        const test::Bytes bytes = pattern(packed_bytes(Format::bc1_unorm, source.extent()), 7);
        upload(source, bytes);
        copy(to.view({.level = level}), source);
        EXPECT_TRUE(same_bytes(download(to.view({.level = level})), bytes));
    }
    const Array larger(device(), {.format = Format::bc7_unorm, .extent = extent});
    expect_error([&] { copy(larger.view(), from.view()); }, ErrorCode::bad_argument, "texton::copy", {"bc7_unorm"});
}

TEST_P(ArrayTest, TexelsAreCopiedToArraysOfEveryOtherDevice) {
    const ArrayInfo info = cubes();
    const Array array(device(), info);
    const test::ReferenceArray reference(info, 8);
    test::upload(array, reference);
    for (const Device& other : Device::list()) {
        if (other == device()) continue;
        SCOPED_TRACE(other.name());
        const Array there(other, info);
        copy(there.view(), array.view());
        EXPECT_TRUE(test::holds(there, reference));
        const Array back(device(), info);
        const Device cuda = device().kind() == DeviceKind::cuda ? device() : other;
        const Stream stream(cuda);
        copy(back.view({.layer = 0}), there.view({.layer = 0}), stream);
        CopyBatch batch;
        batch.add(back.view({.layer = 1}), there.view({.layer = 1}));
        batch.run(stream);
        stream.synchronize();
        EXPECT_TRUE(test::holds(back, reference));
    }
}

TEST_P(ArrayTest, AViewKeepsItsArrayAlive) {
    const test::Bytes bytes = pattern(64, 9);
    const View view = [&] {
        const Array array(device(), {Format::r8_uint, {8, 8}});
        upload(array.view(), bytes);
        return array.view();
    }();
    EXPECT_TRUE(same_bytes(download(view), bytes));
}

TEST_P(ArrayTest, ArraysLargerThanTheDeviceMemoryAreRefusedWithTheirSize) {
    const auto& maximum = device().limits().texture_3d;
    const ArrayInfo info{
        .format = Format::rgba32_float, .extent = {maximum[0], maximum[1], maximum[2]}, .kind = ArrayKind::array_3d};
    const Error error =
        expect_error([&] { Array array(device(), info); }, ErrorCode::out_of_memory, "texton::Array", {"bytes"});
    EXPECT_EQ(test::number_of(error, "bytes"), packed_bytes(info));
}

TEST_P(ArrayTest, TheErrorNamesTheExceededLimit) {
    const DeviceLimits& limits = device().limits();
    const auto refused = [&](const ArrayInfo& info, std::string_view limit) {
        expect_error([&] { Array array(device(), info); }, ErrorCode::overflow, "texton::Array", {limit});
    };
    refused({.extent = {limits.texture_2d[0] + 1, 1}}, "texture_2d");
    refused({.extent = {limits.mipmap_2d[0] + 1, 1}, .levels = 2}, "mipmap_2d");
    refused({.extent = {limits.gather[0] + 1, 1}, .usage = {.gather = true}}, "gather");
    refused({.extent = {4, 4}, .kind = ArrayKind::layered_2d, .layers = limits.texture_2d_layered[2] + 1},
            "texture_2d_layered");
}

TEST_P(ArrayTest, MemoryRequirementsAreKnownWithoutCreatingTheArray) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {300, 200}, .levels = 3};
    const MemoryRequirements needed = memory_requirements(device(), info);
    EXPECT_EQ(needed, DeferredArray(device(), info).requirements());
    EXPECT_GE(needed.bytes, packed_bytes(info));
    EXPECT_EQ(needed.bytes % kTileBytes, 0u);
    EXPECT_EQ(needed.alignment, kTileBytes);
    const SparseProperties tiles = sparse_properties(device(), info);
    EXPECT_EQ(tiles, SparseArray(device(), info).properties());
    EXPECT_EQ(tiles.tile, (Extent{128, 128}));
    expect_error(
        [&] {
            (void)memory_requirements(device(), {.extent = {0, 1}});
        },
        ErrorCode::bad_argument, "texton::memory_requirements");
    expect_error(
        [&] {
            (void)sparse_properties(device(), {.extent = {8, 8}, .kind = ArrayKind::cubemap});
        },
        ErrorCode::unsupported, "texton::sparse_properties", {"cubemap"});
}

TEST_P(ArrayTest, DuringACaptureArraysAreNotCreatedAndAreDestroyedAfterwards) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    const std::size_t free = device().memory().free;
    std::optional<Array> array(std::in_place, device(), ArrayInfo{Format::r8_uint, {1024, 1024}});
    upload(memory.view(), pattern(64, 10));
    (void)Texture(*array);
    const Graph graph = Graph::capture(stream, [&] {
        fill(memory.view(), std::uint8_t{7}, stream);
        array.reset();
        expect_error(
            [&] {
                Array another(device(), {Format::r8_uint, {8, 8}});
            },
            ErrorCode::capturing, "texton::Array");
    });
    graph.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(memory.view()), 7));
    if (on_cpu()) {
        EXPECT_GE(device().memory().free, free);
    }
}

TEST_P(ArrayTest, AMovedFromArrayIsEmptyAndItsUseIsRefused) {
    Array from(device(), {Format::r8_uint, {16, 16}});
    const Array to = std::move(from);
    expect_error([&] { (void)from.view(); }, ErrorCode::released, "texton::Array");  // NOLINT(bugprone-use-after-move)
    expect_error([&] { (void)from.device(); }, ErrorCode::released, "texton::Array");
    EXPECT_EQ(from.info(), ArrayInfo{});
    EXPECT_EQ(to.info().extent, (Extent{16, 16}));
}

}  // namespace
}  // namespace texton
