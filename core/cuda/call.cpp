#include "core/cuda/call.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

struct Meaning {
    cudaError_t error;
    ErrorCode code;
};

// The driver's error codes have the same values for all of these. Codes that are not listed become device_failure.
constexpr Meaning kMeanings[] = {
    {cudaErrorMemoryAllocation, ErrorCode::out_of_memory},
    {cudaErrorInvalidValue, ErrorCode::bad_argument},
    {cudaErrorInvalidPitchValue, ErrorCode::bad_argument},
    {cudaErrorInvalidDevicePointer, ErrorCode::bad_argument},
    {cudaErrorInvalidMemcpyDirection, ErrorCode::bad_argument},
    {cudaErrorInvalidChannelDescriptor, ErrorCode::bad_argument},
    {cudaErrorInvalidNormSetting, ErrorCode::bad_argument},
    {cudaErrorInvalidFilterSetting, ErrorCode::bad_argument},
    {cudaErrorInvalidTexture, ErrorCode::bad_argument},
    {cudaErrorInvalidDevice, ErrorCode::bad_argument},
    {cudaErrorInvalidResourceHandle, ErrorCode::bad_argument},
    {cudaErrorHostMemoryAlreadyRegistered, ErrorCode::bad_argument},
    {cudaErrorInvalidSymbol, ErrorCode::not_registered},
    {cudaErrorHostMemoryNotRegistered, ErrorCode::not_registered},
    {cudaErrorNotSupported, ErrorCode::unsupported},
    {cudaErrorPeerAccessUnsupported, ErrorCode::unsupported},
    {cudaErrorTooManyPeers, ErrorCode::unsupported},
    {cudaErrorUnsupportedLimit, ErrorCode::unsupported},
    {cudaErrorNotPermitted, ErrorCode::not_permitted},
    {cudaErrorStreamCaptureUnsupported, ErrorCode::capturing},
    {cudaErrorStreamCaptureInvalidated, ErrorCode::capturing},
    {cudaErrorStreamCaptureMerge, ErrorCode::capturing},
    {cudaErrorStreamCaptureUnmatched, ErrorCode::capturing},
    {cudaErrorStreamCaptureUnjoined, ErrorCode::capturing},
    {cudaErrorStreamCaptureIsolation, ErrorCode::capturing},
    {cudaErrorStreamCaptureImplicit, ErrorCode::capturing},
    {cudaErrorStreamCaptureWrongThread, ErrorCode::capturing},
    {cudaErrorCapturedEvent, ErrorCode::capturing},
    // After these, CUDA fails each call until the process ends.
    {cudaErrorECCUncorrectable, ErrorCode::device_lost},
    {cudaErrorNvlinkUncorrectable, ErrorCode::device_lost},
    {cudaErrorContained, ErrorCode::device_lost},
    {cudaErrorIllegalAddress, ErrorCode::device_lost},
    {cudaErrorLaunchTimeout, ErrorCode::device_lost},
    {cudaErrorAssert, ErrorCode::device_lost},
    {cudaErrorHardwareStackError, ErrorCode::device_lost},
    {cudaErrorIllegalInstruction, ErrorCode::device_lost},
    {cudaErrorMisalignedAddress, ErrorCode::device_lost},
    {cudaErrorInvalidAddressSpace, ErrorCode::device_lost},
    {cudaErrorInvalidPc, ErrorCode::device_lost},
    {cudaErrorLaunchFailure, ErrorCode::device_lost},
    {cudaErrorTensorMemoryLeak, ErrorCode::device_lost},
    {cudaErrorMpsClientTerminated, ErrorCode::device_lost},
    {cudaErrorExternalDevice, ErrorCode::device_lost},
};
static_assert(static_cast<int>(cudaErrorNotPermitted) == static_cast<int>(CUDA_ERROR_NOT_PERMITTED));
static_assert(static_cast<int>(cudaErrorStreamCaptureUnjoined) == static_cast<int>(CUDA_ERROR_STREAM_CAPTURE_UNJOINED));

ErrorCode meaning(cudaError_t error) noexcept {
    for (const Meaning& row : kMeanings) {
        if (row.error == error) return row.code;
    }
    return ErrorCode::device_failure;
}

const char* remedy(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::out_of_memory: return "Request less memory, or free memory of the device first.";
        case ErrorCode::bad_argument: return "Compare the arguments with Device::limits() and Device::properties().";
        case ErrorCode::not_registered:
            return "Pass memory that is registered with the device, or a __device__ variable of this program.";
        case ErrorCode::unsupported: return "Device::properties() lists the features of the device.";
        case ErrorCode::not_permitted:
            return "Avoid this function, or ask the administrator of the machine for the permission.";
        case ErrorCode::capturing:
            return "Call it outside Graph::capture, and join all streams before the capture ends.";
        case ErrorCode::out_of_bounds:
        case ErrorCode::overflow:
        case ErrorCode::overlap:
        case ErrorCode::released:
        case ErrorCode::wrong_device:
        case ErrorCode::wrong_location:
        case ErrorCode::not_mapped:
        case ErrorCode::io:
        case ErrorCode::device_failure: break;
        case ErrorCode::device_lost:
            return "Restart the process: CUDA does nothing more in this one, and its results are unreliable. Run "
                   "compute-sanitizer to find the cause.";
    }
    return "The device may be unusable for the rest of this process. Find the first failure, or run compute-sanitizer.";
}

[[noreturn]] void fail(std::string_view name, cudaError_t error, std::string cuda_name, std::string_view text) {
    while (text.ends_with('.')) text.remove_suffix(1);
    const ErrorCode code = meaning(error);
    throw Error({.code = code,
                 .object = {},
                 .problem = fmt::format("the driver reported: {}", text),
                 .remedy = remedy(code),
                 .call = std::string(name),
                 .cuda_name = std::move(cuda_name)});
}

// The failure that made CUDA unusable. Written once, before the gate is closed.
struct FirstFailure {
    std::string_view name;
    cudaError_t error = cudaSuccess;
};
constinit FirstFailure first_failure;
constinit std::atomic_flag failure_noted;

constinit std::atomic<CallHook> call_hook{nullptr};

bool lost() noexcept { return gate.load(std::memory_order_acquire) == Gate::lost; }

// Returns the file for the names of called functions, or -1 if none is requested or the file cannot be opened.
int record_file() noexcept {
    static const int file = [] {
        const char* path = std::getenv("TEXTON_RECORD_CALLS");
        if (path == nullptr || *path == '\0') return -1;
        return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    }();
    return file;
}

thread_local bool context_bound = false;

}  // namespace

void note_failure(std::string_view name, cudaError_t error) noexcept {
    if (meaning(error) != ErrorCode::device_lost || failure_noted.test_and_set()) return;
    first_failure = {name, error};
    gate.store(Gate::lost, std::memory_order_release);
}

void hook_calls(CallHook hook) noexcept {
    if (hook != nullptr) call_hook.store(hook);
    Gate before = hook != nullptr ? Gate::open : Gate::hooked;
    gate.compare_exchange_strong(before, hook != nullptr ? Gate::hooked : Gate::open);  // unless CUDA is lost
}

int ask_gate(std::string_view name) noexcept {
    if (lost()) return first_failure.error;
    return call_hook.load()(name);
}

int check_gate(std::string_view name) {
    if (!lost()) return call_hook.load()(name);
    throw Error({.code = ErrorCode::device_lost,
                 .object = {},
                 .problem = fmt::format("CUDA has been unusable since {} reported: {}", first_failure.name,
                                        cudaGetErrorString(first_failure.error)),
                 .remedy = remedy(ErrorCode::device_lost),
                 .call = std::string(first_failure.name),
                 .cuda_name = cudaGetErrorName(first_failure.error)});
}

void fail_call(std::string_view name, cudaError_t error) {
    note_failure(name, error);
    clear_last_error();
    fail(name, error, cudaGetErrorName(error), cudaGetErrorString(error));
}

void fail_driver(std::string_view name, CUresult error) {
    const char* cuda_name = nullptr;
    const char* text = nullptr;
    note_failure(name, static_cast<cudaError_t>(error));
    if (lost()) fail_call(name, static_cast<cudaError_t>(error));
    quietly([&] { driver<cuGetErrorName>(error, &cuda_name); });
    quietly([&] { driver<cuGetErrorString>(error, &text); });
    fail(name, static_cast<cudaError_t>(error),
         cuda_name != nullptr ? cuda_name : fmt::format("CUresult {}", static_cast<int>(error)),
         text != nullptr ? text : "an error without a description");
}

void note_call(std::string_view name, std::atomic<bool>& noted) noexcept {
    if (noted.exchange(true, std::memory_order_relaxed)) return;
    const int file = record_file();
    if (file < 0) return;
    // Each line is written by one write(), so that processes appending to the same file do not mix their lines. If a
    // write fails, the function is missing in the list.
    quietly([&] {
        const std::string line = std::string(name) + '\n';
        [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
    });
}

void* driver_entry(std::string_view name) {
    // Requests the functions as they are in CUDA 13.0, even if a newer toolkit compiles this file.
    constexpr unsigned int kInterface = 13000;
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    call<cudaGetDriverEntryPointByVersion>(std::string(name).c_str(), &entry, kInterface, cudaEnableDefault, &found);
    if (entry == nullptr || found != cudaDriverEntryPointSuccess) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = {},
                     .problem = fmt::format("the installed driver does not have {}", name),
                     .remedy = "Install a driver for CUDA 13.0 or newer.",
                     .call = "cudaGetDriverEntryPointByVersion",
                     .cuda_name = "cudaDriverEntryPointSymbolNotFound"});
    }
    return entry;
}

void clear_last_error() noexcept {
    if (!lost()) (void)cudaGetLastError();
}

DeviceScope::DeviceScope(int ordinal) : before_(ordinal), changed_(false) {
    call<cudaGetDevice>(&before_);
    changed_ = before_ != ordinal;
    // A thread that never set its device has a current device, but this device's context is not bound to the thread.
    if (!changed_ && context_bound) return;
    call<cudaSetDevice>(ordinal);
    context_bound = true;
}

DeviceScope::~DeviceScope() {
    if (changed_) (void)ask<cudaSetDevice>(before_);
}

constinit std::shared_mutex captures;

// cudaFree waits for the device, except for memory of a pool. cudaDeviceSynchronize would invalidate the captures of
// all threads, and is used only if the device has no memory left.
void finish_device() noexcept {
    const RelaxedCapture relaxed;
    void* memory = nullptr;
    if (ask<cudaMalloc>(&memory, std::size_t{1}) == cudaSuccess) {
        (void)ask<cudaFree>(memory);
    } else {
        (void)ask<cudaDeviceSynchronize>();
    }
}

}  // namespace texton::detail
