// Measures kernels beside their counterparts in NPP, the image library of the CUDA Toolkit, on one GPU.
//
// Both sides work on the same images in turns. A ratio is NPP's time divided by Texton's, the median over the rounds.
// Where NPP does less work, its time is multiplied by a factor, and both ratios are printed.
#include <cuda_runtime_api.h>
#include <nppcore.h>
#include <nppi.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <texton/array.h>
#include <texton/color.h>
#include <texton/copy.h>
#include <texton/cuda_interop.h>
#include <texton/error.h>
#include <texton/filter.h>
#include <texton/linear.h>
#include <texton/lut.h>
#include <texton/pitched.h>
#include <texton/resample.h>
#include <texton/statistics.h>
#include <texton/warp.h>

namespace {

using namespace texton;

constexpr int kRounds = 11;
constexpr int kRuns = 3;  // of a round
constexpr Sampler kLinear{.filter = Filter::linear};

void must(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

void must(NppStatus status) {
    if (status < NPP_SUCCESS) throw std::runtime_error("NPP status " + std::to_string(status));
}

class Bench {
public:
    Bench(std::size_t side, std::string filter, std::vector<Format> formats)
        : side_(side), filter_(std::move(filter)), formats_(std::move(formats)) {
        cudaDeviceProp properties{};
        must(cudaGetDeviceProperties(&properties, 0));
        context.hStream = native(stream);
        context.nMultiProcessorCount = properties.multiProcessorCount;
        context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
        context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
        context.nSharedMemPerBlock = properties.sharedMemPerBlock;
        context.nCudaDevAttrComputeCapabilityMajor = properties.major;
        context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
        must(cudaStreamGetFlags(context.hStream, &context.nStreamFlags));
        const NppLibraryVersion* const version = nppGetLibVersion();
        std::printf("%s, CUDA %d, NPP %d.%d, %zu x %zu\n", properties.name, CUDART_VERSION, version->major,
                    version->minor, side, side);
        measure_copy();
        std::printf("a copy moves %.2f TB/s\n", copy_rate_ / 1e12);
    }

    int side() const { return static_cast<int>(side_); }
    Extent extent() const { return {side_, side_}; }

    // Returns true if the format is to be measured, or if the rows of all formats are.
    bool wants(Format format) const {
        return formats_.empty() || std::ranges::find(formats_, format) != formats_.end();
    }

    // Prints a row. `bytes` are read and written by one run. `factor` is the work of Texton divided by that of NPP.
    void row(const std::string& name, double bytes, const std::function<void()>& ours,
             const std::function<NppStatus()>& theirs, double factor = 1) {
        if (name.find(filter_) == std::string::npos) return;
        try {
            ours();
            must(theirs());
            must(cudaStreamSynchronize(context.hStream));
            std::vector<double> our_times, their_times, ratios;
            for (int round = 0; round < kRounds; ++round) {
                our_times.push_back(seconds(ours));
                their_times.push_back(seconds([&] { must(theirs()); }));
                ratios.push_back(their_times.back() / our_times.back());
            }
            const double ratio = median_of(ratios), time = median_of(our_times);
            std::printf("%-32s texton %9.1f us  npp %9.1f us  ratio %6.2f  scaled %6.2f  of a copy %4.2f\n",
                        name.c_str(), time * 1e6, median_of(their_times) * 1e6, ratio, ratio * factor,
                        bytes / time / copy_rate_);
        } catch (const std::exception& error) {
            std::printf("%-32s failed: %s\n", name.c_str(), error.what());
        }
        std::fflush(stdout);
    }

    Device device = Device::cuda(0);
    Stream stream{device};
    NppStreamContext context{};

private:
    static double median_of(std::vector<double> values) {
        std::ranges::sort(values);
        return values[values.size() / 2];
    }

    double seconds(const std::function<void()>& run) const {
        cudaEvent_t begin = nullptr, end = nullptr;
        must(cudaEventCreate(&begin));
        must(cudaEventCreate(&end));
        must(cudaEventRecord(begin, context.hStream));
        for (int i = 0; i < kRuns; ++i) run();
        must(cudaEventRecord(end, context.hStream));
        must(cudaEventSynchronize(end));
        float milliseconds = 0;
        must(cudaEventElapsedTime(&milliseconds, begin, end));
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
        return static_cast<double>(milliseconds) / 1000 / kRuns;
    }

    void measure_copy() {
        const std::size_t bytes = side_ * side_ * 16;
        const Linear from(device, bytes), to(device, bytes);
        std::vector<double> times;
        for (int round = 0; round < kRounds; ++round)
            times.push_back(seconds([&] {
                must(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, context.hStream));
            }));
        copy_rate_ = 2 * static_cast<double>(bytes) / median_of(times);
    }

    std::size_t side_;
    std::string filter_;
    std::vector<Format> formats_;  // empty: all
    double copy_rate_ = 0;
};

// Pitched memory of one format, and its texture in an array.
template <class T>
struct Image {
    Image(const Device& device, Format format, const Extent& extent)
        : memory(device, format, extent), array(device, {.format = format, .extent = extent}), texture(array, kLinear) {
        const std::size_t channels = info(format).channels;
        std::vector<T> values(extent.width * extent.height * channels);
        std::mt19937 random(5);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const unsigned code = static_cast<unsigned>(i / channels % extent.width / 40 + (random() & 15)) & 255;
            values[i] =
                std::is_same_v<T, float> ? static_cast<T>(static_cast<float>(code) / 255.0f) : static_cast<T>(code);
        }
        copy(memory.view(), host_view(values.data(), format, extent));
        copy(array.view(), memory.view());
    }
    T* data() const { return reinterpret_cast<T*>(memory.data()); }
    int pitch() const { return static_cast<int>(memory.pitch()); }

    Pitched2D memory;
    Array array;
    Texture texture;
};

struct Named {
    const char* name;
    ResampleFilter filter;
    int npp;
    bool widens;  // if images get smaller, Texton's filter has more taps; NPP's filter does not
};

constexpr Named kFilters[] = {{"linear", ResampleFilter::linear, NPPI_INTER_LINEAR, false},
                              {"area", ResampleFilter::area, NPPI_INTER_SUPER, false},
                              {"catmull_rom", ResampleFilter::catmull_rom, NPPI_INTER_CUBIC, false},
                              {"lanczos3", ResampleFilter::lanczos3, NPPI_INTER_LANCZOS, true}};

struct Factor {
    const char* name;
    double factor;
};

constexpr Factor kFactors[] = {{"quarter", 0.25}, {"0.3", 0.3},  {"half", 0.5}, {"0.7", 0.7},
                               {"1.5", 1.5},      {"double", 2}, {"triple", 3}};

// Resampling to other sizes. The larger one of the two images has the side of the bench.
template <class T, class Resize>
void measure_sizes(Bench& bench, Format format, Resize resize) {
    for (const auto& [factor_name, factor] : kFactors) {
        const auto side_of = [&](double part) {
            return static_cast<std::size_t>(std::lround(static_cast<double>(bench.side()) * part));
        };
        const std::size_t before = side_of(std::min(1 / factor, 1.0)), after = side_of(std::min(factor, 1.0));
        const Image<T> image(bench.device, format, {before, before});
        const Pitched2D result(bench.device, format, {after, after});
        const auto sides = [](std::size_t side) { return NppiSize{static_cast<int>(side), static_cast<int>(side)}; };
        const auto whole = [](std::size_t side) {
            return NppiRect{0, 0, static_cast<int>(side), static_cast<int>(side)};
        };
        const double bytes = static_cast<double>(packed_bytes(format, {before, before})) +
                             static_cast<double>(packed_bytes(format, {after, after}));
        for (const Named& each : kFilters) {
            if (each.filter == ResampleFilter::area && factor > 1) continue;
            const double taps = each.widens ? std::max(1 / factor, 1.0) : 1;
            bench.row(
                std::string(factor_name) + " " + each.name + " " + std::string(name(format)), bytes,
                [&] { resample(bench.stream, result.view(), image.texture, {.filter = each.filter}); },
                [&] {
                    return resize(image.data(), image.pitch(), sides(before), whole(before),
                                  reinterpret_cast<T*>(result.data()), static_cast<int>(result.pitch()), sides(after),
                                  whole(after), each.npp, bench.context);
                },
                taps * taps);
        }
    }
}

// Gaussian filters, sizes, affine warps, for images whose NPP functions are these.
template <class T, class Resize, class Gauss, class Warp>
void measure_format(Bench& bench, Format format, Resize resize, Gauss gauss, Warp warp) {
    if (!bench.wants(format)) return;
    const std::string suffix = " " + std::string(name(format));
    const int side = bench.side();
    const Image<T> image(bench.device, format, bench.extent());
    const Pitched2D result(bench.device, format, bench.extent());
    T* const to = reinterpret_cast<T*>(result.data());
    const int pitch = static_cast<int>(result.pitch());
    const NppiSize size{side, side};
    const NppiRect whole{0, 0, side, side};
    const double bytes = static_cast<double>(packed_bytes(format, bench.extent()));
    for (const int radius : {1, 2, 8}) {
        const float sigma = static_cast<float>(radius) / 3.0f + 0.3f;
        const std::vector<float> weights = gaussian_weights(sigma, radius);
        const Linear kernel(bench.device, weights.size() * sizeof(float));
        must(cudaMemcpy(kernel.data(), weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
        bench.row(
            "gaussian " + std::to_string(radius) + suffix, 2 * bytes,
            [&] { gaussian(bench.stream, result.view(), image.texture, {.sigma = sigma, .radius = radius}); },
            [&] {
                return gauss(image.data(), image.pitch(), size, NppiPoint{0, 0}, to, pitch, size,
                             static_cast<int>(weights.size()), reinterpret_cast<Npp32f*>(kernel.data()),
                             NPP_BORDER_REPLICATE, bench.context);
            });
    }
    measure_sizes<T>(bench, format, resize);
    const Affine map{0.96f, -0.17f, 400, 0.17f, 0.96f, -300};
    const double inverse[2][3] = {{1.01, 0.179, -350}, {-0.179, 1.01, 375}};
    constexpr double kWritten = 1 / 0.92;  // NPP writes only pixels whose texels are inside
    bench.row(
        "warp affine" + suffix, 2 * bytes, [&] { warp_affine(bench.stream, result.view(), image.texture, map); },
        [&] {
            return warp(image.data(), size, image.pitch(), whole, to, pitch, whole, inverse, NPPI_INTER_LINEAR,
                        bench.context);
        },
        kWritten);
}

template <class T, class Size, class Filter>
void measure_medians(Bench& bench, Format format, Size size_of_buffer, Filter filter) {
    if (!bench.wants(format)) return;
    const Image<T> image(bench.device, format, bench.extent());
    const Pitched2D result(bench.device, format, bench.extent());
    const NppiSize size{bench.side(), bench.side()};
    for (const int length : {3, 5}) {
        const NppiSize mask{length, length};
        Npp32u needed = 0;
        must(size_of_buffer(size, mask, &needed, NPP_BORDER_REPLICATE, bench.context));
        const Linear scratch(bench.device, needed + 16);
        bench.row(
            "median " + std::to_string(length) + " " + std::string(name(format)),
            2 * static_cast<double>(packed_bytes(format, bench.extent())),
            [&] {
                median(bench.stream, result.view(), image.texture, length == 3 ? MedianSize::three : MedianSize::five);
            },
            [&] {
                return filter(image.data(), image.pitch(), size, NppiPoint{0, 0}, reinterpret_cast<T*>(result.data()),
                              static_cast<int>(result.pitch()), size, mask, NppiPoint{length / 2, length / 2},
                              reinterpret_cast<Npp8u*>(scratch.data()), NPP_BORDER_REPLICATE, bench.context);
            });
    }
}

void measure_bytes(Bench& bench) {
    if (!bench.wants(Format::rgba8_unorm)) return;
    const int side = bench.side();
    const Image<Npp8u> image(bench.device, Format::rgba8_unorm, bench.extent());
    const Pitched2D result(bench.device, Format::rgba8_unorm, bench.extent());
    auto* const to = reinterpret_cast<Npp8u*>(result.data());
    const int pitch = static_cast<int>(result.pitch());
    const NppiSize size{side, side};
    const NppiRect whole{0, 0, side, side};
    const NppiPoint corner{0, 0};
    const double bytes = 2 * static_cast<double>(packed_bytes(Format::rgba8_unorm, bench.extent()));
    bench.row(
        "bilateral 4 rgba8_unorm", bytes,
        [&] {
            bilateral(bench.stream, result.view(), image.texture, {.sigma_space = 2, .sigma_range = 0.1f, .radius = 4});
        },
        [&] {
            return nppiFilterBilateralGaussBorder_8u_C3R_Ctx(image.data(), 3 * side, size, corner, to, 3 * side, size,
                                                             4, 1, 650, 4, NPP_BORDER_REPLICATE, bench.context);
        },
        4.0 / 3);
    const Npp32s counts[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    const float across[3] = {0.25f, 0.5f, 0.25f};
    const Linear kernel(bench.device, sizeof counts);
    must(cudaMemcpy(kernel.data(), counts, sizeof counts, cudaMemcpyHostToDevice));
    bench.row(
        "convolve 3 x 3 rgba8_unorm", bytes,
        [&] { convolve(bench.stream, result.view(), image.texture, across, across); },
        [&] {
            return nppiFilterBorder_8u_C4R_Ctx(image.data(), image.pitch(), size, corner, to, pitch, size,
                                               reinterpret_cast<Npp32s*>(kernel.data()), NppiSize{3, 3},
                                               NppiPoint{1, 1}, 16, NPP_BORDER_REPLICATE, bench.context);
        });
    const Perspective perspective{{{0.96f, -0.17f, 400}, {0.17f, 0.96f, -300}, {-1e-5f, -1e-5f, 1}}};
    const double inverse[3][3] = {{1.01, 0.179, -350}, {-0.179, 1.01, 375}, {1e-5, 1e-5, 1}};
    bench.row(
        "warp perspective rgba8_unorm", bytes,
        [&] { warp_perspective(bench.stream, result.view(), image.texture, perspective); },
        [&] {
            return nppiWarpPerspective_8u_C4R_Ctx(image.data(), size, image.pitch(), whole, to, pitch, whole, inverse,
                                                  NPPI_INTER_LINEAR, bench.context);
        });
    ColorMatrix matrix;
    Npp32f twist[3][4];
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 4; ++k) matrix.row[i][k] = twist[i][k] = i == k ? 0.8f : 0.07f;
    }
    bench.row(
        "color_matrix rgba8_unorm", bytes, [&] { color_matrix(bench.stream, result.view(), image.texture, matrix); },
        [&] {
            return nppiColorTwist32f_8u_C4R_Ctx(image.data(), image.pitch(), to, pitch, size, twist, bench.context);
        });
    std::vector<Linear> tables;
    const Npp8u* colors[4];
    std::vector<Npp8u> inverted(256);
    for (std::size_t i = 0; i < inverted.size(); ++i) inverted[i] = static_cast<Npp8u>(255 - i);
    for (const Npp8u*& table : colors) {
        tables.emplace_back(bench.device, inverted.size());
        table = reinterpret_cast<const Npp8u*>(tables.back().data());
        must(cudaMemcpy(tables.back().data(), inverted.data(), inverted.size(), cudaMemcpyHostToDevice));
    }
    const Array curve(bench.device, {.format = Format::rgba8_unorm, .extent = {256}, .kind = ArrayKind::array_1d});
    std::vector<Npp8u> entries(4 * inverted.size());
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = inverted[i / 4];
    copy(curve.view(), host_view(entries.data(), Format::rgba8_unorm, {256}));
    const Texture curve_texture(curve, kLinear);
    bench.row(
        "lut_1d 256 rgba8_unorm", bytes, [&] { lut_1d(bench.stream, result.view(), image.texture, curve_texture); },
        [&] {
            return nppiLUTPalette_8u_C4R_Ctx(image.data(), image.pitch(), to, pitch, size, colors, 8, bench.context);
        });
    const std::size_t count = bench.extent().width * bench.extent().height;
    std::vector<float> map_x(count), map_y(count), map(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto x = static_cast<float>(i % bench.extent().width), y = static_cast<float>(i / bench.extent().width);
        map[2 * i] = map_x[i] = 0.96f * x - 0.17f * y + 700;
        map[2 * i + 1] = map_y[i] = 0.17f * x + 0.96f * y - 300;
    }
    const Pitched2D from_x(bench.device, Format::r32_float, bench.extent());
    const Pitched2D from_y(bench.device, Format::r32_float, bench.extent());
    const Array positions(bench.device, {.format = Format::rg32_float, .extent = bench.extent()});
    copy(from_x.view(), host_view(map_x.data(), Format::r32_float, bench.extent()));
    copy(from_y.view(), host_view(map_y.data(), Format::r32_float, bench.extent()));
    copy(positions.view(), host_view(map.data(), Format::rg32_float, bench.extent()));
    const Texture position_texture(positions, {});
    bench.row(
        "warp by a map rgba8_unorm", 2 * bytes,
        [&] { warp_map(bench.stream, result.view(), image.texture, position_texture); },
        [&] {
            return nppiRemap_8u_C4R_Ctx(
                image.data(), size, image.pitch(), whole, reinterpret_cast<const Npp32f*>(from_x.data()),
                static_cast<int>(from_x.pitch()), reinterpret_cast<const Npp32f*>(from_y.data()),
                static_cast<int>(from_y.pitch()), to, pitch, size, NPPI_INTER_LINEAR, bench.context);
        });
    const int order[4] = {2, 1, 0, 3};
    bench.row(
        "swizzle rgba8_unorm", bytes, [&] { swizzle(bench.stream, result.view(), image.texture, "bgra"); },
        [&] {
            return nppiSwapChannels_8u_C4R_Ctx(image.data(), image.pitch(), to, pitch, size, order, bench.context);
        });
}

int run(int count, char** arguments) {
    std::size_t side = 8192;
    std::string filter;
    std::vector<Format> formats;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--side" && i + 1 < count) {
            const std::string_view value = arguments[++i];
            std::from_chars(value.data(), value.data() + value.size(), side);
        } else if (argument == "--row" && i + 1 < count) {
            filter = arguments[++i];
        } else if (argument == "--format" && i + 1 < count && format_named(arguments[i + 1])) {
            formats.push_back(*format_named(arguments[++i]));
        } else {
            std::printf("usage: texton-npp-rows [--side PIXELS] [--row PART_OF_NAME] [--format NAME]...\n");
            return argument == "--help" ? 0 : 2;
        }
    }
    Bench bench(side, filter, formats);
    measure_format<Npp8u>(bench, Format::rgba8_unorm, nppiResize_8u_C4R_Ctx, nppiFilterGaussAdvancedBorder_8u_C4R_Ctx,
                          nppiWarpAffine_8u_C4R_Ctx);
    measure_format<Npp32f>(bench, Format::rgba32_float, nppiResize_32f_C4R_Ctx,
                           nppiFilterGaussAdvancedBorder_32f_C4R_Ctx, nppiWarpAffine_32f_C4R_Ctx);
    measure_format<Npp8u>(bench, Format::r8_unorm, nppiResize_8u_C1R_Ctx, nppiFilterGaussAdvancedBorder_8u_C1R_Ctx,
                          nppiWarpAffine_8u_C1R_Ctx);
    measure_format<Npp32f>(bench, Format::r32_float, nppiResize_32f_C1R_Ctx, nppiFilterGaussAdvancedBorder_32f_C1R_Ctx,
                           nppiWarpAffine_32f_C1R_Ctx);
    measure_format<Npp16u>(bench, Format::rgba16_unorm, nppiResize_16u_C4R_Ctx,
                           nppiFilterGaussAdvancedBorder_16u_C4R_Ctx, nppiWarpAffine_16u_C4R_Ctx);
    measure_medians<Npp8u>(bench, Format::rgba8_unorm, nppiFilterMedianBorderGetBufferSize_8u_C4R_Ctx,
                           nppiFilterMedianBorder_8u_C4R_Ctx);
    measure_medians<Npp8u>(bench, Format::r8_unorm, nppiFilterMedianBorderGetBufferSize_8u_C1R_Ctx,
                           nppiFilterMedianBorder_8u_C1R_Ctx);
    measure_medians<Npp16u>(bench, Format::rgba16_unorm, nppiFilterMedianBorderGetBufferSize_16u_C4R_Ctx,
                            nppiFilterMedianBorder_16u_C4R_Ctx);
    measure_medians<Npp32f>(bench, Format::rgba32_float, nppiFilterMedianBorderGetBufferSize_32f_C4R_Ctx,
                            nppiFilterMedianBorder_32f_C4R_Ctx);
    measure_medians<Npp32f>(bench, Format::r32_float, nppiFilterMedianBorderGetBufferSize_32f_C1R_Ctx,
                            nppiFilterMedianBorder_32f_C1R_Ctx);
    measure_bytes(bench);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    try {
        return run(count, arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
