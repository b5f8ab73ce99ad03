#include "core/nearest_name.h"

#include <array>

#include <gtest/gtest.h>

namespace texton::detail {
namespace {

TEST(NearestNameTest, TypingErrorsAreInsertionsDeletionsReplacementsAndExchanges) {
    EXPECT_EQ(typing_errors("convert", "convert"), 0u);
    EXPECT_EQ(typing_errors("convrt", "convert"), 1u);
    EXPECT_EQ(typing_errors("connvert", "convert"), 1u);
    EXPECT_EQ(typing_errors("canvert", "convert"), 1u);
    EXPECT_EQ(typing_errors("covnert", "convert"), 1u);
    EXPECT_EQ(typing_errors("", "abc"), 3u);
    EXPECT_EQ(typing_errors("abc", ""), 3u);
    EXPECT_EQ(typing_errors("kitten", "sitting"), 3u);
}

TEST(NearestNameTest, TheNearestNameIsOneWithFewTypingErrors) {
    constexpr std::array kNames{"compare", "convert", "info", "run"};
    EXPECT_EQ(nearest_name("convrt", kNames), "convert");
    EXPECT_EQ(nearest_name("ifno", kNames), "info");
    EXPECT_EQ(nearest_name("rnu", kNames), "run");
    EXPECT_EQ(nearest_name("rotate", kNames), "");
    EXPECT_EQ(nearest_name("", kNames), "");
    EXPECT_EQ(did_you_mean("comapre", kNames), " Did you mean 'compare'?");
    EXPECT_EQ(did_you_mean("x", kNames), "");
}

}  // namespace
}  // namespace texton::detail
