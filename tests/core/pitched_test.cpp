#include <texton/pitched.h>

#include <limits>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

class PitchedTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, PitchedTest, test::every_device(), test::device_label);

TEST_P(PitchedTest, ThePitchIsAlignedAndHoldsAFullRow) {
    const std::size_t alignment = device().limits().pitch_alignment;
    for (const std::size_t width : {1u, 127u, 128u, 129u, 1000u}) {
        const Pitched2D memory(device(), Format::rgba8_unorm, {width, 5});
        EXPECT_GE(memory.pitch(), width * 4);
        EXPECT_LT(memory.pitch(), width * 4 + alignment);
        EXPECT_EQ(memory.pitch() % alignment, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment, 0u);
        EXPECT_EQ(memory.extent(), (Extent{width, 5}));
        EXPECT_EQ(memory.format(), Format::rgba8_unorm);
        EXPECT_EQ(memory.device(), device());
    }
}

TEST_P(PitchedTest, TexelsOfEveryNonPlanarFormatRoundTrip) {
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::planar) continue;
        SCOPED_TRACE(row.name);
        const Extent extent{21, 13};
        const Pitched2D memory(device(), row.format, extent);
        const test::Bytes bytes = test::pattern(packed_bytes(row.format, extent), 5);
        test::upload(memory.view(), bytes);
        EXPECT_TRUE(test::same_bytes(test::download(memory.view()), bytes));
    }
}

TEST_P(PitchedTest, AVolumeConsistsOfSlicesOfPitchedRows) {
    const Extent extent{33, 7, 5};
    const Pitched3D memory(device(), Format::rg16_float, extent);
    EXPECT_GE(memory.pitch(), 33u * 4);
    EXPECT_EQ(memory.pitch() % device().limits().pitch_alignment, 0u);
    EXPECT_EQ(memory.slice_pitch(), memory.pitch() * 7);
    EXPECT_EQ(memory.extent(), extent);
    EXPECT_EQ(memory.device(), device());
    const View view = memory.view();
    EXPECT_EQ(view.slice_pitch(), memory.slice_pitch());
    EXPECT_EQ(view.kind(), MemoryKind::pitched);
    const test::Bytes bytes = test::pattern(33 * 7 * 5 * 4, 6);
    test::upload(view, bytes);
    EXPECT_TRUE(test::same_bytes(test::download(view), bytes));
    const View texel = view.region({{32, 6, 4}, {1, 1, 1}});
    EXPECT_TRUE(test::same_bytes(test::download(texel), std::span(bytes).last(4)));
}

TEST_P(PitchedTest, BlockFormatsHaveOneRowForFourTexelRows) {
    const Pitched2D memory(device(), Format::bc7_unorm, {130, 10});
    EXPECT_GE(memory.pitch(), 33u * 16);
    EXPECT_EQ(memory.view().slice_pitch(), memory.pitch() * 3);
    const Pitched3D volume(device(), Format::bc1_unorm, {130, 10, 3});
    EXPECT_EQ(volume.slice_pitch(), volume.pitch() * 3);
    const test::Bytes bytes = test::pattern(33 * 3 * 3 * 8, 7);
    test::upload(volume.view(), bytes);
    EXPECT_TRUE(test::same_bytes(test::download(volume.view()), bytes));
}

TEST_P(PitchedTest, PaddingIsNeverWritten) {
    const Pitched3D memory(device(), Format::r8_uint, {100, 3, 2});
    const std::size_t all = memory.slice_pitch() * 2;
    const View raw = borrowed_view(device(), memory.data(), Format::r8_uint, {all});
    fill(raw, std::uint8_t{0xEE});
    test::upload(memory.view(), test::pattern(600, 8));
    fill(memory.view(), std::uint8_t{0x11});
    test::Bytes expected(all, std::byte{0xEE});
    for (std::size_t row = 0; row < 6; ++row) {
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(row * memory.pitch()), 100, std::byte{0x11});
    }
    EXPECT_TRUE(test::same_bytes(test::download(raw), expected));
}

TEST_P(PitchedTest, ZeroExtentIsRefusedAndNamed) {
    expect_error(
        [&] {
            Pitched2D memory(device(), Format::r8_uint, {0, 4});
        },
        ErrorCode::bad_argument, "texton::Pitched2D", {"0 x 4"});
    expect_error(
        [&] {
            Pitched2D memory(device(), Format::r8_uint, {4, 0});
        },
        ErrorCode::bad_argument, "texton::Pitched2D", {"4 x 0"});
    const Error error = expect_error(
        [&] {
            Pitched3D memory(device(), Format::r8_uint, {4, 4, 0});
        },
        ErrorCode::bad_argument, "texton::Pitched3D", {"4 x 4 x 0"});
    EXPECT_EQ(test::number_of(error, "depth"), 0u);
    expect_error(
        [&] {
            Pitched2D memory(device(), Format::r8_uint, {4, 4, 2});
        },
        ErrorCode::bad_argument, "texton::Pitched2D", {"4 x 4 x 2", "Pitched3D"});
}

TEST_P(PitchedTest, APlanarFormatIsRefusedAndNamed) {
    for (const Format format : {Format::nv12, Format::p010, Format::p016, Format::nv16}) {
        expect_error(
            [&] {
                Pitched2D memory(device(), format, {16, 16});
            },
            ErrorCode::bad_argument, "texton::Pitched2D", {name(format), "plane"});
        expect_error(
            [&] {
                Pitched3D memory(device(), format, {16, 16, 2});
            },
            ErrorCode::bad_argument, "texton::Pitched3D", {name(format), "plane"});
    }
}

TEST_P(PitchedTest, OverflowingSizesAreRefusedBeforeAnyDriverCall) {
    const auto none = [](const Error& error) { EXPECT_TRUE(error.call().empty()) << error.what(); };
    none(expect_error(
        [&] {
            Pitched2D memory(device(), Format::r8_uint, {device().limits().max_pitch + 1, 1});
        },
        ErrorCode::overflow, "texton::Pitched2D", {"2147483648", "2147483647"}));
    none(expect_error(
        [&] {
            Pitched2D memory(device(), Format::rgba32_float, {kMax / 8, 1});
        },
        ErrorCode::overflow, "texton::"));
    none(expect_error(
        [&] {
            Pitched2D memory(device(), Format::r8_uint, {1 << 20, kMax / 1024});
        },
        ErrorCode::overflow, "texton::Pitched2D", {"height"}));
    none(expect_error(
        [&] {
            Pitched3D memory(device(), Format::r8_uint, {1 << 20, 1 << 20, kMax / 1024});
        },
        ErrorCode::overflow, "texton::Pitched3D", {"depth"}));
    none(expect_error(
        [&] {
            Pitched3D memory(device(), Format::r8_uint, {512, kMax / 512, 2});
        },
        ErrorCode::overflow, "texton::Pitched3D"));
}

TEST_P(PitchedTest, OutOfMemoryReportsRequestedAndFreeBytes) {
    const std::size_t rows = device().properties().total_memory / (1 << 20) * 2;
    const std::size_t before = device().memory().free;
    const Error flat = expect_error(
        [&] {
            Pitched2D memory(device(), Format::r8_uint, {1 << 20, rows});
        },
        ErrorCode::out_of_memory, "texton::Pitched2D", {"free"});
    const Error volume = expect_error(
        [&] {
            Pitched3D memory(device(), Format::r8_uint, {1 << 20, rows, 2});
        },
        ErrorCode::out_of_memory, "texton::Pitched3D", {"free"});
    for (const Error* error : {&flat, &volume}) {
        EXPECT_GE(test::number_of(*error, "bytes"), rows << 20);
        EXPECT_GT(test::number_of(*error, "free"), 0u);
    }
    EXPECT_GE(device().memory().free + (on_cpu() ? 0 : std::size_t{8} << 20), before);
}

TEST_P(PitchedTest, MovedFromMemoryIsEmptyAndItsUseIsRefused) {
    Pitched2D flat(device(), Format::r8_uint, {8, 8});
    Pitched3D volume(device(), Format::r8_uint, {8, 8, 8});
    const Pitched2D flat_taken = std::move(flat);
    const Pitched3D volume_taken = std::move(volume);
    EXPECT_EQ(flat.data(), nullptr);    // NOLINT(bugprone-use-after-move): tests the moved-from state
    EXPECT_EQ(volume.data(), nullptr);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(flat.extent().width * flat.extent().height, 0u);
    EXPECT_EQ(volume.extent().width, 0u);
    expect_error([&] { (void)flat.view(); }, ErrorCode::released, "texton::Pitched2D");
    expect_error([&] { (void)flat.device(); }, ErrorCode::released, "texton::Pitched2D");
    expect_error([&] { (void)volume.view(); }, ErrorCode::released, "texton::Pitched3D");
    expect_error([&] { (void)Pitched3D().view(); }, ErrorCode::released, "texton::Pitched3D");
    EXPECT_EQ(flat_taken.extent(), (Extent{8, 8}));
    EXPECT_EQ(volume_taken.extent(), (Extent{8, 8, 8}));
}

}  // namespace
}  // namespace texton
