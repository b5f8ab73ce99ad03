#pragma once
// The one way into CUDA. `call<cudaMalloc>(&address, bytes)` calls the runtime, `driver<cuMemCreate>(...)` the driver;
// the function is a template argument, so that an error and the record of calls name it without writing the name a
// second time.
//
// A call that fails becomes an Error with code, call and cuda_name, and the runtime's last error is cleared, so that
// nobody else finds it. Functions that answer with a code that is no failure go through `ask`. If TEXTON_RECORD_CALLS
// names a file, every function that succeeded is appended to it, once a process, at its first success; else a call
// costs one load more.
#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include <cuda.h>  // types and declarations alone: nothing links to the driver
#include <cuda_runtime_api.h>

namespace texton::detail {

/// The name of a function given as a template argument, without the version that a header's macro may have appended.
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

[[noreturn]] void fail_call(std::string_view name, cudaError_t error);
[[noreturn]] void fail_driver(std::string_view name, CUresult error);
/// Marks the function as called, and records it if that was asked for.
void note_call(std::string_view name, std::atomic<bool>& noted) noexcept;
/// The driver's function of that name. Error{unsupported} if this driver has none.
void* driver_entry(std::string_view name);
/// What a failed call of the runtime leaves behind for cudaGetLastError is taken away.
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
        const cudaError_t error = Function(arguments...);
        if (error != cudaSuccess) [[unlikely]]
            fail_call(function_name<Function>(), error);
        note_success<Function>();
    }
};

template <auto Function>
struct Ask;
template <class... Parameters, cudaError_t (*Function)(Parameters...)>
struct Ask<Function> {
    [[nodiscard]] cudaError_t operator()(Parameters... arguments) const noexcept {
        const cudaError_t answer = Function(arguments...);
        if (answer == cudaSuccess) {
            note_success<Function>();
        } else {
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
        void* found = entry.load(std::memory_order_acquire);
        if (found == nullptr) [[unlikely]] {
            found = driver_entry(function_name<Function>());
            entry.store(found, std::memory_order_release);
        }
        const CUresult error = reinterpret_cast<CUresult (*)(Parameters...)>(found)(arguments...);
        if (error != CUDA_SUCCESS) [[unlikely]]
            fail_driver(function_name<Function>(), error);
        note_success<Function>();
    }
    static inline constinit std::atomic<void*> entry{nullptr};
};

/// Calls a function of the runtime; throws Error if it fails.
template <auto Function>
inline constexpr Call<Function> call{};
/// Calls a function of the runtime and returns its answer: for answers that are no failures, such as cudaErrorNotReady.
template <auto Function>
inline constexpr Ask<Function> ask{};
/// Calls a function that returns a value and cannot fail, such as make_cudaExtent.
template <auto Function>
inline constexpr Value<Function> value{};
/// Calls a function of the driver, found by its name; throws Error if it fails.
template <auto Function>
inline constexpr Driver<Function> driver{};

/// For destructors: runs `action`, and drops what it throws. A driver that has shut down before a static object did is
/// the usual reason, and nothing is left to free then.
template <class Action>
void quietly(Action&& action) noexcept {
    try {
        std::forward<Action>(action)();
    } catch (...) {
    }
}

/// Makes a device the calling thread's current one, and afterwards the one that was. Throws Error.
///
/// The device's context is bound as well, which functions of the driver need.
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

}  // namespace texton::detail
