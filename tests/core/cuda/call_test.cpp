#include "core/cuda/call.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <texton/device.h>
#include <texton/error.h>

// Most of these tests need neither a GPU nor a driver.

namespace texton {
namespace {

using detail::ask;
using detail::call;
using detail::driver;
using detail::function_name;

static_assert(function_name<cudaMalloc>() == "cudaMalloc");
static_assert(function_name<cudaMemcpy2DArrayToArray>() == "cudaMemcpy2DArrayToArray");
static_assert(function_name<cuMemCreate>() == "cuMemCreate");
static_assert(function_name<cuMemGetInfo>() == "cuMemGetInfo", "the header makes it cuMemGetInfo_v2");

constexpr int kNoDevice = 9999;

template <class Action>
Error error_of(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(ErrorParts{});
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

// Starts this program again with one test and with recording of calls.
int run_again(const std::string& test, const std::filesystem::path& record) {
    std::vector<std::string> variables{"TEXTON_RECORD_CALLS=" + record.string()};
    for (char** variable = environ; *variable != nullptr; ++variable) {
        if (!std::string_view(*variable).starts_with("TEXTON_RECORD_CALLS=")) variables.emplace_back(*variable);
    }
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    std::string filter = "--gtest_filter=" + test;
    std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    std::array<char*, 3> arguments{program.data(), filter.data(), nullptr};
    posix_spawn_file_actions_t silence;
    posix_spawn_file_actions_init(&silence);
    posix_spawn_file_actions_addopen(&silence, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = -1;
    const int started = posix_spawn(&process, program.c_str(), &silence, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&silence);
    if (started != 0) return -1;
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CudaCallTest, AnErrorNamesTheFailedFunctionAndTheCudaError) {
    const Error error = error_of([] { call<cudaSetDevice>(kNoDevice); });
    EXPECT_EQ(error.call(), "cudaSetDevice");
    EXPECT_THAT(error.cuda_name(), testing::StartsWith("cudaError"));
    EXPECT_THAT(error.object(), testing::IsEmpty()) << "the layer above the backend adds the object";
    EXPECT_THAT(error.problem(), testing::Not(testing::EndsWith(".")));
    EXPECT_THAT(error.remedy(), testing::EndsWith("."));
    if (Device::why_no_cuda().empty()) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_EQ(error.cuda_name(), "cudaErrorInvalidDevice");
    }
}

TEST(CudaCallTest, AFailureClearsTheLastCudaError) {
    const std::string why = Device::why_no_cuda();
    if (!why.empty()) GTEST_SKIP() << "no CUDA device: " << why;  // without a device every runtime call fails
    (void)error_of([] { call<cudaSetDevice>(kNoDevice); });
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_NE(ask<cudaSetDevice>(kNoDevice), cudaSuccess);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(CudaCallTest, CudaErrorsAreConvertedToErrorCodes) {
    const auto code = [](cudaError_t answer) {
        return error_of([&] { detail::fail_call("cudaMalloc", answer); }).code();
    };
    EXPECT_EQ(code(cudaErrorMemoryAllocation), ErrorCode::out_of_memory);
    EXPECT_EQ(code(cudaErrorInvalidValue), ErrorCode::bad_argument);
    EXPECT_EQ(code(cudaErrorNotSupported), ErrorCode::unsupported);
    EXPECT_EQ(code(cudaErrorNotPermitted), ErrorCode::not_permitted);
    EXPECT_EQ(code(cudaErrorStreamCaptureUnjoined), ErrorCode::capturing);
    EXPECT_EQ(code(cudaErrorCapturedEvent), ErrorCode::capturing);
    EXPECT_EQ(code(cudaErrorInvalidSymbol), ErrorCode::not_registered);
    EXPECT_EQ(code(cudaErrorHostMemoryNotRegistered), ErrorCode::not_registered);
    EXPECT_EQ(code(cudaErrorUnknown), ErrorCode::device_failure);
}

TEST(CudaCallTest, DriverFunctionsWorkOrTheErrorReportsTheMissingDriver) {
    if (Device::why_no_cuda().empty()) {
        int version = 0;
        driver<cuDriverGetVersion>(&version);
        EXPECT_EQ(version, Device::cuda().properties().driver_version);
        const Error error = error_of([] { driver<cuDeviceGetCount>(nullptr); });
        EXPECT_EQ(error.call(), "cuDeviceGetCount");
        EXPECT_EQ(error.cuda_name(), "CUDA_ERROR_INVALID_VALUE");
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
    } else {
        EXPECT_THAT(error_of([] { driver<cuInit>(0); }).call(), testing::StartsWith("cuda"));
    }
}

TEST(CudaCallTest, WithoutACudaDeviceTheReasonIsReadable) {
    const std::string why = Device::why_no_cuda();
    EXPECT_EQ(why.empty(), Device::best().kind() == DeviceKind::cuda);
    if (why.empty()) return;
    EXPECT_THAT(why, testing::HasSubstr("CUDA driver"));
    EXPECT_THAT(why, testing::HasSubstr("cudaError"));
}

// Run alone, and by the next test in a second process.
TEST(CudaCallTest, OneCallSucceedsTwiceAndOneCallFails) {
    int version = 0;
    call<cudaRuntimeGetVersion>(&version);
    call<cudaRuntimeGetVersion>(&version);
    EXPECT_GE(version, 13000);
    EXPECT_NE(ask<cudaDeviceCanAccessPeer>(&version, kNoDevice, kNoDevice), cudaSuccess);
}

TEST(CudaCallTest, TheCallRecordListsEachSuccessfulFunctionOnce) {
    const auto record = std::filesystem::temp_directory_path() / ("texton_calls_" + std::to_string(getpid()));
    std::filesystem::remove(record);
    ASSERT_EQ(run_again("CudaCallTest.OneCallSucceedsTwiceAndOneCallFails", record), 0);
    const std::vector<std::string> once = lines_of(record);
    EXPECT_THAT(once, testing::ElementsAre("cudaRuntimeGetVersion"));
    ASSERT_EQ(run_again("CudaCallTest.OneCallSucceedsTwiceAndOneCallFails", record), 0);
    EXPECT_EQ(lines_of(record).size(), 2u) << "a second process appends";
    std::filesystem::remove(record);
}

}  // namespace
}  // namespace texton
