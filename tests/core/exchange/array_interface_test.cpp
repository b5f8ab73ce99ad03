#include <texton/array_interface.h>

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/linear.h>
#include <texton/pitched.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;
using test::same_bytes;
using Numbers = std::vector<std::int64_t>;

class ArrayInterfaceTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayInterfaceTest, test::every_device(), test::device_label);

std::string expected_typestr(const FormatInfo& format) {
    const bool is_signed = format.kind == FormatKind::sint || format.kind == FormatKind::snorm;
    return std::string(format.bits == 8 ? "|" : "<") +
           (format.kind == FormatKind::floating ? "f"
            : is_signed                         ? "i"
                                                : "u") +
           std::to_string(format.bits / 8);
}

TEST_P(ArrayInterfaceTest, EveryPlainFormatRoundTrips) {
    for (const FormatInfo& row : formats()) {
        if (row.layout != FormatLayout::plain) continue;
        SCOPED_TRACE(row.name);
        const Pitched2D memory(device(), row.format, {21, 13});
        const test::Bytes bytes = test::pattern(packed_bytes(row.format, {21, 13}), 1);
        test::upload(memory.view(), bytes);

        const ArrayInterface array = array_interface(memory.view());
        const std::int64_t channels = row.channels, texel = row.bytes;
        const auto pitch = static_cast<std::int64_t>(memory.pitch());
        EXPECT_EQ(array.shape, channels > 1 ? (Numbers{13, 21, channels}) : (Numbers{13, 21}));
        EXPECT_EQ(array.strides, channels > 1 ? (Numbers{pitch, texel, texel / channels}) : (Numbers{pitch, texel}));
        EXPECT_EQ(array.typestr, expected_typestr(row));
        EXPECT_EQ(array.data, memory.data());
        EXPECT_FALSE(array.read_only);
        EXPECT_FALSE(array.stream);

        const View view = from_array_interface(device(), array, row.format);
        EXPECT_EQ(view.data(), memory.data());
        EXPECT_EQ(view.format(), row.format);
        EXPECT_EQ(view.extent(), memory.extent());
        EXPECT_EQ(view.pitch(), memory.pitch());
        EXPECT_EQ(view.device(), device());
        EXPECT_TRUE(same_bytes(test::download(view), bytes));
    }
}

/// Three axes of which the last has length 1 are texels with one channel.
TEST_P(ArrayInterfaceTest, VolumesOfWidthOneRoundTrip) {
    for (const Extent extent : {Extent{1, 5, 3}, Extent{1, 1, 3}, Extent{1, 1, 1}}) {
        SCOPED_TRACE(to_string(extent));
        const Linear memory(device(), Format::r8_uint, {4, 5, 3});
        const View view = memory.view(Format::r8_uint, {4, 5, 3}).region({{1, 0, 0}, extent});
        const ArrayInterface array = array_interface(view, 3);
        EXPECT_EQ(array.shape,
                  (Numbers{static_cast<std::int64_t>(extent.depth), static_cast<std::int64_t>(extent.height), 1, 1}));
        const View again = from_array_interface(device(), array);
        EXPECT_EQ(again.extent(), extent);
        EXPECT_EQ(again.data(), view.data());
    }
}

TEST_P(ArrayInterfaceTest, PackedTexelsHaveNoStrides) {
    const Linear memory(device(), 4096);
    const View volume = memory.view(Format::rg16_float, {9, 5, 3});
    EXPECT_TRUE(array_interface(volume).strides.empty());
    EXPECT_EQ(array_interface(volume).shape, (Numbers{3, 5, 9, 2}));
    EXPECT_TRUE(array_interface(volume.region({{0, 0, 1}, {9, 5, 2}})).strides.empty());
    EXPECT_EQ(array_interface(volume.region({{}, {9, 4, 3}})).strides, (Numbers{180, 36, 4, 2}));
    EXPECT_TRUE(array_interface(volume.region({{1, 1, 1}, {5, 1, 1}})).strides.empty());
    EXPECT_EQ(array_interface(volume.region({{}, {9, 1, 1}}), 3).shape, (Numbers{1, 1, 9, 2}));
}

TEST_P(ArrayInterfaceTest, WithoutStridesTheTexelsArePacked) {
    const Linear memory(device(), 60);
    const View view = from_array_interface(device(), {.shape = {3, 5, 4}, .typestr = "|u1", .data = memory.data()});
    EXPECT_EQ(view.format(), Format::rgba8_uint);
    EXPECT_EQ(view.extent(), (Extent{5, 3}));
    EXPECT_EQ(view.pitch(), 20u);
    const View floats = from_array_interface(device(), {.shape = {15}, .typestr = "=f4", .data = memory.data()});
    EXPECT_EQ(floats.format(), Format::r32_float);
    EXPECT_EQ(floats.extent(), (Extent{15}));
}

TEST_P(ArrayInterfaceTest, WritingThroughAWindowChangesNothingElse) {
    const Linear memory(device(), 100);
    test::upload(memory.view(), test::Bytes(100, std::byte{7}));
    const View window = memory.view(Format::r8_uint, {10, 10}).region({{2, 3}, {4, 5}});
    const test::Bytes inside = test::pattern(20, 2);
    test::upload(from_array_interface(device(), array_interface(window)), inside);
    test::Bytes expected(100, std::byte{7});
    test::reference_copy(expected, {32, 10, 100}, inside, {0, 4, 20}, 4, 5, 1);
    EXPECT_TRUE(same_bytes(test::download(memory.view()), expected));
}

TEST_P(ArrayInterfaceTest, ReadOnlyMemoryIsImportedOnlyAsAConstView) {
    const Linear memory(device(), 100);
    const test::Bytes bytes = test::pattern(100, 3);
    test::upload(memory.view(), bytes);
    const ArrayInterface array = array_interface(ConstView(memory.view()));
    EXPECT_TRUE(array.read_only);
    expect_error([&] { (void)from_array_interface(device(), array); }, ErrorCode::not_permitted,
                 "texton::from_array_interface", {"read-only", "const_from_array_interface"});
    EXPECT_TRUE(same_bytes(test::download(const_from_array_interface(device(), array)), bytes));
}

TEST_P(ArrayInterfaceTest, TheGpuRefusesHostMemoryAndTheCpuDeviceAcceptsIt) {
    test::Bytes host(100);
    const ArrayInterface array{.shape = {100}, .typestr = "|u1", .data = host.data()};
    if (on_cpu()) {
        EXPECT_EQ(from_array_interface(device(), array).kind(), MemoryKind::host);
    } else {
        expect_error([&] { (void)from_array_interface(device(), array); }, ErrorCode::not_registered,
                     "texton::from_array_interface");
    }
}

TEST_P(ArrayInterfaceTest, InvalidShapesAndTypesAreRefused) {
    const Linear memory(device(), 4096);
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    struct Case {
        ArrayInterface array;
        ErrorCode code;
        const char* fragment;
        std::optional<Format> format{};
    };
    const auto array = [&](const char* type, Numbers shape, Numbers strides = {}, std::size_t offset = 0) {
        return ArrayInterface{.shape = shape, .typestr = type, .data = memory.data() + offset, .strides = strides};
    };
    using enum ErrorCode;
    const std::vector<Case> cases{
        {array(">u2", {4, 4}), unsupported, "\">u2\""},
        {array("|u2", {4, 4}), unsupported, "\"|u2\""},
        {array("<f8", {4, 4}), unsupported, "float64"},
        {array("<c8", {4, 4}), unsupported, "\"<c8\""},
        {array("|b1", {4, 4}), unsupported, "\"|b1\""},
        {array("|V4", {4, 4}), unsupported, "\"|V4\""},
        {array("<u", {4, 4}), unsupported, "\"<u\""},
        {array("<u0", {4, 4}), unsupported, "\"<u0\""},
        {array("<u-1", {4, 4}), unsupported, "\"<u-1\""},
        {array("<u2x", {4, 4}), unsupported, "\"<u2x\""},
        {array("<u99999999999999999999", {4, 4}), unsupported, "\"<u999"},
        {array("", {4, 4}), unsupported, "\"\""},
        {array("|u1", {}), unsupported, "0 axes"},
        {array("|u1", {0}), bad_argument, "[0]"},
        {array("|u1", {4, 4, 3}), unsupported, "[4, 4, 3]"},
        {array("|u1", {4, 4}, {4}), bad_argument, "1 strides were given for 2 axes"},
        {array("|u1", {4, 4}, {-4, 1}), bad_argument, "stride -4"},
        {array("|u1", {4, 4}, {1, 4}), bad_argument, "texels of a row are 4 bytes apart"},
        {array("<u2", {4, 4}, {9, 2}), bad_argument, "not a multiple of 2"},
        {array("<u2", {4, 4}, {}, 1), bad_argument, "not aligned"},
        {array("<u2", {kMax, 4}), overflow, "height"},
        {array("<u2", {4, 4}), bad_argument, "uint16", Format::r16_float},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.fragment);
        expect_error([&] { (void)from_array_interface(device(), c.array, c.format); }, c.code,
                     "texton::from_array_interface", {c.fragment});
    }
    ArrayInterface null = array("|u1", {4, 4});
    null.data = nullptr;
    expect_error([&] { (void)from_array_interface(device(), null); }, bad_argument, "texton::from_array_interface",
                 {"null"});
}

TEST_P(ArrayInterfaceTest, ExportingArraysAndNonPlainFormatsIsRefused) {
    const Linear memory(device(), 4096);
    expect_error(
        [&] {
            (void)array_interface(memory.view(Format::rgb10a2_unorm, {8, 8}));
        },
        ErrorCode::unsupported, "texton::array_interface", {"rgb10a2_unorm", "r32_uint"});
    expect_error(
        [&] {
            (void)array_interface(memory.view(Format::bc1_srgb, {8, 8}));
        },
        ErrorCode::unsupported, "texton::array_interface", {"bc1_srgb"});
    const Array array(device(), {Format::r8_uint, {8, 8}});
    expect_error([&] { (void)array_interface(array.view()); }, ErrorCode::unsupported, "texton::array_interface",
                 {"array"});
    expect_error([&] { (void)array_interface(View()); }, ErrorCode::bad_argument, "texton::array_interface");
}

}  // namespace
}  // namespace texton
