#include "viewer/tiles/row_set.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace texton::tiles {
namespace {

TEST(RowSetTest, RangesThatTouchBecomeOne) {
    RowSet rows({4, 8});
    rows.add({8, 10});
    rows.add({0, 2});
    rows.add({3, 4});
    EXPECT_EQ(rows.ranges(), (std::vector<Rows>{{0, 2}, {3, 10}}));
    rows.add({1, 3});
    EXPECT_EQ(rows.ranges(), (std::vector<Rows>{{0, 10}}));
    rows.remove({2, 4});
    EXPECT_EQ(rows.text(), "0 to 1, 4 to 9");
    EXPECT_EQ(rows.count(), 8U);
}

TEST(RowSetTest, ItEqualsOneFlagForEachRow) {
    constexpr std::size_t kRows = 40;
    std::mt19937 random(3);
    std::vector<bool> flags(kRows);
    RowSet rows;
    for (int step = 0; step < 2000; ++step) {
        const std::size_t first = random() % kRows;
        const Rows changed{first, first + random() % (kRows - first + 1)};
        const bool adds = random() % 2 == 0;
        adds ? rows.add(changed) : rows.remove(changed);
        for (std::size_t y = changed.first; y < changed.end; ++y) flags[y] = adds;
        std::size_t count = 0;
        for (std::size_t y = 0; y < kRows; ++y) {
            ASSERT_EQ(rows.contains({y, y + 1}), flags[y]) << "row " << y << " in step " << step;
            count += flags[y] ? 1 : 0;
            std::size_t next = y, end = y;
            while (next < kRows && !flags[next]) ++next;
            while (end < kRows && flags[end]) ++end;
            ASSERT_EQ(rows.next(y, kRows), next);
            ASSERT_EQ(rows.end_of(y), end);
        }
        ASSERT_EQ(rows.count(), count);
        for (std::size_t i = 1; i < rows.ranges().size(); ++i)
            ASSERT_LT(rows.ranges()[i - 1].end, rows.ranges()[i].first);
    }
}

TEST(RowSetTest, StripsBeginAtMultiplesOfTheUnit) {
    EXPECT_EQ(first_strip({5, 100}, 16, 1), (Rows{5, 21}));
    EXPECT_EQ(first_strip({130, 900}, 256, 128), (Rows{128, 384}));
    EXPECT_EQ(first_strip({130, 200}, 256, 128), (Rows{128, 200}));
    EXPECT_EQ(first_strip({30, 100}, 100, 128), (Rows{0, 100})) << "the image has 100 rows";
}

}  // namespace
}  // namespace texton::tiles
