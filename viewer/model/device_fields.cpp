#include "viewer/model/device_fields.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace texton::viewer {
namespace {

constexpr std::string_view kDigits = "0123456789";

// Returns true for "580.159.04": numbers with points between them.
bool is_version(std::string_view word) {
    const bool has_point = word.find('.') != std::string_view::npos;
    return has_point && word.find_first_not_of("0123456789.") == std::string_view::npos &&
           kDigits.find(word.front()) != std::string_view::npos && kDigits.find(word.back()) != std::string_view::npos;
}

// Asks NVML, which systems without /proc/driver have, such as WSL.
std::string release_of_nvml() {
    constexpr unsigned kLength = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    const auto start = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlInit_v2"));
    const auto version = reinterpret_cast<int (*)(char*, unsigned)>(::dlsym(library, "nvmlSystemGetDriverVersion"));
    const auto stop = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlShutdown"));
    std::array<char, kLength + 1> text{};
    if (start != nullptr && version != nullptr && stop != nullptr && start() == 0) {
        if (version(text.data(), kLength) != 0) text[0] = '\0';
        stop();
    }
    ::dlclose(library);
    return text.data();
}

// Returns the model of the processor, which the name of the CPU device contains: "CPU device 0 (MODEL)".
std::string processor_model() {
    const std::string name = Device::cpu().name();
    const std::size_t begin = name.find('('), end = name.rfind(')');
    return begin < end && end != std::string::npos ? name.substr(begin + 1, end - begin - 1) : name;
}

}  // namespace

std::string driver_release_in(std::string_view text) {
    std::istringstream words(std::string(text.substr(0, text.find('\n'))));
    for (std::string word; words >> word;)
        if (is_version(word)) return word;
    return {};
}

std::string driver_release() {
    static const std::string release = [] {
        std::ifstream file("/proc/driver/nvidia/version");
        std::string line;
        std::getline(file, line);
        std::string found = driver_release_in(line);
        return found.empty() ? release_of_nvml() : found;
    }();
    return release;
}

DeviceFields fields_of(const Device& device) {
    static const std::string cpu = processor_model();
    const DeviceProperties& properties = device.properties();
    return {.name = device.name(),
            .compute_capability = fmt::format("{}.{}", properties.compute_major, properties.compute_minor),
            .driver_release = device.kind() == DeviceKind::cuda ? driver_release() : "",
            .driver_version = properties.driver_version,
            .cpu = cpu};
}

}  // namespace texton::viewer
