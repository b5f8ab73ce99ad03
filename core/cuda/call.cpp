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

// The driver's numbers are the runtime's for all of these. What is not named is device_failure.
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
        case ErrorCode::out_of_memory: return "Ask for less, or free memory of the device first.";
        case ErrorCode::bad_argument: return "Check the arguments against the limits and properties of the device.";
        case ErrorCode::not_registered: return "Name memory or a variable that the device knows.";
        case ErrorCode::unsupported: return "See Device::properties() for what the device can do.";
        case ErrorCode::not_permitted: return "Do without it, or have the machine's administrator allow it.";
        case ErrorCode::capturing: return "Do it before or after Graph::capture, and join every stream before it ends.";
        case ErrorCode::out_of_bounds:
        case ErrorCode::overflow:
        case ErrorCode::overlap:
        case ErrorCode::released:
        case ErrorCode::wrong_device:
        case ErrorCode::wrong_location:
        case ErrorCode::not_mapped:
        case ErrorCode::io:
        case ErrorCode::device_failure: break;
    }
    return "The device may not work again in this process: look for the first failure, or run compute-sanitizer.";
}

[[noreturn]] void fail(std::string_view name, cudaError_t error, std::string cuda_name, std::string_view text) {
    while (text.ends_with('.')) text.remove_suffix(1);
    const ErrorCode code = meaning(error);
    throw Error({.code = code,
                 .object = {},
                 .problem = fmt::format("the driver answered: {}", text),
                 .remedy = remedy(code),
                 .call = std::string(name),
                 .cuda_name = std::move(cuda_name)});
}

// The file that names are appended to; -1 if none was asked for or it cannot be opened.
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

void fail_call(std::string_view name, cudaError_t error) {
    clear_last_error();
    fail(name, error, cudaGetErrorName(error), cudaGetErrorString(error));
}

void fail_driver(std::string_view name, CUresult error) {
    const char* cuda_name = nullptr;
    const char* text = nullptr;
    quietly([&] { driver<cuGetErrorName>(error, &cuda_name); });
    quietly([&] { driver<cuGetErrorString>(error, &text); });
    fail(name, static_cast<cudaError_t>(error),
         cuda_name != nullptr ? cuda_name : fmt::format("CUresult {}", static_cast<int>(error)),
         text != nullptr ? text : "an error that it does not describe");
}

void note_call(std::string_view name, std::atomic<bool>& noted) noexcept {
    if (noted.exchange(true, std::memory_order_relaxed)) return;
    const int file = record_file();
    if (file < 0) return;
    // One write for each line: processes that append to one file do not mix theirs. A line that is lost shows as not
    // called.
    quietly([&] {
        const std::string line = std::string(name) + '\n';
        [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
    });
}

void* driver_entry(std::string_view name) {
    constexpr unsigned int kInterface =
        13000;  // whatever newer toolkit compiles this, these functions are as in CUDA 13.0
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    call<cudaGetDriverEntryPointByVersion>(std::string(name).c_str(), &entry, kInterface, cudaEnableDefault, &found);
    if (entry == nullptr || found != cudaDriverEntryPointSuccess) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = {},
                     .problem = fmt::format("this driver has no {}", name),
                     .remedy = "Install the driver that belongs to CUDA 13.0, or a newer one.",
                     .call = "cudaGetDriverEntryPointByVersion",
                     .cuda_name = "cudaDriverEntryPointSymbolNotFound"});
    }
    return entry;
}

void clear_last_error() noexcept { (void)cudaGetLastError(); }

DeviceScope::DeviceScope(int ordinal) : before_(ordinal), changed_(false) {
    call<cudaGetDevice>(&before_);
    changed_ = before_ != ordinal;
    // A thread that never set its device has a current one, but no context of it.
    if (!changed_ && context_bound) return;
    call<cudaSetDevice>(ordinal);
    context_bound = true;
}

DeviceScope::~DeviceScope() {
    if (changed_) (void)ask<cudaSetDevice>(before_);
}

}  // namespace texton::detail
