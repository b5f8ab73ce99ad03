#pragma once
// All calls into CUDA go through this file. `call<cudaMalloc>(&address, bytes)` calls a function of the runtime,
// `driver<cuMemCreate>(...)` a function of the driver. The function is a template argument, so errors and the call list
// can name it.
//
// A call that fails throws an Error with code, call and cuda_name. It also clears the runtime's last error, so that
// later code does not find it. `ask` calls functions whose result codes are not all failures.
//
// After some failures, for example an illegal address, CUDA fails each call until the process ends. From then on no
// function is called: `call` and `driver` throw Error{device_lost} with the first such failure, and `ask` returns its
// code. So destructors free nothing, and nothing waits for a device that does not answer.
//
// If the environment variable TEXTON_RECORD_CALLS names a file, each function is appended to this file at its first
// success in the process. This costs one atomic load per call. All of this is thread-safe.
#include <atomic>
#include <cstdint>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>

#include <cuda.h>  // types and declarations alone: nothing links to the driver
#include <cuda_runtime_api.h>

namespace texton::detail {

/// Returns the name of the function that is the template argument, without the version suffix that a macro of a header
/// may add.
template <auto Function>
consteval std::string_view function_name() {
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("Function = ") + std::string_view("Function = ").size());
    if (text.front() == '&') text.remove_prefix(1);
    text = text.substr(0, text.find_first_of(";]"));
    if (const auto at = text.rfind(':'); at != text.npos) text.remove_prefix(at + 1);
    for (const std::string_view ending : {"_ptsz", "_ptds", "_v2", "_v3", "_v4"}) {
        if (text.ends_with(ending)) text.remove_suffix(ending.size());
    }
    return text;
}

/// What happens to a call before it reaches CUDA.
enum class Gate : std::uint8_t {
    open,    ///< it is made
    hooked,  ///< a test decides
    lost     ///< it is refused: after a failure, CUDA is unusable for the rest of the process
};
/// The gate of all calls. Each call loads it once.
inline constinit std::atomic<Gate> gate{Gate::open};
/// Returns the result code that a call has without being made, or 0 if it is made. Throws Error{device_lost}, which
/// names the first failure, after that failure. Called if the gate is not open.
[[nodiscard]] int check_gate(std::string_view name);
/// Does the same for `ask`, and returns the result code of the first failure in place of throwing it.
[[nodiscard]] int ask_gate(std::string_view name) noexcept;

/// Function of a test that is asked before each call. It returns the result code that the call has without being made,
/// or 0 if it is made. Functions of the driver have names without "cuda".
using CallHook = int (*)(std::string_view name) noexcept;
/// Hooks all calls, or opens the gate again if `hook` is null. For tests.
void hook_calls(CallHook hook) noexcept;
/// Number of quietly() calls in progress in this thread. For hooks.
inline constinit thread_local int quiet_calls = 0;

/// Closes the gate if the failure makes CUDA unusable.
void note_failure(std::string_view name, cudaError_t error) noexcept;
/// Throws the Error of a failed call and clears the runtime's last error.
[[noreturn]] void fail_call(std::string_view name, cudaError_t error);
[[noreturn]] void fail_driver(std::string_view name, CUresult error);
/// Marks the function as called and appends its name to the call list, if there is one.
void note_call(std::string_view name, std::atomic<bool>& noted) noexcept;
/// Returns the driver's function with this name. Throws Error{unsupported} if the driver does not have it.
void* driver_entry(std::string_view name);
/// Clears the error that a failed call of the runtime leaves for cudaGetLastError().
void clear_last_error() noexcept;

template <auto Function>
inline constinit std::atomic<bool> noted_call{false};

template <auto Function>
inline void note_success() noexcept {
    if (!noted_call<Function>.load(std::memory_order_relaxed)) [[unlikely]] {
        note_call(function_name<Function>(), noted_call<Function>);
    }
}

template <auto Function>
struct Call;
template <class... Parameters, cudaError_t (*Function)(Parameters...)>
struct Call<Function> {
    void operator()(Parameters... arguments) const {
        int error = cudaSuccess;
        if (gate.load(std::memory_order_acquire) != Gate::open) [[unlikely]]
            error = check_gate(function_name<Function>());
        if (error == cudaSuccess) error = Function(arguments...);
        if (error != cudaSuccess) [[unlikely]]
            fail_call(function_name<Function>(), static_cast<cudaError_t>(error));
        note_success<Function>();
    }
};

template <auto Function>
struct Ask;
template <class... Parameters, cudaError_t (*Function)(Parameters...)>
struct Ask<Function> {
    [[nodiscard]] cudaError_t operator()(Parameters... arguments) const noexcept {
        cudaError_t answer = cudaSuccess;
        if (gate.load(std::memory_order_acquire) != Gate::open) [[unlikely]]
            answer = static_cast<cudaError_t>(ask_gate(function_name<Function>()));
        if (answer == cudaSuccess) answer = Function(arguments...);
        if (answer == cudaSuccess) {
            note_success<Function>();
        } else {
            note_failure(function_name<Function>(), answer);
            clear_last_error();
        }
        return answer;
    }
};

template <auto Function>
struct Value;
template <class Result, class... Parameters, Result (*Function)(Parameters...)>
struct Value<Function> {
    Result operator()(Parameters... arguments) const noexcept {
        note_success<Function>();
        return Function(arguments...);
    }
};

template <auto Function>
struct Driver;
template <class... Parameters, CUresult (*Function)(Parameters...)>
struct Driver<Function> {
    void operator()(Parameters... arguments) const {
        int error = CUDA_SUCCESS;
        if (gate.load(std::memory_order_acquire) != Gate::open) [[unlikely]]
            error = check_gate(function_name<Function>());
        void* found = entry.load(std::memory_order_acquire);
        if (found == nullptr) [[unlikely]] {
            found = driver_entry(function_name<Function>());
            entry.store(found, std::memory_order_release);
        }
        if (error == CUDA_SUCCESS) error = reinterpret_cast<CUresult (*)(Parameters...)>(found)(arguments...);
        if (error != CUDA_SUCCESS) [[unlikely]]
            fail_driver(function_name<Function>(), static_cast<CUresult>(error));
        note_success<Function>();
    }
    static inline constinit std::atomic<void*> entry{nullptr};
};

/// Calls a function of the runtime. Throws Error if it fails.
template <auto Function>
inline constexpr Call<Function> call{};
/// Calls a function of the runtime and returns its result code, for functions whose codes are not all failures, such as
/// cudaErrorNotReady.
template <auto Function>
inline constexpr Ask<Function> ask{};
/// Calls a function that returns a value and cannot fail, such as make_cudaExtent.
template <auto Function>
inline constexpr Value<Function> value{};
/// Calls a function of the driver, which is looked up by name. Throws Error if it fails or if the driver does not have
/// it.
template <auto Function>
inline constexpr Driver<Function> driver{};

/// Runs `action` and discards its exceptions, for destructors. If the device is lost or the driver has shut down, which
/// usually happens before static objects are destroyed, nothing is left to free.
template <class Action>
void quietly(Action&& action) noexcept {
    ++quiet_calls;
    try {
        std::forward<Action>(action)();
    } catch (...) {
    }
    --quiet_calls;
}

/// Makes a device current in the calling thread and restores the previous device in the destructor. It also binds the
/// device's context, which functions of the driver need. The constructor throws Error. Create and destroy it in the
/// same thread.
class DeviceScope {
public:
    explicit DeviceScope(int ordinal);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

private:
    int before_;
    bool changed_;
};

/// Allows calls that graph captures of this thread, or global captures of other threads, prohibit because they are
/// potentially unsafe: allocating and freeing memory and destroying objects. They do not become part of a graph.
class RelaxedCapture {
public:
    RelaxedCapture() : changed_(ask<cudaThreadExchangeStreamCaptureMode>(&mode_) == cudaSuccess) {}
    ~RelaxedCapture() {
        if (changed_) (void)ask<cudaThreadExchangeStreamCaptureMode>(&mode_);
    }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
    bool changed_;
};

/// Protects the captures of all streams. Exclusive while a stream enters or leaves a capture, shared by queries of a
/// capture and by allocations and frees in stream order: driver 580 crashes if a thread queries a stream whose capture
/// another thread ends.
extern std::shared_mutex captures;

/// The scope of destructors: a device that is current, and calls that free.
struct FreeScope {
    explicit FreeScope(int ordinal) : device(ordinal) {}
    DeviceScope device;
    RelaxedCapture relaxed;
};

/// Waits for all work of the current device, with calls that do not invalidate the graph captures of other threads, as
/// cudaDeviceSynchronize does.
void finish_device() noexcept;

}  // namespace texton::detail
