#include <texton/planar_array.h>

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/sample.h>

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

constexpr Format kPlanar[] = {Format::nv12, Format::p010, Format::p016, Format::nv16};
constexpr Extent kExtent{38, 14};

class PlanarArrayTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, PlanarArrayTest, test::every_device(), test::device_label);

TEST_P(PlanarArrayTest, PlanesAreArraysOfTheirFormat) {
    for (const Format format : kPlanar) {
        SCOPED_TRACE(name(format));
        const PlanarArray array(device(), format, kExtent);
        EXPECT_EQ(array.format(), format);
        EXPECT_EQ(array.extent(), kExtent);
        EXPECT_EQ(array.device(), device());
        for (int plane = 0; plane < 2; ++plane) {
            const PlaneInfo is = plane_info(format, plane);
            const Extent extent{kExtent.width / is.divide_width, kExtent.height / is.divide_height};
            EXPECT_EQ(array.plane(plane).info(), (ArrayInfo{.format = is.format, .extent = extent}));
            const View view = plane == 0 ? array.frame().luma : array.frame().chroma;
            EXPECT_EQ(view.format(), is.format);
            EXPECT_EQ(view.extent(), extent);
        }
    }
}

TEST_P(PlanarArrayTest, FramesRoundTrip) {
    const Stream stream(device());
    for (const Format format : kPlanar) {
        for (const std::size_t pitch : {std::size_t{0}, std::size_t{100}}) {
            SCOPED_TRACE(name(format));
            const PlanarArray array(device(), format, kExtent);
            const std::size_t rows =
                kExtent.height * (format == Format::nv16 ? 2 : 3) / (format == Format::nv16 ? 1 : 2);
            const std::size_t row = row_bytes(plane_info(format, 0).format, kExtent.width);
            test::Bytes in = pattern(rows * (pitch == 0 ? row : pitch), 1);
            test::Bytes out(in.size());
            copy(array.frame(), host_frame(in.data(), format, kExtent, pitch));
            copy(host_frame(out.data(), format, kExtent, pitch), array.frame(), stream);
            stream.synchronize();
            const std::size_t step = pitch == 0 ? row : pitch;
            for (std::size_t y = 0; y < rows; ++y) {  // luma, then chroma; gaps are unchanged
                const auto there = std::span(out).subspan(y * step, step);
                EXPECT_TRUE(same_bytes(there.first(row), std::span(in).subspan(y * step, row)));
                if (step > row) {
                    EXPECT_TRUE(test::all_bytes(there.subspan(row), 0));
                }
            }
        }
    }
}

TEST_P(PlanarArrayTest, APackedFrameHasTheByteSizeOfItsFormat) {
    for (const Format format : kPlanar) {
        test::Bytes bytes(packed_bytes(format, kExtent));
        const Frame frame = host_frame(bytes.data(), format, kExtent);
        const std::byte* end = frame.chroma.data() + frame.chroma.pitch() * frame.chroma.extent().height;
        EXPECT_EQ(frame.luma.data(), bytes.data());
        EXPECT_EQ(static_cast<std::size_t>(end - bytes.data()), bytes.size()) << name(format);
    }
}

TEST_P(PlanarArrayTest, WritingOnePlaneLeavesTheOtherPlaneUnchanged) {
    const PlanarArray array(device(), Format::nv12, kExtent);
    const Frame frame = array.frame();
    fill(frame.luma, std::uint8_t{1});
    fill(frame.chroma, std::uint16_t{0x0302});
    fill(frame.luma.region({{2, 2}, {4, 4}}), std::uint8_t{9});
    const test::Bytes chroma = download(frame.chroma);
    for (std::size_t i = 0; i < chroma.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(chroma[i]), 2 + i % 2);
    EXPECT_TRUE(test::all_bytes(download(frame.luma.region({{0, 0}, {38, 2}})), 1));
    EXPECT_TRUE(test::all_bytes(download(frame.luma.region({{2, 2}, {4, 4}})), 9));
}

TEST_P(PlanarArrayTest, PlanesAreCopiedToOtherArraysAndMemory) {
    const PlanarArray from(device(), Format::p010, kExtent);
    const PlanarArray to(device(), Format::p016, kExtent);
    const test::Bytes luma = pattern(38 * 14 * 2, 2);
    const test::Bytes chroma = pattern(19 * 7 * 4, 3);
    upload(from.frame().luma, luma);
    upload(from.frame().chroma, chroma);
    copy(to.frame(), from.frame());
    const Array plain(device(), to.plane(1).info());
    copy(plain.view(), to.plane(1).view());
    const Pitched2D pitched(device(), Format::r16_unorm, kExtent);
    copy(pitched.view(), to.plane(0).view());
    EXPECT_TRUE(same_bytes(download(plain.view()), chroma));
    EXPECT_TRUE(same_bytes(download(pitched.view()), luma));
}

TEST_P(PlanarArrayTest, EachPlaneIsSampledSeparately) {
    for (const Format format : {Format::nv12, Format::nv16}) {
        SCOPED_TRACE(name(format));
        const PlanarArray array(device(), format, kExtent);
        fill(array.frame().luma, std::uint8_t{51});
        fill(array.frame().chroma, std::uint16_t{0xFF00});
        const std::vector<Point2> points{{3.5f, 4.5f}};
        const auto luma = sample(Texture(array.plane(0)), points);
        const auto chroma = sample(Texture(array.plane(1)), points);
        EXPECT_EQ(luma.at(0)[0], 51 / 255.0f);
        EXPECT_EQ(chroma.at(0)[0], 0.0f);
        EXPECT_EQ(chroma.at(0)[1], 1.0f);
    }
}

TEST_P(PlanarArrayTest, AViewOfAPlaneKeepsTheArrayAlive) {
    std::optional<PlanarArray> array(std::in_place, device(), Format::nv12, kExtent);
    const View chroma = array->frame().chroma;
    fill(array->frame().luma, std::uint8_t{1});
    array.reset();
    fill(chroma, std::uint8_t{7});
    EXPECT_TRUE(test::all_bytes(download(chroma), 7));
}

TEST_P(PlanarArrayTest, OddDimensionsAreRefused) {
    const auto refused = [&](Format format, Extent extent, std::string_view what) {
        expect_error([&] { PlanarArray array(device(), format, extent); }, ErrorCode::bad_argument,
                     "texton::PlanarArray", {what});
        std::byte data[1];
        expect_error([&] { (void)host_frame(data, format, extent); }, ErrorCode::bad_argument, "texton::host_frame",
                     {what});
    };
    refused(Format::nv12, {7, 8}, "7 x 8");
    refused(Format::nv12, {8, 7}, "8 x 7");
    refused(Format::p010, {8, 0}, "8 x 0");
    refused(Format::nv16, {7, 8}, "7 x 8");
    refused(Format::nv16, {8, 7}, "8 x 7");
    refused(Format::nv12, {8, 8, 2}, "8 x 8 x 2");
    refused(Format::r8_unorm, {8, 8}, "r8_unorm");
    const PlanarArray array(device(), Format::nv16, kExtent);
    expect_error([&] { (void)array.plane(2); }, ErrorCode::out_of_bounds, "texton::PlanarArray");
    expect_error([] { (void)PlanarArray().frame(); }, ErrorCode::released, "texton::PlanarArray");
}

TEST_P(PlanarArrayTest, CopiesOfMismatchedFramesAreRefusedCompletely) {
    const PlanarArray array(device(), Format::nv12, kExtent);
    fill(array.frame().luma, std::uint8_t{1});
    fill(array.frame().chroma, std::uint8_t{1});
    test::Bytes bytes(packed_bytes(Format::nv16, kExtent), std::byte{2});
    const Frame wider = host_frame(bytes.data(), Format::nv16, kExtent);  // chroma has twice the rows
    expect_error([&] { copy(array.frame(), wider); }, ErrorCode::bad_argument, "texton::copy");
    expect_error([&] { copy(array.frame(), wider, Stream(device())); }, ErrorCode::bad_argument, "texton::copy");
    EXPECT_TRUE(test::all_bytes(download(array.frame().luma), 1));
}

}  // namespace
}  // namespace texton
