// The programs that walk over pyramids larger than their budgets.
#include <gtest/gtest.h>

#include "tests/support/on_every_device.h"
#include "tests/support/program.h"

namespace texton {
namespace {

class StreamedWalkTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, StreamedWalkTest, test::every_device(), test::device_label);

TEST_P(StreamedWalkTest, EveryFetchIsRightAndTheBudgetIsKept) {
    test::Program walk("streamed_walk", device());
    EXPECT_EQ(walk.wait(), 0);
}

TEST_P(StreamedWalkTest, ALargerBudgetHasNoMoreMisses) {
    test::Program walk("streamed_budgets", device());
    EXPECT_EQ(walk.wait(), 0);
}

}  // namespace
}  // namespace texton
