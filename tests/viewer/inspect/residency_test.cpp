// The residency map: a sparse array with the image's extent, of which some tiles have memory.
#include "viewer/inspect/residency.h"

#include <algorithm>

#include <gtest/gtest.h>

#include <texton/sample.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton::viewer {
namespace {

class ResidencyMapTest : public test::OnEveryDevice {
protected:
    Array image(const ArrayInfo& info) const {
        Array array(device(), info);
        test::upload(array, test::ReferenceArray(info, 9));
        return array;
    }

    static ArrayInfo flat(int levels) {
        return {.format = Format::rgba8_unorm, .extent = {600, 300}, .levels = levels};
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, ResidencyMapTest, test::every_device(), test::device_label);

TEST_P(ResidencyMapTest, NewMapHasNoMappedTilesAndReadsReturnUnmapped) {
    const ResidencyMap map(image(flat(1)));
    EXPECT_EQ(map.resident_slots(), 0u);
    EXPECT_EQ(map.residency(), map.uniform(false));
    const SparseReads reads = map.read(0, 0, 0, 40, 20, Filter::point);
    ASSERT_EQ(reads.resident.size(), 800u);
    EXPECT_EQ(std::ranges::count(reads.resident, 0), 800);
    EXPECT_EQ(std::ranges::count(reads.pixels, 0xff000000u), 800);
}

TEST_P(ResidencyMapTest, OnlyTheMappedTileIsResident) {
    ResidencyMap map(image(flat(1)));
    const TileTable& table = map.tables().front();
    EXPECT_EQ(table.tiles, (Extent{5, 3, 1}));
    Residency target = map.uniform(false);
    target[0][table.index_of({1, 1, 0})] = true;
    map.apply(target);
    EXPECT_EQ(map.residency(), target);
    EXPECT_EQ(map.resident_slots(), 1u);
    EXPECT_EQ(map.pool().used, 1u);
    const SparseReads reads = map.read(0, 0, 0, 600, 300, Filter::point);
    for (std::size_t y = 0; y < 300; ++y) {
        for (std::size_t x = 0; x < 600; ++x) {
            const bool inside = x / 128 == 1 && y / 128 == 1;
            ASSERT_EQ(reads.resident[y * 600 + x], inside ? 1 : 0) << x << ' ' << y;
        }
    }
    // Linear filtering also reads the texels next to the outermost texels.
    const SparseReads blended = map.read(0, 0, 0, 1200, 600, Filter::linear);
    EXPECT_EQ(blended.resident[(2 * 160) * 1200 + 2 * 160], 1);
    EXPECT_EQ(blended.resident[(2 * 160) * 1200 + 2 * 128], 0);
}

TEST_P(ResidencyMapTest, MappedTilesHoldTheImageInEveryLevelAndLayer) {
    for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::array_3d, ArrayKind::layered_2d}) {
        ArrayInfo info{.format = Format::rgba8_unorm,
                       .extent = kind == ArrayKind::array_3d ? Extent{80, 70, 40} : Extent{300, 200},
                       .kind = kind,
                       .layers = kind == ArrayKind::layered_2d ? 2u : 1u};
        info.levels = full_levels(info);
        SCOPED_TRACE(test::describe(info));
        const Array original = image(info);
        const Array same = image(info);
        ResidencyMap map{image(info)};
        map.apply(map.uniform(true));
        EXPECT_EQ(map.resident_slots(), map.slots());
        EXPECT_EQ(map.residency(), map.uniform(true));
        const Texture texture(original, {.normalized_coordinates = true});
        for (int level = 0; level < info.levels; ++level) {
            const Extent extent = level_extent(info, level);
            const SparseReads reads =
                map.read(level, info.layers - 1, extent.depth - 1, extent.width, extent.height, Filter::point);
            EXPECT_EQ(std::ranges::count(reads.resident, 1), static_cast<long>(extent.width * extent.height));
            // The last texel of the level.
            const FetchPoint last{.x = 1 - 0.5f / static_cast<float>(extent.width),
                                  .y = 1 - 0.5f / static_cast<float>(extent.height),
                                  .z = 1 - 0.5f / static_cast<float>(extent.depth),
                                  .layer = static_cast<std::int32_t>(info.layers - 1),
                                  .lod = static_cast<float>(level)};
            const Texel texel = sample(texture, {&last, 1}, {.operation = FetchOperation::lod}).texels.front();
            std::uint32_t pixel = 0xff;
            for (int i = 0; i < 3; ++i) pixel = pixel << 8 | static_cast<std::uint32_t>(texel.as_float(i) * 255 + 0.5f);
            EXPECT_EQ(reads.pixels.back(), pixel) << level;
        }
        map.apply(map.uniform(false));
        EXPECT_EQ(map.resident_slots(), 0u);
        EXPECT_EQ(map.pool().used, 0u);
    }
}

TEST_P(ResidencyMapTest, SavedResidencyCanBeRestored) {
    ResidencyMap map(image(flat(10)));
    Residency odd = map.uniform(false);
    for (std::vector<bool>& table : odd) {
        for (std::size_t i = 0; i < table.size(); i += 2) table[i] = true;
    }
    map.apply(odd);
    map.apply(map.uniform(true));
    map.apply(odd);
    EXPECT_EQ(map.residency(), odd);
    EXPECT_TRUE(map.tables().back().tail);
    EXPECT_TRUE(odd.back().front());
    EXPECT_THROW(map.apply(map.uniform(true), CancellationToken([] { return true; })), Canceled);
    EXPECT_EQ(map.residency(), odd);
}

TEST_P(ResidencyMapTest, KindsThatCannotBeSparseAreRefused) {
    for (const ArrayKind kind : {ArrayKind::array_1d, ArrayKind::cubemap}) {
        const Array array(device(), test::small_info(kind, Format::rgba8_unorm));
        test::expect_error([&] { ResidencyMap map{Array(array.block())}; }, ErrorCode::unsupported,
                           "texton::SparseArray");
    }
}

}  // namespace
}  // namespace texton::viewer
