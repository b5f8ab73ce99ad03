// Measures kernels of the CPU device on one thread, for many formats, sizes and factors, beside a limit for each cell:
// twice the larger of the time of a copy of as many bytes and the time of the kernel's taps, plus 20 us. A tap costs what
// it costs in the kernel's fastest cell among formats whose channels have as many bits.
//
// Prints time / limit in a table for each size, then the cells beyond their limit, worst first. Images contain noise.
// Times are minima over several runs, and the grid is measured twice, so that a disturbance of some seconds does not count.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/error.h>
#include <texton/kernel.h>
#include <texton/pitched.h>

namespace {

using namespace texton;
using Values = std::map<std::string, ParameterValue>;

constexpr Format kFormats[] = {Format::r8_unorm,  Format::rg8_unorm,    Format::rgba8_unorm, Format::rgba8_srgb,
                               Format::r16_unorm, Format::rgba16_unorm, Format::r16_float,   Format::rgba16_float,
                               Format::r32_float, Format::rg32_float,   Format::rgba32_float};
constexpr std::size_t kColumns = std::size(kFormats);
constexpr double kSecondsOfCell = 0.012;  // of repeated runs, in each of the two passes
constexpr int kMaxRuns = 40;
constexpr double kSecondsOfCall = 20e-6;  // that each call may take on top

// A filter that sums rows first, and each row once.
struct Separable {
    double taps;  // along an axis that is not reduced
    bool widens;  // with the factor of a reduction

    // Returns the taps along an axis.
    double along(double factor) const { return taps * (widens ? std::max(1.0, 1 / factor) : 1); }
    // Returns the taps of a written pixel. A written row needs along(down) rows of the texture, and at most 1 / down of
    // them were not summed before.
    double of_pixel(double across, double down) const {
        return along(across) * std::min(1 / down, along(down)) + along(down);
    }
};

struct Row {
    std::string name;
    const char* kernel;
    std::string family;  // rows of a family have the same cost of a tap
    double taps;         // of a channel of a written pixel, unless the filter is separable
    Values values{};
    double factor = 1;  // width of the written image / width of the texture
    std::optional<Separable> filter{};
};

std::vector<Row> rows_of_grid() {
    std::vector<Row> rows{{"color_matrix", "color_matrix", "color_matrix", 4},
                          {"swizzle", "swizzle", "swizzle", 1},
                          {"lut_1d", "lut_1d", "lut_1d", 2}};
    for (const int radius : {1, 2, 8}) {
        rows.push_back({"gaussian " + std::to_string(radius), "gaussian", "gaussian", 2.0 * (2 * radius + 1),
                        Values{{"sigma", radius / 3.0 + 0.2}, {"radius", static_cast<double>(radius)}}});
    }
    rows.push_back({"unsharp", "unsharp", "gaussian", 2 * 7 + 2});
    struct Resampling {
        const char* filter;
        std::optional<Separable> separable;
    };
    constexpr Resampling kFilters[] = {{"linear", {}},
                                       {"area", Separable{1, true}},
                                       {"catmull_rom", Separable{4, false}},
                                       {"lanczos3", Separable{6, true}}};
    constexpr std::pair<const char*, double> kFactors[] = {{"eighth", 0.125}, {"quarter", 0.25}, {"half", 0.5},
                                                           {"0.7", 0.7},      {"1.5", 1.5},      {"double", 2}};
    for (const Resampling& filter : kFilters) {
        for (const auto& [name, factor] : kFactors) {
            rows.push_back({std::string(filter.filter) + " " + name, "resample", filter.filter, 4,
                            Values{{"filter", std::string(filter.filter)}}, factor, filter.separable});
        }
    }
    rows.push_back({"mips", "mips", "mips", 4});
    rows.push_back({"warp_affine", "warp_affine", "warp_affine", 4,
                    Values{{"map", std::vector<double>{0.96, -0.17, 40, 0.17, 0.96, -30}}}});
    rows.push_back({"warp_map", "warp_map", "warp_map", 4});
    rows.push_back({"median 3", "median", "median 3", 2 * 19, Values{{"window", std::string("3")}}});
    rows.push_back({"median 5", "median", "median 5", 2 * 99, Values{{"window", std::string("5")}}});
    rows.push_back({"bilateral", "bilateral", "bilateral", 81});
    return rows;
}

struct Size {
    Extent extent;
    bool cropped = false;  // the texture and the image are parts of larger memory
};
constexpr Size kSizes[] = {{{64, 64}},     {{500, 500}},   {{1023, 1023}}, {{1021, 1021}, true},
                           {{2047, 2047}}, {{2048, 2048}}, {{8192, 1}}};

template <class Run>
double least_seconds(const Run& run) {
    run();
    double least = 1e9, sum = 0;
    for (int i = 0; i < kMaxRuns && (i < 2 || sum < kSecondsOfCell); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        run();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        least = std::min(least, took.count());
        sum += took.count();
    }
    return least;
}

double copy_seconds(double bytes) {
    static std::vector<std::byte> memory(std::size_t{1} << 28, std::byte{1});
    const auto half = std::min(static_cast<std::size_t>(bytes / 2), memory.size() / 2);
    return least_seconds([&] { std::memcpy(memory.data(), memory.data() + memory.size() / 2, half); }) * bytes / 2 /
           static_cast<double>(half);
}

// Memory of an image, and the part of it that a kernel reads or writes.
struct Image {
    Image(Format format, const Extent& extent, Offset at)
        : memory(Device::cpu(), format, {extent.width + at.x + (at.x > 0), extent.height + at.y + (at.y > 0)}),
          view(memory.view().region({at, {extent.width, extent.height}})) {}
    Pitched2D memory;
    View view;
};

// Returns a texture of noise; floats are between 2^-3 and 1. Textures of a single row read arrays.
Texture noise(Format format, const Extent& extent, bool cropped) {
    static std::mt19937 random{1};
    std::vector<std::uint32_t> words(packed_bytes(format, extent) / 4 + 1);
    const FormatInfo& known = info(format);
    for (std::uint32_t& word : words) {
        word = static_cast<std::uint32_t>(random());
        if (known.kind == FormatKind::floating)
            word = known.bits == 16 ? (word & 0x07ff07ffU) + 0x33003300U : (word & 0x00ffffffU) + 0x3e800000U;
    }
    const ConstView packed = host_view(words.data(), format, extent);
    constexpr Sampler kSampler{.filter = Filter::linear};
    if (extent.height == 1) {
        const Array array(Device::cpu(), {.format = format, .extent = extent});
        copy(array.view(), packed);
        return Texture(array, kSampler);
    }
    // The first texel of a texture must be aligned.
    const Offset at = cropped ? Offset{512 / std::size_t{known.bytes}, 7} : Offset{};
    const Image image(format, extent, at);
    copy(image.view, packed);
    return Texture(image.view, kSampler);
}

Texture map_of(const Extent& extent) {
    std::vector<float> coordinates;
    for (std::size_t y = 0; y < extent.height; ++y) {
        for (std::size_t x = 0; x < extent.width; ++x) {
            const auto column = static_cast<float>(x), row = static_cast<float>(y);
            coordinates.insert(coordinates.end(),
                               {0.96f * column - 0.17f * row + 40, 0.17f * column + 0.96f * row - 30});
        }
    }
    const Array array(Device::cpu(), {.format = Format::rg32_float, .extent = extent});
    copy(array.view(), host_view(coordinates.data(), Format::rg32_float, extent));
    return Texture(array);
}

Texture table() {
    std::vector<float> colors;
    for (int i = 0; i < 256; ++i) {
        for (int channel = 0; channel < 4; ++channel) colors.push_back(std::sqrt(static_cast<float>(i) / 255.0f));
    }
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = {256}, .kind = ArrayKind::array_1d});
    copy(array.view(), host_view(colors.data(), Format::rgba32_float, {256}));
    return Texture(array, {.filter = Filter::linear});
}

struct Cell {
    double time = 1e9;
    double bytes = 0;
    double taps = 0;  // of all channels of all pixels
};

Extent scaled(const Extent& extent, double factor) {
    const auto side = [&](std::size_t texels) {
        return std::max<std::size_t>(static_cast<std::size_t>(static_cast<double>(texels) * factor), 1);
    };
    return {side(extent.width), side(extent.height)};
}

void measure(Cell& cell, const Row& row, Format format, const Size& size, const Texture& texture) {
    static const Texture colors = table();
    static const Stream stream(Device::cpu());
    const Kernel& kernel = kernel_named(row.kernel);
    const Arguments arguments(kernel.info, row.values);
    std::vector<Texture> inputs{texture};
    if (kernel.info.name == "warp_map") inputs.push_back(map_of(texture.extent()));
    if (kernel.info.name == "lut_1d") inputs.push_back(colors);
    std::vector<ImageShape> shapes = texton::shapes(kernel, arguments, inputs);
    if (row.factor != 1) shapes[0].extent = scaled(texture.extent(), row.factor);
    std::vector<Image> images;
    std::vector<View> views;
    double pixels = 0;
    // Levels of a chain are textures, too, and must be aligned.
    const Offset at = size.cropped && shapes.size() == 1 ? Offset{3, 5} : Offset{};
    for (const ImageShape& shape : shapes) {
        images.emplace_back(shape.format, shape.extent, at);
        views.push_back(images.back().view);
        pixels += static_cast<double>(shape.extent.width * shape.extent.height);
    }
    // All bytes of the texture and of the images, and of a map.
    cell.bytes = static_cast<double>(packed_bytes(format, texture.extent())) + pixels * info(format).bytes +
                 (kernel.info.name == "warp_map" ? pixels * 8 : 0);
    const auto factor = [](std::size_t written, std::size_t read) {
        return static_cast<double>(written) / static_cast<double>(read);
    };
    const Extent &from = texture.extent(), &to = shapes[0].extent;
    const double taps =
        row.filter ? row.filter->of_pixel(factor(to.width, from.width), factor(to.height, from.height)) : row.taps;
    cell.taps = pixels * info(format).channels * taps;
    cell.time = std::min(cell.time, least_seconds([&] {
                             enqueue(kernel, stream, views, arguments, inputs);
                             stream.synchronize();
                         }));
}

struct Slow {
    std::string name;
    double time, limit;
};

void grid(std::string_view only) {
    const std::vector<Row> all = rows_of_grid();
    std::vector<Row> rows;
    std::ranges::copy_if(all, std::back_inserter(rows),
                         [&](const Row& row) { return row.name.find(only) != std::string::npos; });
    std::vector cells(std::size(kSizes), std::vector<std::array<Cell, kColumns>>(rows.size()));
    for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t size = 0; size < std::size(kSizes); ++size) {
            for (std::size_t column = 0; column < kColumns; ++column) {
                const Extent extent = kSizes[size].extent;
                std::map<double, Texture> textures;  // by scale: where a row enlarges, its image has the size
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    const double scale = 1 / std::max(rows[i].factor, 1.0);
                    auto found = textures.find(scale);
                    if (found == textures.end()) {
                        found =
                            textures
                                .emplace(scale, noise(kFormats[column], scaled(extent, scale), kSizes[size].cropped))
                                .first;
                    }
                    measure(cells[size][i][column], rows[i], kFormats[column], kSizes[size], found->second);
                }
            }
        }
    }
    std::map<std::pair<std::string, std::uint32_t>, double> tap;  // seconds, of a family and a number of bits
    for (const auto& of_size : cells) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t column = 0; column < kColumns; ++column) {
                const Cell& cell = of_size[i][column];
                const std::pair key(rows[i].family, static_cast<std::uint32_t>(info(kFormats[column]).bits));
                const double cost = cell.time / cell.taps;
                const auto found = tap.emplace(key, cost).first;
                found->second = std::min(found->second, cost);
            }
        }
    }
    std::vector<Slow> slow;
    for (std::size_t size = 0; size < std::size(kSizes); ++size) {
        const Extent& extent = kSizes[size].extent;
        const std::string sides = std::to_string(extent.width) + " x " + std::to_string(extent.height) +
                                  (kSizes[size].cropped ? " cropped" : "");
        std::printf("\n%s, time / limit\n%-19s", sides.c_str(), "");
        for (const Format format : kFormats) std::printf(" %12s", std::string(name(format)).c_str());
        std::map<double, double> copies;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::printf("\n%-19s", rows[i].name.c_str());
            for (std::size_t column = 0; column < kColumns; ++column) {
                const Cell& cell = cells[size][i][column];
                if (!copies.contains(cell.bytes)) copies[cell.bytes] = copy_seconds(cell.bytes);
                const double taps =
                    cell.taps * tap[{rows[i].family, static_cast<std::uint32_t>(info(kFormats[column]).bits)}];
                const double limit = 2 * std::max(copies[cell.bytes], taps) + kSecondsOfCall;
                std::printf(" %11.2f%c", cell.time / limit, cell.time > limit ? '*' : ' ');
                if (cell.time > limit) {
                    slow.push_back(
                        {rows[i].name + ", " + std::string(name(kFormats[column])) + ", " + sides, cell.time, limit});
                }
            }
        }
        std::printf("\n");
    }
    std::ranges::sort(slow, std::greater{}, [](const Slow& cell) { return cell.time / cell.limit; });
    std::printf("\n%zu of %zu cells exceed their limit\n", slow.size(), rows.size() * kColumns * std::size(kSizes));
    for (const Slow& cell : slow)
        std::printf("%-50s %6.2f  %10.1f us of %10.1f us\n", cell.name.c_str(), cell.time / cell.limit, cell.time * 1e6,
                    cell.limit * 1e6);
}

}  // namespace

int main(int count, char** arguments) try {
    const std::string_view only = count > 1 ? arguments[1] : "";
    if (count > 2 || only.starts_with("-")) {
        std::printf("usage: texton-cpu-grid [PART_OF_A_ROWS_NAME]\n");
        return only == "--help" ? 0 : 2;
    }
    setenv("TEXTON_CPU_THREADS", "1", 1);  // which the first use of the device reads
    grid(only);
    return 0;
} catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
}
