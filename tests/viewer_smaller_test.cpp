// Pictures that are larger than a device's memory, in a size that it holds.
#include "viewer/smaller.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/pitched.h>
#include <texton/resample.h>
#include <texton/stream.h>
#include <texton/texture.h>

#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton::viewer {
namespace {

// Texels that all differ from their neighbours, so that a shifted or twice read one shows.
Array uneven(const Device& device, Format format, Extent extent) {
    Array array(device, {.format = format, .extent = extent});
    std::vector<std::uint8_t> bytes(packed_bytes(format, extent));
    std::uint32_t state = 1;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    copy(array.view(), host_view(bytes.data(), format, extent));
    return array;
}

class SmallerTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, SmallerTest, test::every_device(), test::device_label);

TEST_P(SmallerTest, ATexelIsTheMeanOfItsSquareThoughFilesAreReadInBands) {
    const Extent extent{2051, 651};  // 10 MiB: bands of rows, and what reaches beyond the last whole square
    const Array whole = uneven(device(), Format::rgba16_unorm, extent);
    for (const int halvings : {1, 3}) {
        const Array smaller = load_halved(device(), picture_of(whole), halvings, {});
        const Extent expected{extent.width >> halvings, extent.height >> halvings};
        ASSERT_EQ(smaller.info().extent, expected);
        const Pitched2D at_once(device(), Format::rgba16_unorm, expected);
        const Stream stream(device());
        const float side = static_cast<float>(1 << halvings);
        resample(
            stream, at_once.view(), Texture(whole),
            {.filter = ResampleFilter::area,
             .crop = {0, 0, static_cast<float>(expected.width) * side, static_cast<float>(expected.height) * side}});
        stream.synchronize();
        EXPECT_TRUE(test::same_bytes(test::download(smaller.view()), test::download(at_once.view()))) << halvings;
    }
}

TEST_P(SmallerTest, OfRowsThatAreLongerThanAnyDeviceTakesPiecesAreJoined) {
    const Extent extent{70000, 4};
    const Array whole = uneven(device(), Format::r8_uint, extent);
    const Array smaller = load_halved(device(), picture_of(whole), 1, {});
    const std::vector<std::byte> texels = test::download(whole.view());
    const std::vector<std::byte> made = test::download(smaller.view());
    for (std::size_t y = 0; y < 2; ++y)
        for (std::size_t x = 0; x < 35000; ++x)
            ASSERT_EQ(made[y * 35000 + x], texels[(2 * y + 1) * 70000 + 2 * x + 1]) << x << ", " << y;
}

TEST_P(SmallerTest, AStopIsHeardAfterEachBand) {
    const Array whole = uneven(device(), Format::rgba8_unorm, {2051, 1301});
    std::vector<std::size_t> done;
    const auto progress = [&](const PictureProgress& now) {
        done.push_back(now.done);
        EXPECT_LE(now.done, now.total);
        return false;
    };
    EXPECT_THROW((void)load_halved(device(), picture_of(whole), 1, {.progress = progress}), Cancelled);
    EXPECT_EQ(done.size(), 1u);
}

TEST_P(SmallerTest, WhatFitsIsNotHalvedAndWhatDoesNotIsAsLittleAsNeeded) {
    const std::size_t free = device().memory().free;
    EXPECT_EQ(needed_halvings(device(), {.format = Format::r8_unorm, .extent = {1000, 1000}}), 0);
    std::size_t side = 1;
    while (side * side <= free) side *= 2;
    const ArrayInfo large{.format = Format::r8_unorm, .extent = {side, side}};
    const int halvings = needed_halvings(device(), large);
    EXPECT_GT(halvings, 0);
    EXPECT_TRUE(fits(device(), {.format = large.format, .extent = halved(large.extent, halvings)}));
    EXPECT_FALSE(fits(device(), {.format = large.format, .extent = halved(large.extent, halvings - 1)}));
    const ArrayInfo wide{.format = Format::r8_unorm, .extent = {200000, 10}};
    EXPECT_EQ(needed_halvings(device(), wide), 1) << "there is memory for it, but no array as wide";
}

TEST_P(SmallerTest, OnlyLevelsAndFlatTexelsAreLeftOut) {
    EXPECT_EQ(most_halvings({.format = Format::rgba8_unorm, .extent = {64, 16}}), 4);
    EXPECT_EQ(most_halvings({.format = Format::rgba8_unorm, .extent = {64, 64}, .levels = 3}), 2);
    EXPECT_EQ(most_halvings({.format = Format::bc7_unorm, .extent = {64, 64}}), 0);
    EXPECT_EQ(most_halvings({.format = Format::r8_unorm, .extent = {64, 64, 64}, .kind = ArrayKind::array_3d}), 0);
}

}  // namespace
}  // namespace texton::viewer
