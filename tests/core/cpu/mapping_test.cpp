// Sparse and deferred arrays of the CPU device through the Backend interface: contents and order of mappings.
#include "tests/support/cpu_arrays.h"

namespace texton::detail {
namespace {

using CpuMappingTest = CpuArrayTest;

// --- sparse ---

TEST_F(CpuMappingTest, UnmappedTilesReadAsZeroAndDiscardWrites) {
    const ArrayHandle handle =
        array({.format = Format::r32_uint, .extent = {300, 200}, .levels = 1}, ArrayBacking::sparse);
    map(tile(handle, {1, 0}, memory(kTileBytes)));
    const Bytes texels = example(handle, 0, 1);
    write(handle, 0, texels, whole(handle, 0));
    const Bytes seen = read(handle, 0, whole(handle, 0));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const std::size_t x = i / 4 % 300, y = i / 1200;
        const bool mapped = x >= 128 && x < 256 && y < 128;
        wrong += seen[i] == (mapped ? texels[i] : std::byte{0}) ? 0U : 1U;
        const bool resident = cpu_array(handle).parts[0].texel(x, y, 0, Format::r32_uint) != nullptr;
        wrong += resident == mapped ? 0U : 1U;
    }
    EXPECT_EQ(wrong, 0U);
}

TEST_F(CpuMappingTest, TilesMappedToTheSameMemoryShareTexels) {
    const ArrayHandle one = array({.format = Format::r32_uint, .extent = {384, 256}}, ArrayBacking::sparse);
    const ArrayHandle other = array({.format = Format::r32_float, .extent = {128, 128}}, ArrayBacking::sparse);
    const PhysicalHandle shared = memory(4 * kTileBytes);
    map(tile(one, {0, 0}, shared, kTileBytes));
    map(tile(one, {2, 1}, shared, kTileBytes));
    map(tile(other, {0, 0}, shared, kTileBytes));
    map(tile(one, {1, 0}, shared, 2 * kTileBytes));
    const Bytes texels = random_bytes(128 * 128 * 4, 8);
    write(one, 0, texels, {{256, 128, 0}, {128, 128, 1}});
    EXPECT_EQ(read(one, 0, {{0, 0, 0}, {128, 128, 1}}), texels);
    EXPECT_EQ(read(other, 0, {{0, 0, 0}, {128, 128, 1}}), texels);
    EXPECT_EQ(read(one, 0, {{128, 0, 0}, {128, 128, 1}}), Bytes(texels.size()));
}

TEST_F(CpuMappingTest, TilesOfABoxAreConsecutiveInMemory) {
    const ArrayInfo info{.format = Format::rgba32_float, .extent = {40, 33, 20}, .kind = ArrayKind::array_3d};
    const ArrayHandle boxed = array(info, ArrayBacking::sparse);
    const ArrayHandle single = array(info, ArrayBacking::sparse);
    const PhysicalHandle shared = memory(64 * kTileBytes);
    TileMapRequest box = tile(boxed, {1, 1, 0}, shared, 3 * kTileBytes);
    box.extent = {40 - 16, 33 - 16, 20};  // 2 x 2 x 2 tiles, up to the edges
    map(box);
    std::size_t offset = 3 * kTileBytes;
    for (std::size_t z = 0; z < 2; ++z) {
        for (std::size_t y = 1; y < 3; ++y) {
            for (std::size_t x = 1; x < 3; ++x, offset += kTileBytes) map(tile(single, {x, y, z}, shared, offset));
        }
    }
    write(boxed, 0, example(boxed, 0, 4), whole(boxed, 0));
    const Region corner{{16, 16, 0}, {24, 17, 20}};
    const Bytes texels = read(single, 0, corner);
    EXPECT_EQ(texels, read(boxed, 0, corner));
    EXPECT_EQ(std::count(texels.begin(), texels.end(), std::byte{0}), 0);
}

TEST_F(CpuMappingTest, EachLayerHasItsOwnTilesAndTail) {
    const ArrayInfo info = info_of(ArrayKind::layered_2d, Format::r32_uint, {200, 200, 1});
    const ArrayHandle handle = array(info, ArrayBacking::sparse);
    const SparseProperties tiles = device().array_tiles(handle);
    ASSERT_EQ(tiles.first_tail_level, 1);
    const PhysicalHandle from = memory(tiles.tail_bytes + 4 * kTileBytes);
    map(tail_request(handle, 1, from, 0));
    map(level_request(handle, 0, 0, from, tiles.tail_bytes));
    for (int part = 0; part < info.levels; ++part) write(handle, part, example(handle, part, 2), whole(handle, part));
    for (int part = 0; part < info.levels; ++part) {
        Bytes expected = example(handle, part, 2);
        const auto half = expected.begin() + static_cast<std::ptrdiff_t>(expected.size() / 2);
        if (part == 0) std::fill(half, expected.end(), std::byte{0});
        if (part > 0) std::fill(expected.begin(), half, std::byte{0});
        EXPECT_EQ(read(handle, part, whole(handle, part)), expected) << part;
    }
}

TEST_F(CpuMappingTest, LayersSmallerThanATileShareOneTail) {
    const ArrayInfo info = info_of(ArrayKind::layered_2d, Format::rg32_uint, {100, 100, 1});
    const ArrayHandle handle = array(info, ArrayBacking::sparse);
    const SparseProperties tiles = device().array_tiles(handle);
    ASSERT_EQ(tiles.first_tail_level, 0);
    ASSERT_FALSE(tiles.tail_per_layer);
    EXPECT_EQ(cpu_array(handle).bytes, tiles.tail_bytes);
    map_all(handle);
    for (int part = 0; part < info.levels; ++part) write(handle, part, example(handle, part, 2), whole(handle, part));
    for (int part = 0; part < info.levels; ++part) {
        EXPECT_EQ(read(handle, part, whole(handle, part)), example(handle, part, 2)) << part;
    }
    map(tail_request(handle, 0, nullptr, 0));
    EXPECT_EQ(read(handle, 0, whole(handle, 0)), Bytes(example(handle, 0, 2).size()));
}

TEST_F(CpuMappingTest, ContiguousRunsEndAtThePageBoundaryOfTheTail) {
    const ArrayHandle handle =
        array({.format = Format::r32_uint, .extent = {3000, 1700}, .levels = 12}, ArrayBacking::sparse);
    CpuArray& held = cpu_array(handle);
    std::vector<Bytes> pages(3, Bytes(kTileBytes));
    ASSERT_EQ(device().array_tiles(handle).tail_bytes, pages.size() * kTileBytes);
    for (std::size_t i = 0; i < pages.size(); ++i) held.pages[held.pages.size() - 3 + i] = pages[2 - i].data();
    const CpuLevel& level = held.parts[4];  // 187 x 106: a row crosses the end of the first page
    const Bytes texels = example(handle, 4, 5);
    write(handle, 4, texels, whole(handle, 4));
    EXPECT_EQ(read(handle, 4, whole(handle, 4)), texels);
    for (std::size_t i = 0; i < texels.size(); i += 4) {
        const std::size_t at = level.tail_offset + i;
        const Bytes& page = pages[2 - at / kTileBytes];
        ASSERT_EQ(page[at % kTileBytes], texels[i]) << i;
        ASSERT_EQ(level.texel(i / 4 % 187, i / 748, 0, Format::r32_uint), page.data() + at % kTileBytes) << i;
    }
}

TEST_F(CpuMappingTest, RemappingAndUnmappingKeepTheContentsOfTheMemory) {
    const ArrayHandle handle = array({.format = Format::r32_uint, .extent = {128, 128}}, ArrayBacking::sparse);
    const PhysicalHandle from = memory(2 * kTileBytes);
    const Bytes first = example(handle, 0, 1), second = example(handle, 0, 2);
    map(tile(handle, {}, from));
    write(handle, 0, first, whole(handle, 0));
    map(tile(handle, {}, from, kTileBytes));
    write(handle, 0, second, whole(handle, 0));
    map(tile(handle, {}, nullptr));
    EXPECT_EQ(read(handle, 0, whole(handle, 0)), Bytes(first.size()));
    map(tile(handle, {}, from));
    EXPECT_EQ(read(handle, 0, whole(handle, 0)), first);
    map(tile(handle, {}, from, kTileBytes));
    EXPECT_EQ(read(handle, 0, whole(handle, 0)), second);
}

TEST_F(CpuMappingTest, TilesAreMappedInStreamOrder) {
    const ArrayHandle handle = array({.format = Format::r32_uint, .extent = {128, 128}}, ArrayBacking::sparse);
    const ArrayHandle plain = array({.format = Format::r32_uint, .extent = {128, 128}});
    const ArrayHandle later = array({.format = Format::r32_uint, .extent = {128, 128}});
    const Bytes texels = example(handle, 0, 1);
    write(later, 0, texels, whole(later, 0));
    const auto copy = [&](ArrayHandle to, ArrayHandle from, StreamHandle on) {
        const MemoryLocation into = location_of(to, 0, {}, Format::r32_uint),
                             out_of = location_of(from, 0, {}, Format::r32_uint);
        device().copy({&into, &out_of, {512, 128}}, &on);
    };
    const StreamHandle on = stream();
    const TileMapRequest taken = tile(handle, {}, nullptr), mapped = tile(handle, {}, memory(kTileBytes));
    Hold hold;
    hold.on(device(), on);
    copy(handle, later, on);  // dropped because nothing is mapped yet
    device().map_tiles({&mapped, 1}, on);
    copy(plain, handle, on);  // the contents of the memory
    copy(handle, later, on);
    copy(later, handle, on);
    device().map_tiles({&taken, 1}, on);
    EXPECT_EQ(cpu_array(handle).pages[0], nullptr);
    hold.open();
    device().synchronize_stream(on);
    EXPECT_EQ(read(plain, 0, whole(plain, 0)), Bytes(texels.size()));
    EXPECT_EQ(read(later, 0, whole(later, 0)), texels);
    EXPECT_EQ(read(handle, 0, whole(handle, 0)), Bytes(texels.size()));
}

TEST_F(CpuMappingTest, StreamsCanMapAndCopyDifferentTilesConcurrently) {
    constexpr std::size_t kTiles = 8;
    const ArrayHandle handle = array({.format = Format::r32_uint, .extent = {128 * kTiles, 128}}, ArrayBacking::sparse);
    const PhysicalHandle from = memory(kTiles * kTileBytes);
    std::vector<Bytes> results(kTiles, Bytes(kTileBytes));
    Bytes texels = random_bytes(kTileBytes, 6);
    std::vector<StreamHandle> on;
    for (std::size_t i = 0; i < kTiles; ++i) on.push_back(stream());
    for (int round = 0; round < 50; ++round) {
        for (std::size_t i = 0; i < kTiles; ++i) {
            const TileMapRequest mapped = tile(handle, {i}, from, i * kTileBytes), taken = tile(handle, {i}, nullptr);
            const MemoryLocation source = at(texels.data(), 512, MemoryKind::pinned);
            const MemoryLocation target = at(results[i].data(), 512, MemoryKind::pinned);
            const MemoryLocation part = location_of(handle, 0, {i * 128}, Format::r32_uint);
            device().map_tiles({&mapped, 1}, on[i]);
            device().copy({&part, &source, {512, 128}}, &on[i]);
            device().copy({&target, &part, {512, 128}}, &on[i]);
            device().map_tiles({&taken, 1}, on[i]);
        }
    }
    for (std::size_t i = 0; i < kTiles; ++i) {
        device().synchronize_stream(on[i]);
        EXPECT_EQ(results[i], texels) << i;
    }
}

// --- deferred ---

TEST_F(CpuMappingTest, DeferredArraysUseTheirMappedMemory) {
    const ArrayInfo info = info_of(ArrayKind::cubemap_layered, Format::rgba16_float, {33, 33, 1});
    const ArrayHandle one = array(info, ArrayBacking::deferred);
    const ArrayHandle other = array(info, ArrayBacking::deferred);
    const std::size_t bytes = device().array_requirements(one).bytes;
    const PhysicalHandle from = memory(2 * bytes);
    const auto map = [&](ArrayHandle handle, PhysicalHandle to, std::size_t offset) {
        device().map_array(handle, to, offset, nullptr);
        device().synchronize_stream(nullptr);
    };
    EXPECT_EQ(cpu_array(one).parts[0].data, nullptr);
    write(one, 1, example(one, 1, 1), whole(one, 1));  // dropped because nothing is mapped
    EXPECT_EQ(read(one, 1, whole(one, 1)), Bytes(example(one, 1, 1).size()));
    map(one, from, bytes);
    map(other, from, bytes);
    for (int part = 0; part < info.levels; ++part) write(one, part, example(one, part, 2), whole(one, part));
    for (int part = 0; part < info.levels; ++part) {
        EXPECT_EQ(read(other, part, whole(other, part)), example(one, part, 2)) << part;
    }
    map(other, from, 0);
    EXPECT_EQ(read(other, 1, whole(other, 1)), Bytes(example(one, 1, 2).size()));
    map(other, nullptr, 0);
    EXPECT_EQ(cpu_array(other).parts[1].data, nullptr);
    map(other, from, bytes);
    EXPECT_EQ(read(other, 1, whole(other, 1)), example(one, 1, 2));
}

TEST_F(CpuMappingTest, DeferredArraysAreMappedInStreamOrder) {
    const ArrayHandle handle = array({.format = Format::r8_uint, .extent = {100, 100}}, ArrayBacking::deferred);
    const PhysicalHandle from = memory(device().array_requirements(handle).bytes);
    const StreamHandle on = stream();
    Bytes before(10000, std::byte{1}), after(10000, std::byte{1});
    Bytes texels = random_bytes(10000, 4);
    const MemoryLocation part = location_of(handle, 0, {}, Format::r8_uint);
    const auto pinned = [](Bytes& bytes) { return at(bytes.data(), 100, MemoryKind::pinned); };
    const MemoryLocation first = pinned(before), last = pinned(after), source = pinned(texels);
    Hold hold;
    hold.on(device(), on);
    device().map_array(handle, from, 0, on);
    device().copy({&part, &source, {100, 100}}, &on);
    device().copy({&first, &part, {100, 100}}, &on);
    device().map_array(handle, nullptr, 0, on);
    device().copy({&last, &part, {100, 100}}, &on);
    EXPECT_EQ(cpu_array(handle).parts[0].data, nullptr);
    hold.open();
    device().synchronize_stream(on);
    EXPECT_EQ(before, texels);
    EXPECT_EQ(after, Bytes(10000));
}

// --- both ---

TEST_F(CpuMappingTest, MappedMemoryIsFreedOnlyAfterTheLastMapping) {
    const auto taken = [this] { return kDeviceBytes - device().memory_info().free; };
    const ArrayHandle sparse = array({.format = Format::r32_uint, .extent = {256, 128}}, ArrayBacking::sparse);
    const ArrayHandle deferred = array({.format = Format::r32_uint, .extent = {128, 128}}, ArrayBacking::deferred);
    const PhysicalHandle one = memory(kTileBytes), other = memory(kTileBytes);
    EXPECT_EQ(taken(), 4 * kMega);
    const Bytes texels = random_bytes(kTileBytes, 1);
    map(tile(sparse, {0, 0}, one));
    map(tile(sparse, {1, 0}, one, kTileBytes));
    device().map_array(deferred, other, 0, nullptr);
    device().synchronize_stream(nullptr);
    release(one);
    release(other);
    write(sparse, 0, texels, {{128, 0, 0}, {128, 128, 1}});
    map(tile(sparse, {0, 0}, nullptr));
    EXPECT_EQ(taken(), 4 * kMega);
    EXPECT_EQ(read(sparse, 0, {{128, 0, 0}, {128, 128, 1}}), texels);
    map(tile(sparse, {1, 0}, nullptr));
    EXPECT_EQ(taken(), 2 * kMega);
    destroy(deferred);
    EXPECT_EQ(taken(), 0U);
}

TEST_F(CpuMappingTest, MappingToMemoryOutsideATilePoolIsRefused) {
    const ArrayHandle sparse = array({.format = Format::r32_uint, .extent = {128, 128}}, ArrayBacking::sparse);
    const ArrayHandle deferred = array({.format = Format::r32_uint, .extent = {128, 128}}, ArrayBacking::deferred);
    const PhysicalHandle plain = device().create_physical(2 * kMega, {.location = own()});
    const TileMapRequest wrong = tile(sparse, {}, plain);
    refused(ErrorCode::bad_argument, [&] { device().map_tiles({&wrong, 1}, nullptr); });
    refused(ErrorCode::bad_argument, [&] { device().map_array(deferred, plain, 0, nullptr); });
    device().release_physical(plain);
}

TEST_F(CpuMappingTest, MappingDuringACaptureIsRefused) {
    const ArrayHandle sparse = array({.format = Format::r32_uint, .extent = {128, 128}}, ArrayBacking::sparse);
    const ArrayHandle deferred = array({.format = Format::r32_uint, .extent = {128, 128}}, ArrayBacking::deferred);
    const PhysicalHandle from = memory(kTileBytes);
    const TileMapRequest request = tile(sparse, {}, from);
    const StreamHandle on = stream();
    device().begin_capture(on);
    refused(ErrorCode::capturing, [&] { device().map_tiles({&request, 1}, on); });
    refused(ErrorCode::capturing, [&] { device().map_array(deferred, from, 0, on); });
    device().abandon_capture(on);
}

}  // namespace
}  // namespace texton::detail
