#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <texton/error.h>

#include "core/cuda/device.h"
#include "core/gpu_driver.h"

// Enumerates the CUDA devices and queries their properties. No context is created here, so a program that only lists
// the devices allocates no device memory.

namespace texton::detail {
namespace {

// The ordinals of the devices, by their index. Locations name a device by its index, as Device does.
std::vector<int>& listed_ordinals() {
    static auto& made = *new std::vector<int>;
    return made;
}

DeviceProperties describe(int ordinal, const cudaDeviceProp& is) {
    const auto attribute = [ordinal](cudaDeviceAttr which) {
        int answer = 0;
        return ask<cudaDeviceGetAttribute>(&answer, which, ordinal) == cudaSuccess ? answer : 0;
    };
    DeviceProperties out;
    out.name = is.name;
    out.kind = DeviceKind::cuda;
    out.ordinal = ordinal;
    static_assert(sizeof(is.uuid.bytes) == 16);
    std::memcpy(out.uuid.data(), is.uuid.bytes, out.uuid.size());
    out.compute_major = is.major;
    out.compute_minor = is.minor;
    out.multiprocessors = is.multiProcessorCount;
    out.total_memory = is.totalGlobalMem;
    out.l2_bytes = static_cast<std::size_t>(is.l2CacheSize);
    out.managed_memory = is.managedMemory != 0;
    out.concurrent_managed_access = is.concurrentManagedAccess != 0;
    out.pageable_memory_access = is.pageableMemoryAccess != 0;
    out.host_register = is.hostRegisterSupported != 0;
    out.host_register_read_only = is.hostRegisterReadOnlySupported != 0;
    out.host_pointer_is_device_pointer = is.unifiedAddressing != 0 && is.canUseHostPointerForRegisteredMem != 0;
    out.memory_pools = is.memoryPoolsSupported != 0;
    out.pool_file_descriptors = (is.memoryPoolSupportedHandleTypes & cudaMemHandleTypePosixFileDescriptor) != 0;
    out.pool_fabric_handles = (is.memoryPoolSupportedHandleTypes & cudaMemHandleTypeFabric) != 0;
    out.host_numa_pools = attribute(cudaDevAttrHostNumaMemoryPoolsSupported) != 0;
    int maps_memory = 0;
    // If the driver does not answer, the device is treated as one without virtual memory.
    quietly([&] {
        CUdevice device = 0;
        driver<cuDeviceGet>(&device, ordinal);
        driver<cuDeviceGetAttribute>(&maps_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
    });
    out.virtual_memory = maps_memory != 0;
    call<cudaDriverGetVersion>(&out.driver_version);
    call<cudaRuntimeGetVersion>(&out.runtime_version);
    return out;
}

template <std::size_t N>
std::array<std::size_t, N> sides(const int (&values)[N]) {
    std::array<std::size_t, N> out{};
    std::transform(values, values + N, out.begin(), [](int value) { return static_cast<std::size_t>(value); });
    return out;
}

DeviceLimits limits_of(const cudaDeviceProp& is) {
    DeviceLimits out;
    out.pitch_alignment = is.textureAlignment;  // cudaMallocPitch rounds rows up to this alignment
    out.max_pitch = is.memPitch;
    out.texture_alignment = is.textureAlignment;
    out.texture_pitch_alignment = is.texturePitchAlignment;
    out.surface_alignment = is.surfaceAlignment;
    out.texture_1d = static_cast<std::size_t>(is.maxTexture1D);
    out.texture_2d = sides(is.maxTexture2D);
    out.texture_3d = sides(is.maxTexture3D);
    out.texture_1d_layered = sides(is.maxTexture1DLayered);
    out.texture_2d_layered = sides(is.maxTexture2DLayered);
    out.cubemap = static_cast<std::size_t>(is.maxTextureCubemap);
    out.cubemap_layered = sides(is.maxTextureCubemapLayered);
    out.gather = sides(is.maxTexture2DGather);
    out.mipmap_2d = sides(is.maxTexture2DMipmap);
    out.mipmap_1d = static_cast<std::size_t>(is.maxTexture1DMipmap);
    out.pitch_2d = sides(is.maxTexture2DLinear);
    return out;
}

std::string why_no_device(cudaError_t error) {
    int version = 0;
    const bool asked = ask<cudaDriverGetVersion>(&version) == cudaSuccess;
    const char* name = cudaGetErrorName(error);
    if (asked && version == 0) return fmt::format("no CUDA driver is installed ({})", name);
    if (error == cudaErrorInsufficientDriver) {
        return fmt::format("the CUDA driver is for CUDA {}.{}, but Texton was built for CUDA {}.{} ({})",
                           version / 1000, version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
                           name);
    }
    if (error == cudaErrorNoDevice) return fmt::format("the CUDA driver finds no device ({})", name);
    return fmt::format("the CUDA driver cannot be initialized: {} ({})", cudaGetErrorString(error), name);
}

}  // namespace

int ordinal_at(int index) noexcept {
    const std::vector<int>& ordinals = listed_ordinals();
    const auto at = static_cast<std::size_t>(index);
    return index >= 0 && at < ordinals.size() ? ordinals[at] : kNoOrdinal;
}

int index_of(int ordinal) noexcept {
    const std::vector<int>& ordinals = listed_ordinals();
    const auto found = std::find(ordinals.begin(), ordinals.end(), ordinal);
    return found != ordinals.end() ? static_cast<int>(found - ordinals.begin()) : -1;
}

cudaMemLocation to_cuda(const Location& location) noexcept {
    cudaMemLocation out{};
    out.id = location.kind == LocationKind::device ? ordinal_at(location.id) : location.id;
    switch (location.kind) {
        case LocationKind::none: out.type = cudaMemLocationTypeNone; break;
        case LocationKind::device: out.type = cudaMemLocationTypeDevice; break;
        case LocationKind::host: out.type = cudaMemLocationTypeHost; break;
        case LocationKind::host_numa: out.type = cudaMemLocationTypeHostNuma; break;
        case LocationKind::host_numa_current: out.type = cudaMemLocationTypeHostNumaCurrent; break;
    }
    return out;
}

cudaMemAccessFlags to_cuda(Access access) noexcept {
    switch (access) {
        case Access::none: return cudaMemAccessFlagsProtNone;
        case Access::read: return cudaMemAccessFlagsProtRead;
        case Access::read_write: return cudaMemAccessFlagsProtReadWrite;
    }
    return cudaMemAccessFlagsProtNone;
}

int handle_bits(HandleType type) noexcept {
    switch (type) {
        case HandleType::none: return cudaMemHandleTypeNone;
        case HandleType::file_descriptor: return cudaMemHandleTypePosixFileDescriptor;
        case HandleType::fabric: return cudaMemHandleTypeFabric;
    }
    return cudaMemHandleTypeNone;
}

void rethrow_refused_handle(const Error& error, HandleType type) {
    if (type != HandleType::fabric || error.code() == ErrorCode::out_of_memory) throw error;
    throw Error({.code = error.code(),
                 .object = {},
                 .problem = fmt::format("a fabric handle was requested, but {}", error.problem()),
                 .remedy = "Fabric handles need GPUs that are connected by a fabric, and an IMEX channel in "
                           "/dev/nvidia-caps-imex-channels that this user may open. Within one machine, use "
                           "HandleType::file_descriptor.",
                 .call = error.call(),
                 .cuda_name = error.cuda_name()});
}

CudaBackend::CudaBackend(int ordinal, int index, int earlier) : ordinal_(ordinal) {
    cudaDeviceProp is{};
    call<cudaGetDeviceProperties>(&is, ordinal);
    properties_ = describe(ordinal, is);
    properties_.index = index;
    properties_.uuid.back() = static_cast<std::uint8_t>(properties_.uuid.back() + earlier);
    limits_ = limits_of(is);
}

MemoryInfo CudaBackend::memory_info() {
    const DeviceScope scope(ordinal_);
    MemoryInfo info;
    call<cudaMemGetInfo>(&info.free, &info.total);
    return info;
}

void CudaBackend::synchronize() {
    const DeviceScope scope(ordinal_);
    call<cudaDeviceSynchronize>();
}

bool CudaBackend::can_access_peer(Backend& peer) {
    const CudaBackend* other = as_cuda(&peer);
    if (other == nullptr) return false;
    if (other->ordinal_ == ordinal_) return true;
    int can = 0;
    call<cudaDeviceCanAccessPeer>(&can, ordinal_, other->ordinal_);
    return can != 0;
}

void CudaBackend::set_peer_access(Backend& peer, bool enabled) {
    const CudaBackend* other = as_cuda(&peer);
    if (other == nullptr) {
        throw Error({.code = ErrorCode::wrong_device,
                     .object = {},
                     .problem = "only a CUDA device can be a peer of a CUDA device",
                     .remedy = "Pass another CUDA device."});
    }
    if (other->ordinal_ == ordinal_) return;  // one GPU that is listed twice
    const DeviceScope scope(ordinal_);
    const cudaError_t answer = enabled ? ask<cudaDeviceEnablePeerAccess>(other->ordinal_, 0)
                                       : ask<cudaDeviceDisablePeerAccess>(other->ordinal_);
    const cudaError_t already = enabled ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled;
    if (answer == cudaSuccess || answer == already) return;
    fail_call(enabled ? function_name<cudaDeviceEnablePeerAccess>() : function_name<cudaDeviceDisablePeerAccess>(),
              answer);
}

bool may_have_cuda_device() noexcept {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible != nullptr && (*visible == '\0' || std::string_view(visible).starts_with("-1"))) return false;
    const auto exists = [](const char* file) { return ::access(file, F_OK) == 0; };
    return exists("/dev/nvidiactl") || exists("/dev/dxg");
}

CudaDevices make_cuda_devices(const std::vector<int>& ordinals) {
    CudaDevices made;
    int count = 0;
    const cudaError_t error = ask<cudaGetDeviceCount>(&count);
    if (error != cudaSuccess || count == 0) {
        made.why_none = why_no_device(error != cudaSuccess ? error : cudaErrorNoDevice);
        return made;
    }
    std::vector<int>& listed = listed_ordinals();
    listed = ordinals;
    for (int ordinal = 0; ordinals.empty() && ordinal < count; ++ordinal) listed.push_back(ordinal);
    for (const int ordinal : listed) {
        if (ordinal < count) continue;
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::Device",
                     .problem = fmt::format("the environment variable TEXTON_CUDA_DEVICES contains {}, but CUDA finds "
                                            "{} devices",
                                            ordinal, count),
                     .remedy = "Use ordinals of CUDA devices, which start at 0."});
    }
    try {
        for (std::size_t i = 0; i < listed.size(); ++i) {
            const auto at = listed.begin() + static_cast<std::ptrdiff_t>(i);
            const auto earlier = static_cast<int>(std::count(listed.begin(), at, *at));
            made.devices.push_back(std::make_unique<CudaBackend>(*at, static_cast<int>(i), earlier));
        }
    } catch (const Error& failed) {
        made.devices.clear();
        made.why_none = fmt::format("the properties of the CUDA devices cannot be read: {}", failed.what());
    }
    return made;
}

}  // namespace texton::detail
