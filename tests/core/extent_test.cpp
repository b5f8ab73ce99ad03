#include <texton/extent.h>

#include <limits>

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace texton {
namespace {

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

TEST(ExtentTest, MissingDimensionsDefaultToOne) {
    EXPECT_EQ((Extent{7}), (Extent{7, 1, 1}));
    EXPECT_EQ((Extent{7, 3}), (Extent{7, 3, 1}));
    EXPECT_EQ(Extent{}.width, 0u);
}

TEST(ExtentTest, TextShowsTheSizeAndThePosition) {
    EXPECT_EQ(to_string(Extent{640, 480}), "640 x 480");
    EXPECT_EQ(to_string(Extent{64, 64, 8}), "64 x 64 x 8");
    EXPECT_EQ(to_string(Region{{16, 0}, {640, 480}}), "640 x 480 at (16, 0)");
    EXPECT_EQ(to_string(Region{{1, 2, 3}, {4, 5, 6}}), "4 x 5 x 6 at (1, 2, 3)");
    EXPECT_EQ(to_string(Region{{1, 2, 3}, {4, 5, 1}}), "4 x 5 x 1 at (1, 2, 3)");
}

TEST(ExtentTest, ContainsAcceptsRegionsUpToTheEdge) {
    constexpr Extent kOuter{10, 6, 3};
    EXPECT_TRUE(contains(kOuter, {{0, 0, 0}, kOuter}));
    EXPECT_TRUE(contains(kOuter, {{9, 5, 2}, {1, 1, 1}}));
    EXPECT_FALSE(contains(kOuter, {{1, 0, 0}, kOuter}));
    EXPECT_FALSE(contains(kOuter, {{0, 1, 0}, kOuter}));
    EXPECT_FALSE(contains(kOuter, {{0, 0, 1}, kOuter}));
    EXPECT_FALSE(contains(kOuter, {{10, 0, 0}, {1, 1, 1}}));
    EXPECT_FALSE(contains(kOuter, {{0, 0, 0}, {11, 1, 1}}));
}

TEST(ExtentTest, AnEmptyRegionIsNeverContained) {
    EXPECT_FALSE(contains({10, 6, 3}, {{0, 0, 0}, {0, 1, 1}}));
    EXPECT_FALSE(contains({10, 6, 3}, {{0, 0, 0}, {1, 0, 1}}));
    EXPECT_FALSE(contains({10, 6, 3}, {{0, 0, 0}, {1, 1, 0}}));
    EXPECT_FALSE(contains({0, 1, 1}, {{0, 0, 0}, {0, 1, 1}}));
}

TEST(ExtentTest, ContainsIsSafeAgainstIntegerOverflow) {
    EXPECT_FALSE(contains({10, 6, 3}, {{kMax, 0, 0}, {2, 1, 1}}));
    EXPECT_FALSE(contains({10, 6, 3}, {{2, 0, 0}, {kMax, 1, 1}}));
    EXPECT_FALSE(contains({10, 6, 3}, {{0, kMax - 1, 0}, {1, 3, 1}}));
    EXPECT_FALSE(contains({10, 6, 3}, {{0, 0, 5}, {1, 1, kMax - 4}}));
    EXPECT_TRUE(contains({kMax, 1, 1}, {{0, 0, 0}, {kMax, 1, 1}}));
}

TEST(ExtentTest, AnOverflowingProductIsRefusedAndNamed) {
    EXPECT_EQ(checked_product(1u << 31, 1u << 31, "texton::Linear", "width * height"), std::size_t{1} << 62);
    EXPECT_EQ(checked_product(kMax, 1, "texton::Linear", "width * height"), kMax);
    EXPECT_EQ(checked_product(kMax, 0, "texton::Linear", "width * height"), 0u);
    const Error error =
        test::expect_error([] { (void)checked_product(kMax / 2 + 1, 2, "texton::Linear", "width * height"); },
                           ErrorCode::overflow, "texton::Linear", {"width * height", "9223372036854775808 * 2"});
    EXPECT_EQ(test::number_of(error, "left"), kMax / 2 + 1);
    EXPECT_EQ(test::number_of(error, "right"), 2u);
}

}  // namespace
}  // namespace texton
