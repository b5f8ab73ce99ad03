#include <texton/dlpack.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include <dlpack/dlpack.h>
#include <fmt/format.h>

#include <texton/dlpack_versioned.h>
#include <texton/error.h>

#include "core/block.h"
#include "core/exchange/strided.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr const char* kTo = "texton::to_dlpack";
constexpr const char* kFrom = "texton::from_dlpack";
constexpr std::uint32_t kMajor = 1;  // major version of DLPack

// The members that tensors with and without a version have in common, with the same names.
template <class Managed>
concept ManagedTensor = std::is_same_v<Managed, DLManagedTensor> || std::is_same_v<Managed, DLManagedTensorVersioned>;

// The memory that an exported tensor points to.
template <ManagedTensor Managed>
struct Exported {
    ConstView view;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    Managed tensor{};
};

// Calls the deleter of a tensor once, after the recording if the calling thread records a graph: it can free memory.
template <ManagedTensor Managed>
struct Release {
    void operator()(Managed* tensor) const noexcept {
        if (tensor->deleter == nullptr) return;
        detail::outside_recording([tensor] { tensor->deleter(tensor); });
    }
};
template <ManagedTensor Managed>
using Owned = std::unique_ptr<Managed, Release<Managed>>;

// Owns an imported tensor.
template <ManagedTensor Managed>
struct TensorBlock final : detail::Block {
    using Block::Block;
    ~TensorBlock() override { attached.reset(); }

    Owned<Managed> tensor;
};

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy,
                         std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = code,
                 .object = kFrom,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

DLDevice device_of(const detail::MemoryLocation& location) {
    if (location.backend == nullptr || location.backend->properties().kind == DeviceKind::cpu) return {kDLCPU, 0};
    const int index = location.backend->properties().ordinal;
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
    if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
        refuse(ErrorCode::bad_argument, fmt::format("the tensor has {} axes, or no shape", tensor.ndim),
               "Pass a tensor with 1 to 4 axes.");
    }
    detail::check_axes(static_cast<std::size_t>(tensor.ndim), kFrom);  // before the shape is read
    detail::Strided array{.element = element_of(tensor.dtype)};
    array.unit = array.element.bytes;
    const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
    if (tensor.byte_offset > PTRDIFF_MAX || tensor.byte_offset > UINTPTR_MAX - address) {
        refuse(ErrorCode::overflow,
               fmt::format("the byte offset {} from {} exceeds the address space", tensor.byte_offset, tensor.data),
               "Pass the offset of the first texel in existing memory.", {{"byte_offset", tensor.byte_offset}});
    }
    if (tensor.data != nullptr) array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
    array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    if (tensor.strides != nullptr) array.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
    return array;
}

Device cuda_device(int index) {
    for (const Device& device : Device::list()) {
        if (device.kind() == DeviceKind::cuda && device.properties().ordinal == index) return device;
    }
    const std::string why = Device::why_no_cuda();
    refuse(ErrorCode::wrong_device,
           fmt::format("the tensor is on CUDA device {}, but {}", index, why.empty() ? "there is no such device" : why),
           "Copy the tensor to a device of Device::list(), or to the host.");
}

// Sets the kind and the device of the memory.
void settle(detail::MemoryLocation& location, DLDevice at) {
    std::int32_t type = 0;  // a library with a newer dlpack.h can pass values that are not in the range of DLDeviceType
    static_assert(sizeof(type) == sizeof(at.device_type));
    std::memcpy(&type, &at.device_type, sizeof(type));
    switch (type) {
        case kDLCPU: detail::settle(location, Device::cpu(), kFrom); return;
        case kDLCUDA: detail::settle(location, cuda_device(at.device_id), kFrom); return;
        case kDLCUDAManaged:
            detail::settle(location, cuda_device(at.device_id), kFrom);
            location.kind = MemoryKind::managed;
            return;
        case kDLCUDAHost: {
            detail::Backend& backend = cuda_device(at.device_id).backend();
            const bool known = detail::request(&backend, kFrom, {}, [&] {
                return backend.knows_host(location.address, detail::span_bytes(location));
            });
            if (!known) {
                refuse(ErrorCode::not_registered,
                       fmt::format("the tensor is said to be page-locked host memory, but {} does not know all of it",
                                   backend.properties().name),
                       "Pass memory of Pinned, Registered or cudaMallocHost, and a shape that fits.");
            }
            location.backend = &backend;
            location.kind = MemoryKind::pinned;
            return;
        }
        default: break;
    }
    refuse(ErrorCode::unsupported, fmt::format("the DLPack device type {} of the tensor is not supported", type),
           "Copy the tensor to a CUDA device or to the host.");
}

template <ManagedTensor Managed>
Managed* export_tensor(const ConstView& view, int dimensions) {
    detail::Strided array = detail::strided(view, dimensions, kTo);
    const auto bytes = static_cast<std::int64_t>(array.element.bytes);
    for (std::int64_t& stride : array.strides) stride /= bytes;

    auto exported = std::make_unique<Exported<Managed>>();
    exported->view = view;
    exported->shape = std::move(array.shape);
    exported->strides = std::move(array.strides);
    Managed& managed = exported->tensor;
    managed.dl_tensor.data = array.data;
    managed.dl_tensor.device = device_of(view.location());
    managed.dl_tensor.ndim = static_cast<int>(exported->shape.size());
    managed.dl_tensor.dtype = type_of(array.element);
    managed.dl_tensor.shape = exported->shape.data();
    managed.dl_tensor.strides = exported->strides.data();
    managed.manager_ctx = exported.get();
    managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager_ctx); };
    return &exported.release()->tensor;
}

template <ManagedTensor Managed>
void check_not_null(const Managed* tensor) {
    if (tensor == nullptr) refuse(ErrorCode::bad_argument, "the tensor is null", "Pass a tensor that is not consumed.");
}

// Takes the tensor out of `tensor`, unless it throws.
template <ManagedTensor Managed>
detail::MemoryLocation import_tensor(Owned<Managed>& tensor, std::optional<Format> format) {
    detail::MemoryLocation location = detail::location_of(strided_of(tensor->dl_tensor), format, kFrom);
    settle(location, tensor->dl_tensor.device);
    detail::Backend& backend = location.backend != nullptr ? *location.backend : Device::cpu().backend();
    const auto block =
        std::make_shared<TensorBlock<Managed>>(backend, location.kind, location.address, detail::span_bytes(location));
    block->tensor = std::move(tensor);
    location.owner = block;
    return location;
}

detail::MemoryLocation import_versioned(DLManagedTensorVersioned* tensor, std::optional<Format> format, bool writable) {
    check_not_null(tensor);
    Owned<DLManagedTensorVersioned> owned(tensor);
    if (tensor->version.major != kMajor) {
        refuse(ErrorCode::unsupported,
               fmt::format("the tensor follows version {}.{} of DLPack", tensor->version.major, tensor->version.minor),
               fmt::format("Request a tensor of version {}.0.", kMajor));
    }
    if (writable && (tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
        refuse(ErrorCode::not_permitted, "the tensor is read-only, but a writable view was requested",
               "Use const_from_dlpack_versioned(), or copy the tensor first.");
    }
    return import_tensor(owned, format);
}

DLManagedTensorVersioned* export_versioned(const ConstView& view, int dimensions, std::uint64_t flags) {
    DLManagedTensorVersioned* tensor = export_tensor<DLManagedTensorVersioned>(view, dimensions);
    tensor->version = {kMajor, 0};
    tensor->flags = flags;
    return tensor;
}

}  // namespace

DLManagedTensor* to_dlpack(const View& view, int dimensions) try {
    return export_tensor<DLManagedTensor>(view, dimensions);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kTo);
}

DLManagedTensorVersioned* to_dlpack_versioned(const View& view, int dimensions) try {
    return export_versioned(view, dimensions, 0);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kTo);
}

DLManagedTensorVersioned* to_dlpack_versioned(const ConstView& view, int dimensions) try {
    return export_versioned(view, dimensions, DLPACK_FLAG_BITMASK_READ_ONLY);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kTo);
}

View from_dlpack(DLManagedTensor* tensor, std::optional<Format> format) try {
    check_not_null(tensor);
    Owned<DLManagedTensor> owned(tensor);
    try {
        return View(import_tensor(owned, format));
    } catch (...) {
        (void)owned.release();  // the caller still owns the tensor
        throw;
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kFrom);
}

View from_dlpack_versioned(DLManagedTensorVersioned* tensor, std::optional<Format> format) try {
    return View(import_versioned(tensor, format, true));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kFrom);
}

ConstView const_from_dlpack_versioned(DLManagedTensorVersioned* tensor, std::optional<Format> format) try {
    return ConstView(import_versioned(tensor, format, false));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kFrom);
}

}  // namespace texton
