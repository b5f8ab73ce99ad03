#include <algorithm>
#include <cstring>
#include <shared_mutex>

#include <texton/error.h>

#include "core/cuda/device.h"
#include "core/request.h"

// Memory pools: CUDA's stream-ordered allocator.

namespace texton::detail {
namespace {

cudaMemAllocationType type_of(PoolType type) noexcept {
    switch (type) {
        case PoolType::pinned: return cudaMemAllocationTypePinned;
        case PoolType::managed: return cudaMemAllocationTypeManaged;
    }
    return cudaMemAllocationTypeInvalid;
}

struct AttributeName {
    cudaMemPoolAttr which;
    bool flag;  // the value is an int; the other attributes have 64 bits
};

AttributeName name_of(PoolAttribute attribute) noexcept {
    switch (attribute) {
        case PoolAttribute::reuse_follow_event_dependencies: return {cudaMemPoolReuseFollowEventDependencies, true};
        case PoolAttribute::reuse_opportunistic: return {cudaMemPoolReuseAllowOpportunistic, true};
        case PoolAttribute::reuse_internal_dependencies: return {cudaMemPoolReuseAllowInternalDependencies, true};
        case PoolAttribute::release_threshold: return {cudaMemPoolAttrReleaseThreshold, false};
        case PoolAttribute::reserved_current: return {cudaMemPoolAttrReservedMemCurrent, false};
        case PoolAttribute::reserved_high: return {cudaMemPoolAttrReservedMemHigh, false};
        case PoolAttribute::used_current: return {cudaMemPoolAttrUsedMemCurrent, false};
        case PoolAttribute::used_high: return {cudaMemPoolAttrUsedMemHigh, false};
    }
    return {cudaMemPoolAttrReservedMemCurrent, false};
}

PoolHandle handle_of(cudaMemPool_t pool) noexcept { return reinterpret_cast<PoolHandle>(pool); }

cudaMemAllocationHandleType cuda_handle(HandleType type) noexcept {
    return static_cast<cudaMemAllocationHandleType>(handle_bits(type));
}

}  // namespace

PoolHandle CudaBackend::create_pool(const PoolInfo& info) {
    const DeviceScope scope(ordinal_);
    cudaMemPoolProps props{};
    props.allocType = type_of(info.type);
    props.handleTypes = cuda_handle(info.handle);
    props.location = to_cuda(info.location);
    props.maxSize = info.max_bytes;
    cudaMemPool_t pool = nullptr;
    // Without a fabric channel, driver 580 creates such a pool anyway and aborts the process when the pool is
    // destroyed. Creating physical memory fails with an error in this case, so it is tried first.
    if (info.handle == HandleType::fabric) {
        const PhysicalInfo trial{.location = info.location, .handle = HandleType::fabric};
        release_physical(create_physical(physical_granularity(trial, Granularity::minimum), trial));
    }
    try {
        call<cudaMemPoolCreate>(&pool, &props);
    } catch (const Error& error) {
        rethrow_refused_handle(error, info.handle);
    }
    return handle_of(pool);
}

void CudaBackend::destroy_pool(PoolHandle pool) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        call<cudaMemPoolDestroy>(native(pool));
    });
}

PoolHandle CudaBackend::default_pool(const Location& location, PoolType type) {
    const DeviceScope scope(ordinal_);
    cudaMemLocation where = to_cuda(location);
    cudaMemPool_t pool = nullptr;
    call<cudaMemGetDefaultMemPool>(&pool, &where, type_of(type));
    return handle_of(pool);
}

PoolHandle CudaBackend::current_pool(const Location& location, PoolType type) {
    const DeviceScope scope(ordinal_);
    cudaMemLocation where = to_cuda(location);
    cudaMemPool_t pool = nullptr;
    call<cudaMemGetMemPool>(&pool, &where, type_of(type));
    return handle_of(pool);
}

void CudaBackend::set_current_pool(const Location& location, PoolType type, PoolHandle pool) {
    const DeviceScope scope(ordinal_);
    cudaMemLocation where = to_cuda(location);
    call<cudaMemSetMemPool>(&where, type_of(type), native(pool));
}

std::uint64_t CudaBackend::pool_attribute(PoolHandle pool, PoolAttribute attribute) {
    const AttributeName name = name_of(attribute);
    if (name.flag) {
        int on = 0;
        call<cudaMemPoolGetAttribute>(native(pool), name.which, &on);
        return on != 0 ? 1 : 0;
    }
    std::uint64_t bytes = 0;
    call<cudaMemPoolGetAttribute>(native(pool), name.which, &bytes);
    return bytes;
}

void CudaBackend::set_pool_attribute(PoolHandle pool, PoolAttribute attribute, std::uint64_t value) {
    const AttributeName name = name_of(attribute);
    int on = value != 0 ? 1 : 0;
    call<cudaMemPoolSetAttribute>(native(pool), name.which, name.flag ? static_cast<void*>(&on) : &value);
}

Access CudaBackend::pool_access(PoolHandle pool, const Location& location) {
    cudaMemLocation where = to_cuda(location);
    cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    call<cudaMemPoolGetAccess>(&flags, native(pool), &where);
    switch (flags) {
        case cudaMemAccessFlagsProtNone: return Access::none;
        case cudaMemAccessFlagsProtRead: return Access::read;
        case cudaMemAccessFlagsProtReadWrite: return Access::read_write;
    }
    return Access::none;
}

void CudaBackend::set_pool_access(PoolHandle pool, std::span<const AccessGrant> grants) {
    std::vector<cudaMemAccessDesc> list(grants.size());
    std::transform(grants.begin(), grants.end(), list.begin(), [](const AccessGrant& grant) {
        return cudaMemAccessDesc{to_cuda(grant.location), to_cuda(grant.access)};
    });
    call<cudaMemPoolSetAccess>(native(pool), list.data(), list.size());
}

void CudaBackend::trim_pool(PoolHandle pool, std::size_t keep) { call<cudaMemPoolTrimTo>(native(pool), keep); }

ShareableHandle CudaBackend::export_pool(PoolHandle pool, HandleType type) {
    ShareableHandle out{.type = type};
    void* where = type == HandleType::fabric ? static_cast<void*>(out.fabric.data()) : &out.file_descriptor;
    call<cudaMemPoolExportToShareableHandle>(where, native(pool), cuda_handle(type), 0);
    return out;
}

PoolHandle CudaBackend::import_pool(const ShareableHandle& handle) {
    const DeviceScope scope(ordinal_);
    ShareableHandle copy = handle;
    // The function takes a file descriptor as a pointer's value, and a fabric handle by address.
    void* from = handle.type == HandleType::fabric
                     ? static_cast<void*>(copy.fabric.data())
                     : reinterpret_cast<void*>(static_cast<std::intptr_t>(handle.file_descriptor));
    cudaMemPool_t pool = nullptr;
    call<cudaMemPoolImportFromShareableHandle>(&pool, from, cuda_handle(handle.type), 0);
    try {
        // The importing device needs access to the memory, and not every driver grants it automatically.
        const Location own{LocationKind::device, properties_.index};
        if (pool_access(handle_of(pool), own) != Access::read_write) {
            const AccessGrant grant{own, Access::read_write};
            set_pool_access(handle_of(pool), {&grant, 1});
        }
    } catch (...) {
        destroy_pool(handle_of(pool));
        throw;
    }
    return handle_of(pool);
}

PointerExport CudaBackend::export_pointer(const std::byte* address) {
    cudaMemPoolPtrExportData data{};
    static_assert(sizeof(data) == sizeof(PointerExport));
    call<cudaMemPoolExportPointer>(&data, const_cast<std::byte*>(address));
    PointerExport out;
    std::memcpy(out.bytes.data(), &data, sizeof(data));
    return out;
}

std::byte* CudaBackend::import_pointer(PoolHandle pool, const PointerExport& pointer, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    cudaMemPoolPtrExportData data{};
    std::memcpy(&data, pointer.bytes.data(), sizeof(data));
    void* address = nullptr;
    call<cudaMemPoolImportPointer>(&address, native(pool), &data);
    CUdeviceptr begin = 0;
    std::size_t size = 0;
    try {
        driver<cuMemGetAddressRange>(&begin, &size, reinterpret_cast<CUdeviceptr>(address));
        if (bytes > size) refuse_length(bytes, size);
    } catch (...) {
        (void)ask<cudaFree>(address);
        throw;
    }
    return static_cast<std::byte*>(address);
}

// cudaFree does not wait for work that uses memory of a pool.
void CudaBackend::free_imported(std::byte* address) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        finish_device();
        call<cudaFree>(address);
    });
}

namespace {

// Allows a thread that records a graph to allocate and free on other streams, which the driver regards as unsafe in the
// capturing thread, and prevents that a capture of the stream ends meanwhile. Costs one atomic load if no thread
// records.
class PoolScope {
public:
    PoolScope(int ordinal, StreamHandle stream) {
        if (stream == nullptr) device_.emplace(ordinal);
        if (!anyone_recording()) return;
        relaxed_.emplace();
        steady_ = std::shared_lock(captures);
    }

private:
    std::optional<DeviceScope> device_;
    std::optional<RelaxedCapture> relaxed_;
    std::shared_lock<std::shared_mutex> steady_;
};

}  // namespace

std::byte* CudaBackend::allocate_async(std::size_t bytes, PoolHandle pool, StreamHandle stream) {
    const PoolScope scope(ordinal_, stream);
    void* address = nullptr;
    if (pool == nullptr) {
        call<cudaMallocAsync>(&address, bytes, native(stream));
    } else {
        call<cudaMallocFromPoolAsync>(&address, bytes, native(pool), native(stream));
    }
    return static_cast<std::byte*>(address);
}

void CudaBackend::free_async(std::byte* address, StreamHandle stream) {
    const PoolScope scope(ordinal_, stream);
    call<cudaFreeAsync>(address, native(stream));
}

}  // namespace texton::detail
