// Statistics, comparisons and single texels of the displayed level, layer or slice.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/image_save.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/on_every_device.h"
#include "viewer/inspect/inspected_texel.h"
#include "viewer/inspect/region_comparison.h"
#include "viewer/inspect/region_statistics.h"
#include "viewer/inspect/region_texture.h"
#include "viewer/render/image_list.h"
#include "viewer/verify/pattern.h"

namespace texton::viewer {
namespace {

namespace fs = std::filesystem;

const fs::path kAssets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);

class TexelsTest : public test::OnEveryDevice {
protected:
    std::shared_ptr<const Document> open(const char* name, const ImageOptions& options = {}) const {
        return Document::open({{kAssets / name}, options}, device());
    }

    template <class T>
    std::shared_ptr<const Document> made(Format format, Extent extent, const std::vector<T>& texels) const {
        Array array(device(), {.format = format, .extent = extent});
        copy(array.view(), host_view(static_cast<const void*>(texels.data()), format, extent));
        return Document::of(std::move(array), "made");
    }

    static Scene scene_of(std::shared_ptr<const Document> shown, std::shared_ptr<const Document> against = nullptr) {
        Scene scene;
        scene.session.compare.mode = CompareMode::difference;
        scene.shown = std::move(shown);
        scene.against = std::move(against);
        return scene;
    }
};

// --- statistics ---

TEST_P(TexelsTest, StatisticsCoverOnlyTheBox) {
    const auto document = made<float>(Format::r32_float, {4, 3}, {9, 9, 9, 9, 9, 1, 2, 9, 9, -3, 4, 9});
    const RegionStatistics found = region_statistics(*document, {}, {1, 1, 2, 2});
    EXPECT_EQ(found.channels, 1);
    EXPECT_EQ(found.statistics.finite[0], 4u);
    EXPECT_EQ(found.statistics.lowest(0), -3);
    EXPECT_EQ(found.statistics.highest(0), 4);
    EXPECT_EQ(found.statistics.mean(0), 1);
    EXPECT_EQ(found.range, (ValueRange{-3, 4}));
    EXPECT_EQ(found.statistics.histogram[0][0], 1u);
    EXPECT_EQ(found.statistics.histogram[0][255], 1u);
}

TEST_P(TexelsTest, StatisticsUseTheSelectedLevelFaceLayerAndSlice) {
    const auto mean = [&](const char* name, const SubresourceIndex& subresource) {
        const auto document = open(name);
        return region_statistics(*document, subresource, whole_box(*document, subresource)).statistics.mean(0);
    };
    EXPECT_NE(mean("levels.dds", {.level = 1}), mean("levels.dds", {.level = 2}));
    EXPECT_NE(mean("cube.dds", {.face = 1}), mean("cube.dds", {.face = 4}));
    EXPECT_NE(mean("layers.dds", {.layer = 0}), mean("layers.dds", {.layer = 3}));
    EXPECT_NE(mean("phantom.dds", {.slice = 0}), mean("phantom.dds", {.slice = 18}));
}

TEST_P(TexelsTest, SpecialValuesAreCountedAndExcludedFromTheRange) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto document = made<float>(Format::r32_float, {6, 1}, {nan, 2, kInfinity, -kInfinity, 6, nan});
    const RegionStatistics found = region_statistics(*document, {}, {0, 0, 6, 1});
    EXPECT_EQ(found.statistics.nans[0], 2u);
    EXPECT_EQ(found.statistics.infinities[0], 2u);
    EXPECT_EQ(display_range(found, Format::r32_float, {true, true, true, true}), (ValueRange{2, 6}));
    const auto nothing = made<float>(Format::r32_float, {1, 1}, {nan});
    EXPECT_EQ(display_range(region_statistics(*nothing, {}, {0, 0, 1, 1}), Format::r32_float, {true, true, true, true}),
              std::nullopt);
}

TEST_P(TexelsTest, LargestFloatsHaveAHistogram) {
    constexpr float kMax = std::numeric_limits<float>::max();
    const auto document = made<float>(Format::r32_float, {3, 1}, {kMax, -kMax, 0});
    const RegionStatistics found = region_statistics(*document, {}, {0, 0, 3, 1});
    EXPECT_EQ(found.statistics.histogram[0][0], 1u);
    EXPECT_EQ(found.statistics.histogram[0][255], 1u);
    EXPECT_EQ(found.statistics.lowest(0), -kMax);
}

TEST_P(TexelsTest, RangeUsesEnabledChannelsAndFractionsForIntegers) {
    const auto document = made<std::uint8_t>(Format::rgba8_uint, {2, 1}, {0, 64, 128, 9, 32, 128, 192, 255});
    const RegionStatistics found = region_statistics(*document, {}, {0, 0, 2, 1});
    EXPECT_EQ(display_range(found, Format::rgba8_uint, {true, true, true, true}), (ValueRange{0, 0.75f}));
    EXPECT_EQ(display_range(found, Format::rgba8_uint, {false, true, false, true}), (ValueRange{0.25f, 0.5f}));
    EXPECT_EQ(display_range(found, Format::rgba8_uint, {false, false, false, true}),
              (ValueRange{9 / 256.f, 255 / 256.f}));
    EXPECT_EQ(display_range(found, Format::rgba8_uint, {false, false, false, false}), std::nullopt);
}

TEST_P(TexelsTest, RangeOfEqualValuesIsCenteredOnTheValue) {
    const auto document = made<float>(Format::r32_float, {2, 2}, {3, 3, 3, 3});
    const auto range = display_range(region_statistics(*document, {}, {0, 0, 2, 2}), Format::r32_float, {true});
    ASSERT_TRUE(range);
    EXPECT_LT(range->low, 3);
    EXPECT_EQ(range->low + range->high, 6);
}

TEST_P(TexelsTest, BoxThatCutsBlocksContainsExactlyItsTexels) {
    const auto document = open("bc7.dds");
    const TexelBox box{3, 6, 9, 5};
    const std::vector<float> values = BoxTexture(*document, {}, box).values();
    ASSERT_EQ(values.size(), box.width * box.height * 4);
    for (std::size_t y = 0; y < box.height; ++y) {
        for (std::size_t x = 0; x < box.width; ++x) {
            const Color whole = value_at(*document, {}, box.x + x, box.y + y);
            const float* cut = values.data() + (y * box.width + x) * 4;
            EXPECT_TRUE(std::equal(whole.begin(), whole.end(), cut)) << x << ", " << y;
        }
    }
    EXPECT_EQ(region_statistics(*document, {}, box).statistics.finite[0], 45u);
}

TEST(VisibleBoxTest, VisibleBoxCoversTheTexelsOnTheCanvas) {
    const Extent subresource{100, 50};
    EXPECT_EQ(visible_box({1, {50, 25}}, 1000, 1000, subresource), (TexelBox{0, 0, 100, 50}));
    EXPECT_EQ(visible_box({10, {50, 25}}, 100, 100, subresource), (TexelBox{45, 20, 10, 10}));
    EXPECT_EQ(visible_box({10, {50.5, 25}}, 100, 100, subresource), (TexelBox{45, 20, 11, 10}))
        << "includes partly visible texels";
    EXPECT_EQ(visible_box({10, {0, 0}}, 40, 40, subresource), (TexelBox{0, 0, 2, 2}));
    EXPECT_EQ(visible_box({10, {500, 25}}, 100, 100, subresource), std::nullopt);
}

TEST(VisibleBoxTest, SelectionIsClampedToTheImage) {
    EXPECT_EQ(clamped({5, 5, 10, 10}, {8, 20}), (TexelBox{5, 5, 3, 10}));
    EXPECT_EQ(clamped({8, 0, 1, 1}, {8, 8}), std::nullopt);
    EXPECT_EQ(clamped({0, 0, 0, 4}, {8, 8}), std::nullopt);
}

// --- one texel ---

TEST_P(TexelsTest, TexelIsReportedAsStoredSampledAndDisplayed) {
    const InspectedTexel red = inspect_texel(scene_of(open("card.png")), {}, 20, 10);
    ASSERT_EQ(red.stored.size(), 4u);
    EXPECT_EQ(red.stored[0].decimal, "255");
    EXPECT_EQ(red.stored[1].hexadecimal, "0x00");
    EXPECT_EQ(red.bytes, "ff 00 00 ff");
    EXPECT_EQ(channel_text(red.sampled, 0, red.format), "1");
    EXPECT_EQ(red.sampling_problem, "");
    EXPECT_EQ(red.displayed, (std::array<int, 3>{255, 0, 0}));
    const std::string text = to_string(red);
    EXPECT_NE(text.find("R  stored 255 0xff  sampled 1 0x3f800000  shown 255"), std::string::npos) << text;
}

TEST_P(TexelsTest, PointSampledTexelEqualsTheStoredTexelInEveryArrayKind) {
    const std::pair<const char*, SubresourceIndex> subresources[]{{"card.png", {}},
                                                                  {"levels.dds", {.level = 2}},
                                                                  {"layers.dds", {.layer = 3}},
                                                                  {"phantom.dds", {.slice = 17}},
                                                                  {"cube.dds", {.level = 1, .face = 3}},
                                                                  {"bc1.dds", {.level = 1}}};
    for (const auto& [name, subresource] : subresources) {
        Scene scene = scene_of(open(name));
        Sampler sampler = scene.shown->standard_sampler();
        sampler.filter = sampler.mip_filter = Filter::point;
        scene.session.sampler = sampler;
        for (const auto& [x, y] : {std::pair<std::size_t, std::size_t>{0, 0}, {7, 5}, {15, 9}}) {
            const InspectedTexel texel = inspect_texel(scene, subresource, x, y);
            ASSERT_EQ(texel.sampling_problem, "") << name;
            const std::vector<float> value = BoxTexture(*scene.shown, subresource, {x, y, 1, 1}).values();
            for (int channel = 0; channel < texel.channels; ++channel)
                EXPECT_EQ(texel.sampled.as_float(channel), value[static_cast<std::size_t>(channel)])
                    << name << " " << x << ", " << y << " " << channel;
        }
    }
}

TEST_P(TexelsTest, InvalidSamplerIsReportedAndTheStoredTexelIsKept) {
    Scene scene = scene_of(open("levels.dds"));
    scene.session.sampler = Sampler{};
    const InspectedTexel texel = inspect_texel(scene, {}, 0, 0);
    EXPECT_NE(texel.sampling_problem, "");
    EXPECT_FALSE(texel.stored.empty());
}

TEST_P(TexelsTest, CompressedTexelHasTheBytesOfItsBlock) {
    const InspectedTexel texel = inspect_texel(scene_of(open("bc1.dds")), {}, 9, 9);
    EXPECT_TRUE(texel.stored.empty());
    EXPECT_EQ(texel.bytes.size(), 8u * 3 - 1);
    EXPECT_EQ(texel.bytes, inspect_texel(scene_of(open("bc1.dds")), {}, 8, 11).bytes);
}

TEST_P(TexelsTest, PositionOutsideTheImageIsClampedToTheNearestTexel) {
    const InspectedTexel texel = inspect_texel(scene_of(open("odd_3x2.png")), {.level = 9, .face = 5}, 99, 99);
    EXPECT_EQ(texel.x, 2u);
    EXPECT_EQ(texel.y, 1u);
    EXPECT_EQ(texel.subresource, SubresourceIndex{});
}

TEST_P(TexelsTest, PositionTextNamesLevelFaceLayerAndSliceWhereNeeded) {
    EXPECT_EQ(subresource_text(*open("card.png"), {}, 1, 2), "(1, 2)");
    EXPECT_EQ(subresource_text(*open("cube.dds"), {.level = 1, .face = 3}, 1, 2), "(1, 2), level 1, face -y");
    EXPECT_EQ(subresource_text(*open("layers.dds"), {.layer = 4}, 1, 2), "(1, 2), layer 4");
    EXPECT_EQ(subresource_text(*open("phantom.dds"), {.slice = 9}, 1, 2), "(1, 2), slice 9");
}

// --- comparisons ---

TEST_P(TexelsTest, ImageEqualsItselfAndTheWorstTexelIsFound) {
    std::vector<std::uint8_t> texels(5 * 4, 100);
    const auto a = made(Format::r8_unorm, {5, 4}, texels);
    EXPECT_EQ(compare_region(scene_of(a, a)).comparison.all.differing, 0u);
    texels[2 * 5 + 3] = 107;
    const auto b = made(Format::r8_unorm, {5, 4}, texels);
    const RegionComparison found = compare_region(scene_of(b, a));
    EXPECT_EQ(found.note, "");
    EXPECT_EQ(found.comparison.all.differing, 1u);
    EXPECT_EQ(found.comparison.all.max_ulp, 7u);
    ASSERT_EQ(found.comparison.worst.size(), 1u);
    EXPECT_EQ(found.comparison.worst[0].at, (Offset{3, 2, 0}));
    EXPECT_EQ(worst_text(found, 0), "(3, 2): 7 ulps, 0.02745");
}

TEST_P(TexelsTest, SizesThatDifferAreComparedWhereTheyOverlap) {
    const auto a = made<std::uint8_t>(Format::r8_unorm, {3, 2}, {1, 2, 3, 4, 5, 6});
    const auto b = made<std::uint8_t>(Format::r8_unorm, {2, 3}, {1, 2, 4, 5, 8, 9});
    const RegionComparison found = compare_region(scene_of(b, a));
    EXPECT_EQ(found.extent, (Extent{2, 2}));
    EXPECT_EQ(found.comparison.all.differing, 0u);
    EXPECT_EQ(found.note, "Only the common 2 x 2 texels were compared.");
}

TEST_P(TexelsTest, FormatsThatDifferAreComparedByValue) {
    const auto a = made<std::uint8_t>(Format::r8_unorm, {2, 1}, {0, 255});
    const auto b = made<float>(Format::r32_float, {2, 1}, {0, 0.5f});
    const RegionComparison found = compare_region(scene_of(b, a));
    EXPECT_EQ(found.comparison.all.max, 0.5);
    EXPECT_EQ(found.note, "Values were compared as 32-bit floats (formats: r32_float and r8_unorm).");
    const auto blocks = open("bc7.dds");
    EXPECT_EQ(compare_region(scene_of(blocks, blocks)).comparison.all.differing, 0u);
    const RegionComparison ball = compare_region(scene_of(blocks, open("ball.png")));
    EXPECT_GT(ball.comparison.all.psnr, 20) << "the blocks were encoded from this image";
    EXPECT_LT(ball.comparison.all.psnr, 80);
}

TEST_P(TexelsTest, ComparisonWithoutAReferenceIsRefused) {
    Scene scene = scene_of(open("card.png"));
    test::expect_error([&] { (void)compare_region(scene); }, ErrorCode::bad_argument, "texton::viewer::compare_region");
    scene.against = scene.shown;
    scene.session.compare.against = Against::sampler;
    test::expect_error([&] { (void)compare_region(scene); }, ErrorCode::bad_argument, "texton::viewer::compare_region");
}

// --- frames of running programs ---

TEST_P(TexelsTest, TexelsOfAFrameAreCopiedToItsArrayWhenItIsNeeded) {
    auto texels = std::make_shared<const std::vector<std::byte>>(
        std::vector<std::byte>{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}, std::byte{6}});
    const std::weak_ptr<const void> owner = texels;
    std::optional<ImageFile> file;
    {
        const auto frame = Document::of_frame(Array(device(), {.format = Format::r8_unorm, .extent = {3, 2}}), *texels,
                                              texels, "frame", 5);
        EXPECT_EQ(frame->live_frame(), 5u);
        EXPECT_EQ(frame->extent({}), (Extent{3, 2}));
        EXPECT_EQ(frame->texels({}, {1, 0, 2, 2}),
                  (std::vector<std::byte>{std::byte{2}, std::byte{3}, std::byte{5}, std::byte{6}}));
        EXPECT_EQ(verify::read_array(frame->array()).levels.front().texels, *texels);
        file = frame->file();
    }
    const std::vector<std::byte> expected = *texels;
    texels.reset();
    EXPECT_EQ(verify::read_texels(*file, {}, {3, 2}), expected) << "the image keeps the texels";
    file.reset();
    EXPECT_TRUE(owner.expired());
}

INSTANTIATE_TEST_SUITE_P(Devices, TexelsTest, test::every_device(), test::device_label);

// --- thumbnails ---

TEST(ThumbnailTest, ThumbnailShowsTheWholeImageWithItsAspectRatio) {
    const Source card{{kAssets / "card.png"}};
    const Thumbnail loaded = thumbnail(Document::open(card, Device::cpu()), 64);
    EXPECT_EQ(loaded.width, 64);
    EXPECT_EQ(loaded.height, 43);
    EXPECT_EQ(loaded.text, "481 x 321 of rgba8_srgb");
    ASSERT_EQ(loaded.pixels.size(), 64u * 43);
    EXPECT_EQ(std::ranges::count(loaded.pixels, kBackground), 0);
    const Thumbnail unloaded = thumbnail(card, 64, std::size_t{1} << 20);
    EXPECT_EQ(unloaded.pixels, loaded.pixels);
    EXPECT_TRUE(thumbnail(card, 64, 1000).pixels.empty()) << "the file is too large to decode for a thumbnail";
    EXPECT_EQ(thumbnail(card, 64, 1000).text, loaded.text);
    const Thumbnail dot = thumbnail(Document::open({{kAssets / "odd_1x1.png"}}, Device::cpu()), 64);
    EXPECT_EQ(dot.width, 64);
    EXPECT_EQ(dot.height, 64);
}

// Reading all texels of each frame would take longer than the next frame needs to arrive.
TEST(ThumbnailTest, ThumbnailsOfFramesOfProgramsShowSingleTexels) {
    const Extent extent{256, 128};
    std::vector<std::byte> columns(extent.width * extent.height);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i % 2 == 0 ? std::byte{0} : std::byte{255};
    const auto array = [&] {
        Array made(Device::cpu(), {.format = Format::r8_unorm, .extent = extent});
        copy(made.view(), host_view(static_cast<const void*>(columns.data()), Format::r8_unorm, extent));
        return made;
    };
    const auto grays = [](const Thumbnail& made) {
        return std::ranges::count_if(made.pixels,
                                     [](std::uint32_t pixel) { return pixel != 0xff000000 && pixel != 0xffffffff; });
    };
    const Thumbnail image = thumbnail(Document::of(array(), "columns"), 64);
    const Thumbnail frame = thumbnail(Document::of_frame(array(), "columns", 1), 64);
    EXPECT_EQ(grays(image), 64 * 32);
    EXPECT_EQ(frame.pixels.size(), 64u * 32);
    EXPECT_EQ(grays(frame), 0);
}

// Of a large image, only some rows are read.
TEST(ThumbnailTest, ThumbnailsOfLargeFilesDifferLittleFromThoseOfLoadedImages) {
    const test::ImageFolder folder;
    const auto expect_alike = [&](Format format, const Extent& extent) {
        const verify::HostArray ramp =
            verify::draw({.kind = verify::PatternKind::gradient}, {.format = format, .extent = extent});
        save(folder.at("large.dds"), verify::upload(Device::cpu(), ramp));
        const Source source{{folder.at("large.dds")}};
        const Thumbnail whole = thumbnail(Document::open(source, Device::cpu()), 64);
        const Thumbnail reduced = thumbnail(source, 64, std::size_t{1} << 20);
        EXPECT_EQ(reduced.text, whole.text);
        ASSERT_EQ(reduced.width, whole.width);
        ASSERT_EQ(reduced.pixels.size(), whole.pixels.size());
        int most = 0;
        for (std::size_t i = 0; i < whole.pixels.size(); ++i) {
            for (int shift = 0; shift < 32; shift += 8) {
                const auto channel = [&](std::uint32_t pixel) { return static_cast<int>(pixel >> shift & 255); };
                most = std::max(most, std::abs(channel(reduced.pixels[i]) - channel(whole.pixels[i])));
            }
        }
        EXPECT_LE(most, 4);
    };
    for (const Format format : {Format::rgba8_unorm, Format::rgba8_srgb, Format::r16_unorm, Format::r32_float,
                                Format::rgba16_float, Format::rg16_unorm}) {
        SCOPED_TRACE(name(format));
        expect_alike(format, {2048, 1536});
        expect_alike(format, {1901, 1537});  // not a multiple of the thumbnail
    }
}

}  // namespace
}  // namespace texton::viewer
