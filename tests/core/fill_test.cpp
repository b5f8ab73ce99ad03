#include <texton/fill.h>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/pitched.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/memories.h"
#include "tests/support/on_every_device.h"
#include "tests/support/pages.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::expect_error;
using test::Memory;
using test::pattern;
using test::same_bytes;
using test::upload;

class FillTest : public test::OnEveryDevice {
protected:
    // Fills a region and compares every byte of the memory, including gaps and margins, with a plain loop.
    template <class Pattern>
    void check(const Memory& memory, const Region& region, Pattern value, const Stream* stream) {
        SCOPED_TRACE(sizeof(Pattern));
        Bytes expected = pattern(memory.raw.extent().width, 1);
        upload(memory.raw, expected);
        Bytes row(row_bytes(memory.texels.format(), region.extent.width));
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::byte(value >> (i % sizeof(Pattern) * 8) & 0xFF);
        for (std::size_t z = 0; z < region.extent.depth; ++z) {
            for (std::size_t y = 0; y < region.extent.height; ++y) {
                test::Layout to = memory.layout_of(region);
                to.offset += z * to.slice_pitch + y * to.pitch;
                test::reference_copy(expected, to, row, {}, row.size(), 1, 1);
            }
        }
        if (stream != nullptr) {
            fill(memory.texels.region(region), value, *stream);
            stream->synchronize();
        } else {
            fill(memory.texels.region(region), value);
        }
        EXPECT_TRUE(same_bytes(download(memory.raw), expected));
    }

    void check_every_kind(Format format, Extent extent, const std::vector<Region>& regions) {
        const Stream stream(device());
        for (const test::MemoryMaker& maker : test::memories(device(), std::nullopt, format, extent)) {
            if (maker.foreign) continue;
            SCOPED_TRACE(maker.name);
            const Memory memory = maker.make(0);
            for (const Region& region : regions) {
                SCOPED_TRACE(to_string(region));
                for (const Stream* on : {static_cast<const Stream*>(nullptr), &stream}) {
                    check(memory, region, std::uint8_t{0xA5}, on);
                    check(memory, region, std::uint16_t{0xBEEF}, on);
                    check(memory, region, std::uint32_t{0x12345678}, on);
                }
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, FillTest, test::every_device(), test::device_label);

TEST_P(FillTest, RowsOfEveryMemoryKindAreFilled) {
    check_every_kind(Format::r8_uint, {1004}, {{{0}, {1004}}, {{12}, {900}}, {{1000}, {4}}});
}

TEST_P(FillTest, RectanglesOfEveryMemoryKindAreFilled) {
    check_every_kind(Format::rgba8_uint, {37, 13},
                     {{{0, 0}, {37, 13}}, {{5, 3}, {31, 7}}, {{36, 12}, {1, 1}}, {{0, 4}, {37, 2}}});
}

TEST_P(FillTest, VolumesOfEveryMemoryKindAreFilled) {
    check_every_kind(
        Format::r32_uint, {19, 7, 5},
        {{{0, 0, 0}, {19, 7, 5}}, {{2, 1, 1}, {15, 4, 3}}, {{0, 0, 2}, {19, 7, 1}}, {{18, 6, 4}, {1, 1, 1}}});
}

TEST_P(FillTest, BytePatternsFillRowsOfAnyWidth) {
    const Pitched2D memory(device(), Format::r8_uint, {101, 5});
    fill(memory.view(), std::uint8_t{1});
    for (const std::size_t width : {1u, 2u, 3u, 7u, 63u, 100u}) {
        const View part = memory.view().region({{1, 1}, {width, 3}});
        fill(part, static_cast<std::uint8_t>(width));
        EXPECT_TRUE(test::all_bytes(download(part), static_cast<unsigned>(width)));
    }
    EXPECT_TRUE(test::all_bytes(download(memory.view().region({{0, 0}, {101, 1}})), 1));
    EXPECT_TRUE(test::all_bytes(download(memory.view().region({{0, 0}, {1, 5}})), 1));
}

TEST_P(FillTest, LargeMemoryIsFilledToTheLastByte) {
    const std::size_t bytes = (std::size_t{48} << 20) + 4;
    const Linear memory(device(), bytes);
    fill(memory.view(), std::uint32_t{0x04030201});
    const Bytes seen = download(memory.view());
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(static_cast<std::size_t>(seen[i]), i % 4 + 1) << i;
}

TEST_P(FillTest, AFillWithoutAStreamIsDoneWhenTheCallReturns) {
    const Linear memory(device(), 32 << 20);
    const Pinned seen(device(), 4);
    const Stream stream(device());
    for (unsigned value = 1; value < 6; ++value) {
        fill(memory.view(), static_cast<std::uint8_t>(value));
        copy(seen.view(), memory.view().region({{(32 << 20) - 4}, {4}}), stream);
        stream.synchronize();
        EXPECT_TRUE(test::all_bytes(seen.read(), value));
    }
}

TEST_P(FillTest, FillsOfHostMemoryRunInStreamOrder) {
    const Pinned pinned(device(), 4096);
    const Linear memory(device(), 4096);
    const Stream stream(device());
    std::memset(pinned.data(), 1, pinned.bytes());
    const test::Gate gate;
    gate.close(stream);
    fill(pinned.view(), std::uint8_t{2}, stream);
    copy(memory.view(), pinned.view(), stream);
    fill(pinned.view(), std::uint8_t{3}, stream);
    gate.open();
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(memory.view()), 2));
    EXPECT_TRUE(test::all_bytes(pinned.read(), 3));
}

TEST_P(FillTest, RowsOfPartialPatternsAreRefused) {
    const Linear memory(device(), 4096);
    const auto view = [&](std::size_t width) { return memory.view(Format::r8_uint, {width}); };
    expect_error([&] { fill(view(101), std::uint16_t{1}); }, ErrorCode::bad_argument, "texton::fill", {"101", "2"});
    expect_error([&] { fill(view(102), std::uint32_t{1}); }, ErrorCode::bad_argument, "texton::fill", {"102", "4"});
    fill(view(102), std::uint16_t{1});
    fill(view(101), std::uint8_t{1});
    const Stream stream(device());
    expect_error([&] { fill(view(3), std::uint16_t{1}, stream); }, ErrorCode::bad_argument, "texton::fill");
}

TEST_P(FillTest, RowsMisalignedToThePatternAreRefused) {
    const Linear memory(device(), 4096);
    const View all = memory.view();
    expect_error(
        [&] {
            fill(all.region({{1}, {100}}), std::uint16_t{1});
        },
        ErrorCode::bad_argument, "texton::fill", {"pattern"});
    expect_error(
        [&] {
            fill(all.region({{2}, {100}}), std::uint32_t{1});
        },
        ErrorCode::bad_argument, "texton::fill", {"pattern"});
    fill(all.region({{2}, {100}}), std::uint16_t{1});
    fill(all.region({{1}, {100}}), std::uint8_t{1});
    // The first row is aligned, the second row starts 51 bytes later and is not.
    const View odd = memory.view(Format::r8_uint, {51, 4}).region({{0, 0}, {48, 2}});
    expect_error([&] { fill(odd, std::uint16_t{1}); }, ErrorCode::bad_argument, "texton::fill", {"51"});
    fill(odd, std::uint8_t{1});
}

TEST_P(FillTest, ATexelOfAnySizeCanBeThePattern) {
    const Stream stream(device());
    for (const Format format : {Format::r8_uint, Format::rg8_uint, Format::rgba8_uint, Format::rgba16_float,
                                Format::rgba32_float, Format::bc1_unorm, Format::bc7_unorm}) {
        SCOPED_TRACE(name(format));
        const Bytes texel = pattern(info(format).bytes, 3);
        const Extent extent{20, 12, 3};
        const Linear linear(device(), format, extent);
        const Array array(device(), {.format = format, .extent = extent, .kind = ArrayKind::array_3d});
        for (const View& view : {linear.view(format, extent), array.view()}) {
            const Region region{{4, 8, 1}, {12, 4, 2}};
            fill(view, Bytes(texel.size()), stream);
            fill(view.region(region), texel, stream);
            stream.synchronize();
            Bytes expected;
            while (expected.size() < packed_bytes(format, region.extent)) {
                expected.insert(expected.end(), texel.begin(), texel.end());
            }
            EXPECT_TRUE(same_bytes(download(view.region(region)), expected));
            EXPECT_TRUE(test::all_bytes(download(view.region({{0, 0, 0}, {20, 12, 1}})), 0));
            EXPECT_TRUE(test::all_bytes(download(view.region({{16, 0, 0}, {4, 12, 3}})), 0));
            fill(view, texel);
            EXPECT_TRUE(same_bytes(download(view.region(region)), expected));
        }
    }
}

TEST_P(FillTest, AShortPatternIsRepeatedWithinATexelOfAnArray) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::rgba32_uint, Format::rg16_uint, Format::r32_float, Format::bc3_unorm}) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            SCOPED_TRACE(test::describe(info));
            const Array array(device(), info);
            test::ReferenceArray reference(info, 1);
            test::upload(array, reference);
            test::Random random(2);
            for (int level = 0; level < info.levels; ++level) {
                const Region region = test::random_region(random, format, test::level_box(info, level));
                const View part = array.view({.level = level, .region = region});
                const Bytes bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
                fill(part, std::uint8_t{5});
                fill(part, std::uint16_t{0x0605});
                fill(part, std::uint32_t{0x04030201});
                reference.fill(level, region, bytes);
            }
            EXPECT_TRUE(test::holds(array, reference));
        }
    }
}

TEST_P(FillTest, APatternThatDoesNotDivideATexelIsRefused) {
    const Array array(device(), {.format = Format::rg8_uint, .extent = {8, 8}});
    expect_error([&] { fill(array.view(), std::uint32_t{1}); }, ErrorCode::bad_argument, "texton::fill",
                 {"4 bytes", "rg8_uint", "2"});
    for (const std::size_t bytes : {0u, 3u, 4u, 16u}) {
        expect_error([&] { fill(array.view(), Bytes(bytes)); }, ErrorCode::bad_argument, "texton::fill");
    }
    const Linear memory(device(), 960);
    for (const std::size_t bytes : {0u, 3u, 5u, 12u, 32u}) {
        expect_error([&] { fill(memory.view(), Bytes(bytes)); }, ErrorCode::bad_argument, "texton::fill",
                     {"1, 2, 4, 8 or 16"});
    }
    expect_error([&] { fill(memory.view(Format::r8_uint, {8}), Bytes(16)); }, ErrorCode::bad_argument, "texton::fill");
    fill(memory.view(), Bytes(16));
}

TEST_P(FillTest, AnIntIsStoredInEveryChannelOf8Bits) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    fill(memory.view(), 77);
    EXPECT_EQ(download(memory.view()), Bytes(64, std::byte{77}));
    fill(memory.view(Format::rgba8_srgb, {16}), 255, stream);
    stream.synchronize();
    EXPECT_EQ(download(memory.view()), Bytes(64, std::byte{255}));
    fill(memory.view(Format::rg8_snorm, {32}), -2);
    EXPECT_EQ(download(memory.view()), Bytes(64, std::byte{254}));
    fill(memory.view(), 'A');
    EXPECT_EQ(download(memory.view()), Bytes(64, std::byte{'A'}));
    for (const Format format : {Format::rgba32_float, Format::r16_uint, Format::rgb10a2_unorm, Format::bc1_unorm}) {
        const Array array(device(), {.format = format, .extent = {4, 4}});
        fill(array.view(), 0);
        EXPECT_EQ(download(array.view()), Bytes(packed_bytes(format, {4, 4}))) << name(format);
    }
}

TEST_P(FillTest, AnIntThatIsNoByteOrCouldMeanAChannelIsRefused) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    for (const int number : {-1, 256}) {
        expect_error([&] { fill(memory.view(), number); }, ErrorCode::bad_argument, "texton::fill",
                     {std::to_string(number), "r8_uint", "0 to 255"});
    }
    for (const int number : {-129, 128}) {
        expect_error([&] { fill(memory.view(Format::r8_sint, {64}), number, stream); }, ErrorCode::bad_argument,
                     "texton::fill", {std::to_string(number), "r8_sint", "-128 to 127"});
    }
    for (const Format format : {Format::r16_uint, Format::r32_float, Format::rgb10a2_unorm}) {
        expect_error([&] { fill(memory.view(format, {16}), 1); }, ErrorCode::bad_argument, "texton::fill",
                     {"1", name(format), "std::uint32_t"});
    }
    expect_error([&] { fill(View(), 1); }, ErrorCode::bad_argument, "texton::fill");
}

// The text of the message is in the header; tests/compile/wrong_fills.cpp has such calls.
static_assert(detail::NumberWithoutFill<std::size_t> && detail::NumberWithoutFill<float> &&
              !detail::NumberWithoutFill<int> && !detail::NumberWithoutFill<short> &&
              !detail::NumberWithoutFill<std::uint32_t> && !detail::NumberWithoutFill<std::uint8_t>);

TEST_P(FillTest, FillingAnEmptyViewIsRefused) {
    expect_error([&] { fill(View(), std::uint8_t{1}); }, ErrorCode::bad_argument, "texton::fill", {"empty"});
}

TEST_P(FillTest, AStreamOfAnotherDeviceIsRefused) {
    const Linear memory(device(), 64);
    for (const Device& other : Device::list()) {
        if (other == device()) continue;
        const Stream stream(other);
        expect_error([&] { fill(memory.view(), std::uint8_t{1}, stream); }, ErrorCode::wrong_device, "texton::fill",
                     {other.name()});
    }
}

}  // namespace
}  // namespace texton
