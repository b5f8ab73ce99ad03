#pragma once

namespace texton::test {

/// Makes a test that crashes or hangs name itself on standard error. Call it after testing::InitGoogleTest().
///
/// A fatal signal prints the running test and then ends the process as it would have; a sanitizer keeps its own handlers, and
/// its report is followed by the test's name. A test may run for 300 seconds, 1,200 in a sanitized build; then its name is
/// printed and the process aborts. TEXTON_TEST_SECONDS sets another limit, 0 none (for a debugger).
void name_running_test();

}  // namespace texton::test
