#include "viewer/tiles/compressed_block.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/texels.h"

namespace texton::tiles {
namespace {

constexpr std::size_t kRow = 240, kRows = 50;

// Rows that differ little from their neighbors: horizontally, or in both directions.
std::vector<std::byte> ramps(bool in_both_directions) {
    std::vector<std::byte> texels(kRow * kRows);
    for (std::size_t i = 0; i < texels.size(); ++i)
        texels[i] = static_cast<std::byte>(i % kRow * i % kRow / 4 + i / kRow * (in_both_directions ? 1 : 83));
    return texels;
}

TEST(CompressedBlockTest, EveryCompressionKeepsTheBitsAndDamagedBytesAreRefused) {
    std::vector<BlockCompression> all{BlockCompression::none, BlockCompression::zlib};
    if (best_compression() == BlockCompression::zstd) all.push_back(BlockCompression::zstd);
    const std::vector<std::vector<std::byte>> images{ramps(false), ramps(true), test::pattern(kRow * kRows, 1)};
    for (const BlockCompression compression : all) {
        for (const std::size_t bytes : {1, 2, 4}) {
            for (const std::size_t channels : {1, 2, 4}) {
                for (std::size_t image = 0; image < images.size(); ++image) {
                    SCOPED_TRACE(testing::Message() << static_cast<int>(compression) << ", " << bytes << " bytes, "
                                                    << channels << " channels, image " << image);
                    const TexelLayout layout{bytes, channels};
                    CompressedBlock block = compress_block(images[image], kRow, layout, compression);
                    std::vector<std::byte> texels(kRow * kRows);
                    ASSERT_TRUE(decompress_block(block, texels, kRow, layout));
                    EXPECT_TRUE(texels == images[image]);
                    EXPECT_LE(block.bytes.size(), texels.size());
                    block.bytes.resize(block.bytes.size() / 2);
                    EXPECT_FALSE(decompress_block(block, texels, kRow, layout));
                }
            }
        }
    }
}

TEST(CompressedBlockTest, TheRowAboveIsUsedWhereRowsResembleEachOther) {
    std::vector<std::byte> equal_rows;
    const std::vector<std::byte> row = test::pattern(kRow, 2);
    for (std::size_t y = 0; y < kRows; ++y) equal_rows.insert(equal_rows.end(), row.begin(), row.end());
    const CompressedBlock equal = compress_block(equal_rows, kRow, {});
    EXPECT_TRUE(equal.uses_row_above);
    EXPECT_LT(equal.bytes.size(), 2 * kRow);
    std::vector<std::byte> flat_rows;  // each row has one value
    for (std::size_t y = 0; y < kRows; ++y) flat_rows.insert(flat_rows.end(), kRow, row[y]);
    EXPECT_LT(compress_block(flat_rows, kRow, {}).bytes.size(), 2 * kRow);
}

}  // namespace
}  // namespace texton::tiles
