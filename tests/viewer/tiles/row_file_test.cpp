#include "viewer/tiles/row_file.h"

#include <sys/stat.h>

#include <fstream>
#include <vector>

#include <gtest/gtest.h>

#include <texton/error.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/texels.h"

namespace texton::tiles {
namespace {

class RowFileTest : public testing::Test {
protected:
    RowFile opened(const RowLayout& layout) const { return {folder_.at("rows"), layout, true}; }
    /// Returns the bytes that the file takes on the disk.
    std::size_t disk_bytes() const {
        struct stat status {};
        EXPECT_EQ(::stat(folder_.at("rows").c_str(), &status), 0);
        return static_cast<std::size_t>(status.st_blocks) * 512;
    }
    static std::vector<std::byte> read(const RowFile& file, std::size_t slice, Rows rows) {
        std::vector<std::byte> texels(rows.count() * file.layout().row_bytes);
        file.read(slice, rows, 0, file.layout().row_bytes, texels.data());
        return texels;
    }

    test::ImageFolder folder_;
};

// Bytes of a picture without noise: each row is a ramp, which begins at another value.
std::vector<std::byte> ramps(const RowLayout& layout) {
    std::vector<std::byte> texels(layout.bytes());
    for (std::size_t i = 0; i < texels.size(); ++i)
        texels[i] = static_cast<std::byte>(i / layout.row_bytes * 3 + i % layout.row_bytes / 8);
    return texels;
}

TEST_F(RowFileTest, RowsOfEveryFormatHaveTheBitsThatWereWritten) {
    for (const FormatInfo& format : formats()) {
        if (plane_count(format.format) != 1 || block_side(format.format) != 1) continue;
        SCOPED_TRACE(format.name);
        const RowLayout layout = row_layout(format.format, {61, 40, 2});
        for (const auto& texels : {ramps(layout), test::pattern(layout.bytes(), 5)}) {
            RowFile file = opened(layout);
            file.clear();
            file.write({0, 40}, texels.data(), {0, 40});
            const auto second = texels.begin() + static_cast<std::ptrdiff_t>(layout.row_bytes * 40);
            EXPECT_TRUE(read(file, 0, {0, 40}) == std::vector<std::byte>(texels.begin(), second));
            EXPECT_TRUE(read(file, 1, {0, 40}) == std::vector<std::byte>(second, texels.end()));
        }
    }
}

TEST_F(RowFileTest, TexelsThatCanBeCompressedTakeLittleOfTheDiskAndOthersNoMoreThanTheMaximum) {
    const RowLayout layout = row_layout(Format::rgba8_unorm, {1024, 4096, 1});
    RowFile file = opened(layout);
    const std::vector<std::byte> smooth = ramps(layout);
    file.write({0, 4096}, smooth.data(), {0, 4096});
    file.synchronize();
    EXPECT_LT(disk_bytes(), layout.bytes() / 8);
    EXPECT_TRUE(read(file, 0, {1000, 3000}) ==
                std::vector<std::byte>(smooth.begin() + 1000 * 4096, smooth.begin() + 3000 * 4096))
        << "parts of blocks";
    file.clear();
    const std::vector<std::byte> noise = test::pattern(layout.bytes(), 3);
    file.write({0, 4096}, noise.data(), {0, 4096});
    file.synchronize();
    EXPECT_LE(disk_bytes(), file.max_bytes());
    EXPECT_TRUE(read(file, 0, {0, 4096}) == noise);
}

TEST_F(RowFileTest, RowsThatWereWrittenInPartsAreFoundFromTheFirstRowOn) {
    const RowLayout layout = row_layout(Format::r8_unorm, {300, 50, 1});
    const std::vector<std::byte> texels = ramps(layout);
    RowFile first = opened(layout);
    first.write({10, 20}, texels.data() + 8 * 300, {8, 20});  // without the first two rows of the texels
    first.write({20, 35}, texels.data() + 20 * 300, {20, 35});
    RowFile second = opened(layout);
    EXPECT_FALSE(second.find({0, 35})) << "row 0 was not written";
    EXPECT_FALSE(second.find({10, 36})) << "row 35 was not written";
    EXPECT_FALSE(second.find({12, 20})) << "no block begins at row 12";
    ASSERT_TRUE(second.find({10, 35}));
    EXPECT_TRUE(read(second, 0, {12, 31}) ==
                std::vector<std::byte>(texels.begin() + 12 * 300, texels.begin() + 31 * 300));
}

TEST_F(RowFileTest, ABlockThatWasChangedIsRefused) {
    const RowLayout layout = row_layout(Format::r8_unorm, {300, 50, 1});
    const std::vector<std::byte> texels = test::pattern(layout.bytes(), 1);
    RowFile file = opened(layout);
    file.write({0, 50}, texels.data(), {0, 50});
    {
        std::fstream changed(folder_.at("rows"), std::ios::in | std::ios::out | std::ios::binary);
        changed.seekg(1000);
        const int byte = changed.get();
        changed.seekp(1000);
        changed.put(static_cast<char>(byte ^ 1));
    }
    test::expect_error([&] { (void)read(file, 0, {0, 50}); }, ErrorCode::io, "texton::tiles::RowFile", {"is damaged"});
}

TEST_F(RowFileTest, RowsThatAreFreedTakeNoSpaceAndTheOthersCanBeRead) {
    const RowLayout layout = row_layout(Format::rgba8_unorm, {512, 600, 1});  // blocks of 256 rows
    const auto texels = test::pattern(layout.bytes(), 5);
    RowFile file = opened(layout);
    file.write({0, 600}, texels.data(), {0, 600});
    const std::size_t before = disk_bytes();
    EXPECT_GE(before, layout.bytes());
    file.free_before(255);  // in the first block
    EXPECT_EQ(disk_bytes(), before);
    file.free_before(520);  // in the last block
    EXPECT_LE(disk_bytes(), before - 512 * layout.row_bytes);
    EXPECT_TRUE(
        read(file, 0, {512, 600}) ==
        std::vector<std::byte>(texels.begin() + static_cast<std::ptrdiff_t>(512 * layout.row_bytes), texels.end()));
    test::expect_error([&] { (void)read(file, 0, {511, 512}); }, ErrorCode::io, "texton::tiles::RowFile");
}

}  // namespace
}  // namespace texton::tiles
