#pragma once

namespace texton::test {

/// Makes a test that crashes or hangs print its name to standard error. Call after testing::InitGoogleTest().
///
/// After a fatal signal it prints the name of the running test, then the process ends as usual. A sanitizer keeps its
/// own handlers; the name follows its report. A test may run for 300 seconds (1,200 in a sanitized build); after that
/// its name is printed and the process aborts. TEXTON_TEST_SECONDS sets another limit; 0 means no limit (for a
/// debugger).
void name_running_test();

}  // namespace texton::test
