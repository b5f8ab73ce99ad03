// A device that is lost, in a second process: CUDA is unusable there until the process ends.
#include <gtest/gtest.h>

#include "tests/support/on_every_device.h"
#include "tests/support/program.h"

namespace texton {
namespace {

class DeviceLostTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceLostTest, testing::Values(DeviceKind::cuda), test::device_label);

TEST(CudaCallTest, AfterAFatalErrorNoFunctionIsCalledAndEachCallNamesTheFirstFailure) {
    test::Program program("device_lost", Device::cpu());  // needs no GPU
    EXPECT_EQ(program.wait(), 0);
}

TEST_P(DeviceLostTest, AfterAFaultOfAKernelEachCallNamesTheFirstFailureAndTheProcessEnds) {
    test::Program program("device_lost", device());
    EXPECT_EQ(program.wait(), 0);
}

}  // namespace
}  // namespace texton
