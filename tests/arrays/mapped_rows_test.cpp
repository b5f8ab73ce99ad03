// Arrays of which only some rows have memory.
#include "arrays/mapped_rows.h"

#include <vector>

#include <gtest/gtest.h>

#include <texton/linear.h>
#include <texton/sample.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton::detail {
namespace {

using test::Bytes;

class MappedRowsTest : public test::OnEveryDevice {
protected:
    static constexpr std::size_t kWidth = 256, kHeight = 1024;
    static constexpr ArrayInfo kInfo{.format = Format::r8_unorm, .extent = {kWidth, kHeight}};

    void SetUp() override {
        OnEveryDevice::SetUp();
        texels_ = test::pattern(kWidth * kHeight, 3);
    }
    void write(const MappedRows& rows, RowRange range) const {
        test::upload(rows.view(range), std::span(texels_).subspan(range.first * kWidth, range.count() * kWidth));
    }
    testing::AssertionResult holds(const MappedRows& rows, RowRange range) const {
        return test::same_bytes(test::download(rows.view(range)),
                                std::span(texels_).subspan(range.first * kWidth, range.count() * kWidth));
    }

private:
    Bytes texels_;
};
INSTANTIATE_TEST_SUITE_P(Devices, MappedRowsTest, test::every_device(), test::device_label);

TEST_P(MappedRowsTest, RowsInTilesKeepTheirTexelsWhileOthersGetAndLoseTheirMemory) {
    const Stream stream(device());
    MappedRows rows(device(), kInfo, true);
    ASSERT_FALSE(rows.is_whole());
    EXPECT_EQ(rows.rows(), RowRange{});
    rows.keep({0, 300}, stream);
    EXPECT_EQ(rows.rows(), (RowRange{0, 512})) << "whole tiles of 256 rows";
    stream.synchronize();
    write(rows, {0, 512});
    rows.keep({260, 700}, stream);
    EXPECT_EQ(rows.rows(), (RowRange{256, 768}));
    stream.synchronize();
    EXPECT_TRUE(holds(rows, {256, 512}));
    write(rows, {512, 768});
    rows.keep({600, 610}, stream);
    stream.synchronize();
    EXPECT_EQ(rows.rows(), (RowRange{512, 768}));
    EXPECT_TRUE(holds(rows, {512, 768}));
    rows.keep({}, stream);
    EXPECT_EQ(rows.rows(), RowRange{});
}

TEST_P(MappedRowsTest, TilesHaveMemoryForTheRowsAlone) {
    // 16 rows of tiles, each with a chunk of 2 MiB.
    const ArrayInfo info{.format = Format::r8_unorm, .extent = {8192, 4096}};
    const Stream stream(device());
    MappedRows rows(device(), info, true);
    EXPECT_EQ(rows.bytes_of(4096), packed_bytes(info));
    EXPECT_EQ(rows.bytes_of(256), std::size_t{4} << 20) << "256 rows can lie in two rows of tiles";
    const std::size_t before = device().memory().free;
    rows.keep({1000, 1256}, stream);
    stream.synchronize();
    if (on_cpu()) {
        EXPECT_EQ(before - device().memory().free, rows.bytes_of(256));
    }
    for (std::size_t first = 0; first + 256 <= 4096; first += 128) rows.keep({first, first + 256}, stream);
    stream.synchronize();
    if (on_cpu()) {
        EXPECT_LE(before - device().memory().free, 2 * rows.bytes_of(256));
    }
}

TEST_P(MappedRowsTest, APoolOfTheCallerKeepsTheMemoryForOtherArrays) {
    const Stream stream(device());
    const TilePool pool(device(), {.chunk_bytes = std::size_t{2} << 20});
    for (int round = 0; round < 3; ++round) {
        MappedRows rows(device(), kInfo, true, pool);
        rows.keep({0, 512}, stream);
        EXPECT_EQ(pool.usage().used, 2U);
        EXPECT_EQ(pool.usage().chunks, 1U);
    }
    stream.synchronize();
    EXPECT_EQ(pool.usage().used, 0U);
    EXPECT_EQ(pool.usage().chunks, 1U);
}

TEST(LinearRowsTest, RowsKeepTheirTexelsAndTexturesReadThemAtTheirPlaces) {
    // r8_unorm: row y has the value y.
    constexpr std::size_t kWidth = 40, kHeight = 200;
    const auto row_values = [](RowRange rows) {
        Bytes texels;
        for (std::size_t y = rows.first; y < rows.end; ++y) texels.insert(texels.end(), kWidth, std::byte(y));
        return texels;
    };
    const Device device = Device::cpu();
    const Stream stream(device);
    const std::size_t before = device.memory().free;
    {
        MappedRows rows(device, {.format = Format::r8_unorm, .extent = {kWidth, kHeight}});
        EXPECT_FALSE(rows.is_whole());
        rows.keep({50, 100}, stream);
        test::upload(rows.view({50, 100}), row_values({50, 100}));
        rows.keep({80, 140}, stream);
        EXPECT_EQ(rows.rows(), (RowRange{80, 140}));
        EXPECT_EQ(rows.bytes_of(60), 60 * kWidth);
        test::upload(rows.view({100, 140}), row_values({100, 140}));
        // All pixels of a column, without a filter.
        const Linear result(device, Format::r8_unorm, {1, kHeight});
        const auto read = [&](const Array& array, RowRange from) {
            const AffineMap map{.xx = 1, .x0 = 3.5f, .yy = 1, .y0 = static_cast<float>(from.first)};
            const View view = result.view(Format::r8_unorm, {1, from.count()});
            sample(Texture(array), map, view);
            return test::download(view);
        };
        const auto expected = [](RowRange has, RowRange from) {
            Bytes texels;
            for (std::size_t y = from.first; y < from.end; ++y)
                texels.push_back(std::byte(y >= has.first && y < has.end ? y : 0));
            return texels;
        };
        EXPECT_TRUE(test::same_bytes(read(rows.array(), {80, 140}), expected({80, 140}, {80, 140})));
        EXPECT_TRUE(test::same_bytes(read(rows.checked_array(), {0, kHeight}), expected({80, 140}, {0, kHeight})));
        rows.keep({}, stream);
        EXPECT_TRUE(test::same_bytes(read(rows.array(), {0, kHeight}), expected({}, {0, kHeight})));
    }
    EXPECT_EQ(device.memory().free, before);
}

TEST_P(MappedRowsTest, ImagesWithoutWholeTilesAndBlockCompressedImagesHaveAllRows) {
    for (const ArrayInfo& info : {ArrayInfo{.format = Format::r8_unorm, .extent = {20, 200}},
                                  ArrayInfo{.format = Format::bc1_unorm, .extent = {1024, 1024}}}) {
        SCOPED_TRACE(test::describe(info));
        const Stream stream(device());
        MappedRows rows(device(), info, true);
        EXPECT_TRUE(rows.is_whole());
        EXPECT_EQ(rows.rows(), (RowRange{0, info.extent.height}));
        rows.keep({0, 4}, stream);
        EXPECT_EQ(rows.rows(), (RowRange{0, info.extent.height}));
        EXPECT_EQ(rows.bytes_of(4), packed_bytes(info));
    }
}

TEST_P(MappedRowsTest, AnImageBeyondTheLimitsOfTexturesIsRefusedByName) {
    test::expect_error(
        [&] {
            MappedRows(device(), {.format = Format::r8_unorm, .extent = {200000, 4}}, true);
        },
        ErrorCode::overflow, "texton::SparseArray", {"200000", "texture_2d"});
}

}  // namespace
}  // namespace texton::detail
