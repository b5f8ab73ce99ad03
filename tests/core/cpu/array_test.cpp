// Arrays of the CPU device through the Backend interface: texels and memory.
#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "tests/support/cpu_arrays.h"

namespace texton::detail {
namespace {

TEST_F(CpuArrayTest, CopiesRoundTripForEveryKindFormatAndBacking) {
    unsigned seed = 0;
    int arrays = 0;
    for (const ArrayBacking backing : {ArrayBacking::own, ArrayBacking::deferred, ArrayBacking::sparse}) {
        for (const ArrayKind kind : kArrayKinds) {
            for (const FormatInfo& row : formats()) {
                const bool planar = row.layout == FormatLayout::planar;
                if (planar && (kind != ArrayKind::array_2d || backing == ArrayBacking::sparse)) continue;
                if (is_flat(kind) && row.layout == FormatLayout::block) continue;
                if (backing == ArrayBacking::sparse && !can_be_sparse(kind)) continue;
                Extent sides{37, 23, 5};
                if (planar) sides = {38, 22, 1};
                if (backing == ArrayBacking::sparse) {
                    const Extent tile = tile_extent(row.format, kind == ArrayKind::array_3d ? 3 : 2);
                    sides = {tile.width * 2 + 5, tile.height + 9, tile.depth + 3};
                }
                const ArrayHandle handle = array(info_of(kind, row.format, sides), backing);
                SCOPED_TRACE(fmt::format("{} {}, backing {}", name(kind), row.name, static_cast<int>(backing)));
                map_all(handle);
                const int parts = static_cast<int>(cpu_array(handle).parts.size());
                for (int part = 0; part < parts; ++part) {
                    write(handle, part, example(handle, part, seed), whole(handle, part));
                }
                for (int part = 0; part < parts; ++part) {
                    EXPECT_EQ(read(handle, part, whole(handle, part)), example(handle, part, seed)) << "part " << part;
                }
                destroy_all();
                seed += 100;
                ++arrays;
            }
        }
    }
    const int planar = 4, blocks = 14, others = static_cast<int>(formats().size()) - planar - blocks;
    EXPECT_EQ(arrays, 2 * (7 * others + 5 * blocks + planar) + 3 * (others + blocks));
}

TEST_F(CpuArrayTest, RegionCopiesMatchAPlainBlockForEveryBacking) {
    std::mt19937 random(5);
    const auto below = [&](std::size_t count) { return random() % count; };
    for (const ArrayBacking backing : {ArrayBacking::own, ArrayBacking::deferred, ArrayBacking::sparse}) {
        for (const Format format : {Format::r8_uint, Format::rgba8_unorm, Format::rgba32_float, Format::bc1_unorm}) {
            for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::array_3d, ArrayKind::layered_2d}) {
                const Extent tile = tile_extent(format, kind == ArrayKind::array_3d ? 3 : 2);
                ArrayInfo info = info_of(kind, format, {tile.width * 2 + 7, tile.height * 2 + 9, tile.depth + 3});
                info.levels = 2;
                const ArrayHandle handle = array(info, backing);
                map_all(handle);
                const Extent extent = whole(handle, 1).extent;
                const std::size_t side = block_side(format);
                const std::size_t bytes = texton::info(format).bytes;
                const std::size_t row = row_bytes(format, extent.width), rows = row_count(format, extent.height);
                Bytes expected = example(handle, 1, 77);
                write(handle, 1, expected, whole(handle, 1));
                std::size_t wrong = 0;
                for (int i = 0; i < 20; ++i) {
                    const std::size_t x = below(row / bytes), y = below(rows), z = below(extent.depth);
                    const std::size_t columns = 1 + below(row / bytes - x), lines = 1 + below(rows - y),
                                      slices = 1 + below(extent.depth - z);
                    const Region region{{x * side, y * side, z}, {columns * side, lines * side, slices}};
                    const Bytes texels = random_bytes(columns * lines * slices * bytes, static_cast<unsigned>(i));
                    if (i % 2 == 0) write(handle, 1, texels, region);
                    const Bytes seen = i % 2 == 0 ? texels : read(handle, 1, region);
                    for (std::size_t line = 0; line < lines * slices; ++line) {
                        const auto at = static_cast<std::ptrdiff_t>(
                            ((z + line / lines) * rows + y + line % lines) * row + x * bytes);
                        const auto piece = static_cast<std::ptrdiff_t>(columns * bytes);
                        const auto first = seen.begin() + static_cast<std::ptrdiff_t>(line) * piece;
                        if (i % 2 == 0) {
                            std::copy(first, first + piece, expected.begin() + at);
                        } else {
                            wrong += std::equal(first, first + piece, expected.begin() + at) ? 0U : 1U;
                        }
                    }
                }
                EXPECT_EQ(wrong, 0U) << name(kind) << ' ' << name(format) << ' ' << static_cast<int>(backing);
                EXPECT_EQ(read(handle, 1, whole(handle, 1)), expected) << name(kind) << ' ' << name(format);
                destroy_all();
            }
        }
    }
}

TEST_F(CpuArrayTest, FillsRepeatTexelsOfAnySize) {
    for (const ArrayBacking backing : {ArrayBacking::own, ArrayBacking::sparse}) {
        for (const Format format : {Format::r8_uint, Format::rg8_uint, Format::r32_uint, Format::rg32_uint,
                                    Format::rgba32_uint, Format::bc7_unorm}) {
            const std::size_t side = block_side(format);
            const std::size_t bytes = info(format).bytes;
            const ArrayHandle handle =
                array({.format = format, .extent = {300 * side, 310 * side}, .kind = ArrayKind::array_2d}, backing);
            map_all(handle);
            FillRequest request{.box = {200 * bytes, 205}, .pattern_bytes = static_cast<int>(bytes)};
            for (std::size_t i = 0; i < 16; ++i) request.pattern[i] = static_cast<std::byte>(i + 1);
            write(handle, 0, Bytes(packed_bytes(format, whole(handle, 0).extent), std::byte{0xEE}), whole(handle, 0));
            const MemoryLocation to = location_of(handle, 0, {70 * side, 90 * side, 0}, format);
            request.destination = &to;
            device().fill(request, nullptr);
            const Bytes texels = read(handle, 0, whole(handle, 0));
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < texels.size(); ++i) {
                const std::size_t x = i / bytes % 300, y = i / bytes / 300;
                const bool inside = x >= 70 && x < 270 && y >= 90 && y < 295;
                wrong += texels[i] == (inside ? request.pattern[i % bytes] : std::byte{0xEE}) ? 0U : 1U;
            }
            EXPECT_EQ(wrong, 0U) << name(format) << ' ' << static_cast<int>(backing);
        }
    }
}

TEST_F(CpuArrayTest, CopiesDividedAmongCoresAreComplete) {
    const ArrayHandle handle = array({.format = Format::rgba8_unorm, .extent = {1501, 1100}});
    const std::size_t row = 1501 * 4, pitch = row + 36;
    Bytes source = random_bytes(pitch * 1100, 3);
    Bytes target(source.size(), std::byte{0xEE});
    const MemoryLocation from = at(source.data(), pitch, MemoryKind::host);
    const MemoryLocation to = at(target.data(), pitch, MemoryKind::host);
    const MemoryLocation part = location_of(handle, 0, {}, Format::rgba8_unorm);
    device().copy({&part, &from, {row, 1100}}, nullptr);
    device().copy({&to, &part, {row, 1100}}, nullptr);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < source.size(); ++i) {
        wrong += target[i] == (i % pitch < row ? source[i] : std::byte{0xEE}) ? 0U : 1U;
    }
    EXPECT_EQ(wrong, 0U);
}

TEST_F(CpuArrayTest, TexelAddressesMatchTheLayoutOfCopies) {
    const ArrayInfo infos[] = {{.format = Format::bc3_unorm, .extent = {70, 50}, .levels = 3},
                               info_of(ArrayKind::array_3d, Format::r32_float, {70, 40, 20}),
                               info_of(ArrayKind::layered_2d, Format::rg8_uint, {300, 150, 1})};
    for (const ArrayBacking backing : {ArrayBacking::own, ArrayBacking::deferred, ArrayBacking::sparse}) {
        for (const ArrayInfo& info : infos) {
            const ArrayHandle handle = array(info, backing);
            map_all(handle);
            const std::size_t bytes = texton::info(info.format).bytes, side = block_side(info.format);
            for (int part = 0; part < info.levels; ++part) {
                const Bytes texels = example(handle, part, 9);
                write(handle, part, texels, whole(handle, part));
                const CpuLevel& level = cpu_array(handle).parts[static_cast<std::size_t>(part)];
                const std::size_t rows = row_count(info.format, level.extent.height);
                std::size_t wrong = 0;
                for (std::size_t z = 0; z < level.extent.depth; ++z) {
                    for (std::size_t y = 0; y < level.extent.height; ++y) {
                        for (std::size_t x = 0; x < level.extent.width; ++x) {
                            const std::byte* found = level.texel(x, y, z, info.format);
                            const auto index = (z * rows + y / side) * level.row_pitch + x / side * bytes;
                            if (!std::equal(found, found + bytes, texels.data() + index)) ++wrong;
                        }
                    }
                }
                EXPECT_EQ(wrong, 0U) << name(info.kind) << " level " << part << " backing "
                                     << static_cast<int>(backing);
            }
        }
    }
}

TEST_F(CpuArrayTest, ArraysUseDeviceMemoryAndReturnItWhenDestroyed) {
    const auto taken = [this] { return kDeviceBytes - device().memory_info().free; };
    for (const ArrayKind kind : kArrayKinds) {
        const ArrayInfo info = info_of(kind, Format::rgba8_unorm, {64, 64, 16});
        const ArrayHandle own = array(info);
        EXPECT_GE(taken(), packed_bytes(info)) << name(kind);
        EXPECT_LE(taken(), packed_bytes(info) + 1024) << name(kind);
        destroy(own);
        EXPECT_EQ(taken(), 0U);
        array(info, ArrayBacking::deferred);
        if (can_be_sparse(kind)) array(info, ArrayBacking::sparse);
        EXPECT_EQ(taken(), 0U);
    }
    refused(ErrorCode::out_of_memory, [&] { array({.format = Format::rgba32_float, .extent = {8192, 8192}}); });
    EXPECT_EQ(taken(), 0U);
}

TEST_F(CpuArrayTest, DestroyingAnArrayWaitsForPendingWorkOfTheDevice) {
    const ArrayHandle handle = array({.format = Format::r32_uint, .extent = {128, 128}});
    const StreamHandle on = stream();
    std::atomic<bool> done{false};
    device().run_on_host(on, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        done = true;
    });
    destroy(handle);
    EXPECT_TRUE(done);
}

}  // namespace
}  // namespace texton::detail
