// The CPU device at the end of a process and in a forked process.
#include <gtest/gtest.h>

#include <texton/device.h>

#include "tests/support/program.h"

namespace texton {
namespace {

TEST(CpuProcessTest, PendingWorkRunsToItsEndBeforeStaticObjectsAreDestroyed) {
    EXPECT_EQ(test::Program("pending_at_exit", Device::cpu()).wait(), 0);
}

TEST(CpuProcessTest, StreamsWorkInDestructorsOfStaticObjects) {
    EXPECT_EQ(test::Program("static_destructor", Device::cpu()).wait(), 0);
}

TEST(CpuProcessTest, AForkedChildRefusesTheDeviceAndEndsAtOnce) {
    EXPECT_EQ(test::Program("forked_child", Device::cpu()).wait(), 0);
}

}  // namespace
}  // namespace texton
