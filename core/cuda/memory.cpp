#include <algorithm>
#include <array>

#include <texton/error.h>

#include "core/cuda/device.h"
#include "core/cuda/shape.h"

// Device, host and managed memory, and symbols.

namespace texton::detail {
namespace {

std::byte* bytes_at(void* address) noexcept { return static_cast<std::byte*>(address); }

std::optional<Location> location_of(int type, int id) {
    switch (static_cast<cudaMemLocationType>(type)) {
        case cudaMemLocationTypeDevice: return Location{LocationKind::device, index_of(id), DeviceKind::cuda};
        case cudaMemLocationTypeHost: return Location::host();
        case cudaMemLocationTypeHostNuma: return Location::host_numa(id);
        case cudaMemLocationTypeHostNumaCurrent: return Location::host_numa_current();
        case cudaMemLocationTypeNone: break;
    }
    return std::nullopt;
}

// Returns one entry per device and one for the host, which is the maximum that the driver can return.
std::vector<int> room_for_accessors() {
    int devices = 0;
    call<cudaGetDeviceCount>(&devices);
    return std::vector<int>(static_cast<std::size_t>(devices) + 1, cudaInvalidDeviceId);
}

std::vector<Location> locations_of(const std::vector<int>& devices) {
    std::vector<Location> out;
    for (const int id : devices) {
        if (id == cudaInvalidDeviceId) continue;
        out.push_back(id == cudaCpuDeviceId ? Location::host()
                                            : Location{LocationKind::device, index_of(id), DeviceKind::cuda});
    }
    return out;
}

// Returns how many bytes from the address on are certainly in the same allocation or mapping.
std::size_t piece_at(CUdeviceptr address) {
    constexpr std::size_t kPage = 4096;  // page-locked memory consists of whole pages
    // A mapping can have a part of a range of addresses, and an allocation a part of a mapping: the first end counts.
    constexpr std::array<std::array<CUpointer_attribute, 2>, 2> kPairs{
        {{CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, CU_POINTER_ATTRIBUTE_MAPPING_SIZE},
         {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE}}};
    std::size_t piece = 0;
    for (const auto& pair : kPairs) {
        CUdeviceptr begin = 0;
        std::size_t size = 0;
        std::array<CUpointer_attribute, 2> which = pair;
        std::array<void*, 2> values{&begin, &size};
        driver<cuPointerGetAttributes>(2U, which.data(), values.data(), address);  // leaves 0 for unknown attributes
        if (begin == 0 || begin > address || address - begin >= size) continue;
        const std::size_t rest = size - (address - begin);
        piece = piece == 0 ? rest : std::min(piece, rest);
    }
    return piece != 0 ? piece : kPage - address % kPage;
}

// Returns true if the attributes of all pieces of memory in the range are accepted.
template <class Accepts>
bool every_piece(const void* address, std::size_t bytes, const Accepts& accepts) {
    auto at = reinterpret_cast<CUdeviceptr>(address);
    while (true) {
        cudaPointerAttributes is{};
        call<cudaPointerGetAttributes>(&is, reinterpret_cast<const void*>(at));
        if (!accepts(is)) return false;
        const std::size_t piece = piece_at(at);
        if (piece >= bytes) return true;
        bytes -= piece;
        at += piece;
    }
}

int range_attribute(cudaMemRangeAttribute which, const std::byte* address, std::size_t bytes) {
    int answer = 0;
    call<cudaMemRangeGetAttribute>(&answer, sizeof(answer), which, address, bytes);
    return answer;
}

}  // namespace

std::byte* CudaBackend::allocate(std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    void* address = nullptr;
    call<cudaMalloc>(&address, bytes);
    return bytes_at(address);
}

PitchedMemory CudaBackend::allocate_pitched_2d(std::size_t row_bytes, std::size_t rows) {
    const DeviceScope scope(ordinal_);
    void* address = nullptr;
    std::size_t pitch = 0;
    call<cudaMallocPitch>(&address, &pitch, row_bytes, rows);
    return {bytes_at(address), pitch};
}

PitchedMemory CudaBackend::allocate_pitched_3d(std::size_t row_bytes, std::size_t rows, std::size_t slices) {
    const DeviceScope scope(ordinal_);
    cudaPitchedPtr memory{};
    call<cudaMalloc3D>(&memory, cuda_extent(row_bytes, rows, slices));
    return {bytes_at(memory.ptr), memory.pitch};
}

void CudaBackend::free(std::byte* address) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        call<cudaFree>(address);
    });
}

bool CudaBackend::knows(const void* address, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    return every_piece(address, bytes, [this](const cudaPointerAttributes& is) {
        return is.type == cudaMemoryTypeManaged || (is.type == cudaMemoryTypeDevice && is.device == ordinal_);
    });
}

std::byte* CudaBackend::allocate_host(std::size_t bytes, PinnedOptions options) {
    const DeviceScope scope(ordinal_);
    const RelaxedCapture relaxed;
    void* address = nullptr;
    if (options == PinnedOptions{}) {
        call<cudaMallocHost>(&address, bytes);
        return bytes_at(address);
    }
    unsigned int flags = cudaHostAllocDefault;
    if (options.portable) flags |= cudaHostAllocPortable;
    if (options.mapped) flags |= cudaHostAllocMapped;
    if (options.write_combined) flags |= cudaHostAllocWriteCombined;
    call<cudaHostAlloc>(&address, bytes, flags);
    return bytes_at(address);
}

void CudaBackend::free_host(std::byte* address) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        call<cudaFreeHost>(address);
    });
}

bool CudaBackend::knows_host(const void* address, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    return every_piece(address, bytes, [](const cudaPointerAttributes& is) {
        return is.type == cudaMemoryTypeHost && is.devicePointer != nullptr;
    });
}

PinnedOptions CudaBackend::host_options(std::byte* address) {
    const DeviceScope scope(ordinal_);
    unsigned int flags = 0;
    call<cudaHostGetFlags>(&flags, address);
    return {.portable = (flags & cudaHostAllocPortable) != 0,
            .mapped = (flags & cudaHostAllocMapped) != 0,
            .write_combined = (flags & cudaHostAllocWriteCombined) != 0};
}

void CudaBackend::register_host(std::byte* address, std::size_t bytes, RegisterOptions options) {
    const DeviceScope scope(ordinal_);
    unsigned int flags = cudaHostRegisterDefault;
    if (options.portable) flags |= cudaHostRegisterPortable;
    if (options.mapped) flags |= cudaHostRegisterMapped;
    if (options.io_memory) flags |= cudaHostRegisterIoMemory;
    if (options.read_only) flags |= cudaHostRegisterReadOnly;
    call<cudaHostRegister>(address, bytes, flags);
}

void CudaBackend::unregister_host(std::byte* address) noexcept {
    quietly([&] {
        const FreeScope scope(ordinal_);
        call<cudaHostUnregister>(address);
    });
}

std::byte* CudaBackend::host_device_pointer(std::byte* address) {
    const DeviceScope scope(ordinal_);
    void* mapped = nullptr;
    call<cudaHostGetDevicePointer>(&mapped, address, 0);
    return bytes_at(mapped);
}

std::byte* CudaBackend::allocate_managed(std::size_t bytes, Attach attach) {
    const DeviceScope scope(ordinal_);
    void* address = nullptr;
    call<cudaMallocManaged>(&address, bytes, attach == Attach::host ? cudaMemAttachHost : cudaMemAttachGlobal);
    return bytes_at(address);
}

void CudaBackend::attach_managed(StreamHandle stream, std::byte* address, std::size_t, Attach attach) {
    const DeviceScope scope(ordinal_);
    unsigned int flags = cudaMemAttachGlobal;
    switch (attach) {
        case Attach::global: break;
        case Attach::host: flags = cudaMemAttachHost; break;
        case Attach::single: flags = cudaMemAttachSingle; break;
    }
    call<cudaStreamAttachMemAsync>(native(stream), address, 0, flags);  // 0 means the whole block, which CUDA requires
}

void CudaBackend::advise(std::byte* address, std::size_t bytes, Advice advice, const Location& location) {
    const DeviceScope scope(ordinal_);
    cudaMemoryAdvise what = cudaMemAdviseSetReadMostly;
    switch (advice) {
        case Advice::set_read_mostly: what = cudaMemAdviseSetReadMostly; break;
        case Advice::unset_read_mostly: what = cudaMemAdviseUnsetReadMostly; break;
        case Advice::set_preferred_location: what = cudaMemAdviseSetPreferredLocation; break;
        case Advice::unset_preferred_location: what = cudaMemAdviseUnsetPreferredLocation; break;
        case Advice::set_accessed_by: what = cudaMemAdviseSetAccessedBy; break;
        case Advice::unset_accessed_by: what = cudaMemAdviseUnsetAccessedBy; break;
    }
    // The driver checks the location even for advice that ignores it. Every driver accepts this device.
    const Location named =
        location.kind == LocationKind::none ? Location{LocationKind::device, properties_.index} : location;
    call<cudaMemAdvise>(address, bytes, what, to_cuda(named));
}

void CudaBackend::prefetch(std::byte* address, std::size_t bytes, const Location& location, StreamHandle stream) {
    const DeviceScope scope(ordinal_);
    call<cudaMemPrefetchAsync>(address, bytes, to_cuda(location), 0, native(stream));
}

bool CudaBackend::read_mostly(const std::byte* address, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    return range_attribute(cudaMemRangeAttributeReadMostly, address, bytes) == 1;
}

std::optional<Location> CudaBackend::preferred_location(const std::byte* address, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    return location_of(range_attribute(cudaMemRangeAttributePreferredLocationType, address, bytes),
                       range_attribute(cudaMemRangeAttributePreferredLocationId, address, bytes));
}

std::vector<Location> CudaBackend::accessed_by(const std::byte* address, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    std::vector<int> devices = room_for_accessors();
    call<cudaMemRangeGetAttribute>(devices.data(), devices.size() * sizeof(int), cudaMemRangeAttributeAccessedBy,
                                   address, bytes);
    return locations_of(devices);
}

std::optional<Location> CudaBackend::last_prefetch(const std::byte* address, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    return location_of(range_attribute(cudaMemRangeAttributeLastPrefetchLocationType, address, bytes),
                       range_attribute(cudaMemRangeAttributeLastPrefetchLocationId, address, bytes));
}

RangeAttributes CudaBackend::range_attributes(const std::byte* address, std::size_t bytes) {
    const DeviceScope scope(ordinal_);
    struct {
        int read_mostly, preferred_type, preferred_id, prefetch_type, prefetch_id;
    } is{};
    std::vector<int> devices = room_for_accessors();
    std::array<void*, 6> data{&is.read_mostly,   &is.preferred_type, &is.preferred_id,
                              &is.prefetch_type, &is.prefetch_id,    devices.data()};
    std::array<std::size_t, 6> sizes{sizeof(int), sizeof(int), sizeof(int),
                                     sizeof(int), sizeof(int), devices.size() * sizeof(int)};
    std::array<cudaMemRangeAttribute, 6> which{cudaMemRangeAttributeReadMostly,
                                               cudaMemRangeAttributePreferredLocationType,
                                               cudaMemRangeAttributePreferredLocationId,
                                               cudaMemRangeAttributeLastPrefetchLocationType,
                                               cudaMemRangeAttributeLastPrefetchLocationId,
                                               cudaMemRangeAttributeAccessedBy};
    call<cudaMemRangeGetAttributes>(data.data(), sizes.data(), which.data(), which.size(), address, bytes);
    return {.read_mostly = is.read_mostly == 1,
            .preferred_location = location_of(is.preferred_type, is.preferred_id),
            .accessed_by = locations_of(devices),
            .last_prefetch = location_of(is.prefetch_type, is.prefetch_id)};
}

SymbolLocation CudaBackend::find_symbol(const void* symbol) {
    const DeviceScope scope(ordinal_);
    void* address = nullptr;
    SymbolLocation location;
    call<cudaGetSymbolAddress>(&address, symbol);
    call<cudaGetSymbolSize>(&location.bytes, symbol);
    location.address = bytes_at(address);
    return location;
}

}  // namespace texton::detail
