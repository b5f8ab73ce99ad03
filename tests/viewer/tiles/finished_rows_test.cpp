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
        return std::make_shared<FinishedRows>(folder_.at("a.tif"), verify::Json{{"image", image}}, kLayout);
    }
    /// Leaves rows as a process does that ends early.
    void finish(Rows rows) const {
        const auto finished = opened();
        finished->write(rows, first_.data() + rows.first * kWidth);
        finished->store();
    }
    ImageFile image(const std::shared_ptr<FinishedRows>& finished) const {
        return with_finished_rows(image_of(host_view(others_.data(), Format::r8_unorm, {kWidth, kHeight})), finished);
    }
    /// Returns rows of `first_` where the set contains them, and of `others_` elsewhere.
    std::vector<std::byte> expected(Rows rows, const RowSet& first) const {
        std::vector<std::byte> texels;
        for (std::size_t y = rows.first; y < rows.end; ++y) {
            const auto& source = first.contains({y, y + 1}) ? first_ : others_;
            texels.insert(texels.end(), source.begin() + static_cast<std::ptrdiff_t>(y * kWidth),
                          source.begin() + static_cast<std::ptrdiff_t>((y + 1) * kWidth));
        }
        return texels;
    }
    static std::vector<std::byte> read(const ImageFile& image, Rows rows) {
        std::vector<std::byte> texels(kWidth * rows.count());
        image.read({.region = Region{{0, rows.first, 0}, {kWidth, rows.count(), 1}}}, texels);
        return texels;
    }

    static constexpr RowLayout kLayout{.row_bytes = kWidth, .rows = kHeight};
    test::ImageFolder folder_;
    const std::vector<std::byte> first_ = test::pattern(kWidth * kHeight, 1);
    const std::vector<std::byte> others_ = test::pattern(kWidth * kHeight, 2);
};

TEST_F(FinishedRowsTest, RowsThatWereStoredReplaceThoseOfTheImage) {
    finish({0, 3});
    const auto finished = opened();
    EXPECT_EQ(finished->rows().count(), 3U);
    const ImageFile result = image(finished);
    EXPECT_EQ(read(result, {1, 5}), expected({1, 5}, RowSet({0, 3})));
    EXPECT_EQ(finished->rows().count(), 5U) << "rows that were read are finished";
    EXPECT_EQ(read(result, {1, 5}), expected({1, 5}, RowSet({0, 3})));
    finished->remove();
    EXPECT_EQ(folder_.files(), 0);
}

TEST_F(FinishedRowsTest, RangesWithGapsAreKeptAndOnlyTheGapsAreComputed) {
    finish({4, 6});
    finish({7, 8});
    finish({1, 2});
    const auto finished = opened();
    EXPECT_EQ(finished->rows().ranges(), (std::vector<Rows>{{1, 2}, {4, 6}, {7, 8}}));
    const RowSet first = finished->rows();
    EXPECT_EQ(read(image(finished), {0, kHeight}), expected({0, kHeight}, first));
    EXPECT_EQ(finished->rows().ranges(), (std::vector<Rows>{{0, kHeight}}));
}

TEST_F(FinishedRowsTest, RowsThatAnotherObjectWroteToTheFileAreFinishedWhenTheyAreAdded) {
    FinishedRows finished(folder_.at("a.tif"), {.row_bytes = kWidth, .rows = 3, .slices = 3});
    EXPECT_FALSE(finished.is_kept());
    EXPECT_EQ(folder_.files(), 0) << "the file has no name";
    RowFile other(finished.texels().path(), finished.texels().layout(), false);
    other.write({1, 3}, first_.data(), {1, 3});  // two rows of each slice
    finished.add({1, 3});
    std::vector<std::byte> texels(2 * 3);
    finished.texels().read(2, {1, 3}, 1, 3, texels.data());
    for (std::size_t i = 0; i < texels.size(); ++i)
        EXPECT_EQ(texels[i], first_[2 * 2 * kWidth + i / 3 * kWidth + 1 + i % 3]) << i;
}

TEST_F(FinishedRowsTest, ALineThatWasNotWrittenCompletelyDoesNotCount) {
    finish({0, 2});
    std::ofstream(folder_.at("a.tif.rows.json"), std::ios::app) << "{\"rows\":[[2,7]";
    EXPECT_EQ(opened()->rows().count(), 2U);
    finish({2, 4});
    EXPECT_EQ(read(image(opened()), {0, 4}), expected({0, 4}, RowSet({0, 4})));
}

TEST_F(FinishedRowsTest, RowsInUseOfAnotherImageOrThatAreMissingAreRefused) {
    const auto refused = [&](const auto& open, ErrorCode code, const char* what) {
        test::expect_error([&] { (void)open(); }, code, "texton::tiles::FinishedRows", {"a.tif.rows", what});
    };
    {
        const auto first = opened();
        refused([&] { return opened(); }, ErrorCode::io, "is used by another process");
    }
    finish({0, 4});
    refused([&] { return opened(2); }, ErrorCode::bad_argument, "belongs to another image: image is 2, and was 1");
    std::filesystem::resize_file(folder_.at("a.tif.rows"), kWidth);
    refused([&] { return opened(); }, ErrorCode::bad_argument, "is damaged");
    std::filesystem::remove(folder_.at("a.tif.rows.json"));
    finish({0, 4});
    for (const char* range : {"7", "[7]", "[[3]]", "[[3,3]]", "[[0,10]]", "[[0,9]]", "[[-1,2]]"}) {
        SCOPED_TRACE(range);
        std::ofstream(folder_.at("a.tif.rows.json"), std::ios::app) << "{\"rows\":" << range << "}\n";
        refused([&] { return opened(); }, ErrorCode::bad_argument, "is damaged");
        std::filesystem::remove(folder_.at("a.tif.rows.json"));
        finish({0, 4});
    }
    for (const char* line : {"no JSON", "[]", "{\"version\":\"1\",\"mark\":1,\"image\":{}}", "{\"version\":1}"}) {
        std::ofstream(folder_.at("a.tif.rows.json")) << line << '\n';
        refused([&] { return opened(); }, ErrorCode::bad_argument, "is damaged");
    }
}

TEST_F(FinishedRowsTest, TheLastReadingFreesOnlyRowsThatNoLaterProcessNeeds) {
    const auto kept = opened();
    const auto unkept = std::make_shared<FinishedRows>(folder_.at("b.tif"), kLayout);
    for (const auto& finished : {kept, unkept}) {
        const ImageFile texels = image(finished);
        for (std::size_t y = 0; y < kHeight; ++y) (void)read(texels, {y, y + 1});
        EXPECT_TRUE(read(texels, {0, kHeight}) == others_) << "read again before the last reading";
        finished->begin_last_reading();
        EXPECT_TRUE(read(texels, {0, 4}) == std::vector<std::byte>(others_.begin(), others_.begin() + 4 * kWidth));
        EXPECT_TRUE(read(texels, {4, kHeight}) == std::vector<std::byte>(others_.begin() + 4 * kWidth, others_.end()));
    }
    EXPECT_TRUE(read(image(kept), {0, 4}) == std::vector<std::byte>(others_.begin(), others_.begin() + 4 * kWidth));
    test::expect_error([&] { (void)read(image(unkept), {0, 4}); }, ErrorCode::io, "texton::tiles::RowFile");
}

}  // namespace
}  // namespace texton::tiles
