#include "core/cuda/call.h"

#include "tests/faults/calls.h"

namespace texton::test {
namespace {

bool also_in_destructors = false;

// Calls in quietly() free, and cannot report a failure.
int result_of(std::string_view name) noexcept {
    if (texton::detail::quiet_calls > 0 && !also_in_destructors) return 0;
    const Fault* fault = detail::fault_of(Call::cuda, name);
    if (fault == nullptr) return 0;
    return name.starts_with("cuda") ? fault->error : fault->driver_error;
}

}  // namespace

void watch_cuda_calls(bool in_destructors) {
    also_in_destructors = in_destructors;
    texton::detail::hook_calls(&result_of);
}

}  // namespace texton::test
