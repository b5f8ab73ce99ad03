// Images larger than the device's memory, loaded at a reduced size.
#include "viewer/model/reduced_image.h"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/resample.h>
#include <texton/stream.h>
#include <texton/texture.h>

#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton::viewer {
namespace {

// Returns texels that all differ from their neighbors, so that a shifted or repeated texel is detected.
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

TEST_P(SmallerTest, TexelIsTheMeanOfItsSquareAcrossBandsOfRows) {
    const Extent extent{2051, 651};  // 10 MiB, so it is read in several bands; the last square is incomplete
    const Array whole = uneven(device(), Format::rgba16_unorm, extent);
    for (const int halvings : {1, 3}) {
        const Array smaller = load_halved(device(), image_of(whole), halvings, {});
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

TEST_P(SmallerTest, RowsWiderThanTheDeviceLimitAreReducedInPieces) {
    const Extent extent{70000, 4};
    const Array whole = uneven(device(), Format::r8_uint, extent);
    const Array smaller = load_halved(device(), image_of(whole), 1, {});
    const std::vector<std::byte> texels = test::download(whole.view());
    const std::vector<std::byte> made = test::download(smaller.view());
    for (std::size_t y = 0; y < 2; ++y)
        for (std::size_t x = 0; x < 35000; ++x)
            ASSERT_EQ(made[y * 35000 + x], texels[(2 * y + 1) * 70000 + 2 * x + 1]) << x << ", " << y;
}

TEST_P(SmallerTest, CancellationIsCheckedAfterEachBand) {
    const Array whole = uneven(device(), Format::rgba8_unorm, {2051, 1301});
    std::vector<std::size_t> done;
    const auto progress = [&](const ImageProgress& now) {
        done.push_back(now.done);
        EXPECT_LE(now.done, now.total);
        return false;
    };
    EXPECT_THROW((void)load_halved(device(), image_of(whole), 1, {.progress = progress}), Canceled);
    EXPECT_EQ(done.size(), 1u);
}

TEST_P(SmallerTest, ImagesAreHalvedOnlyAsOftenAsTheMemoryRequires) {
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
    EXPECT_EQ(needed_halvings(device(), wide), 1)
        << "the memory is sufficient, but the width exceeds the limit of arrays";
}

TEST_P(SmallerTest, BlocksAndRowsAreNotHalvedAndNoDimensionBecomesZero) {
    EXPECT_EQ(max_halvings({.format = Format::rgba8_unorm, .extent = {64, 16}}), 4);
    EXPECT_EQ(max_halvings({.format = Format::rgba8_unorm, .extent = {64, 64}, .levels = 3}), 2);
    EXPECT_EQ(max_halvings({.format = Format::bc7_unorm, .extent = {64, 64}}), 0);
    EXPECT_EQ(max_halvings({.format = Format::r8_unorm, .extent = {64}, .kind = ArrayKind::array_1d}), 0);
    EXPECT_EQ(max_halvings({.format = Format::r8_unorm, .extent = {64, 64, 9}, .kind = ArrayKind::array_3d}), 3);
    EXPECT_EQ(max_halvings({.format = Format::r8_unorm, .extent = {64, 64}, .kind = ArrayKind::cubemap}), 6);
    EXPECT_EQ(max_halvings({.format = Format::nv12, .extent = {64, 16}}), 3) << "of chroma, too";
}

// Returns the subresource of a slice for any kind of array.
Subresource slice_of(const ArrayInfo& info, std::size_t slice) {
    const std::size_t faces = is_cube(info.kind) ? 6 : 1;
    Subresource part;
    if (is_layered(info.kind)) part.layer = slice / faces;
    if (is_cube(info.kind)) part.face = static_cast<int>(slice % faces);
    return part;
}

TEST_P(SmallerTest, EachLayerAndFaceIsHalvedSeparately) {
    for (const auto& [kind, extent, layers] :
         {std::tuple(ArrayKind::layered_2d, Extent{37, 22}, 3), std::tuple(ArrayKind::cubemap, Extent{21, 21}, 1),
          std::tuple(ArrayKind::cubemap_layered, Extent{18, 18}, 2)}) {
        const ArrayInfo info{.extent = extent, .kind = kind, .layers = static_cast<std::size_t>(layers)};
        const Array whole(device(), info);
        test::upload(whole.view(), test::pattern(packed_bytes(info), 3));
        const Array smaller = load_halved(device(), image_of(whole), 1, {});
        ASSERT_EQ(smaller.info().kind, kind);
        ASSERT_EQ(slice_count(smaller.info(), 0), slice_count(info, 0));
        for (std::size_t slice = 0; slice < slice_count(info, 0); ++slice) {
            const Array alone(device(), {.extent = extent});
            copy(alone.view(), whole.view(slice_of(info, slice)));
            const Array expected = load_halved(device(), image_of(alone), 1, {});
            EXPECT_TRUE(
                test::same_bytes(test::download(smaller.view(slice_of(info, slice))), test::download(expected.view())))
                << name(kind) << slice;
        }
    }
}

TEST_P(SmallerTest, VolumeTexelIsTheMeanOfItsCubeOrAnIntegerOfItsCube) {
    const Extent extent{13, 9, 7};
    for (const Format format : {Format::r32_float, Format::r8_uint}) {
        const Array whole(device(), {.format = format, .extent = extent, .kind = ArrayKind::array_3d});
        std::vector<float> floats(13 * 9 * 7);
        std::iota(floats.begin(), floats.end(), 1.0f);
        std::vector<std::byte> bytes = test::pattern(packed_bytes(format, extent), 9);
        if (format == Format::r32_float) std::memcpy(bytes.data(), floats.data(), bytes.size());
        test::upload(whole.view(), bytes);
        const Array smaller = load_halved(device(), image_of(whole), 1, {});
        ASSERT_EQ(smaller.info().extent, (Extent{6, 4, 3}));
        const std::vector<std::byte> made = test::download(smaller.view());
        const auto index = [&](std::size_t x, std::size_t y, std::size_t z) { return (z * 9 + y) * 13 + x; };
        for (std::size_t z = 0; z < 3; ++z) {
            for (std::size_t y = 0; y < 4; ++y) {
                for (std::size_t x = 0; x < 6; ++x) {
                    const std::size_t at = (z * 4 + y) * 6 + x;
                    if (format == Format::r8_uint) {
                        EXPECT_EQ(made[at], bytes[index(2 * x + 1, 2 * y + 1, 2 * z + 1)]);
                        continue;
                    }
                    float value;
                    std::memcpy(&value, made.data() + at * 4, 4);
                    EXPECT_EQ(value,
                              (floats[index(2 * x, 2 * y, 2 * z)] + floats[index(2 * x + 1, 2 * y + 1, 2 * z + 1)]) / 2)
                        << "the values are linear, so this is their mean";
                }
            }
        }
    }
}

TEST_P(SmallerTest, PlanarImagesKeepEvenDimensionsAndEachPlaneIsHalved) {
    const PlanarArray whole(device(), Format::nv12, {74, 38});
    for (int plane = 0; plane < 2; ++plane) {
        const View view = whole.plane(plane).view();
        test::upload(view, test::pattern(packed_bytes(view.format(), view.extent()), 4));
    }
    const PlanarArray smaller = load_planar_halved(device(), image_of(whole), 1, {});
    ASSERT_EQ(smaller.extent(), (Extent{36, 18}));
    for (int plane = 0; plane < 2; ++plane) {
        const Array alone = load_halved(device(), image_of(whole).plane(plane), 1, {});
        const Extent kept = smaller.plane(plane).info().extent;
        EXPECT_TRUE(test::same_bytes(test::download(smaller.plane(plane).view()),
                                     test::download(alone.view({.region = Region{{}, kept}}))))
            << plane;
    }
}

TEST_P(SmallerTest, NarrowHighImagesAreReadInBandsThatFitAnArray) {
    const Extent extent{8, 300000};
    const Linear memory(Device::cpu(), packed_bytes(Format::r8_unorm, extent));
    fill(memory.view(), std::uint8_t{77});
    const Array smaller = load_halved(device(), image_of(memory.view(Format::r8_unorm, extent)), 3, {});
    ASSERT_EQ(smaller.info().extent, (Extent{1, 37500}));
    EXPECT_TRUE(test::all_bytes(test::download(smaller.view()), 77));
}

}  // namespace
}  // namespace texton::viewer
