// Runs numpy_exchange.py and torch_exchange.py, which exchange tensors with NumPy and PyTorch, and the example in
// tests/examples/python with NumPy, PyTorch and CuPy.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/device.h>

#include "tests/support/configured_path.h"

namespace {

using texton::test::configured_path;

// Runs a program with arguments and returns its exit status.
int run(std::vector<std::string> command) {
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = -1;
    if (posix_spawnp(&process, arguments.front(), nullptr, nullptr, arguments.data(), environ) != 0) return -1;
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_library(const std::string& python, const std::string& name) {
    return run({python, "-c",
                "import importlib.util, sys; sys.exit(importlib.util.find_spec('" + name + "') is None)"}) == 0;
}

std::string script(const std::string& path) {
    return configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES) + "/tests/" + path;
}

const std::string kDebianPython = "/usr/bin/python3";  // which has Debian's NumPy

class PythonDlpackTest : public testing::Test {
protected:
    void SetUp() override {
        // They are not built with sanitizers.
        for (const std::string& module : {exchange_, gaussian_})
            if (!std::filesystem::exists(module)) GTEST_SKIP() << module << " was not found";
    }
    /// Skips the test if Python has no NumPy.
    static void need_numpy() {
        if (has_library(kDebianPython, "numpy")) return;
        const char* required = std::getenv("TEXTON_REQUIRE_NUMPY");
        if (required != nullptr && *required == '1') FAIL() << "python3-numpy is not installed";
        GTEST_SKIP() << "NumPy for " << kDebianPython << " was not found";
    }
    /// Skips the test if there is no GPU, or if Python lacks the library.
    static void need_gpu_and(const std::string& library) {
        if (!texton::Device::why_no_cuda().empty()) GTEST_SKIP() << texton::Device::why_no_cuda();
        if (!has_library("python3", library)) GTEST_SKIP() << "the Python library " << library << " was not found";
    }
    void run_example(const std::string& python, const std::string& library) const {
        EXPECT_EQ(run({python, script("examples/python/gaussian.py"), gaussian_, library}), 0);
    }

    const std::string programs_ = configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS);
    const std::string exchange_ = programs_ + "/texton-test-exchange.so";
    const std::string gaussian_ = programs_ + "/texton-test-gaussian.so";
};

TEST_F(PythonDlpackTest, NumPyAndTextonViewTheMemoryOfEachOther) {
    need_numpy();
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_EQ(run({kDebianPython, script("core/exchange/numpy_exchange.py"), exchange_}), 0);
}

TEST_F(PythonDlpackTest, TheExampleFiltersImagesOfNumPy) {
    need_numpy();
    if (IsSkipped() || HasFatalFailure()) return;
    run_example(kDebianPython, "numpy");
}

TEST_F(PythonDlpackTest, PyTorchAndTextonViewTheMemoryOfEachOtherOnBothDevices) {
    need_gpu_and("torch");
    if (IsSkipped()) return;
    EXPECT_EQ(run({"python3", script("core/exchange/torch_exchange.py"), exchange_}), 0);
}

TEST_F(PythonDlpackTest, TheExampleFiltersImagesOfPyTorchOnBothDevices) {
    need_gpu_and("torch");
    if (IsSkipped()) return;
    run_example("python3", "torch");
}

TEST_F(PythonDlpackTest, TheExampleFiltersImagesOfCuPy) {
    need_gpu_and("cupy");
    if (IsSkipped()) return;
    run_example("python3", "cupy");
}

}  // namespace
