// Runs numpy_exchange.py, which exchanges tensors with NumPy.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"

namespace {

using texton::test::configured_path;

// Runs Debian's Python, which has Debian's NumPy, and returns its exit status.
int python(std::string first, std::string second) {
    std::string program = "/usr/bin/python3";
    const std::array<char*, 4> arguments{program.data(), first.data(), second.data(), nullptr};
    pid_t process = -1;
    if (posix_spawn(&process, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return -1;
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(NumpyDlpackTest, NumpyAndTextonViewTheMemoryOfEachOther) {
    const char* required = std::getenv("TEXTON_REQUIRE_NUMPY");
    const std::string module =
        configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS) + "/texton-test-exchange.so";
    const std::string script =
        configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) + "/tests/core/exchange/numpy_exchange.py";
    if (!std::filesystem::exists(module))
        GTEST_SKIP() << module << " was not found";  // it is not built with sanitizers
    if (python("-c", "import numpy") != 0) {
        if (required != nullptr && *required == '1') FAIL() << "python3-numpy is not installed";
        GTEST_SKIP() << "NumPy for /usr/bin/python3 was not found";
    }
    EXPECT_EQ(python(script, module), 0);
}

}  // namespace
