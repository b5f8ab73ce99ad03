// Functors that fetch from streamed textures.
#include <texton/streamed_source.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/sample.h>
#include <texton/streamed_texture.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/streamed_pyramid.h"

namespace texton {
namespace {

using test::level_sampler;
using test::MemoryPyramid;
using test::pyramid_info;

// Fetches the points of a list, one for each pixel. The image gets the texels, `clamps` the clamps.
template <ArrayKind kind, FetchOperation operation>
struct FetchPoints {
    const FetchPoint* points;
    std::uint8_t* clamps;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const StreamedTexel texel = source.template fetch_or_request<kind, operation>(points[at.x]);
        clamps[at.x] = static_cast<std::uint8_t>(texel.clamp);
        return texel.value;
    }
};

template <ArrayKind kind, FetchOperation operation>
StreamedSamples fetch_points_of(StreamedTexture& texture, const std::vector<FetchPoint>& points, const Stream& stream) {
    const Device device = texture.array().array().device();
    const std::size_t count = points.size();
    const Linear on_device(device, count * sizeof(FetchPoint));
    const Linear clamps(device, count);
    const Linear image(device, Format::rgba32_float, {count});
    copy(on_device.view(), host_view(std::span(points)), stream);
    launch(stream, image.view(Format::rgba32_float, {count}),
           FetchPoints<kind, operation>{reinterpret_cast<const FetchPoint*>(on_device.data()),
                                        reinterpret_cast<std::uint8_t*>(clamps.data())},
           texture);
    StreamedSamples fetched{std::vector<Texel>(count), std::vector<std::uint8_t>(count)};
    copy(host_view(std::span(fetched.texels)), image.view(), stream);
    copy(host_view(std::span(fetched.clamps)), clamps.view(), stream);
    stream.synchronize();
    return fetched;
}

StreamedSamples fetch_points(StreamedTexture& texture, const std::vector<FetchPoint>& points, FetchOperation operation,
                             const Stream& stream) {
    constexpr auto kLod = FetchOperation::lod;
    constexpr auto kGradients = FetchOperation::gradients;
    const bool lod = operation == kLod;
    switch (texture.info().kind) {
        case ArrayKind::array_2d:
            return lod ? fetch_points_of<ArrayKind::array_2d, kLod>(texture, points, stream)
                       : fetch_points_of<ArrayKind::array_2d, kGradients>(texture, points, stream);
        case ArrayKind::layered_2d:
            return lod ? fetch_points_of<ArrayKind::layered_2d, kLod>(texture, points, stream)
                       : fetch_points_of<ArrayKind::layered_2d, kGradients>(texture, points, stream);
        default:
            return lod ? fetch_points_of<ArrayKind::array_3d, kLod>(texture, points, stream)
                       : fetch_points_of<ArrayKind::array_3d, kGradients>(texture, points, stream);
    }
}

struct Case {
    ArrayInfo info;
    Sampler sampler;
};

std::vector<Case> cases() {
    std::vector<Case> all{
        {pyramid_info(Format::rgba32_float, {700, 500}), level_sampler()},
        {pyramid_info(Format::r8_unorm, {1500, 1100}), level_sampler(Filter::point, Filter::point)},
        {pyramid_info(Format::rgba32_float, {600, 400}), level_sampler()},
        {pyramid_info(Format::rgba32_float, {300, 200}, ArrayKind::layered_2d, 3), level_sampler()},
        {pyramid_info(Format::rgba32_float, {70, 50, 60}, ArrayKind::array_3d), level_sampler()},
        {pyramid_info(Format::rgba16_float, {900, 600}), level_sampler(Filter::linear, Filter::point)},
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        Sampler& sampler = all[i].sampler;
        test::set_address_modes(sampler, i);
        if (i % 2 == 0) sampler.max_anisotropy = static_cast<std::uint8_t>(16 >> i);
        if (i == 3) sampler.mip_bias = -0.5f;
    }
    return all;
}

class StreamedSourceTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, StreamedSourceTest, test::every_device(), test::device_label);

TEST_P(StreamedSourceTest, FetchesReturnThePlainTextureWithTheSmallestClampWhileTilesComeAndGo) {
    unsigned seed = 1;
    for (const Case& each : cases()) {
        SCOPED_TRACE(test::describe(each.info));
        MemoryPyramid memory(each.info, seed);
        const Array plain = memory.plain(device());
        const Stream stream(device());
        StreamedTexture texture(device(), memory.pyramid(), {.sampler = each.sampler});
        test::Random random(seed++);
        for (int step = 0; step < 12; ++step) {
            if (random.below(3) == 0)
                texture.set_budget(texture.minimum_budget() + random.below(texture.array().slots()) * kTileBytes);
            if (random.below(3) == 0) texture.invalidate();
            const FetchOperation operation = random.coin() ? FetchOperation::lod : FetchOperation::gradients;
            const std::vector<FetchPoint> points = test::random_points(random, each.info, 50);
            const StreamedSamples fetched = fetch_points(texture, points, operation, stream);
            test::expect_smallest_clamps(texture, plain, each.sampler, points, operation, fetched);
            (void)texture.update(stream, std::chrono::microseconds(random.below(300)));
            texture.wait_for_reads(std::chrono::milliseconds(1));
            (void)texture.update(stream);
            stream.synchronize();
        }
    }
}

TEST_P(StreamedSourceTest, RepeatedLaunchesAndUpdatesSettleAtClampZero) {
    unsigned seed = 21;
    for (const Case& each : cases()) {
        SCOPED_TRACE(test::describe(each.info));
        MemoryPyramid memory(each.info, seed);
        const Array plain = memory.plain(device());
        const Stream stream(device());
        StreamedTexture texture(device(), memory.pyramid(), {.sampler = each.sampler});
        test::Random random(seed++);
        for (const FetchOperation operation : {FetchOperation::lod, FetchOperation::gradients}) {
            const std::vector<FetchPoint> points = test::random_points(random, each.info, 80);
            StreamedSamples fetched;
            int launches = 0;
            do {
                fetched = fetch_points(texture, points, operation, stream);
                test::settle(texture, stream);
                ++launches;
            } while (launches < 40 && std::ranges::count(fetched.clamps, 0) != std::ssize(points));
            EXPECT_LE(launches, texture.resident_level() + 1);  // each launch requests one level more
            test::expect_smallest_clamps(texture, plain, each.sampler, points, operation, fetched);
        }
    }
}

// The texels that a functor needs are resident, so launches that fetch the same points keep them.
TEST_P(StreamedSourceTest, TilesThatLaunchesUseAreNotEvictedForOthers) {
    const ArrayInfo info = pyramid_info(Format::rgba32_float, {1024, 512});
    MemoryPyramid memory(info, 5);
    const Stream stream(device());
    StreamedTexture texture(device(), memory.pyramid(), {.sampler = level_sampler()});
    const auto middle_of = [](int x, int y) {
        return FetchPoint{.x = (static_cast<float>(x) + 0.5f) / 16, .y = (static_cast<float>(y) + 0.5f) / 8};
    };
    texture.set_budget(texture.minimum_budget() + 12 * kTileBytes);
    const FetchPoint always = middle_of(0, 0);
    for (int i = 0; i < 40; ++i) {
        const std::vector<FetchPoint> points{always, middle_of(1 + i % 15, 1 + i % 7)};
        const StreamedSamples fetched = fetch_points(texture, points, FetchOperation::lod, stream);
        test::settle(texture, stream);
        EXPECT_TRUE(i < 6 || fetched.clamps[0] == 0) << i;
    }
    EXPECT_GT(texture.statistics().evicted_tiles, 10u);
}

// Stretches a part of the texture over the image, and multiplies it by the texels of another texture.
struct StretchPart {
    float scale;
    int side;
    std::uint8_t* clamps;
    template <class Source, class Other>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Other& other) const {
        const StreamedTexel texel = source.fetch_or_request(at.center_x() * scale, at.center_y() * scale, 0);
        clamps[at.y * side + at.x] = static_cast<std::uint8_t>(texel.clamp);
        return texel.value * other.at_texel(0.5f, 0.5f).x;
    }
};

// A launch for many pixels notes the tiles of some of them, in turns.
TEST_P(StreamedSourceTest, TilesThatLargeLaunchesUseAreNotEvictedForOthers) {
    constexpr int kSide = 512;
    const ArrayInfo info = pyramid_info(Format::rgba32_float, {1024, 1024});
    MemoryPyramid memory(info, 5);
    const Array plain = memory.plain(device());
    const Stream stream(device());
    StreamedTexture texture(device(), memory.pyramid(), {.sampler = level_sampler()});
    texture.set_budget(texture.minimum_budget() + 52 * kTileBytes);
    const Array factor(device(), {.format = Format::r32_float, .extent = {1, 1}});
    const float two = 2;
    fill(factor.view(), std::as_bytes(std::span(&two, 1)), stream);
    const Linear clamps(device(), kSide * kSide);
    const Linear memory_of_image(device(), Format::rgba32_float, {kSide, kSide});
    const View image = memory_of_image.view(Format::rgba32_float, {kSide, kSide});
    std::vector<std::uint8_t> found(kSide * kSide);
    // The part has 5 x 5 tiles of 64 x 64 texels, and level 1 has 3 x 3 of them.
    const StretchPart stretch{300.0f / 1024 / kSide, kSide, reinterpret_cast<std::uint8_t*>(clamps.data())};
    const auto draw = [&] {
        launch(stream, image, stretch, texture, Texture(factor));
        copy(host_view(std::span(found)), clamps.view(), stream);
        test::settle(texture, stream);
        return std::ranges::count(found, 0) == std::ssize(found);
    };
    for (int i = 0; i < texture.resident_level() + 1; ++i) (void)draw();
    for (std::size_t i = 0; i < 45; ++i) {
        const StreamedView other{.level = 0, .region = Region{{i % 8 * 64 + 384, i / 8 % 8 * 64 + 384}, {64, 64}}};
        texture.request(std::span(&other, 1));
        EXPECT_TRUE(draw()) << i;
    }
    EXPECT_GT(texture.statistics().evicted_tiles, 10u);

    std::vector<Float4> pixels(kSide * kSide);
    copy(host_view(std::span(pixels)), memory_of_image.view(), stream);
    stream.synchronize();
    std::vector<FetchPoint> points;
    for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x) {
            points.push_back({.x = (static_cast<float>(x) + 0.5f) * stretch.scale,
                              .y = (static_cast<float>(y) + 0.5f) * stretch.scale});
        }
    }
    const Samples expected = sample(Texture(plain, level_sampler()), points, {.operation = FetchOperation::lod});
    for (std::size_t i = 0; i < points.size(); ++i)
        ASSERT_EQ(pixels[i].x, expected.texels[i].as_float(0) * 2) << points[i].x << ", " << points[i].y;
}

TEST_P(StreamedSourceTest, RequestsBeyondTheFeedbackAreCountedAndMadeLater) {
    const ArrayInfo info = pyramid_info(Format::rgba32_float, {1024, 512});
    MemoryPyramid memory(info, 6);
    const Stream stream(device());
    StreamedTexture texture(device(), memory.pyramid(), {.sampler = level_sampler(), .feedback_tiles = 8});
    std::vector<FetchPoint> points;
    for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 16; ++x)
            points.push_back({.x = (static_cast<float>(x) + 0.5f) / 16, .y = (static_cast<float>(y) + 0.5f) / 8});
    }
    std::size_t overflow = 0;
    int launches = 0;
    for (; launches < 200; ++launches) {
        const StreamedSamples fetched = fetch_points(texture, points, FetchOperation::lod, stream);
        StreamingProgress progress;
        do {
            progress = texture.update(stream);
            overflow += progress.overflow;
            texture.wait_for_reads(std::chrono::milliseconds(50));
        } while (!progress.settled());
        if (std::ranges::count(fetched.clamps, 0) == std::ssize(points)) break;
    }
    EXPECT_LT(launches, 100);
    EXPECT_GE(launches, 128 / 8);
    EXPECT_GT(overflow, 100u);
    EXPECT_EQ(texture.statistics().feedback_overflow, overflow);
}

TEST_P(StreamedSourceTest, BothDevicesRequestTheSameTiles) {
    if (on_cpu()) GTEST_SKIP() << "the test runs on the CUDA device";
    for (const Case& each : cases()) {
        SCOPED_TRACE(test::describe(each.info));
        MemoryPyramid memory(each.info, 7);
        std::vector<std::vector<bool>> resident[2];
        for (int i = 0; i < 2; ++i) {
            const Device own = i == 0 ? device() : Device::cpu();
            const Stream stream(own);
            StreamedTexture texture(own, memory.pyramid(), {.sampler = each.sampler});
            test::Random random(8);
            for (int launch = 0; launch < 6; ++launch) {
                (void)fetch_points(texture, test::random_points(random, each.info, 100), FetchOperation::gradients,
                                   stream);
                test::settle(texture, stream);
            }
            for (int level = 0; level < texture.resident_level(); ++level)
                resident[i].push_back(texture.array().residency(level));
        }
        EXPECT_EQ(resident[0], resident[1]);
    }
}

}  // namespace
}  // namespace texton
