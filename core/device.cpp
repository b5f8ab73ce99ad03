#include <texton/device.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/location.h>

#include "core/backend.h"
#include "core/pending_frees.h"
#include "core/request.h"

namespace texton {
namespace {

constexpr std::size_t kMaxCudaDevices = 64;

[[noreturn]] void refuse_variable(const char* variable, std::string_view text, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::Device",
                 .problem = fmt::format("the environment variable {} is '{}'", variable, text),
                 .remedy = std::move(remedy)});
}

// Returns a number that consists of digits.
std::optional<int> number_in(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return {};
    return number;
}

// Returns the number of CPU devices.
std::size_t count_from_environment() {
    constexpr const char* kVariable = "TEXTON_CPU_DEVICES";
    const char* const text = std::getenv(kVariable);
    if (text == nullptr || *text == '\0') return 1;
    const std::string_view digits(text);
    if (digits.size() != 1 || digits[0] < '1' || digits[0] > '8')
        refuse_variable(kVariable, text, "Use the number of CPU devices, 1 to 8.");
    return static_cast<std::size_t>(digits[0] - '0');
}

// Returns the memory of each CPU device in bytes, or 0 for the memory of the machine.
std::size_t memory_from_environment() {
    constexpr const char* kVariable = "TEXTON_CPU_MEMORY";
    const char* const text = std::getenv(kVariable);
    if (text == nullptr || *text == '\0') return 0;
    const std::string_view all(text);
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), bytes);
    std::string_view unit(end, static_cast<std::size_t>(all.data() + all.size() - end));
    std::size_t shift = 0;
    if (!unit.empty()) {
        constexpr std::string_view kUnits = "KMGT";
        shift = 10 * (kUnits.find(unit[0]) + 1);  // 0 for others
        unit.remove_prefix(1);
    }
    const bool is_number = error == std::errc() && bytes <= SIZE_MAX >> shift;
    const bool is_unit =
        end == all.data() + all.size() || (shift != 0 && (unit.empty() || unit == "B" || unit == "iB"));
    if (!is_number || !is_unit)
        refuse_variable(kVariable, text, "Use a number of bytes, or one with a unit: 512M, 4G or 4GiB.");
    return bytes << shift;
}

// Returns the number of threads of each CPU device, or 0 if the devices share the threads of the process.
int threads_from_environment() {
    constexpr const char* kVariable = "TEXTON_CPU_THREADS";
    const char* const text = std::getenv(kVariable);
    if (text == nullptr || *text == '\0') return 0;
    const std::optional<int> threads = number_in(text);
    if (!threads || *threads < 1 || *threads > 1024)
        refuse_variable(kVariable, text, "Use the number of threads of each CPU device, 1 to 1024.");
    return *threads;
}

// Returns the ordinals of the CUDA devices to use, or nothing for all of them.
std::vector<int> ordinals_from_environment() {
    constexpr const char* kVariable = "TEXTON_CUDA_DEVICES";
    const char* const text = std::getenv(kVariable);
    if (text == nullptr || *text == '\0') return {};
    std::vector<int> ordinals;
    for (std::string_view rest(text);;) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        const std::optional<int> ordinal = number_in(rest.substr(0, end));
        if (!ordinal || ordinals.size() == kMaxCudaDevices)
            refuse_variable(
                kVariable, text,
                fmt::format("Use up to {} ordinals of CUDA devices, separated by commas: 0,1.", kMaxCudaDevices));
        ordinals.push_back(*ordinal);
        if (end == rest.size()) return ordinals;
        rest.remove_prefix(end + 1);
    }
}

// The backends are created on first use and never destroyed, because destructors of other static objects can free
// memory. A program that only uses the CPU device does not initialize CUDA.
std::vector<std::unique_ptr<detail::Backend>>& cpu_backends() {
    static auto& backends = *[] {
        const std::size_t count = count_from_environment(), memory = memory_from_environment();
        const int threads = threads_from_environment();
        auto made = std::make_unique<std::vector<std::unique_ptr<detail::Backend>>>();
        for (std::size_t i = 0; i < count; ++i)
            made->push_back(detail::make_cpu_device(static_cast<int>(i), memory, threads));
        return made.release();
    }();
    return backends;
}

detail::CudaDevices& cuda_backends() {
    static auto& made = *new detail::CudaDevices(detail::make_cuda_devices(ordinals_from_environment()));
    return made;
}

Device device_at(std::vector<std::unique_ptr<detail::Backend>>& backends, int index, const char* object,
                 const std::string& why_none) {
    if (index >= 0 && static_cast<std::size_t>(index) < backends.size()) {
        return Device(*backends[static_cast<std::size_t>(index)]);
    }
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = backends.empty()
                                ? fmt::format("device {} was requested, but there is none: {}", index, why_none)
                                : fmt::format("device {} was requested, but the number of devices is {}", index,
                                              backends.size()),
                 .remedy = backends.empty() ? "Use Device::best() or Device::cpu()."
                                            : "Indices start at 0. Device::list() returns all devices.",
                 .numbers = {{"index", static_cast<std::uint64_t>(index)}, {"devices", backends.size()}}});
}

void check_peer(const Device& device, const Device& peer) {
    if (device.kind() == peer.kind() && device != peer) return;
    throw Error(
        {.code = ErrorCode::wrong_device,
         .object = "texton::Device",
         .problem = fmt::format("direct access of {} to {} was requested", device.name(), peer.name()),
         .remedy =
             "Direct access needs two different devices of the same kind. copy() works between any two devices."});
}

}  // namespace

std::vector<Device> Device::list() try {
    std::vector<Device> devices = list(DeviceKind::cuda);
    const std::vector<Device> cpus = list(DeviceKind::cpu);
    devices.insert(devices.end(), cpus.begin(), cpus.end());
    return devices;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::Device::list");
}

std::vector<Device> Device::list(DeviceKind kind) try {
    std::vector<Device> devices;
    const auto& backends = kind == DeviceKind::cuda ? cuda_backends().devices : cpu_backends();
    for (const auto& backend : backends) devices.push_back(Device(*backend));
    return devices;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::Device::list");
}

Device Device::best() { return cuda_backends().devices.empty() ? cpu() : cuda(); }

Device Device::cuda(int index) {
    return device_at(cuda_backends().devices, index, "texton::Device::cuda", cuda_backends().why_none);
}

Device Device::cpu(int index) { return device_at(cpu_backends(), index, "texton::Device::cpu", {}); }

std::string Device::why_no_cuda() try {
    return cuda_backends().devices.empty() ? cuda_backends().why_none : std::string();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::Device::why_no_cuda");
}

DeviceKind Device::kind() const noexcept { return properties().kind; }
int Device::index() const noexcept { return properties().index; }
const std::string& Device::name() const noexcept { return properties().name; }
const DeviceProperties& Device::properties() const noexcept { return backend_->properties(); }
const DeviceLimits& Device::limits() const noexcept { return backend_->limits(); }

MemoryInfo Device::memory() const {
    return detail::request(backend_, "texton::Device", {}, [&] { return backend_->memory_info(); });
}

// A recording that begins between the check and the wait is not noticed. A lock over both would make the beginnings of
// recordings wait for all work of the device, and would be a deadlock if this work waits for the thread that records.
void Device::synchronize() const {
    detail::refuse_while_recording("texton::Device", "waiting for the device");
    detail::free_pending();
    if (detail::anyone_recording()) {
        throw Error(
            {.code = ErrorCode::capturing,
             .object = "texton::Device",
             .problem = "waiting for the device would invalidate the capture of another thread, which records a graph",
             .remedy = "Wait for single streams with Stream::synchronize() instead."});
    }
    detail::request(backend_, "texton::Device", {}, [&] { backend_->synchronize(); });
}

bool Device::can_access(const Device& peer) const {
    if (kind() != peer.kind() || *this == peer) return *this == peer;
    return detail::request(backend_, "texton::Device", {}, [&] { return backend_->can_access_peer(peer.backend()); });
}

void Device::enable_access(const Device& peer) const {
    check_peer(*this, peer);
    if (!can_access(peer)) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::Device",
                     .problem = fmt::format("{} does not support direct access to {}", name(), peer.name()),
                     .remedy = "Use copy(), which does not need direct access."});
    }
    detail::request(backend_, "texton::Device", {}, [&] { backend_->set_peer_access(peer.backend(), true); });
}

void Device::disable_access(const Device& peer) const {
    check_peer(*this, peer);
    detail::request(backend_, "texton::Device", {}, [&] { backend_->set_peer_access(peer.backend(), false); });
}

std::string to_string(const Location& location) {
    switch (location.kind) {
        case LocationKind::none: return "no location";
        case LocationKind::device:
            return fmt::format("{} device {}", location.device_kind == DeviceKind::cuda ? "CUDA" : "CPU", location.id);
        case LocationKind::host: return "the host";
        case LocationKind::host_numa: return fmt::format("host NUMA node {}", location.id);
        case LocationKind::host_numa_current: return "the nearest host NUMA node";
    }
    return "an unknown location";
}

}  // namespace texton
