#include <texton/view.h>

#include <array>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/linear.h>
#include <texton/physical.h>
#include <texton/pitched.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

TEST(HostViewTest, RowsAndSlicesArePackedByDefault) {
    std::array<std::byte, 4 * 5 * 3 * 2> memory{};
    const View packed = host_view(memory.data(), Format::rgba8_unorm, {5, 3, 2});
    EXPECT_EQ(packed.pitch(), 20u);
    EXPECT_EQ(packed.slice_pitch(), 60u);
    EXPECT_EQ(packed.data(), memory.data());
    EXPECT_EQ(packed.kind(), MemoryKind::host);
    EXPECT_EQ(packed.format(), Format::rgba8_unorm);
    EXPECT_EQ(packed.extent(), (Extent{5, 3, 2}));
    EXPECT_EQ(packed.device(), std::nullopt);

    const View spread = host_view(memory.data(), Format::rgba8_unorm, {4, 2, 2}, 24, 72);
    EXPECT_EQ(spread.pitch(), 24u);
    EXPECT_EQ(spread.slice_pitch(), 72u);
    EXPECT_EQ(host_view(memory.data(), Format::bc1_unorm, {8, 8, 1}).slice_pitch(), 32u);
}

TEST(HostViewTest, AViewOfASpanIsOneRowOfBytes) {
    std::vector<std::uint32_t> values(10);
    const View view = host_view(std::span(values));
    EXPECT_EQ(view.extent(), Extent{40});
    EXPECT_EQ(view.format(), Format::r8_uint);
    const std::vector<float> constant(3);
    const auto read_only = host_view(std::span(constant));
    static_assert(std::is_same_v<decltype(read_only), const ConstView>);
    EXPECT_EQ(read_only.extent(), Extent{12});
}

TEST(HostViewTest, InvalidViewsAreRefused) {
    std::array<std::byte, 256> memory{};
    const auto view = [&](Extent extent, std::size_t pitch = 0, std::size_t slice_pitch = 0,
                          Format format = Format::rgba8_unorm) {
        return [=, data = memory.data()] { (void)host_view(data, format, extent, pitch, slice_pitch); };
    };
    expect_error([] { (void)host_view(static_cast<void*>(nullptr), Format::r8_uint, {4}); }, ErrorCode::bad_argument,
                 "texton::host_view", {"null"});
    expect_error(view({0, 4}), ErrorCode::bad_argument, "texton::host_view", {"0 x 4"});
    expect_error(view({4, 0}), ErrorCode::bad_argument, "texton::host_view", {"4 x 0"});
    expect_error(view({4, 4, 0}), ErrorCode::bad_argument, "texton::host_view", {"4 x 4 x 0"});
    expect_error(view({4, 4}, 15), ErrorCode::bad_argument, "texton::host_view", {"15", "16"});
    expect_error(view({4, 2, 2}, 16, 40), ErrorCode::bad_argument, "texton::host_view", {"40", "16"});
    expect_error(view({4, 2, 2}, 16, 16), ErrorCode::bad_argument, "texton::host_view", {"16", "32"});
    expect_error(view({4, 4}, 0, 0, Format::nv12), ErrorCode::bad_argument, "texton::host_view", {"nv12", "plane"});
    expect_error(view({4, 4}, kMax - 3), ErrorCode::overflow, "texton::", {"height"});
    expect_error(view({kMax / 2, 4}), ErrorCode::overflow, "texton::");
    expect_error(view({1, std::size_t{1} << 62}), ErrorCode::overflow, "texton::", {"height"});
    expect_error(view({1, 1, std::size_t{1} << 62}), ErrorCode::overflow, "texton::", {"depth"});
}

TEST(ViewRegionTest, ARegionIsABoxInTheSameMemory) {
    std::array<std::byte, 2 * 8 * 4 * 3> memory{};
    const View whole = host_view(memory.data(), Format::r16_uint, {8, 4, 3});
    const View part = whole.region({{2, 1, 1}, {5, 2, 2}});
    EXPECT_EQ(part.data(), memory.data() + 64 + 16 + 4);
    EXPECT_EQ(part.extent(), (Extent{5, 2, 2}));
    EXPECT_EQ(part.pitch(), whole.pitch());
    EXPECT_EQ(part.slice_pitch(), whole.slice_pitch());
    EXPECT_EQ(part.region({{1, 1, 1}, {1, 1, 1}}).data(), memory.data() + 2 * 64 + 2 * 16 + 6);
    EXPECT_EQ(whole.region({{}, whole.extent()}).data(), memory.data());
}

TEST(ViewRegionTest, RegionsOutOfBoundsAreRefusedEvenIfOffsetsOverflow) {
    std::array<std::byte, 64> memory{};
    const View whole = host_view(memory.data(), Format::r8_uint, {8, 4, 2});
    const Region outside[] = {{{1, 0, 0}, {8, 1, 1}},    {{0, 1, 0}, {1, 4, 1}},    {{0, 0, 1}, {1, 1, 2}},
                              {{8, 0, 0}, {1, 1, 1}},    {{0, 0, 0}, {0, 1, 1}},    {{0, 0, 0}, {1, 0, 1}},
                              {{0, 0, 0}, {1, 1, 0}},    {{kMax, 0, 0}, {2, 1, 1}}, {{0, kMax - 1, 0}, {1, 3, 1}},
                              {{0, 0, kMax}, {1, 1, 2}}, {{1, 0, 0}, {kMax, 1, 1}}, {{kMax, 0, 0}, {kMax, 1, 1}}};
    for (const Region& region : outside) {
        const Error error =
            expect_error([&] { (void)whole.region(region); }, ErrorCode::out_of_bounds, "texton::View", {"8 x 4 x 2"});
        EXPECT_EQ(test::number_of(error, "x"), region.offset.x);
        EXPECT_EQ(test::number_of(error, "width"), region.extent.width);
        const ConstView reading = whole;
        expect_error([&] { (void)reading.region(region); }, ErrorCode::out_of_bounds, "texton::View");
    }
}

TEST(ViewRegionTest, RegionsOfBlockFormatsAreAlignedToBlocksOrReachTheEdge) {
    std::array<std::byte, 8 * 3 * 3> memory{};
    const View whole = host_view(memory.data(), Format::bc1_unorm, {10, 9});
    EXPECT_EQ(whole.pitch(), 24u);
    EXPECT_EQ(whole.region({{4, 4}, {4, 4}}).data(), memory.data() + 24 + 8);
    EXPECT_EQ(whole.region({{8, 8}, {2, 1}}).data(), memory.data() + 48 + 16);
    EXPECT_EQ(whole.region({{4, 0}, {6, 9}}).extent(), (Extent{6, 9}));
    for (const Region& region :
         {Region{{2, 0}, {4, 4}}, Region{{0, 1}, {4, 4}}, Region{{0, 0}, {5, 4}}, Region{{0, 0}, {4, 5}}}) {
        expect_error([&] { (void)whole.region(region); }, ErrorCode::bad_argument, "texton::View", {"bc1_unorm", "4"});
    }
}

TEST(MemoryKindTest, EveryKindHasAUniqueName) {
    std::set<std::string_view> names;
    for (int kind = 0; kind <= static_cast<int>(MemoryKind::array); ++kind)
        names.insert(name(static_cast<MemoryKind>(kind)));
    EXPECT_EQ(names.size(), 9u);
    EXPECT_FALSE(names.contains("unknown"));
    EXPECT_EQ(name(MemoryKind::pitched), "pitched");
}

class ViewTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ViewTest, test::every_device(), test::device_label);

TEST_P(ViewTest, AViewKeepsItsOwnerAlive) {
    View view;
    const test::Bytes bytes = test::pattern(1000, 1);
    {
        const Linear memory(device(), bytes.size());
        view = memory.view();
    }
    test::upload(view, bytes);
    EXPECT_TRUE(test::same_bytes(test::download(view), bytes));
    EXPECT_EQ(view.device(), device());
}

TEST_P(ViewTest, ABorrowedViewUsesTheSameMemory) {
    const Pitched2D memory(device(), Format::rgba8_unorm, {33, 7});
    const View whole = borrowed_view(device(), memory.data(), Format::rgba8_unorm, {33, 7}, memory.pitch());
    EXPECT_EQ(whole.device(), device());
    EXPECT_EQ(whole.pitch(), memory.pitch());
    const test::Bytes bytes = test::pattern(33 * 7 * 4, 2);
    test::upload(whole, bytes);
    EXPECT_TRUE(test::same_bytes(test::download(memory.view()), bytes));
}

TEST_P(ViewTest, BorrowingMemoryUnknownToTheDeviceIsRefused) {
    std::vector<std::byte> own(4096);
    expect_error([&] { (void)borrowed_view(device(), own.data(), Format::r8_uint, {4096}); }, ErrorCode::not_registered,
                 "texton::borrowed_view");
    expect_error([&] { (void)borrowed_view(device(), nullptr, Format::r8_uint, {4096}); }, ErrorCode::bad_argument,
                 "texton::borrowed_view", {"null"});
    const Linear memory(device(), 4096);
    expect_error([&] { (void)borrowed_view(device(), memory.data(), Format::r8_uint, {std::size_t{1} << 46}); },
                 ErrorCode::not_registered, "texton::borrowed_view");
    expect_error(
        [&] {
            (void)borrowed_view(device(), memory.data(), Format::r8_uint, {64, 64}, 63);
        },
        ErrorCode::bad_argument, "texton::borrowed_view", {"63", "64"});
}

TEST_P(ViewTest, TexelsPastAllAddressesAreRefused) {
    std::array<std::byte, 16> bytes{};
    void* data = bytes.data();
    expect_error([&] { (void)host_view(data, Format::r8_uint, {SIZE_MAX - 64}); }, ErrorCode::overflow,
                 "texton::host_view", {"address space"});
    expect_error(
        [&] {
            (void)host_view(data, Format::r8_uint, {16, 2}, SIZE_MAX / 2 - 8);
        },
        ErrorCode::overflow, "texton::host_view", {"address space"});
}

TEST_P(ViewTest, BorrowingARangeWithAHoleIsRefused) {
    const std::size_t unit = Physical::granularity(device());
    AddressRange range(device(), 3 * unit);
    for (const std::size_t offset : {std::size_t{0}, unit, 2 * unit}) range.map(offset, Physical(device(), unit));
    range.set_access();
    EXPECT_EQ(borrowed_view(device(), range.data(), Format::r8_uint, {3 * unit}).extent(), Extent{3 * unit});
    range.unmap(unit);
    expect_error([&] { (void)borrowed_view(device(), range.data(), Format::r8_uint, {3 * unit}); },
                 ErrorCode::not_registered, "texton::borrowed_view", {"whole range"});
    EXPECT_EQ(borrowed_view(device(), range.data() + 2 * unit, Format::r8_uint, {unit}).extent(), Extent{unit});
}

TEST_P(ViewTest, ADefaultConstructedViewIsEmpty) {
    const View none;
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_EQ(none.extent().width, 0u);
    expect_error([&] { (void)none.region({{}, {1, 1, 1}}); }, ErrorCode::out_of_bounds, "texton::View");
}

}  // namespace
}  // namespace texton
