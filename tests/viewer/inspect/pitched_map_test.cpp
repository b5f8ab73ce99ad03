// The byte map of pitched memory.
#include "viewer/inspect/pitched_map.h"

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton::viewer {
namespace {

TEST(PitchedLayoutTest, EveryByteIsPayloadPaddingOrGap) {
    const PitchedLayout layout{
        Format::rgba8_unorm, {3, 2, 2}, 16, 48};  // 12 of 16 bytes per row; 2 of 3 rows per slice
    std::size_t payload = 0;
    std::size_t padding = 0;
    std::size_t gap = 0;
    for (std::size_t byte = 0; byte < layout.bytes(); ++byte) {
        switch (layout.use_of(byte)) {
            case ByteUse::payload: ++payload; break;
            case ByteUse::padding: ++padding; break;
            case ByteUse::gap: ++gap; break;
        }
        EXPECT_EQ(layout.texel_of(byte).has_value(), layout.use_of(byte) == ByteUse::payload);
    }
    EXPECT_EQ(payload, 3u * 4 * 2 * 2);
    EXPECT_EQ(padding, 4u * 2 * 2);
    EXPECT_EQ(gap, 16u * 2);
    EXPECT_EQ(layout.texel_of(48 + 16 + 11), (Offset{2, 1, 1}));
    EXPECT_FALSE(layout.texel_of(96).has_value());
}

TEST(PitchedLayoutTest, TexelConvertsToAByteAndBack) {
    for (const PitchedLayout& layout :
         {PitchedLayout{Format::rgba16_float, {5, 4, 3}, 64, 320}, PitchedLayout{Format::bc1_unorm, {10, 6, 2}, 32, 64},
          PitchedLayout{Format::r8_uint, {1, 1, 1}, 512, 512}}) {
        for (std::size_t z = 0; z < layout.extent.depth; ++z) {
            for (std::size_t y = 0; y < layout.extent.height; ++y) {
                for (std::size_t x = 0; x < layout.extent.width; ++x) {
                    const Region block = layout.texels_with({x, y, z});
                    EXPECT_EQ(layout.texel_of(layout.byte_of({x, y, z})), block.offset);
                    EXPECT_TRUE(contains(layout.extent, block));
                }
            }
        }
        test::expect_error(
            [&] {
                (void)layout.byte_of({layout.extent.width, 0, 0});
            },
            ErrorCode::out_of_bounds, "texton::viewer::PitchedCopy");
    }
}

class PitchedCopyTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, PitchedCopyTest, test::every_device(), test::device_label);

TEST_P(PitchedCopyTest, CopyHoldsTheSubresourceAndKeepsThePadding) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            SCOPED_TRACE(test::describe(info));
            const Array array(device(), info);
            test::upload(array, test::ReferenceArray(info, 3));
            const SubresourceIndex subresource{
                .level = info.levels > 1 ? 1 : 0, .layer = is_layered(kind) ? info.layers - 1 : 0, .face = 2};
            const PitchedCopy copied(array, subresource);
            const std::vector<std::byte> expected = test::download(array.view(slices_at(info, subresource)));
            EXPECT_TRUE(test::same_bytes(test::download(copied.view()), expected));
            // Compares byte by byte through the layout.
            const std::vector<std::byte> all = copied.read(0, copied.layout().bytes());
            std::size_t next = 0;
            for (std::size_t byte = 0; byte < all.size(); ++byte) {
                if (copied.layout().use_of(byte) == ByteUse::payload) {
                    ASSERT_EQ(all[byte], expected.at(next++)) << byte;
                }
            }
            EXPECT_EQ(next, expected.size());
            const PitchedLayout& layout = copied.layout();
            const std::size_t rows = layout.rows() * layout.extent.depth;
            EXPECT_TRUE(test::same_bytes(copied.read_box(0, layout.pitch, rows), all));
            EXPECT_TRUE(test::same_bytes(copied.read_box((rows - 1) * layout.pitch + 3, 5, 1),
                                         copied.read((rows - 1) * layout.pitch + 3, 5)));
            const CanaryReport report = copied.check();
            EXPECT_EQ(report.checked, all.size() - expected.size());
            EXPECT_GT(report.checked, 0u);
            EXPECT_EQ(report.overwritten, 0u);
        }
    }
}

TEST_P(PitchedCopyTest, OverwrittenPaddingByteIsFound) {
    const Array array(device(), {.format = Format::rgba8_unorm, .extent = {100, 20}});
    const PitchedCopy copied(array, {});
    const std::size_t pitch = copied.layout().pitch;
    ASSERT_GT(pitch, 400u);
    for (const std::size_t byte : {std::size_t{400}, pitch * 7 + 403, pitch * 20 - 1}) {
        const auto wrong = static_cast<std::uint8_t>(std::to_integer<unsigned>(canary_at(byte)) ^ 1);
        fill(copied.bytes(byte, 1), wrong);
    }
    const CanaryReport report = copied.check();
    EXPECT_EQ(report.overwritten, 3u);
    EXPECT_EQ(report.subresources, (std::vector<std::size_t>{400, pitch * 7 + 403, pitch * 20 - 1}));
}

TEST_P(PitchedCopyTest, WrongPitchShearsTheImage) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {100, 20}};
    const Array array(device(), info);
    test::upload(array, test::ReferenceArray(info, 5));
    const PitchedCopy copied(array, {});
    const PitchedLayout& layout = copied.layout();
    EXPECT_TRUE(test::same_bytes(test::download(copied.read_with_pitch(layout.pitch, 0, 1 << 20).view()),
                                 test::download(array.view())));
    // With a pitch 4 bytes shorter, every row begins one texel earlier than the row before.
    const Array sheared = copied.read_with_pitch(layout.pitch - 4, 0, 1 << 20);
    ASSERT_EQ(sheared.info().extent, info.extent);
    for (std::size_t y = 0; y < 20; ++y) {
        EXPECT_TRUE(test::same_bytes(test::download(sheared.view({.region = Region{{0, y, 0}, {100, 1, 1}}})),
                                     copied.read(y * (layout.pitch - 4), 400)));
    }
    // A longer pitch leaves fewer rows; so does a limit of bytes.
    EXPECT_EQ(copied.read_with_pitch(layout.pitch * 2, 0, 1 << 20).info().extent.height, 10u);
    EXPECT_EQ(copied.read_with_pitch(layout.pitch, 0, layout.pitch * 3).info().extent.height, 3u);
    test::expect_error([&] { (void)copied.read_with_pitch(399, 0, 1 << 20); }, ErrorCode::bad_argument,
                       "texton::viewer::PitchedCopy", {"399", "400"});
}

TEST_P(PitchedCopyTest, CopyStopsWhenCanceled) {
    const Array array(device(), {.format = Format::rgba8_unorm, .extent = {8, 8}});
    EXPECT_THROW(PitchedCopy(array, {}, CancellationToken([] { return true; })), Canceled);
}

}  // namespace
}  // namespace texton::viewer
