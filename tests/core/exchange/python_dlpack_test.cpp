// Runs numpy_exchange.py and torch_exchange.py, which exchange tensors with NumPy and PyTorch.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <texton/device.h>

#include "tests/support/configured_path.h"

namespace {

using texton::test::configured_path;

// Runs Python and returns its exit status.
int run(std::string program, std::string first, std::string second) {
    const std::array<char*, 4> arguments{program.data(), first.data(), second.data(), nullptr};
    pid_t process = -1;
    if (posix_spawnp(&process, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return -1;
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_library(const std::string& python, const std::string& name) {
    return run(python, "-c",
               "import importlib.util, sys; sys.exit(importlib.util.find_spec('" + name + "') is None)") == 0;
}

std::string script(const std::string& name) {
    return configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) + "/tests/core/exchange/" + name;
}

class PythonDlpackTest : public testing::Test {
protected:
    void SetUp() override {
        // It is not built with sanitizers.
        if (!std::filesystem::exists(module_)) GTEST_SKIP() << module_ << " was not found";
    }
    const std::string module_ =
        configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS) + "/texton-test-exchange.so";
};

TEST_F(PythonDlpackTest, NumPyAndTextonViewTheMemoryOfEachOther) {
    const std::string python = "/usr/bin/python3";  // Debian's, which has Debian's NumPy
    if (!has_library(python, "numpy")) {
        const char* required = std::getenv("TEXTON_REQUIRE_NUMPY");
        if (required != nullptr && *required == '1') FAIL() << "python3-numpy is not installed";
        GTEST_SKIP() << "NumPy for /usr/bin/python3 was not found";
    }
    EXPECT_EQ(run(python, script("numpy_exchange.py"), module_), 0);
}

TEST_F(PythonDlpackTest, PyTorchAndTextonViewTheMemoryOfEachOtherOnBothDevices) {
    if (!texton::Device::why_no_cuda().empty()) GTEST_SKIP() << texton::Device::why_no_cuda();
    if (!has_library("python3", "torch")) GTEST_SKIP() << "PyTorch was not found";
    EXPECT_EQ(run("python3", script("torch_exchange.py"), module_), 0);
}

}  // namespace
