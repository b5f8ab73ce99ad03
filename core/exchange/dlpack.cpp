#include <texton/dlpack.h>

#include <algorithm>
#include <array>

#include <dlpack/dlpack.h>
#include <fmt/format.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/exchange/strided.h"

namespace texton {
namespace {

constexpr const char* kTo = "texton::to_dlpack";
constexpr const char* kFrom = "texton::from_dlpack";

// The memory that an exported tensor points to.
struct Exported {
    View view;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    DLManagedTensor tensor{};
};

// Owns an imported tensor.
struct TensorBlock final : detail::Block {
    using Block::Block;
    ~TensorBlock() override {
        attached.reset();
        if (tensor == nullptr || tensor->deleter == nullptr) return;
        if (detail::recording()) {
            detail::after_recording([held = tensor] { held->deleter(held); });  // the deleter can free memory
        } else {
            tensor->deleter(tensor);
        }
    }

    DLManagedTensor* tensor = nullptr;
};

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = kFrom, .problem = std::move(problem), .remedy = std::move(remedy)});
}

DLDevice device_of(const detail::MemoryLocation& location) {
    if (location.backend == nullptr || location.backend->properties().kind == DeviceKind::cpu) return {kDLCPU, 0};
    const int index = location.backend->properties().index;
    switch (location.kind) {
        case MemoryKind::host: return {kDLCPU, 0};
        case MemoryKind::pinned:
        case MemoryKind::registered: return {kDLCUDAHost, 0};
        case MemoryKind::managed: return {kDLCUDAManaged, index};
        case MemoryKind::linear:
        case MemoryKind::pitched:
        case MemoryKind::mapped:
        case MemoryKind::symbol:
        case MemoryKind::array: break;
    }
    return {kDLCUDA, index};
}

DLDataType type_of(detail::Element element) {
    const auto code = element.kind == FormatKind::floating ? kDLFloat
                      : element.kind == FormatKind::sint   ? kDLInt
                                                           : kDLUInt;
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(element.bytes * 8), 1};
}

detail::Element element_of(DLDataType type) {
    const std::size_t bytes = type.bits / 8u;
    if (type.lanes == 1 && type.bits % 8 == 0 && bytes > 0) {
        if (type.code == kDLUInt) return {FormatKind::uint, bytes};
        if (type.code == kDLInt) return {FormatKind::sint, bytes};
        if (type.code == kDLFloat) return {FormatKind::floating, bytes};
    }
    constexpr std::array kNames{"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
    const std::string kind = type.code < kNames.size() ? kNames[type.code] : fmt::format("type {} ", type.code);
    refuse(ErrorCode::unsupported,
           fmt::format("elements of {}{} with {} lanes are not supported", kind, type.bits, type.lanes),
           "Convert the tensor to integers of 8, 16 or 32 bits, or to floats of 16 or 32 bits, with one lane.");
}

detail::Strided strided_of(const DLTensor& tensor) {
    if (tensor.ndim < 0 || tensor.shape == nullptr) {
        refuse(ErrorCode::bad_argument, fmt::format("the tensor has {} axes, or no shape", tensor.ndim),
               "Pass a tensor with 1 to 4 axes.");
    }
    detail::Strided array{.element = element_of(tensor.dtype)};
    array.unit = array.element.bytes;
    if (tensor.data != nullptr) array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
    array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    if (tensor.strides != nullptr) array.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
    return array;
}

Device cuda_device(int index) {
    for (const Device& device : Device::list()) {
        if (device.kind() == DeviceKind::cuda && device.index() == index) return device;
    }
    const std::string why = Device::why_no_cuda();
    refuse(ErrorCode::wrong_device,
           fmt::format("the tensor is on CUDA device {}, but {}", index, why.empty() ? "there is no such device" : why),
           "Copy the tensor to a device of Device::list(), or to the host.");
}

// Sets the kind and the device of the memory.
void settle(detail::MemoryLocation& location, DLDevice at) {
    switch (at.device_type) {
        case kDLCPU: detail::settle(location, Device::cpu(), kFrom); return;
        case kDLCUDA: detail::settle(location, cuda_device(at.device_id), kFrom); return;
        case kDLCUDAManaged:
            detail::settle(location, cuda_device(at.device_id), kFrom);
            location.kind = MemoryKind::managed;
            return;
        case kDLCUDAHost: {
            detail::Backend& backend = cuda_device(at.device_id).backend();
            std::byte* last = location.address + detail::span_bytes(location) - 1;
            for (std::byte* byte : {location.address, last}) {  // throws if the device has no address for the byte
                (void)detail::request(&backend, kFrom, {}, [&] { return backend.host_device_pointer(byte); });
            }
            location.backend = &backend;
            location.kind = MemoryKind::pinned;
            return;
        }
        default: break;
    }
    refuse(ErrorCode::unsupported,
           fmt::format("the DLPack device type {} of the tensor is not supported", static_cast<int>(at.device_type)),
           "Copy the tensor to a CUDA device or to the host.");
}

}  // namespace

DLManagedTensor* to_dlpack(const View& view, int dimensions) {
    detail::Strided array = detail::strided(view, dimensions, kTo);
    const auto bytes = static_cast<std::int64_t>(array.element.bytes);
    for (std::int64_t& stride : array.strides) stride /= bytes;

    auto exported = std::make_unique<Exported>();
    exported->view = view;
    exported->shape = std::move(array.shape);
    exported->strides = std::move(array.strides);
    DLManagedTensor& managed = exported->tensor;
    managed.dl_tensor.data = array.data;
    managed.dl_tensor.device = device_of(view.location());
    managed.dl_tensor.ndim = static_cast<int>(exported->shape.size());
    managed.dl_tensor.dtype = type_of(array.element);
    managed.dl_tensor.shape = exported->shape.data();
    managed.dl_tensor.strides = exported->strides.data();
    managed.manager_ctx = exported.get();
    managed.deleter = [](DLManagedTensor* self) { delete static_cast<Exported*>(self->manager_ctx); };
    return &exported.release()->tensor;
}

View from_dlpack(DLManagedTensor* tensor, std::optional<Format> format) {
    if (tensor == nullptr) refuse(ErrorCode::bad_argument, "the tensor is null", "Pass a tensor that is not consumed.");
    detail::MemoryLocation location = detail::location_of(strided_of(tensor->dl_tensor), format, kFrom);
    settle(location, tensor->dl_tensor.device);
    detail::Backend& backend = location.backend != nullptr ? *location.backend : Device::cpu().backend();
    const auto block =
        std::make_shared<TensorBlock>(backend, location.kind, location.address, detail::span_bytes(location));
    block->tensor = tensor;  // nothing throws from here on; after an exception the caller owns the tensor
    location.owner = block;
    return View(std::move(location));
}

}  // namespace texton
