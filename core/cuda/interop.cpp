#include <texton/cuda_interop.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/cuda/device.h"

namespace texton {
namespace {

void check_cuda(const Device& device, const char* object) {
    if (device.kind() == DeviceKind::cuda) return;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = object,
                 .problem = fmt::format("the object belongs to {}, which has no CUDA handles", device.name()),
                 .remedy = "Pass an object of a CUDA device: see Device::kind()."});
}

}  // namespace

int ordinal(const Device& device) {
    check_cuda(device, "texton::ordinal");
    return static_cast<detail::CudaBackend&>(device.backend()).ordinal();
}

cudaStream_t native(const Stream& stream) {
    check_cuda(stream.device(), "texton::native");
    return detail::native(stream.state()->handle);
}

cudaEvent_t native(const Event& event) {
    check_cuda(event.device(), "texton::native");
    return detail::native(event.state()->handle);
}

cudaMemPool_t native(const Pool& pool) {
    check_cuda(pool.device(), "texton::native");
    return detail::native(pool.state()->handle);
}

cudaGraphExec_t native(const Graph& graph) {
    check_cuda(graph.device(), "texton::native");
    return graph.state()->handle->exec;
}

Stream adopt_stream(const Device& device, cudaStream_t stream) {
    constexpr const char* kObject = "texton::adopt_stream";
    check_cuda(device, kObject);
    if (stream == nullptr || stream == cudaStreamLegacy) return Stream::default_of(device);
    if (stream == cudaStreamPerThread) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kObject,
                     .problem = "cudaStreamPerThread was given, which is a different stream in each thread",
                     .remedy = "Create a stream with cudaStreamCreateWithFlags, or use Stream::default_of(device)."});
    }
    int owner = 0;
    detail::request(&device.backend(), kObject, {}, [&] { detail::call<cudaStreamGetDevice>(stream, &owner); });
    if (owner != ordinal(device)) {
        throw Error({.code = ErrorCode::wrong_device,
                     .object = kObject,
                     .problem = fmt::format("the stream belongs to CUDA device {}, but the device given is {}", owner,
                                            device.name()),
                     .remedy = "Pass the device on which the stream was created.",
                     .numbers = {{"stream_device", static_cast<std::uint64_t>(owner)},
                                 {"device", static_cast<std::uint64_t>(ordinal(device))}}});
    }
    return Stream(std::make_shared<detail::StreamState>(device, reinterpret_cast<detail::StreamHandle>(stream), false));
}

}  // namespace texton
