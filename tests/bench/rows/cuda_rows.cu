// Measures kernels on one GPU beside their limits, in three tables:
//
//     grid    time of a call divided by its limit, for many formats, sizes and kernels. The limit is the largest of the
//             times of an empty launch plus 2 us, of a copy that reads and writes as many bytes, and of the sums,
//             comparisons and fetches that the kernel's definition needs, at the rates of the GPU's units
//     colors  shares of a copy's speed, for the pointwise kernels
//     launch  host time of a call on a small image, beside the launch of an empty CUDA kernel
//
// Images contain noise, since equal texels would have no conflicts in tables.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/cuda_arrays.h>
#include <texton/cuda_interop.h>
#include <texton/error.h>
#include <texton/graph.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/pool.h>

#include "tests/bench/rows/gpu_rates.h"

namespace {

using namespace texton;
using Values = std::map<std::string, ParameterValue>;

constexpr Format kFormats[] = {Format::r8_unorm,    Format::rg8_unorm,    Format::rgba8_unorm,  Format::rgba8_srgb,
                               Format::r16_unorm,   Format::rg16_unorm,   Format::rgba16_unorm, Format::r16_float,
                               Format::rg16_float,  Format::rgba16_float, Format::r32_float,    Format::rg32_float,
                               Format::rgba32_float};

struct LaunchArguments {
    std::array<std::uint64_t, 48> words;  ///< as many bytes as the arguments of a pointwise kernel
};
__global__ void empty(const __grid_constant__ LaunchArguments) {}

void must(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

double median_of(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// The side of the image that a kernel reads, relative to `extent` of the table, and the size of the image it writes.
enum class Sides { same, half, twice };

struct Row {
    const char* name;
    const char* kernel;
    Values values{};
    bench::Work work{};
    Sides sides = Sides::same;
};

std::vector<Row> rows_of_grid() {
    const auto sigma = [](double radius) { return Values{{"sigma", radius / 3 + 0.2}, {"radius", radius}}; };
    const auto filter = [](const char* name) { return Values{{"filter", std::string(name)}}; };
    const Values turned{{"map", std::vector<double>{0.96, -0.17, 40, 0.17, 0.96, -30}}};
    std::vector<Row> rows{{"color_matrix", "color_matrix", {}, {.sums = 4}},
                          {"swizzle", "swizzle"},
                          {"gaussian 1", "gaussian", sigma(1), {.sums = 6}},
                          {"gaussian 2", "gaussian", sigma(2), {.sums = 10}},
                          {"gaussian 8", "gaussian", sigma(8), {.sums = 34}}};
    static constexpr const char* kNames[2][4] = {{"linear half", "catmull half", "lanczos half", "area half"},
                                                 {"linear double", "catmull double", "lanczos double", "area double"}};
    constexpr const char* kFilters[] = {"linear", "catmull_rom", "lanczos3", "area"};
    constexpr bench::Work kHalf[] = {{.fetches = 1}, {.sums = 8}, {.sums = 24}, {.sums = 4}};
    constexpr bench::Work kDouble[] = {{.fetches = 1}, {.sums = 8}, {.sums = 12}, {.sums = 2}};
    for (int i = 0; i < 4; ++i) rows.push_back({kNames[0][i], "resample", filter(kFilters[i]), kHalf[i], Sides::half});
    for (int i = 0; i < 4; ++i)
        rows.push_back({kNames[1][i], "resample", filter(kFilters[i]), kDouble[i], Sides::twice});
    rows.push_back({"mips", "mips", {}, {.sums = 4}});
    rows.push_back({"warp_affine", "warp_affine", turned, {.fetches = 1}});
    rows.push_back({"median 3", "median", {{"window", std::string("3")}}, {.comparisons = 2 * 19}});
    rows.push_back({"median 5", "median", {{"window", std::string("5")}}, {.comparisons = 2 * 99}});
    return rows;
}

class Bench {
public:
    Bench() {
        cudaDeviceProp properties{};
        int driver = 0;
        must(cudaGetDeviceProperties(&properties, 0));
        multiprocessors_ = properties.multiProcessorCount;
        must(cudaDriverGetVersion(&driver));
        std::printf("%s, CUDA %d, driver for CUDA %d\n", properties.name, CUDART_VERSION, driver);
        Pool::default_of(device_).set_release_threshold(~std::uint64_t{0});
        empty_ = seconds([&] { launch_empty(); }, 200);
        std::printf("empty launch %.2f us\n", empty_ * 1e6);
    }

    void grid(std::span<const Extent> extents, std::string_view only, double budget);
    void colors(const Extent& extent, std::string_view only);
    void launch();

private:
    struct Images {
        std::vector<Linear> memory;
        std::vector<View> views;
        double bytes = 0;
    };

    void launch_empty() const {
        empty<<<static_cast<unsigned>(multiprocessors_), 32, 0, native(stream_)>>>(LaunchArguments{});
    }
    bench::RateMeter rate_meter() {
        return {multiprocessors_, native(stream_), copied_.data(),
                [this](const std::function<void()>& launch) { return seconds(launch, 10); }};
    }

    /// Returns the time of a run in seconds: the median over five series of `times` runs in a row.
    double seconds(const std::function<void()>& run, int times) const {
        cudaEvent_t begin = nullptr, end = nullptr;
        must(cudaEventCreate(&begin));
        must(cudaEventCreate(&end));
        std::vector<double> measured;
        run();
        for (int round = 0; round < 5; ++round) {
            must(cudaEventRecord(begin, native(stream_)));
            for (int i = 0; i < times; ++i) run();
            must(cudaEventRecord(end, native(stream_)));
            must(cudaEventSynchronize(end));
            float milliseconds = 0;
            must(cudaEventElapsedTime(&milliseconds, begin, end));
            measured.push_back(static_cast<double>(milliseconds) / 1e3 / times);
        }
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
        return median_of(measured);
    }
    /// Returns the host time of a run in seconds.
    double host_seconds(const std::function<void()>& run) const {
        using Clock = std::chrono::steady_clock;
        constexpr int kTimes = 200;  // fewer than the launches that a stream accepts before it blocks
        std::vector<double> measured;
        run();
        for (int round = 0; round < 21; ++round) {
            stream_.synchronize();
            const auto begin = Clock::now();
            for (int i = 0; i < kTimes; ++i) run();
            measured.push_back(std::chrono::duration<double>(Clock::now() - begin).count() / kTimes);
        }
        stream_.synchronize();
        return median_of(measured);
    }
    /// Runs in a row, so that a series takes about 2 ms and at most 50 runs.
    static int times_for(double bytes) { return static_cast<int>(std::clamp(5e9 / bytes, 2.0, 50.0)); }
    double copy_seconds(double bytes) const {
        const auto half = static_cast<std::size_t>(bytes / 2);
        return seconds(
            [&] {
                must(cudaMemcpyAsync(copied_.data(), copied_.data() + copied_.bytes() / 2, half,
                                     cudaMemcpyDeviceToDevice, native(stream_)));
            },
            times_for(bytes));
    }

    /// Returns an array of noise. Floats are between 2^-3 and 1.
    Array noise(Format format, const Extent& extent) {
        std::vector<std::uint32_t> words(std::size_t{1} << 20);
        const bool halves = info(format).kind == FormatKind::floating && info(format).bits == 16;
        const bool floats = info(format).kind == FormatKind::floating && info(format).bits == 32;
        for (std::uint32_t& word : words) {
            word = random_();
            if (halves) word = (word & 0x07ff07ffU) + 0x33003300U;
            if (floats) word = (word & 0x00ffffffU) + 0x3e800000U;
        }
        const Array array(device_, {.format = format, .extent = extent});
        const std::size_t row = packed_bytes(format, {extent.width, 1});
        const std::size_t rows = std::clamp<std::size_t>(words.size() * 4 / row, 1, extent.height);
        const Linear part(device_, format, {extent.width, rows});
        copy(part.view(format, {extent.width, rows}), host_view(words.data(), format, {extent.width, rows}));
        for (std::size_t y = 0; y < extent.height; y += rows) {
            const Extent here{extent.width, std::min(rows, extent.height - y)};
            copy(array.view().region({{0, y}, here}), part.view(format, here));
        }
        return array;
    }
    Images images_of(const std::vector<ImageShape>& shapes) const {
        Images images;
        for (const ImageShape& shape : shapes) {
            images.memory.emplace_back(device_, shape.format, shape.extent);
            images.views.push_back(images.memory.back().view(shape.format, shape.extent));
            images.bytes += static_cast<double>(packed_bytes(shape.format, shape.extent));
        }
        return images;
    }

    Device device_ = Device::cuda(0);
    Stream stream_{device_};
    Linear copied_{device_, std::size_t{1} << 32};
    std::mt19937 random_{1};
    double empty_ = 0;
    int multiprocessors_ = 0;
};

Extent halved(const Extent& extent) {
    return {std::max<std::size_t>(extent.width / 2, 1), std::max<std::size_t>(extent.height / 2, 1)};
}

void Bench::grid(std::span<const Extent> extents, std::string_view only, double budget) {
    struct Cell {
        std::string name;
        double ratio, time, limit;
    };
    std::vector<Cell> slow;
    std::size_t cells = 0;
    const std::vector<Row> rows = rows_of_grid();
    const bench::RateMeter meter = rate_meter();
    const bench::GpuRates rates = meter.rates();
    std::printf("10^12 operations a second: %.1f sums, %.1f minima of floats, %.1f of codes\n10^9 fetches a second:",
                rates.sums * 1e-12, rates.float_comparisons * 1e-12, rates.code_comparisons * 1e-12);
    std::array<double, std::size(kFormats)> fetches{};
    for (std::size_t column = 0; column < std::size(kFormats); ++column) {
        constexpr Extent kTexels{bench::rates::kTexels, bench::rates::kTexels};
        const Array array = noise(kFormats[column], kTexels);
        fetches[column] = meter.fetches(native(Texture(array, {.filter = Filter::linear})));
        std::printf(" %.0f of %s", fetches[column] * 1e-9, std::string(name(kFormats[column])).c_str());
    }
    std::printf("\n");
    // Time of the operations that the definition of a kernel needs.
    const auto work_seconds = [&](const bench::Work& work, std::size_t column, const Images& images) {
        const Format format = kFormats[column];
        const double pixels = images.bytes / static_cast<double>(packed_bytes(format, {1}));
        const double values = pixels * info(format).channels;
        const bool are_codes = info(format).bits <= 16;
        return std::max({values * work.sums / rates.sums, pixels * work.fetches / fetches[column],
                         values * work.comparisons / (are_codes ? rates.code_comparisons : rates.float_comparisons)});
    };
    for (const Extent& extent : extents) {
        std::printf("\n%zu x %zu, time / limit\n%-15s", extent.width, extent.height, "");
        for (const Format format : kFormats) std::printf(" %12s", std::string(name(format)).c_str());
        std::vector<std::array<double, std::size(kFormats)>> ratios(rows.size());
        for (std::size_t column = 0; column < std::size(kFormats); ++column) {
            const Format format = kFormats[column];
            std::map<double, double> copies;
            for (const bool small : {false, true}) {
                const Array array = noise(format, small ? halved(extent) : extent);
                const Texture texture(array, {.filter = Filter::linear});
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    const Row& row = rows[i];
                    if ((row.sides == Sides::twice) != small) continue;
                    if (!only.empty() && std::string_view(row.name).find(only) == std::string_view::npos) continue;
                    try {
                        const Kernel& kernel = kernel_named(row.kernel);
                        const Arguments arguments(kernel.info, row.values);
                        std::vector<ImageShape> shapes = texton::shapes(kernel, arguments, {&texture, 1});
                        if (row.sides == Sides::half) shapes[0].extent = halved(extent);
                        if (row.sides == Sides::twice) shapes[0].extent = extent;
                        const Images images = images_of(shapes);
                        const double bytes =
                            images.bytes + static_cast<double>(packed_bytes(format, array.info().extent));
                        if (!copies.contains(bytes)) copies[bytes] = copy_seconds(bytes);
                        const double time = seconds(
                            [&] {
                                enqueue(kernel, stream_, images.views, arguments, {&texture, 1});
                            },
                            times_for(bytes));
                        const double limit =
                            std::max({empty_ + 2e-6, copies[bytes], work_seconds(row.work, column, images)});
                        ratios[i][column] = time / limit;
                        ++cells;
                        if (time > budget * limit)
                            slow.push_back({std::string(row.name) + " " + std::string(name(format)) + " " +
                                                std::to_string(extent.width) + " x " + std::to_string(extent.height),
                                            time / limit, time, limit});
                    } catch (const Error& error) {
                        std::printf("\n%s %s: %s\n", row.name, std::string(name(format)).c_str(), error.what());
                    }
                }
            }
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::printf("\n%-15s", rows[i].name);
            for (const double ratio : ratios[i]) std::printf(" %11.2f%c", ratio, ratio > budget ? '*' : ' ');
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    std::ranges::sort(slow, std::greater{}, &Cell::ratio);
    std::printf("\n%zu of %zu cells take more than %.1f times their limit\n", slow.size(), cells, budget);
    for (const Cell& cell : slow)
        std::printf("%-42s %6.2f  %10.1f us of %10.1f us\n", cell.name.c_str(), cell.ratio, cell.time * 1e6,
                    cell.limit * 1e6);
}

void Bench::colors(const Extent& extent, std::string_view only) {
    constexpr const char* kKernels[] = {"color_matrix", "grade",        "exposure", "tone_curve", "transfer",
                                        "to_srgb",      "change_alpha", "swizzle",  "blend"};
    std::printf("\n%zu x %zu, share of a copy's speed\n%-15s", extent.width, extent.height, "");
    for (const char* kernel : kKernels) std::printf(" %12s", kernel);
    for (const Format format : kFormats) {
        if (name(format).find(only) == std::string_view::npos) continue;
        const Array arrays[] = {noise(format, extent), noise(format, extent)};
        const Sampler sampler{.filter = Filter::linear};
        const Texture textures[] = {Texture(arrays[0], sampler), Texture(arrays[1], sampler)};
        const Pitched2D image(device_, format, extent);
        std::printf("\n%-15s", std::string(name(format)).c_str());
        for (const std::string_view named : kKernels) {
            const bool to_srgb = named == "to_srgb";
            const Kernel& kernel = kernel_named(to_srgb ? "transfer" : named);
            const Arguments arguments(
                kernel.info,
                to_srgb ? Values{{"direction", std::string("to_srgb")}}
                : named == "color_matrix"
                    ? Values{{"matrix", std::vector<double>{.7, .2, .1, 0, .1, .8, .1, 0, .1, .1, .8, .01}}}
                    : Values{});
            const View view = image.view();
            const std::size_t read = named == "blend" ? 2 : 1;
            const double bytes = static_cast<double>((read + 1) * packed_bytes(format, extent));
            const double time = seconds(
                [&] {
                    enqueue(kernel, stream_, {&view, 1}, arguments, {textures, read});
                },
                times_for(bytes));
            std::printf(" %12.2f", copy_seconds(bytes) / time);
        }
        std::fflush(stdout);
    }
    std::printf("\n");
}

void Bench::launch() {
    constexpr Extent kExtent{64, 64};
    constexpr Format kFormat = Format::rgba8_unorm;
    const double alone = host_seconds([&] { launch_empty(); });
    std::printf("\n%zu x %zu %s, host time of a call; an empty launch takes %.2f us\n", kExtent.width, kExtent.height,
                std::string(name(kFormat)).c_str(), alone * 1e6);
    const Array array = noise(kFormat, kExtent);
    const Texture texture(array, {.filter = Filter::linear});
    for (const char* named : {"color_matrix", "exposure", "swizzle", "gaussian", "median", "resample", "warp_affine",
                              "statistics", "mips"}) {
        const Kernel& kernel = kernel_named(named);
        const Arguments arguments(kernel.info, {});
        const Images images = images_of(shapes(kernel, arguments, {&texture, 1}));
        const auto run = [&] { enqueue(kernel, stream_, images.views, arguments, {&texture, 1}); };
        run();
        const Graph graph = Graph::capture(stream_, run);
        const double time = host_seconds(run);
        const double whole = seconds(run, 200);
        std::printf("%-14s %6.2f us, %6.2f us more; in a row %6.2f us; a graph of %zu nodes\n", named, time * 1e6,
                    (time - alone) * 1e6, whole * 1e6, graph.size());
    }
}

}  // namespace

int main(int count, char** arguments) try {
    const std::vector<std::string_view> words(arguments + 1, arguments + count);
    if (words.empty() || words[0] == "--help") {
        std::printf("usage: texton-cuda-rows grid [PART_OF_NAME] | colors [SIDE [PART_OF_FORMAT]] | launch\n");
        return words.empty() ? 2 : 0;
    }
    Bench bench;
    if (words[0] == "grid") {
        constexpr Extent kExtents[] = {{64, 64},     {500, 500},   {1023, 1023}, {4096, 4096},
                                       {8191, 8191}, {8192, 8192}, {8192, 1}};
        bench.grid(kExtents, words.size() > 1 ? words[1] : "", 2);
    } else if (words[0] == "colors") {
        const std::size_t side = words.size() > 1 ? std::stoul(std::string(words[1])) : 8192;
        bench.colors({side, side}, words.size() > 2 ? words[2] : "");
    } else if (words[0] == "launch") {
        bench.launch();
    } else {
        std::printf("unknown table: %s\n", arguments[1]);
        return 2;
    }
    return 0;
} catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
}
