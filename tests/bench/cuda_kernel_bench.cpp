// Compares registered kernels with a device-to-device copy that moves as many bytes: the ratio is the fraction of the
// memory limit. tests/bench/run compares their times with those of PyTorch and CuPy.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/graph.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/pixel_encode.h>
#include <texton/pool.h>

#include "arrays/unit/texel_format.h"
#include "tests/bench/comparison.h"
#include "tests/bench/cuda_call.h"

namespace texton::bench {
namespace {

using Values = std::map<std::string, ParameterValue>;

constexpr Extent kSide{8192, 8192};
constexpr int kTimes = 5;  // runs per call

struct Case {
    std::string name;
    const char* kernel;
    std::vector<ArrayInfo> inputs;
    Sampler sampler;
    Values values{};
    std::vector<ImageShape> images{};  // empty: the shapes that the kernel proposes
    Target target{};
};

/// Fills an array with ramps and noise: neighboring texels are similar, but not equal. The pattern repeats every 512
/// texels.
void fill_like_an_image(const Array& array) {
    const Extent extent = array.view().extent();
    const Extent tile{std::min<std::size_t>(512, extent.width), std::min<std::size_t>(512, extent.height),
                      extent.depth};
    const detail::PixelFormat format{detail::texel_format(array.info().format), false};
    std::mt19937 random(1);
    std::vector<std::byte> texels;
    const auto channel = [&](std::size_t along, std::size_t side) {
        const double noise = static_cast<double>(random() & 0xffff) * 0x1p-21;
        return detail::bits_of(
            static_cast<float>(static_cast<double>(along) / static_cast<double>(side) * 0.95 + noise));
    };
    for (std::size_t z = 0; z < tile.depth; ++z) {
        for (std::size_t y = 0; y < tile.height; ++y) {
            for (std::size_t x = 0; x < tile.width; ++x) {
                const detail::Pixel pixel =
                    detail::encode_pixel({{channel(x, tile.width), channel(y, tile.height),
                                           channel(x + y, tile.width + tile.height), channel(z, tile.depth)}},
                                         format);
                const auto* bytes = reinterpret_cast<const std::byte*>(pixel.word);
                texels.insert(texels.end(), bytes, bytes + format.stored.bytes);
            }
        }
    }
    const ConstView from = host_view(texels.data(), array.info().format, tile);
    for (std::size_t y = 0; y < extent.height; y += tile.height) {
        for (std::size_t x = 0; x < extent.width; x += tile.width) copy(array.view().region({{x, y}, tile}), from);
    }
}

struct Work {
    explicit Work(const Case& of)
        : kernel(kernel_named(of.kernel)), arguments(kernel.info, of.values), stream(Device::cuda()) {
        for (const ArrayInfo& info : of.inputs) {
            const Array array(Device::cuda(), info);
            fill_like_an_image(array);
            inputs.emplace_back(array, of.sampler);
            bytes += packed_bytes(info.format, array.view().extent());
        }
        for (const ImageShape& shape : of.images.empty() ? shapes(kernel, arguments, inputs) : of.images) {
            memory.emplace_back(Device::cuda(), shape.format, shape.extent);
            images.push_back(memory.back().view(shape.format, shape.extent));
            bytes += packed_bytes(shape.format, shape.extent);
        }
    }
    void enqueue() const { texton::enqueue(kernel, stream, images, arguments, inputs); }

    const Kernel& kernel;
    Arguments arguments;
    Stream stream;
    std::vector<Texture> inputs;
    std::vector<Linear> memory;
    std::vector<View> images;
    std::size_t bytes = 0;  // inputs and outputs, each counted once
};

Sides beside_a_copy(const Case& of) {
    // The pool keeps scratch memory between calls, as in programs that process many images.
    Pool::default_of(Device::cuda()).set_release_threshold(~std::uint64_t{0});
    auto work = std::make_shared<Work>(of);
    auto copied = std::make_shared<Linear>(Device::cuda(), work->bytes);
    return {[=] {
                for (int i = 0; i < kTimes; ++i) work->enqueue();
                work->stream.synchronize();
            },
            [=] {
                const std::size_t half =
                    copied->bytes() / 512 * 256;  // aligned to 256 bytes, for which copies are fast
                for (int i = 0; i < kTimes; ++i)
                    must(cudaMemcpyAsync(copied->data(), copied->data() + half, half, cudaMemcpyDeviceToDevice));
                must(cudaStreamSynchronize(nullptr));
            }};
}

// Compares a captured graph of many calls on a small image with the same calls without a graph.
Sides in_a_graph(const Case& of) {
    constexpr int kCalls = 100;
    auto work = std::make_shared<Work>(of);
    work->enqueue();
    work->stream.synchronize();
    auto graph = std::make_shared<Graph>(Graph::capture(work->stream, [&] {
        for (int i = 0; i < kCalls; ++i) work->enqueue();
    }));
    return {[=] {
                graph->launch(work->stream);
                work->stream.synchronize();
            },
            [=] {
                for (int i = 0; i < kCalls; ++i) work->enqueue();
                work->stream.synchronize();
            }};
}

ArrayInfo whole(Format format) { return {.format = format, .extent = kSide}; }

const bool added = add_suite([] {
    if (!Device::why_no_cuda().empty()) return;  // cpu_bench.cpp adds the note
    using enum Target::Kind;
    const Sampler linear{.filter = Filter::linear};
    const Sampler along{.filter = Filter::linear, .normalized_coordinates = true};
    const Values turned{{"map", std::vector<double>{0.96, -0.17, 400, 0.17, 0.96, -300}}};
    const Values wide{{"sigma", 8.0 / 3}, {"radius", 8.0}};
    const Values area{{"filter", std::string("area")}};
    const auto half = [](Format format) { return std::vector<ImageShape>{{{4096, 4096}, format}}; };
    std::vector<Case> cases;
    for (const Format format : {Format::rgba32_float, Format::r32_float, Format::rgba16_float, Format::rgba8_unorm}) {
        const double share = format == Format::rgba32_float ? 0.8 : 0.75;
        const std::string of(name(format));
        const Target target = format == Format::r32_float ? Target{} : Target{speed_at_least, share};
        cases.push_back({"warp " + of, "warp_affine", {whole(format)}, linear, turned, {}, target});
        cases.push_back({"mips " + of, "mips", {whole(format)}, {}, {}, {}, {speed_at_least, 0.85}});
        const Target passes = format == Format::rgba32_float ? Target{speed_at_least, 0.32} : Target{};
        cases.push_back({"gaussian " + of, "gaussian", {whole(format)}, {}, wide, {}, passes});
        cases.push_back({"half " + of, "resample", {whole(format)}, {}, area, half(format), {}});
        for (const char* filter : {"catmull_rom", "lanczos3"}) {
            const Values values{{"filter", std::string(filter)}};
            cases.push_back(
                {fmt::format("{} half {}", filter, of), "resample", {whole(format)}, {}, values, half(format), {}});
            cases.push_back({fmt::format("{} double {}", filter, of),
                             "resample",
                             {{.format = format, .extent = {4096, 4096}}},
                             {},
                             values,
                             {{{8192, 8192}, format}},
                             {}});
        }
    }
    cases.push_back({"nv12 to rgba8",
                     "to_rgb",
                     {whole(Format::r8_unorm), {.format = Format::rg8_unorm, .extent = {4096, 4096}}},
                     linear,
                     {},
                     {},
                     {speed_at_least, 0.8}});
    cases.push_back({"rgba8 to nv12", "from_rgb", {whole(Format::rgba8_unorm)}, {}, {}, {}, {speed_at_least, 0.8}});
    // The time is limited by linear fetches in three dimensions, which are slowest for rgba32_float.
    for (const Format table :
         {Format::rgba16_float, Format::rgb10a2_unorm, Format::rgba8_unorm, Format::rgba32_float}) {
        const Target target = table == Format::rgba32_float ? Target{} : Target{speed_at_least, 0.8};
        cases.push_back(
            {fmt::format("lut_3d rgba8_unorm, table {}", name(table)),
             "lut_3d",
             {whole(Format::rgba8_unorm), {.format = table, .extent = {33, 33, 33}, .kind = ArrayKind::array_3d}},
             linear,
             {},
             {},
             target});
    }
    cases.push_back({"exposure rgba8_unorm",
                     "exposure",
                     {whole(Format::rgba8_unorm)},
                     {},
                     {{"stops", -1.0}},
                     {},
                     {speed_at_least, 0.8}});
    for (const char* kernel : {"histogram", "statistics"})
        cases.push_back({fmt::format("{} rgba8_unorm", kernel),
                         kernel,
                         {whole(Format::rgba8_unorm)},
                         {},
                         {},
                         {},
                         {speed_at_least, 0.7}});
    cases.push_back({"equirect_to_cube rgba8_unorm",
                     "equirect_to_cube",
                     {{.format = Format::rgba8_unorm, .extent = {8192, 4096}}},
                     along,
                     {{"side", 2048.0}},
                     {},
                     {speed_at_least, 0.7}});
    for (const Case& of : cases) {
        add({fmt::format("cuda/kernel/{} (cudaMemcpy)", of.name), of.target, [=] { return beside_a_copy(of); }, 0,
             kTimes});
    }
    for (const char* kernel : {"resample", "gaussian", "warp_affine"}) {
        const Case small{kernel, kernel, {{.format = Format::rgba8_unorm, .extent = {256, 256}}}, linear};
        add({fmt::format("cuda/graph/{} 256x256 (calls)", kernel),
             {time_at_most, 1.15},
             [=] { return in_a_graph(small); },
             0,
             100});
    }
});

}  // namespace
}  // namespace texton::bench
