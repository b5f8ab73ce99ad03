// What a streamed texture returns: at any moment, the texels of the plain texture with the smallest possible clamp.
#include <texton/streamed_texture.h>

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include <texton/sample.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/streamed_pyramid.h"

namespace texton {
namespace {

using test::expect_error;
using test::level_sampler;
using test::MemoryPyramid;
using test::pyramid_info;
using test::settle;

// Checks the fetches of random points against the plain array, and their clamps against the residency.
class StreamedTextureTest : public test::OnEveryDevice {
protected:
    // Returns the number of points whose clamp is not 0.
    std::size_t check(StreamedTexture& texture, const Array& plain, const Sampler& sampler, test::Random& random,
                      std::size_t count = 150) {
        std::size_t coarse = 0;
        for (const FetchOperation operation : {FetchOperation::lod, FetchOperation::gradients})
            coarse +=
                check_points(texture, plain, sampler, test::random_points(random, texture.info(), count), operation);
        return coarse;
    }

    std::size_t check_points(StreamedTexture& texture, const Array& plain, const Sampler& sampler,
                             const std::vector<FetchPoint>& points, FetchOperation operation) {
        const StreamedSamples found = texture.sample(points, operation);
        return test::expect_smallest_clamps(texture, plain, sampler, points, operation, found);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, StreamedTextureTest, test::every_device(), test::device_label);

struct Case {
    ArrayInfo info;
    Sampler sampler;
};

std::vector<Case> cases() {
    std::vector<Case> all{
        {pyramid_info(Format::rgba32_float, {700, 500}), level_sampler()},
        {pyramid_info(Format::r8_uint, {1500, 1100}), level_sampler(Filter::point, Filter::point)},
        {pyramid_info(Format::rgba16_float, {600, 700}), level_sampler(Filter::linear, Filter::point)},
        {pyramid_info(Format::bc1_unorm, {1700, 1300}), level_sampler()},
        {pyramid_info(Format::rgba32_float, {300, 200}, ArrayKind::layered_2d, 3), level_sampler()},
        {pyramid_info(Format::rgba8_srgb, {500, 400}, ArrayKind::layered_2d, 2), level_sampler(Filter::point)},
        {pyramid_info(Format::rgba32_float, {70, 50, 60}, ArrayKind::array_3d), level_sampler()},
        {pyramid_info(Format::r8_unorm, {200, 90, 100}, ArrayKind::array_3d),
         level_sampler(Filter::linear, Filter::point)},
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        Sampler& sampler = all[i].sampler;
        test::set_address_modes(sampler, i);
        if (i % 2 == 0) sampler.max_anisotropy = static_cast<std::uint8_t>(i == 0 ? 16 : 4);
        if (i % 3 == 1) sampler.mip_min = 0.75f;
        if (i % 3 == 2) sampler.mip_bias = -0.5f;
        sampler.border[0] = 0.25f;
    }
    return all;
}

TEST_P(StreamedTextureTest, ThePlainTextureWithTheSmallestClampIsReadAtAnyMomentOfARandomTrace) {
    unsigned seed = 1;
    std::size_t coarse = 0;
    std::size_t exact = 0;
    for (const Case& each : cases()) {
        SCOPED_TRACE(test::describe(each.info));
        MemoryPyramid memory(each.info, seed);
        const Array plain = memory.plain(device());
        test::Random random(seed++);
        const Stream stream(device());
        TilePyramid pyramid = memory.pyramid();
        pyramid.tiles_per_read = random.coin() ? 1 : 32;
        StreamedTexture texture(device(), pyramid, {.sampler = each.sampler, .budget = std::size_t{8} << 20});
        const std::size_t all = texture.array().slots() * kTileBytes;
        for (int step = 0; step < 25; ++step) {
            switch (random.below(5)) {
                case 0: texture.set_budget(random.between(texture.minimum_budget(), 2 * all)); break;
                case 1: texture.invalidate(); break;
                default: {
                    std::vector<StreamedView> views(random.below(3));
                    for (StreamedView& view : views) {
                        view.level = static_cast<int>(random.below(static_cast<std::size_t>(each.info.levels)));
                        view.layer = random.below(each.info.layers);
                        view.region =
                            test::random_region(random, each.info.format, level_extent(each.info, view.level));
                        view.weight = random.unit();
                    }
                    texture.request(views);
                }
            }
            for (std::size_t i = random.below(3); i > 0; --i) {
                texture.update(stream, std::chrono::microseconds(random.below(500)));
                if (random.coin()) texture.wait_for_reads(std::chrono::milliseconds(1));
            }
            const std::size_t found = check(texture, plain, each.sampler, random, 40);
            coarse += found;
            exact += 80 - found;
        }
    }
    EXPECT_GT(coarse, 500u);
    EXPECT_GT(exact, 500u);
}

TEST_P(StreamedTextureTest, RepeatedFetchesSettleAtClampZero) {
    unsigned seed = 31;
    for (const Case& each : cases()) {
        SCOPED_TRACE(test::describe(each.info));
        MemoryPyramid memory(each.info, seed);
        const Array plain = memory.plain(device());
        const Stream stream(device());
        StreamedTexture texture(device(), memory.pyramid(), {.sampler = each.sampler});
        for (const FetchOperation operation : {FetchOperation::lod, FetchOperation::gradients}) {
            test::Random random(seed++);
            std::vector<FetchPoint> points;
            for (int i = 0; i < 60; ++i) points.push_back(test::random_point(random, each.info));
            (void)texture.sample(points, operation);
            const StreamingProgress progress = settle(texture, stream);
            EXPECT_TRUE(progress.complete());
            const StreamedSamples found = texture.sample(points, operation);
            EXPECT_THAT(found.clamps, testing::Each(0));
            check_points(texture, plain, each.sampler, points, operation);
        }
    }
}

TEST_P(StreamedTextureTest, AFetchNeedsNoMoreMemoryThanItsTiles) {
    const ArrayInfo info = pyramid_info(Format::rgba32_float, {700, 500});
    MemoryPyramid memory(info, 4);
    const Stream stream(device());
    const Sampler sampler = level_sampler(Filter::linear, Filter::point);
    StreamedTexture texture(device(), memory.pyramid(), {.sampler = sampler});
    texture.set_budget(texture.minimum_budget() + kTileBytes);
    test::Random random(5);
    for (int i = 0; i < 30; ++i) {
        // A point in the middle of a tile of level 0 or 1.
        const std::size_t level = random.below(2);
        const auto middle = [&](std::size_t tiles) {
            return static_cast<float>((random.below(tiles >> level) * 2 + 1) * 32 << level);
        };
        const FetchPoint point{.x = middle(10) / 700, .y = middle(6) / 500, .lod = static_cast<float>(level)};
        (void)texture.sample({&point, 1});
        const StreamingProgress progress = settle(texture, stream);
        EXPECT_TRUE(progress.complete()) << progress.missing << " missing, " << progress.unfit << " unfit";
        EXPECT_EQ(texture.sample({&point, 1}).clamps.at(0), 0);
        EXPECT_EQ(texture.statistics().resident_tiles, 1u);
        settle(texture, stream);  // takes the requests of the last call
    }
}

TEST_P(StreamedTextureTest, TheResidentLevelsCanBeFetchedBeforeTheFirstUpdate) {
    for (const Case& each : cases()) {
        SCOPED_TRACE(test::describe(each.info));
        MemoryPyramid memory(each.info, 6);
        StreamedTexture texture(device(), memory.pyramid(), {.sampler = each.sampler});
        ASSERT_GT(texture.resident_level(), 0);
        ASSERT_LT(texture.resident_level(), each.info.levels);
        test::Random random(7);
        EXPECT_GT(check(texture, memory.plain(device()), each.sampler, random), 0u);
        EXPECT_EQ(texture.statistics().resident_tiles, 0u);
        EXPECT_EQ(texture.statistics().resident_bytes, texture.minimum_budget());
    }
}

TEST_P(StreamedTextureTest, PyramidsWithoutSmallLevelsKeepTheirLastLevel) {
    ArrayInfo info = pyramid_info(Format::rgba32_float, {700, 500});
    info.levels = 2;
    MemoryPyramid memory(info, 8);
    const Array plain = memory.plain(device());
    const Stream stream(device());
    const Sampler sampler = level_sampler();
    StreamedTexture texture(device(), memory.pyramid(), {.sampler = sampler});
    EXPECT_EQ(texture.resident_level(), 1);
    EXPECT_EQ(texture.minimum_budget(), 6 * 4 * kTileBytes);
    test::Random random(9);
    EXPECT_GT(check(texture, plain, sampler, random), 0u);
    texture.request(std::vector<StreamedView>{{}});
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_EQ(check(texture, plain, sampler, random), 0u);
}

TEST_P(StreamedTextureTest, TheFirstLevelOfThePyramidCanBeSkipped) {
    const ArrayInfo info = pyramid_info(Format::rgba32_float, {701, 503});
    MemoryPyramid memory(info, 10);
    const Stream stream(device());
    StreamedTexture texture(device(), memory.pyramid(), {.sampler = level_sampler(), .first_level = 1});
    EXPECT_EQ(texture.first_level(), 1);
    EXPECT_EQ(texture.info().extent, (Extent{350, 251}));
    EXPECT_EQ(texture.info().levels, info.levels - 1);
    texture.request(std::vector<StreamedView>{{}});
    EXPECT_TRUE(settle(texture, stream).complete());
    stream.synchronize();
    for (int level = 0; level < texture.info().levels; ++level)
        EXPECT_TRUE(memory.texels().level(level + 1) == test::download(texture.array().array().view({.level = level})));
}

TEST_P(StreamedTextureTest, PyramidsBeyondTheLimitsAreRefusedOrOpenedFromTheFirstLevelThatFits) {
    ArrayInfo info = pyramid_info(Format::r8_unorm, {100000, 3000});
    const TilePyramid pyramid{info, [](const PyramidBox&, std::span<std::byte> texels, const std::stop_token&) {
                                  std::ranges::fill(texels, std::byte{9});
                              }};
    const Error error =
        expect_error([&] { StreamedTexture texture(device(), pyramid, {.sampler = level_sampler()}); },
                     ErrorCode::overflow, "texton::StreamedTexture", {"100000 x 3000", "first_level to 2"});
    EXPECT_EQ(test::number_of(error, "width"), 100000u);
    const StreamedTexture texture(device(), pyramid, {.sampler = level_sampler(), .first_level = std::nullopt});
    EXPECT_EQ(texture.first_level(), 2);
    EXPECT_EQ(texture.info().extent, (Extent{25000, 750}));
    info.extent.width = 300000;
    info.levels = 2;
    expect_error(
        [&] {
            StreamedTexture none(device(), {info, pyramid.read}, {.first_level = std::nullopt});
        },
        ErrorCode::overflow, "texton::StreamedTexture", {"300000 x 3000", "smaller levels"});
}

TEST_P(StreamedTextureTest, CubemapsAndOneDimensionalArraysAreRefusedWithTheAlternative) {
    for (const ArrayKind kind :
         {ArrayKind::array_1d, ArrayKind::layered_1d, ArrayKind::cubemap, ArrayKind::cubemap_layered}) {
        MemoryPyramid memory(test::small_info(kind, Format::r8_unorm), 1);
        expect_error([&] { StreamedTexture texture(device(), memory.pyramid()); }, ErrorCode::unsupported,
                     "texton::StreamedTexture", {name(kind), "layered_2d"});
    }
    // A cube as six layers.
    MemoryPyramid memory(pyramid_info(Format::rgba32_float, {200, 200}, ArrayKind::layered_2d, 6), 1);
    const StreamedTexture texture(device(), memory.pyramid(), {.sampler = level_sampler()});
    EXPECT_EQ(texture.texture(0).layers(), 6u);
}

TEST_P(StreamedTextureTest, InvalidOptionsAreRefused) {
    MemoryPyramid memory(pyramid_info(Format::rgba32_float, {300, 200}), 1);
    const auto refused = [&](const StreamedTextureInfo& options, ErrorCode code, std::string_view fragment) {
        expect_error([&] { StreamedTexture texture(device(), memory.pyramid(), options); }, code,
                     "texton::StreamedTexture", {fragment});
    };
    const Sampler sampler = level_sampler();
    refused({.sampler = sampler, .threads = 0}, ErrorCode::bad_argument, "0 threads");
    refused({.sampler = sampler, .threads = 257}, ErrorCode::bad_argument, "257 threads");
    refused({.sampler = sampler, .staging = 0}, ErrorCode::bad_argument, "0 staging");
    refused({.sampler = sampler, .prefetch = 65}, ErrorCode::bad_argument, "prefetch of 65");
    refused({.sampler = sampler, .feedback_tiles = 0}, ErrorCode::bad_argument, "feedback of 0");
    refused({.sampler = sampler, .first_level = -1}, ErrorCode::out_of_bounds, "first level -1");
    refused({.sampler = sampler, .first_level = memory.info().levels}, ErrorCode::out_of_bounds, "first level");
    refused({.sampler = sampler, .budget = kTileBytes - 1}, ErrorCode::bad_argument, "131072");
    expect_error(
        [&] {
            StreamedTexture texture(device(), {memory.info(), {}});
        },
        ErrorCode::bad_argument, "texton::StreamedTexture", {"callback"});
    expect_error([&] { StreamedTexture texture(device(), memory.pyramid(), {}); }, ErrorCode::bad_argument,
                 "texton::Texture");
}

TEST_P(StreamedTextureTest, InvalidRequestsAreRefusedAndChangeNothing) {
    MemoryPyramid memory(pyramid_info(Format::rgba32_float, {300, 200}), 1);
    const Stream stream(device());
    StreamedTexture texture(device(), memory.pyramid(), {.sampler = level_sampler()});
    texture.request(std::vector<StreamedView>{{.level = 1}});
    const auto refused = [&](const StreamedView& view, ErrorCode code, std::string_view fragment) {
        expect_error([&] { texture.request(std::vector<StreamedView>{view}); }, code, "texton::StreamedTexture",
                     {fragment});
    };
    refused({.level = -1}, ErrorCode::out_of_bounds, "level -1");
    refused({.level = 20}, ErrorCode::out_of_bounds, "level 20");
    refused({.layer = 1}, ErrorCode::out_of_bounds, "layer 1");
    refused({.region = Region{{290, 0, 0}, {20, 20, 1}}}, ErrorCode::out_of_bounds, "20 x 20");
    refused({.weight = -1}, ErrorCode::bad_argument, "weight");
    refused({.weight = std::nanf("")}, ErrorCode::bad_argument, "weight");
    expect_error([&] { texture.invalidate({.layer = 1}); }, ErrorCode::out_of_bounds, "texton::StreamedTexture");
    expect_error([&] { (void)texture.texture(-1); }, ErrorCode::out_of_bounds, "texton::StreamedTexture");
    expect_error([&] { (void)texture.texture(texture.resident_level() + 1); }, ErrorCode::out_of_bounds,
                 "texton::StreamedTexture");
    expect_error([&] { (void)texture.sample({}, FetchOperation::plain); }, ErrorCode::bad_argument,
                 "texton::StreamedTexture", {"lod"});
    if (const auto other = peer()) {
        expect_error([&] { (void)texture.update(Stream(*other)); }, ErrorCode::wrong_device, "texton::StreamedTexture");
    }
    EXPECT_TRUE(settle(texture, stream).complete());
    const Extent tiles = texture.array().tiles(1);
    EXPECT_EQ(texture.statistics().resident_tiles, tiles.width * tiles.height);
}

}  // namespace
}  // namespace texton
