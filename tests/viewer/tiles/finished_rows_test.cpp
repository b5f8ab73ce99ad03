#include "viewer/tiles/finished_rows.h"

#include <fstream>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <texton/error.h>
#include <texton/image_file.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/texels.h"

namespace texton::tiles {
namespace {

constexpr std::size_t kWidth = 5, kHeight = 9;

class FinishedRowsTest : public testing::Test {
protected:
    std::shared_ptr<FinishedRows> opened(int image = 1) const {
        return std::make_shared<FinishedRows>(folder_.at("a.tif"), verify::Json{{"image", image}}, kWidth, kHeight);
    }
    /// Leaves rows as a process does that ends early.
    void finish(std::size_t rows) const {
        const auto finished = opened();
        finished->append(rows, first_.data());
        finished->store();
    }

    test::ImageFolder folder_;
    const std::vector<std::byte> first_ = test::pattern(kWidth * kHeight, 1);
    const std::vector<std::byte> others_ = test::pattern(kWidth * kHeight, 2);
};

TEST_F(FinishedRowsTest, RowsThatWereStoredReplaceThoseOfTheImage) {
    finish(3);
    const auto finished = opened();
    EXPECT_EQ(finished->count(), 3U);
    const ImageFile image =
        with_finished_rows(image_of(host_view(others_.data(), Format::r8_unorm, {kWidth, kHeight})), finished);
    std::vector<std::byte> texels(kWidth * 4);
    image.read({.region = Region{{0, 1, 0}, {kWidth, 4, 1}}}, texels);
    std::vector<std::byte> expected(first_.begin() + kWidth, first_.begin() + 3 * kWidth);
    expected.insert(expected.end(), others_.begin() + 3 * kWidth, others_.begin() + 5 * kWidth);
    EXPECT_EQ(texels, expected);
    EXPECT_EQ(finished->count(), 5U) << "rows that were read are finished";
    std::vector<std::byte> again(texels.size());
    image.read({.region = Region{{0, 1, 0}, {kWidth, 4, 1}}}, again);
    EXPECT_EQ(again, expected);
    finished->remove();
    EXPECT_EQ(folder_.files(), 0);
}

TEST_F(FinishedRowsTest, ALineThatWasNotWrittenCompletelyDoesNotCount) {
    finish(2);
    std::ofstream(folder_.at("a.tif.rows.json"), std::ios::app) << "{\"rows\":7";
    EXPECT_EQ(opened()->count(), 2U);
    const auto finished = opened();
    finished->append(2, first_.data() + 2 * kWidth);
    finished->store();
    std::vector<std::byte> texels(4 * kWidth);
    finished->read(0, 4, texels.data());
    EXPECT_TRUE(std::equal(texels.begin(), texels.end(), first_.begin()));
}

TEST_F(FinishedRowsTest, RowsInUseOfAnotherImageOrThatAreMissingAreRefused) {
    const auto refused = [&](const auto& open, ErrorCode code, const char* what) {
        test::expect_error([&] { (void)open(); }, code, "texton::tiles::FinishedRows", {"a.tif.rows", what});
    };
    {
        const auto first = opened();
        refused([&] { return opened(); }, ErrorCode::io, "is used by another process");
    }
    finish(4);
    refused([&] { return opened(2); }, ErrorCode::bad_argument, "belongs to another image: image is 2, and was 1");
    std::filesystem::resize_file(folder_.at("a.tif.rows"), kWidth);
    refused([&] { return opened(); }, ErrorCode::bad_argument, "is damaged");
    for (const char* line : {"no JSON", "[]", "{\"version\":\"1\",\"mark\":1,\"image\":{}}", "{\"version\":1}"}) {
        std::ofstream(folder_.at("a.tif.rows.json")) << line << '\n';
        refused([&] { return opened(); }, ErrorCode::bad_argument, "is damaged");
    }
}

}  // namespace
}  // namespace texton::tiles
