// Each operation of the libraries is run again and again. In each run another call fails: a call of the system, an
// allocation of memory, or a call of CUDA. The run must throw an Error that names the failure, or return the right
// result. It must leave nothing behind, and the next run, without a failure, must return the right result.
//
// TEXTON_LONG_RUN=1 tries the failure of every call; otherwise operations with many calls are tried with the first ones
// and with a part of the others. TEXTON_FAULT=name,n prints each fault of this kind and tries call n alone.
#include <dirent.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/error.h>

#include "tests/faults/operations.h"
#include "tests/support/configured_path.h"
#include "tests/support/on_every_device.h"
#include "tests/support/reader_processes.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::Call;
using test::Effect;
using test::Fault;
using test::Operation;
using test::Prepared;

constexpr Fault kFaults[] = {
    {"no memory", Call::allocate, Effect::fail, ENOMEM},
    {"no aligned memory", Call::align, Effect::fail, ENOMEM},
    {"no addresses", Call::map, Effect::fail, ENOMEM},
    {"no access to pages", Call::protect, Effect::fail, ENOMEM},
    {"no shared memory", Call::memfd, Effect::fail, EMFILE},
    {"no space for shared memory", Call::truncate, Effect::fail, ENOSPC},
    {"interrupted ftruncate", Call::truncate, Effect::fail, EINTR},
    {"no thread", Call::thread, Effect::fail, EAGAIN},
    {"no descriptor", Call::open, Effect::fail, EMFILE},
    {"interrupted open", Call::open, Effect::fail, EINTR},
    {"failed read", Call::read, Effect::fail, EIO},
    {"interrupted read", Call::read, Effect::fail, EINTR},
    {"short read", Call::read, Effect::shorten},
    {"failed write", Call::write, Effect::fail, EIO},
    {"interrupted write", Call::write, Effect::fail, EINTR},
    {"short write", Call::write, Effect::shorten},
    {"full disk", Call::write, Effect::fail_on, ENOSPC},
    {"failed fflush", Call::flush, Effect::fail, EIO},
    {"failed close", Call::close, Effect::fail, EIO},
    {"failed seek", Call::seek, Effect::fail, EIO},
    {"failed stat", Call::status, Effect::fail, EIO},
    {"failed fsync", Call::sync, Effect::fail, EIO},
    {"interrupted fsync", Call::sync, Effect::fail, EINTR},
    {"failed rename", Call::rename, Effect::fail, EACCES},
    {"no permission to change permissions", Call::mode, Effect::fail, EPERM},
    {"failed fallocate", Call::reserve, Effect::fail, EOPNOTSUPP},
    {"interrupted fallocate", Call::reserve, Effect::fail, EINTR},
    {"no second descriptor", Call::control, Effect::fail, EMFILE},
    {"no random numbers", Call::random, Effect::fail, EAGAIN},
    {"interrupted getrandom", Call::random, Effect::fail, EINTR},
    {"no socket", Call::socket, Effect::fail, EMFILE},
    {"failed send", Call::send, Effect::fail, ENOBUFS},
    {"interrupted send", Call::send, Effect::fail, EINTR},
    {"failed receive", Call::receive, Effect::fail, ECONNRESET},
    {"interrupted receive", Call::receive, Effect::fail, EINTR},
    {"failed poll", Call::wait, Effect::fail, ENOMEM},
    {"interrupted poll", Call::wait, Effect::fail, EINTR},
    {"no process", Call::spawn, Effect::fail, EAGAIN},
    {"no permission to start a process", Call::spawn, Effect::fail, EPERM},
};

// The values are those of cudaErrorMemoryAllocation, cudaErrorLaunchOutOfResources and cudaErrorUnknown, and of
// CUDA_ERROR_OUT_OF_MEMORY and CUDA_ERROR_INVALID_VALUE. CUDA goes on after these errors.
constexpr Fault kCudaFaults[] = {
    {"no memory", Call::allocate, Effect::fail, ENOMEM},
    {"no device memory", Call::cuda, Effect::fail, 2, 2},
    {"too few resources", Call::cuda, Effect::fail, 701, 1},
    {"unknown error", Call::cuda, Effect::fail, 999, 1},
};

struct Figures {
    std::set<std::string> operations;
    std::size_t tried = 0, absorbed = 0, errors = 0;
};
Figures figures;

// Starts the devices before the first failure, so that no failed call of the system meets CUDA while it starts.
// Prints the figures of the process.
class Start : public testing::Environment {
public:
    void SetUp() override {
        for (const Device& device : test::one_of_each_kind()) device.synchronize();
    }
    void TearDown() override {
        std::printf("faults: %zu operations, %zu faults tried, %zu absorbed, %zu became errors\n",
                    figures.operations.size(), figures.tried, figures.absorbed, figures.errors);
    }
};
[[maybe_unused]] const auto* const kStart = testing::AddGlobalTestEnvironment(new Start);

bool long_run() { return std::getenv("TEXTON_LONG_RUN") != nullptr; }

// Returns the next number of a call to fail.
std::size_t after(std::size_t calls) {
    constexpr std::size_t kDense = 48;  // each of the first calls
    if (long_run() || calls < kDense) return calls + 1;
    return calls + calls / 6;
}

std::size_t entries_of(const char* folder) {
    DIR* opened = opendir(folder);
    if (opened == nullptr) return 0;
    std::size_t count = 0;
    while (readdir(opened) != nullptr) ++count;
    closedir(opened);
    return count;
}

// What an operation must not change.
struct Resources {
    std::ptrdiff_t blocks = 0;  // of operator new
    std::size_t used = 0;       // bytes of the device
    std::size_t descriptors = 0;
    std::size_t threads = 0;

    bool within(const Resources& before) const {
        return blocks <= before.blocks && used <= before.used && descriptors <= before.descriptors &&
               threads <= before.threads;
    }
    std::string growth_since(const Resources& before) const {
        std::string text;
        const auto add = [&](const char* what, auto now, auto then) {
            if (now > then) text += " " + std::to_string(now - then) + " " + what;
        };
        add("blocks of memory", blocks, before.blocks);
        add("bytes of the device", used, before.used);
        add("descriptors", descriptors, before.descriptors);
        add("threads", threads, before.threads);
        return text;
    }
};

Resources resources_of(const Device& device) {
    const MemoryInfo memory = device.memory();
    return {test::live_blocks(), memory.total - memory.free, entries_of("/proc/self/fd"),
            entries_of("/proc/self/task")};
}

// Waits until nothing more than before is in use: threads end after the objects that they belong to. Waits a tenth of a
// second, and longer for threads, which a busy machine can delay. Returns what is in use then.
Resources settled(const Device& device, const Resources& before) {
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const Resources now = resources_of(device);
        const auto patience =
            now.threads > before.threads ? std::chrono::milliseconds(10'000) : std::chrono::milliseconds(100);
        if (now.within(before) || std::chrono::steady_clock::now() - begin > patience) return now;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

// Waits for work that a failed operation has left. Its failures belong to the operation.
void finish(const Device& device) {
    for (const Device& each : Device::list()) {
        if (each.kind() != device.kind()) continue;
        try {
            each.synchronize();
        } catch (const Error&) {
            // A failure of the default stream, which is reported once.
        }
    }
}

enum class End { nothing_failed, absorbed, error };

// A single operation on a device.
class Trial {
public:
    Trial(const Operation& operation, const Device& device)
        : operation_(operation), device_(device), prepared_(operation.prepare(device)) {
        expected_ = prepared_.run();
        run_again();
        finish(device_);
        before_ = resources_of(device_);
    }

    // Runs the operation with call `n` failing, and then without a fault. Returns false if there are fewer calls.
    bool fails_well(const Fault& fault, std::size_t n) {
        SCOPED_TRACE(std::string(fault.name) + ", call " + std::to_string(n));
        const End end = run(fault, n);
        if (testing::Test::HasFailure()) ADD_FAILURE() << "the call that failed:" << test::failed_call();
        if (end == End::nothing_failed) return false;
        ++figures.tried;
        ++(end == End::error ? figures.errors : figures.absorbed);
        return !testing::Test::HasFailure();
    }

private:
    End run(const Fault& fault, std::size_t n) {
        const End end = run_once(fault, n);
        // Caches that are filled once are no leak: a leak grows each time.
        if (fault.call == operation_.leaks_after) {
            before_ = settled(device_, before_);
            return end;
        }
        constexpr int kRepeats = 3;
        for (int repeat = 0;; ++repeat) {
            const Resources now = settled(device_, before_);
            if (now.within(before_)) break;
            const std::string growth = now.growth_since(before_);
            before_ = now;
            if (repeat == kRepeats) {
                ADD_FAILURE() << "each run leaves" << growth;
                break;
            }
            (void)run_once(fault, n);
        }
        return end;
    }

    End run_once(const Fault& fault, std::size_t n) {
        bool threw = false;
        test::arm(fault, n);
        try {
            const Bytes result = prepared_.run();
            const bool failed = test::disarm();
            EXPECT_TRUE(result == expected_) << "another result without an error" << (failed ? "" : " or a fault");
        } catch (const Error& error) {
            test::disarm();
            threw = true;
            check(fault, error);
        } catch (const std::exception& error) {
            test::disarm();
            ADD_FAILURE() << "an exception that is not texton::Error: " << error.what();
        }
        const bool failed = test::disarm();
        EXPECT_TRUE(failed || !threw) << "an error without a fault";
        finish(device_);
        if (prepared_.check) prepared_.check();
        if (failed) run_again();
        finish(device_);
        return !failed ? End::nothing_failed : threw ? End::error : End::absorbed;
    }

    void check(const Fault& fault, const Error& error) {
        EXPECT_TRUE(error.object().starts_with("texton::")) << error.what();
        EXPECT_FALSE(error.problem().empty()) << error.what();
        if (fault.call == Call::allocate && !operation_.foreign_memory) {
            EXPECT_EQ(name(error.code()), name(ErrorCode::out_of_memory)) << error.what();
        }
        if (fault.call == Call::cuda) {
            EXPECT_EQ(error.call(), test::failed_cuda_function()) << error.what();
        }
    }

    void run_again() {
        try {
            EXPECT_TRUE(prepared_.run() == expected_) << "the operation without a fault gives another result";
        } catch (const std::exception& error) {
            ADD_FAILURE() << "the operation without a fault fails: " << error.what();
        }
        if (prepared_.check) prepared_.check();
    }

    const Operation& operation_;
    Device device_;
    Prepared prepared_;
    Bytes expected_;
    Resources before_;
};

const std::vector<Operation>& operations() {
    static const std::vector<Operation> kAll = test::all_operations();
    return kAll;
}

// The fault that TEXTON_FAULT selects.
struct Chosen {
    std::string name;
    std::optional<std::size_t> call;
};
std::optional<Chosen> chosen() {
    const char* text = std::getenv("TEXTON_FAULT");
    if (text == nullptr) return std::nullopt;
    const char* comma = std::strchr(text, ',');
    if (comma == nullptr) return Chosen{text, std::nullopt};
    return Chosen{std::string(text, comma), std::strtoull(comma + 1, nullptr, 10)};
}

class FaultTest : public testing::TestWithParam<std::tuple<DeviceKind, std::size_t>> {
protected:
    void SetUp() override {
        if (on_cuda() && !Device::why_no_cuda().empty()) {
            if (test::gpu_required()) FAIL() << "TEXTON_REQUIRE_GPU is 1, but there is no CUDA device";
            GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
        }
        if (on_cuda() && operation().cpu_only) GTEST_SKIP() << "the operation runs on the CPU device";
        if (on_cuda()) test::watch_cuda_calls(false);
    }
    bool on_cuda() const { return std::get<0>(GetParam()) == DeviceKind::cuda; }
    Device device() const { return on_cuda() ? Device::cuda() : Device::cpu(); }
    const Operation& operation() const { return operations()[std::get<1>(GetParam())]; }
    std::span<const Fault> faults() const {
        return on_cuda() ? std::span<const Fault>(kCudaFaults) : std::span<const Fault>(kFaults);
    }
};

std::vector<std::size_t> numbers() {
    std::vector<std::size_t> all(operations().size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
}
INSTANTIATE_TEST_SUITE_P(Operations, FaultTest,
                         testing::Combine(testing::Values(DeviceKind::cpu, DeviceKind::cuda),
                                          testing::ValuesIn(numbers())),
                         [](const auto& info) {
                             return operations()[std::get<1>(info.param)].name + "_" +
                                    (std::get<0>(info.param) == DeviceKind::cpu ? "cpu" : "cuda");
                         });

TEST_P(FaultTest, EachCallThatFailsIsAnErrorOrIsAbsorbed) {
    Trial trial(operation(), device());
    figures.operations.insert(operation().name);
    const std::optional<Chosen> only = chosen();
    for (const Fault& fault : faults()) {
        if (only && fault.name != only->name) continue;
        if (fault.call == Call::allocate && operation().needs_memory) continue;
        std::size_t n = only ? only->call.value_or(0) : 0;
        for (;; n = after(n)) {
            if (only) std::fprintf(stderr, "%s, call %zu\n", fault.name, n);
            if (!trial.fails_well(fault, n)) break;
            if (only && only->call) break;
        }
        if (HasFailure()) return;
    }
}

TEST_P(FaultTest, FailingDestructorsThrowNothing) {
    if (!on_cuda()) GTEST_SKIP() << "the test runs on the CUDA device";
    test::watch_cuda_calls(true);
    const Prepared prepared = operation().prepare(device());
    for (std::size_t n = 0;; n = after(n)) {
        test::arm({"unknown error", Call::cuda, Effect::fail, 999, 1}, n);
        try {
            (void)prepared.run();
        } catch (const Error&) {
            // Whether there is an error depends on the call.
        }
        const bool failed = test::disarm();
        finish(device());
        if (!failed) break;
    }
    test::watch_cuda_calls(false);
}

TEST(FaultArrayTest, AnArrayWhoseDeviceCannotBeMadeCurrentFreesItsHostMemory) {
    if (const std::string reason = Device::why_no_cuda(); !reason.empty()) {
        if (test::gpu_required()) FAIL() << "TEXTON_REQUIRE_GPU is 1, but there is no CUDA device";
        GTEST_SKIP() << "no CUDA device: " << reason;
    }
    test::watch_cuda_calls(true);
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {16, 16}, .levels = 3, .usage = {.surface = true}};
    const auto blocks_freed = [&](bool fails) {
        std::optional<Array> array(std::in_place, Device::cuda(), info);
        const std::ptrdiff_t before = test::live_blocks();
        if (fails) test::arm({"unknown error", Call::cuda, Effect::fail, 999, 1}, 0);
        array.reset();
        const bool failed = test::disarm();
        const std::ptrdiff_t freed = before - test::live_blocks();
        EXPECT_EQ(failed, fails);
        return freed;
    };
    (void)blocks_freed(false);  // so that the next ones create nothing that is kept
    const std::ptrdiff_t usual = blocks_freed(false);
    EXPECT_EQ(blocks_freed(true), usual);  // the memory of the device is lost
    EXPECT_EQ(test::failed_cuda_function(), "cudaGetDevice");
    test::watch_cuda_calls(false);
}

// Headers whose functions and types make no calls that can fail.
const std::set<std::string> kWithoutCalls{
    "error",        "extent",         "format",         "host_device",      "location",           "array_info",
    "sampler",      "fetch",          "channel_codes",  "packed_texel",     "pixel_encode",       "float4",
    "float3",       "float_math",     "functor_traits", "cuda_interop",     "cuda_arrays",        "cuda_fetch",
    "cuda_store",   "cuda_pixels",    "cuda_pointwise", "cuda_srgb_pixels", "cuda_stored_texels", "cuda_code_tables",
    "pixel_target", "float_division", "functor_checks", "total_statistics"};

TEST(FaultOperationsTest, EveryPublicHeaderHasAnOperation) {
    const fs::path tree = test::configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES);
    if (!fs::exists(tree / "core")) FAIL() << tree << " is not the source tree";
    std::set<std::string> covered, found;
    for (const Operation& operation : operations()) covered.insert(operation.headers.begin(), operation.headers.end());
    for (const std::string& folder : test::covered_folders()) {
        for (const auto& entry : fs::directory_iterator(tree / folder)) found.insert(entry.path().stem().string());
    }
    EXPECT_FALSE(found.empty());
    for (const std::string& header : found) {
        EXPECT_NE(covered.contains(header), kWithoutCalls.contains(header))
            << "add an operation for <texton/" << header << ".h>, or list it in kWithoutCalls";
    }
    for (const std::string& header : covered) EXPECT_TRUE(found.contains(header)) << "there is no header " << header;
}

}  // namespace
}  // namespace texton
