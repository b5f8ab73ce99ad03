// The same texels in every kind of array and memory.
#include "viewer/inspect/kind_matrix.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton::viewer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class KindMatrixTest : public test::OnEveryDevice {
protected:
    std::map<std::string, KindRow> measured(Format format, Extent extent) const {
        KindTexels texels{.format = format, .extent = extent};
        texels.texels = test::pattern(packed_bytes(format, extent), 6);
        std::map<std::string, KindRow> out;
        for (std::size_t row = 0; row < kind_rows().size(); ++row) {
            KindRow made = measure_kind(device(), texels, row);
            EXPECT_EQ(made.name, kind_rows()[row]);
            out.emplace(made.name, std::move(made));
        }
        return out;
    }

    static std::string obstacle(const KindRow& row, std::string_view variant) {
        const auto found = std::ranges::find(row.samplers, variant, &SamplerVerdict::name);
        return found != row.samplers.end() ? found->obstacle : "not tried";
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, KindMatrixTest, test::every_device(), test::device_label);

TEST_P(KindMatrixTest, SquarePlainImageFitsEveryKindExceptPlanar) {
    const auto rows = measured(Format::rgba8_unorm, {64, 64});
    for (const auto& [name, row] : rows) {
        SCOPED_TRACE(name);
        if (name == "planar") {
            EXPECT_THAT(row.obstacle, HasSubstr("texton::PlanarArray"));
            continue;
        }
        if (name == "managed" && !device().properties().managed_memory) continue;
        EXPECT_THAT(row.obstacle, IsEmpty());
        EXPECT_GE(row.bytes, row.copied);
        EXPECT_GT(row.alignment, 0u);
        EXPECT_GT(row.upload, 0);
        EXPECT_EQ(row.copied, 64u * 64 * 4 * (name.starts_with("cubemap") ? 6 : 1));
        EXPECT_EQ(row.samplers.size(), rows.at("array_2d").samplers.size());
    }
    for (const char* name : {"array_2d", "layered_2d", "pitched 2d", "sparse 2d", "deferred 2d"}) {
        EXPECT_EQ(rows.at(name).kernel, "statistics");
        EXPECT_THAT(rows.at(name).kernel_obstacle, IsEmpty());
        EXPECT_GT(rows.at(name).kernel_time, 0);
    }
    EXPECT_EQ(rows.at("array_3d").kernel, "volume_slice");
    EXPECT_THAT(rows.at("array_3d").kernel_obstacle, IsEmpty());
    EXPECT_EQ(rows.at("cubemap").kernel, "cube_to_strip");
    EXPECT_THAT(rows.at("cubemap").kernel_obstacle, IsEmpty());
    EXPECT_THAT(rows.at("array_1d").kernel_obstacle, Not(IsEmpty()));
    EXPECT_THAT(rows.at("host").kernel_obstacle, Not(IsEmpty()));
}

TEST_P(KindMatrixTest, UnsupportedKindsReportTheMessageOfTheLibrary) {
    const auto wide = measured(Format::r32_uint, {40, 24});
    EXPECT_THAT(wide.at("cubemap").obstacle, HasSubstr("texton::Array"));
    EXPECT_THAT(wide.at("array_2d").obstacle, IsEmpty());
    EXPECT_THAT(obstacle(wide.at("array_2d"), "point"), IsEmpty());
    EXPECT_THAT(obstacle(wide.at("array_2d"), "linear"), HasSubstr("filter"));
    const auto blocks = measured(Format::bc7_unorm, {40, 24});
    EXPECT_THAT(blocks.at("array_1d").obstacle, Not(IsEmpty()));
    EXPECT_THAT(blocks.at("array_2d").obstacle, IsEmpty());
    EXPECT_THAT(blocks.at("array_2d").kernel_obstacle, IsEmpty());
    EXPECT_THAT(blocks.at("pitched 2d").obstacle, IsEmpty());
    EXPECT_THAT(obstacle(blocks.at("pitched 2d"), "point"), Not(IsEmpty()));
}

TEST_P(KindMatrixTest, SelectedSubresourceIsReadAndLargeImagesAreCropped) {
    const ArrayInfo info{
        .format = Format::rgba8_unorm, .extent = {12, 10, 4}, .kind = ArrayKind::array_3d, .levels = 2};
    const Array array(device(), info);
    test::upload(array, test::ReferenceArray(info, 2));
    const KindTexels texels = texels_of(array, {.level = 1, .slice = 1}, 1 << 20);
    EXPECT_EQ(texels.extent, (Extent{6, 5}));
    EXPECT_TRUE(texels.whole);
    EXPECT_TRUE(test::same_bytes(texels.texels,
                                 test::download(array.view({.level = 1, .region = Region{{0, 0, 1}, {6, 5, 1}}}))));
    const KindTexels cut = texels_of(array, {}, 48 * 3);
    EXPECT_EQ(cut.extent, (Extent{12, 3}));
    EXPECT_FALSE(cut.whole);
    EXPECT_THROW((void)measure_kind(device(), cut, 0, CancellationToken([] { return true; })), Canceled);
}

}  // namespace
}  // namespace texton::viewer
