#include <texton/array_info.h>

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"

namespace texton {
namespace {

TEST(ArrayInfoTest, EveryKindIsFoundByItsName) {
    for (const ArrayKind kind : test::all_kinds()) EXPECT_EQ(array_kind_named(name(kind)), kind);
    EXPECT_EQ(name(ArrayKind::layered_2d), "layered_2d");
    EXPECT_EQ(array_kind_named("array_4d"), std::nullopt);
}

TEST(ArrayInfoTest, LevelsHalveDownToOneTexel) {
    const ArrayInfo info{.extent = {13, 7}, .levels = 4};
    EXPECT_EQ(full_levels(info), 4);
    EXPECT_EQ(level_extent(info, 0), (Extent{13, 7}));
    EXPECT_EQ(level_extent(info, 1), (Extent{6, 3}));
    EXPECT_EQ(level_extent(info, 2), (Extent{3, 1}));
    EXPECT_EQ(level_extent(info, 3), (Extent{1, 1}));
    EXPECT_EQ(level_extent(info, 1000), (Extent{1, 1}));
}

TEST(ArrayInfoTest, TheLargestDimensionDeterminesTheNumberOfLevels) {
    EXPECT_EQ(full_levels({.extent = {1, 1}}), 1);
    EXPECT_EQ(full_levels({.extent = {1, 16}}), 5);
    EXPECT_EQ(full_levels({.extent = {2, 3, 1024}, .kind = ArrayKind::array_3d}), 11);
    // The number of layers does not affect the number of levels.
    EXPECT_EQ(full_levels({.extent = {4, 4}, .kind = ArrayKind::layered_2d, .layers = 512}), 3);
}

TEST(ArrayInfoTest, LevelsHalveTheSlicesOfVolumesButKeepAllLayers) {
    EXPECT_EQ(slice_count({.extent = {8, 8, 8}, .kind = ArrayKind::array_3d, .levels = 4}, 2), 2u);
    EXPECT_EQ(slice_count({.extent = {8, 8}, .kind = ArrayKind::layered_2d, .layers = 5, .levels = 4}, 2), 5u);
    EXPECT_EQ(slice_count({.extent = {8, 8}, .kind = ArrayKind::cubemap, .levels = 4}, 2), 6u);
    EXPECT_EQ(slice_count({.extent = {8, 8}, .kind = ArrayKind::cubemap_layered, .layers = 3}, 0), 18u);
    EXPECT_EQ(slice_count({.extent = {8, 8}}, 0), 1u);
}

TEST(ArrayInfoTest, PackedBytesCountAllLevelsLayersAndFaces) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (!test::has_arrays(kind, format)) continue;
            for (const ArrayInfo& info : test::example_infos(kind, format)) {
                SCOPED_TRACE(test::describe(info));
                std::size_t bytes = 0;
                for (int level = 0; level < info.levels; ++level) {
                    bytes += test::box_bytes(format, test::level_box(info, level));
                }
                EXPECT_EQ(packed_bytes(info), bytes);
            }
        }
    }
}

TEST(ArrayInfoTest, ByteCountsAbove64BitsAreRefused) {
    constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
    const auto refused = [](const ArrayInfo& info) {
        test::expect_error([&] { (void)packed_bytes(info); }, ErrorCode::overflow, "texton::");
    };
    refused({.format = Format::r8_uint, .extent = {kMax, 2}});
    refused({.format = Format::rgba32_float, .extent = {kMax / 8, 1}});
    refused({.format = Format::r8_uint, .extent = {8, 8}, .kind = ArrayKind::layered_2d, .layers = kMax / 8});
    refused({.format = Format::r8_uint, .extent = {1, 1}, .kind = ArrayKind::cubemap_layered, .layers = kMax / 2});
    // Level 0 fits, but levels 0 and 1 together do not.
    refused({.format = Format::r8_uint, .extent = {kMax, 1}, .levels = 2});
    EXPECT_EQ(packed_bytes({.format = Format::r8_uint, .extent = {kMax, 1}}), kMax);
}

}  // namespace
}  // namespace texton
