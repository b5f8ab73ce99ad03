// Compares compare() with a copy of one of the images, which moves as many bytes as reading both images does.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <texton/copy.h>
#include <texton/linear.h>
#include <texton/metrics.h>

#include "tests/bench/comparison.h"

namespace texton::bench {
namespace {

constexpr Extent kCpuExtent{2048, 2048}, kCudaExtent{8192, 8192};
constexpr double kTexelRatio = 16;  // texels of kCudaExtent for each texel of kCpuExtent
constexpr unsigned kCores = 16;     // of the CPU for which there are requirements

struct Metric {
    const char* name;
    ComparisonOptions options;
    double cpu_time;   ///< maximum for images of kCudaExtent, rgba8_unorm, on a CPU with kCores; microseconds, 0: none
    double cuda_time;  ///< the same on a GPU
};

bool is_cpu(const Device& device) { return device.kind() == DeviceKind::cpu; }

Target target_of(const Device& device, Format format, const Metric& metric) {
    if (format != Format::rgba8_unorm || (is_cpu(device) && std::thread::hardware_concurrency() < kCores)) return {};
    const double microseconds = is_cpu(device) ? metric.cpu_time / kTexelRatio : metric.cuda_time;
    return microseconds == 0 ? Target{} : Target{Target::Kind::own_time_at_most, microseconds};
}

/// Two images in memory of a device. Every fourth texel of the second one differs, in one of its channels.
struct Images {
    Images(const Device& device, Format format, Extent extent)
        : stream(device), a(device, format, extent), b(device, format, extent) {
        const std::size_t texel = info(format).bytes, channel = texel / static_cast<unsigned>(info(format).channels);
        std::vector<std::byte> texels(a.bytes());
        std::mt19937 random(1);
        for (std::size_t i = 0; i < texels.size(); i += channel) texels[i] = static_cast<std::byte>(random());
        if (info(format).kind == FormatKind::floating) {  // numbers from 1/8 to 1
            const std::size_t upper = channel - 1;
            for (std::size_t i = upper; i < texels.size(); i += channel) texels[i] = std::byte{0x3a};
        }
        const auto all = [&] { return host_view(static_cast<const void*>(texels.data()), format, extent); };
        copy(a.view(format, extent), all());
        for (std::size_t i = 0; i < texels.size(); i += 4 * texel)
            texels[i + random() % static_cast<unsigned>(info(format).channels) * channel] ^= std::byte{1};
        copy(b.view(format, extent), all());
    }

    Stream stream;
    Linear a;
    Linear b;
};

Sides sides(const Device& device, Format format, const ComparisonOptions& options) {
    const Extent extent = is_cpu(device) ? kCpuExtent : kCudaExtent;
    const auto images = std::make_shared<Images>(device, format, extent);
    const auto copied = std::make_shared<Linear>(device, images->a.bytes());
    return {
        [=] { (void)compare(images->stream, images->a.view(format, extent), images->b.view(format, extent), options); },
        [=] {
            copy(copied->view(), images->a.view(), images->stream);
            images->stream.synchronize();
        }};
}

const bool registered = add_suite([] {
    const Metric metrics[] = {
        {"differences", {.ssim = false}, 0, 0},
        {"differences and SSIM", {}, 150'000, 5'000},
        {"differences and FLIP", {.ssim = false, .flip = true, .flip_errors = false}, 2'000'000, 50'000}};
    std::vector<Device> devices{Device::cpu()};
    if (Device::best().kind() == DeviceKind::cuda) devices.push_back(Device::best());
    for (const Device& device : devices) {
        const char* const kind = is_cpu(device) ? "cpu" : "cuda";
        for (const Format format :
             {Format::rgba8_unorm, Format::r8_unorm, Format::rgba16_unorm, Format::rgba16_float}) {
            for (const Metric& metric : metrics) {
                add({std::string(kind) + "/compare/" + std::string(name(format)) + ", " + metric.name,
                     target_of(device, format, metric),
                     [=, options = metric.options] { return sides(device, format, options); }, 0, 1, 5});
            }
        }
    }
});

}  // namespace
}  // namespace texton::bench
