#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/cuda/device.h"
#include "core/request.h"

// Physical memory and mapped address ranges, implemented with the driver's cuMem functions.

namespace texton::detail {
namespace {

CUmemLocation driver_location(const Location& location) noexcept {
    const cudaMemLocation is = to_cuda(location);
    CUmemLocation out{};
    out.type = static_cast<CUmemLocationType>(is.type);
    out.id = is.id;
    return out;
}
static_assert(static_cast<int>(cudaMemLocationTypeHostNuma) == static_cast<int>(CU_MEM_LOCATION_TYPE_HOST_NUMA));
static_assert(static_cast<int>(cudaMemAccessFlagsProtReadWrite) ==
              static_cast<int>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
static_assert(static_cast<int>(cudaMemHandleTypeFabric) == static_cast<int>(CU_MEM_HANDLE_TYPE_FABRIC));

CUmemAllocationHandleType driver_handle(HandleType type) noexcept {
    return static_cast<CUmemAllocationHandleType>(handle_bits(type));
}

CUmemAllocationProp driver_properties(const PhysicalInfo& info) noexcept {
    CUmemAllocationProp out{};
    out.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    out.requestedHandleTypes = driver_handle(info.handle);
    out.location = driver_location(info.location);
    if (info.tile_pool) out.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
    return out;
}

CUdeviceptr pointer(const std::byte* address) noexcept { return reinterpret_cast<CUdeviceptr>(address); }

// Throws Error{bad_argument} if the memory has fewer bytes. The driver does not report the size of imported memory, but
// refuses to map more than there is.
void check_size(CUmemGenericAllocationHandle memory, std::size_t bytes) {
    const RelaxedCapture relaxed;
    CUdeviceptr address = 0;
    driver<cuMemAddressReserve>(&address, bytes, std::size_t{0}, CUdeviceptr{0}, 0ULL);
    try {
        driver<cuMemMap>(address, bytes, std::size_t{0}, memory, 0ULL);
        quietly([&] { driver<cuMemUnmap>(address, bytes); });
    } catch (const Error& error) {
        quietly([&] { driver<cuMemAddressFree>(address, bytes); });
        // For more bytes driver 580 reports an invalid value or, for some sizes, an operation that is not supported.
        if (error.code() != ErrorCode::bad_argument && error.code() != ErrorCode::unsupported) throw;
        throw Error({.code = ErrorCode::bad_argument,
                     .problem = fmt::format("{} bytes were requested of memory that has fewer", bytes),
                     .remedy = "Import the size with which the other process created the memory.",
                     .numbers = {{"bytes", bytes}},
                     .call = error.call(),
                     .cuda_name = error.cuda_name()});
    }
    driver<cuMemAddressFree>(address, bytes);
}

}  // namespace

std::size_t CudaBackend::physical_granularity(const PhysicalInfo& info, Granularity which) {
    const DeviceScope scope(ordinal_);
    const CUmemAllocationProp properties = driver_properties(info);
    std::size_t bytes = 0;
    driver<cuMemGetAllocationGranularity>(
        &bytes, &properties,
        which == Granularity::minimum ? CU_MEM_ALLOC_GRANULARITY_MINIMUM : CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    return bytes;
}

PhysicalHandle CudaBackend::create_physical(std::size_t bytes, const PhysicalInfo& info) {
    const DeviceScope scope(ordinal_);
    if (bytes > properties_.total_memory && info.location.kind == LocationKind::device) {
        // For extremely large sizes the driver reports an invalid value instead of missing memory.
        throw Error(
            {.code = ErrorCode::out_of_memory, .problem = "the request exceeds the total memory of the device"});
    }
    const CUmemAllocationProp properties = driver_properties(info);
    auto memory = std::make_unique<NativePhysical>();
    try {
        driver<cuMemCreate>(&memory->value, bytes, &properties, 0);
    } catch (const Error& error) {
        // On some hosts driver 580 reports an invalid value for tile memory of 512 MiB and more.
        if (info.tile_pool && error.code() == ErrorCode::bad_argument) {
            throw Error({.code = ErrorCode::out_of_memory,
                         .problem = error.problem(),
                         .call = error.call(),
                         .cuda_name = error.cuda_name()});
        }
        rethrow_refused_handle(error, info.handle);
    }
    return memory.release();
}

void CudaBackend::release_physical(PhysicalHandle memory) noexcept {
    const std::unique_ptr<NativePhysical> owned(memory);
    quietly([&] {
        const FreeScope scope(ordinal_);
        driver<cuMemRelease>(owned->value);
    });
}

ShareableHandle CudaBackend::export_physical(PhysicalHandle memory, HandleType type) {
    const DeviceScope scope(ordinal_);
    ShareableHandle out{.type = type};
    void* where = type == HandleType::fabric ? static_cast<void*>(out.fabric.data()) : &out.file_descriptor;
    driver<cuMemExportToShareableHandle>(where, memory->value, driver_handle(type), 0);
    return out;
}

PhysicalHandle CudaBackend::import_physical(const ShareableHandle& handle, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    ShareableHandle copy = handle;
    // The function takes a file descriptor as a pointer's value, and a fabric handle by address.
    void* from = handle.type == HandleType::fabric
                     ? static_cast<void*>(copy.fabric.data())
                     : reinterpret_cast<void*>(static_cast<std::intptr_t>(handle.file_descriptor));
    auto memory = std::make_unique<NativePhysical>();
    driver<cuMemImportFromShareableHandle>(&memory->value, from, driver_handle(handle.type));
    try {
        check_size(memory->value, bytes);
    } catch (...) {
        release_physical(memory.release());
        throw;
    }
    return memory.release();
}

std::byte* CudaBackend::reserve_addresses(std::size_t bytes, std::size_t alignment) {
    const DeviceScope scope(ordinal_);
    CUdeviceptr address = 0;
    driver<cuMemAddressReserve>(&address, bytes, alignment, 0, 0);
    return reinterpret_cast<std::byte*>(address);
}

void CudaBackend::free_addresses(std::byte* address, std::size_t bytes) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        driver<cuMemAddressFree>(pointer(address), bytes);
    });
}

void CudaBackend::map_physical(std::byte* address, std::size_t bytes, PhysicalHandle memory) {
    const DeviceScope scope(ordinal_);
    driver<cuMemMap>(pointer(address), bytes, 0, memory->value, 0);
}

void CudaBackend::unmap_physical(std::byte* address, std::size_t bytes) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        // cuMemUnmap does not wait for work in flight on the memory, whose access would then end the context.
        finish_device();
        driver<cuMemUnmap>(pointer(address), bytes);
    });
}

void CudaBackend::set_mapped_access(std::byte* address, std::size_t bytes, std::span<const AccessGrant> grants) {
    const DeviceScope scope(ordinal_);
    std::vector<CUmemAccessDesc> list(grants.size());
    std::transform(grants.begin(), grants.end(), list.begin(), [](const AccessGrant& grant) {
        return CUmemAccessDesc{driver_location(grant.location), static_cast<CUmemAccess_flags>(to_cuda(grant.access))};
    });
    driver<cuMemSetAccess>(pointer(address), bytes, list.data(), list.size());
}

}  // namespace texton::detail
