#include <cstdlib>

#include <gmock/gmock.h>

#include "tests/support/running_test.h"

// Two CPU devices unless the caller says otherwise, so that copies and access between devices are tried everywhere. The
// variable is read when the first device is asked for, which is after this.
int main(int argc, char** argv) {
    setenv("TEXTON_CPU_DEVICES", "2", 0);
    testing::InitGoogleMock(&argc, argv);
    texton::test::name_running_test();
    return RUN_ALL_TESTS();
}
