#include <texton/array.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include <gmock/gmock.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/sample.h>
#include <texton/texture.h>

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
using testing::ElementsAre;

bool has_array(const FormatInfo& row) {
    return row.layout == FormatLayout::plain || row.layout == FormatLayout::packed;
}

class ArrayTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayTest, test::every_device(), test::device_label);

TEST_P(ArrayTest, EveryFormatHoldsWhatIsWritten) {
    for (const FormatInfo& row : formats()) {
        if (!has_array(row)) continue;
        SCOPED_TRACE(row.name);
        const ArrayInfo info{row.format, {53, 29}};
        const Array array(device(), info);
        EXPECT_EQ(array.info(), info);
        EXPECT_EQ(array.device(), device());
        EXPECT_EQ(array.view().kind(), MemoryKind::array);
        EXPECT_EQ(array.view().extent(), info.extent);
        const test::Bytes bytes = pattern(packed_bytes(row.format, info.extent), 1);
        upload(array.view(), bytes);
        EXPECT_TRUE(same_bytes(download(array.view()), bytes));
    }
}

TEST_P(ArrayTest, RegionsPassBetweenArraysAndOtherMemory) {
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
    const Region middle{{20, 8}, {40, 9}};
    const Region to{{0, 1}, {40, 9}};
    copy(first.view().region(middle), pitched.view().region(from), stream);
    copy(second.view().region(to), first.view().region(middle), stream);
    stream.synchronize();
    const test::Bytes expected = download(pitched.view().region(from));
    EXPECT_TRUE(same_bytes(download(second.view().region(to)), expected));
    // Around the regions nothing changed.
    EXPECT_TRUE(same_bytes(download(first.view().region({{0, 0}, {61, 8}})), std::span(in_first).first(61 * 8 * 4)));
    EXPECT_TRUE(same_bytes(download(second.view().region({{0, 0}, {61, 1}})), std::span(in_second).first(61 * 4)));
    copy(pitched.view().region(to), second.view().region(to));
    EXPECT_TRUE(same_bytes(download(pitched.view().region(to)), expected));
}

TEST_P(ArrayTest, WhatItCannotBeIsRefused) {
    const auto make = [&](Format format, Extent extent) {
        return [=, this] { Array array(device(), {format, extent}); };
    };
    expect_error(make(Format::r8_uint, {0, 4}), ErrorCode::bad_argument, "texton::Array", {"0 x 4"});
    expect_error(make(Format::r8_uint, {4, 0}), ErrorCode::bad_argument, "texton::Array", {"4 x 0"});
    expect_error(make(Format::r8_uint, {4, 4, 2}), ErrorCode::bad_argument, "texton::Array", {"4 x 4 x 2"});
    expect_error(make(Format::bc1_unorm, {8, 8}), ErrorCode::bad_argument, "texton::Array", {"bc1_unorm"});
    expect_error(make(Format::nv12, {8, 8}), ErrorCode::bad_argument, "texton::Array", {"nv12"});
    const auto& limit = device().limits().texture_2d;
    expect_error(make(Format::r8_uint, {limit[0] + 1, 1}), ErrorCode::overflow, "texton::Array",
                 {std::to_string(limit[0])});
    expect_error(make(Format::r8_uint, {1, limit[1] + 1}), ErrorCode::overflow, "texton::Array",
                 {std::to_string(limit[1])});
    const Array array(device(), {Format::r8_uint, {16, 16}});
    expect_error([&] { fill(array.view(), std::uint8_t{1}); }, ErrorCode::unsupported, "texton::fill", {"array"});
    expect_error([&] { (void)array.view().region({{1, 0}, {16, 16}}); }, ErrorCode::out_of_bounds, "texton::View");
}

TEST_P(ArrayTest, AMovedFromOneIsEmptyAndSaysSo) {
    Array from(device(), {Format::r8_uint, {16, 16}});
    const Array to = std::move(from);
    expect_error([&] { (void)from.view(); }, ErrorCode::released, "texton::Array");  // NOLINT(bugprone-use-after-move)
    expect_error([&] { (void)from.device(); }, ErrorCode::released, "texton::Array");
    expect_error([&] { Texture texture(from); }, ErrorCode::released, "texton::");
    EXPECT_EQ(to.info().extent, (Extent{16, 16}));
}

class SampleTest : public test::OnEveryDevice {
protected:
    std::vector<std::array<float, 4>> fetch(Format format, Extent extent, const test::Bytes& bytes,
                                            const std::vector<Point2>& points) const {
        const Array array(device(), {format, extent});
        upload(array.view(), bytes);
        return sample(Texture(array), points);
    }
    template <class T>
    std::array<float, 4> fetch_one(Format format, std::vector<T> channels) const {
        test::Bytes bytes(channels.size() * sizeof(T));
        std::memcpy(bytes.data(), channels.data(), bytes.size());
        return fetch(format, {1, 1}, bytes, {{0.5f, 0.5f}}).at(0);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, SampleTest, test::every_device(), test::device_label);

TEST_P(SampleTest, TexelsReadAsTheirFormatSays) {
    using U8 = std::uint8_t;
    using U16 = std::uint16_t;
    EXPECT_THAT((fetch_one<U8>(Format::rgba8_unorm, {0, 51, 128, 255})), ElementsAre(0.0f, 0.2f, 128 / 255.0f, 1.0f));
    EXPECT_THAT((fetch_one<U8>(Format::rgba8_uint, {0, 51, 128, 255})), ElementsAre(0.0f, 51.0f, 128.0f, 255.0f));
    EXPECT_THAT((fetch_one<std::int8_t>(Format::rgba8_sint, {0, -51, 127, -128})),
                ElementsAre(0.0f, -51.0f, 127.0f, -128.0f));
    EXPECT_THAT((fetch_one<std::int8_t>(Format::rgba8_snorm, {0, -127, 127, -128})),
                ElementsAre(0.0f, -1.0f, 1.0f, -1.0f));
    EXPECT_THAT((fetch_one<U16>(Format::rg16_unorm, {0, 65535})), ElementsAre(0.0f, 1.0f, 0.0f, 1.0f));
    EXPECT_THAT((fetch_one<float>(Format::r32_float, {-2.5f})), ElementsAre(-2.5f, 0.0f, 0.0f, 1.0f));
    EXPECT_THAT((fetch_one<U16>(Format::rgba16_float, {0x3C00, 0xC000, 0x3800, 0x0000})),
                ElementsAre(1.0f, -2.0f, 0.5f, 0.0f));
    EXPECT_THAT((fetch_one<std::uint32_t>(Format::rgb10a2_unorm, {0xC00003FFu})), ElementsAre(1.0f, 0.0f, 0.0f, 1.0f));
    EXPECT_THAT((fetch_one<std::int32_t>(Format::r32_sint, {-70000})), ElementsAre(-70000.0f, 0.0f, 0.0f, 1.0f));
    const auto srgb = fetch_one<U8>(Format::rgba8_srgb, {0, 128, 255, 51});
    EXPECT_EQ(srgb[0], 0.0f);
    EXPECT_NEAR(srgb[1], 0.2158605f, 0.001f);
    EXPECT_NEAR(srgb[2], 1.0f, 0.0001f);
    EXPECT_NEAR(srgb[3], 0.2f, 0.0001f);  // alpha is linear
}

TEST_P(SampleTest, TheNearestTexelIsTakenAndTheEdgeGoesOn) {
    test::Bytes bytes(12);
    for (std::size_t i = 0; i < 12; ++i) bytes[i] = std::byte(10 + i);
    const auto seen = fetch(Format::r8_uint, {4, 3}, bytes,
                            {{0.5f, 0.5f},
                             {1.0f, 0.5f},
                             {0.99f, 1.0f},
                             {3.5f, 2.5f},
                             {-5.0f, 1.5f},
                             {9.0f, -1.0f},
                             {2.5f, 99.0f},
                             {1e6f, 1e6f},
                             {-1e6f, 0.0f}});
    std::vector<float> red;
    for (const auto& texel : seen) red.push_back(texel[0]);
    EXPECT_THAT(red, ElementsAre(10, 11, 14, 21, 14, 13, 20, 21, 10));
}

TEST_P(SampleTest, AnyNumberOfPointsIsFetched) {
    const Array array(device(), {Format::r32_float, {64, 64}});
    const test::Bytes bytes = [] {
        test::Bytes out(64 * 64 * 4);
        for (std::size_t i = 0; i < 64 * 64; ++i) {
            const auto value = static_cast<float>(i);
            std::memcpy(out.data() + i * 4, &value, 4);
        }
        return out;
    }();
    upload(array.view(), bytes);
    const Texture texture(array);
    EXPECT_EQ(texture.info(), array.info());
    EXPECT_EQ(texture.device(), device());
    EXPECT_TRUE(sample(texture, {}).empty());
    for (const std::size_t count : {std::size_t{1}, std::size_t{255}, std::size_t{100'003}}) {
        std::vector<Point2> points(count);
        for (std::size_t i = 0; i < count; ++i) {
            points[i] = {static_cast<float>(i * 7 % 64) + 0.25f, static_cast<float>(i * 13 % 64) + 0.75f};
        }
        const auto seen = sample(texture, points);
        ASSERT_EQ(seen.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(seen[i][0], static_cast<float>(i * 13 % 64 * 64 + i * 7 % 64)) << i;
        }
    }
}

TEST_P(SampleTest, ATextureKeepsItsArray) {
    const Texture texture = [&] {
        const Array array(device(), {Format::r8_uint, {8, 8}});
        upload(array.view(), test::Bytes(64, std::byte{9}));
        return Texture(array);
    }();
    const std::vector<Point2> points{{4.5f, 4.5f}};
    EXPECT_EQ(sample(texture, points).at(0)[0], 9.0f);
}

TEST(SampleParityTest, BothDevicesReadEveryFormatAlike) {
    const auto devices = test::one_of_each_kind();
    if (devices.size() < 2) {
        if (test::gpu_required()) FAIL() << "TEXTON_REQUIRE_GPU is 1, but there is no CUDA device";
        GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
    }
    std::vector<Point2> points;
    for (int y = -2; y < 34; ++y) {
        for (int x = -2; x < 34; ++x) points.push_back({static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f});
    }
    for (const FormatInfo& row : formats()) {
        if (!has_array(row)) continue;
        SCOPED_TRACE(row.name);
        const Extent extent{32, 32};
        const test::Bytes bytes = pattern(packed_bytes(row.format, extent), 5);
        std::vector<std::vector<std::array<float, 4>>> seen;
        for (const Device& device : devices) {
            const Array array(device, {row.format, extent});
            upload(array.view(), bytes);
            seen.push_back(sample(Texture(array), points));
        }
        int different = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            for (std::size_t c = 0; c < 4; ++c) {
                const float a = seen[0][i][c];
                const float b = seen[1][i][c];
                if (!(std::isnan(a) && std::isnan(b)) && !(a == b)) ++different;
            }
        }
        EXPECT_EQ(different, 0);
    }
}

}  // namespace
}  // namespace texton
