// How many tiles are missing at different budgets. A camera pans over an image of 32768 x 32768 texels, as a user of a
// viewer does: it drags, rests, zooms, and returns to places that it has seen. Each frame requests what the camera
// sees, and its tiles are read before the next frame. A tile that is not resident when it is requested is a miss.
// Prints the miss rate at each budget, without and with prefetch. Arguments: cpu or cuda, the index of the device, then
// the name of an SVG file for a plot (default: cpu 0, no plot). Exit status 1 if a larger budget has more misses.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <texton/array_info.h>
#include <texton/error.h>
#include <texton/streamed_texture.h>

namespace {

using namespace texton;

constexpr std::size_t kSide = 32768;
constexpr double kPixelsAcross = 1920, kPixelsDown = 1080;                       // of the window
constexpr std::array<std::size_t, 9> kBudgets{4, 6, 8, 12, 16, 24, 32, 48, 64};  // MiB
constexpr std::array<int, 2> kPrefetch{0, 4};

// A stop of the camera: its center, relative to the image, the texels of a pixel, and the frames that lead to it.
struct Stop {
    double x, y, texels;
    int frames;
};

// The image as a whole, a look at a place, a drag along an edge and back, another place, and the first one again.
constexpr std::array<Stop, 18> kPath{{
    {0.50, 0.50, 16.0, 1},
    {0.50, 0.50, 16.0, 20},
    {0.31, 0.62, 4.0, 40},
    {0.31, 0.62, 1.0, 40},
    {0.36, 0.62, 1.0, 30},
    {0.41, 0.60, 1.0, 30},
    {0.41, 0.60, 1.0, 20},
    {0.46, 0.57, 1.0, 25},
    {0.41, 0.60, 1.0, 25},
    {0.31, 0.62, 1.0, 50},
    {0.31, 0.62, 6.0, 40},
    {0.66, 0.30, 6.0, 45},
    {0.66, 0.30, 1.0, 40},
    {0.66, 0.34, 1.0, 30},
    {0.70, 0.34, 0.5, 30},
    {0.66, 0.30, 2.0, 40},
    {0.31, 0.62, 2.0, 60},
    {0.31, 0.62, 1.0, 30},
}};

StreamedView view_at(const ArrayInfo& info, double x, double y, double texels) {
    const int level = std::clamp(static_cast<int>(std::floor(std::log2(std::max(texels, 1.0)))), 0, info.levels - 1);
    const Extent extent = level_extent(info, level);
    const auto range = [&](double center, double pixels, std::size_t size, std::size_t& offset, std::size_t& length) {
        const double half = pixels * texels / 2 / static_cast<double>(kSide);
        const auto texel = [&](double at) {
            return static_cast<std::size_t>(std::clamp(at, 0.0, 1.0) * static_cast<double>(size - 1));
        };
        offset = texel(center - half);
        length = texel(center + half) - offset + 1;
    };
    Region region;
    range(x, kPixelsAcross, extent.width, region.offset.x, region.extent.width);
    range(y, kPixelsDown, extent.height, region.offset.y, region.extent.height);
    return {.level = level, .region = region};
}

// Returns the share of requested tiles that were not resident.
double miss_rate(const Device& device, std::size_t budget, int prefetch) {
    ArrayInfo info{.format = Format::r8_unorm, .extent = {kSide, kSide}};
    info.levels = full_levels(info);
    const auto read = [](const PyramidBox& box, std::span<std::byte> texels, const std::stop_token&) {
        std::ranges::fill(texels, static_cast<std::byte>(box.level));
    };
    const Stream stream(device);
    StreamedTexture texture(
        device, {info, read},
        {.sampler = {.normalized_coordinates = true}, .budget = budget, .staging = 256, .prefetch = prefetch});
    Stop from = kPath.front();
    for (const Stop& to : kPath) {
        for (int frame = 1; frame <= to.frames; ++frame) {
            const double part = static_cast<double>(frame) / to.frames;
            const double eased = part * part * (3 - 2 * part);
            const auto between = [&](double first, double second) { return first + (second - first) * eased; };
            const double texels = std::exp2(between(std::log2(from.texels), std::log2(to.texels)));
            const StreamedView view = view_at(info, between(from.x, to.x), between(from.y, to.y), texels);
            texture.request({&view, 1});
            while (!texture.update(stream).settled()) texture.wait_for_reads(std::chrono::milliseconds(1));
        }
        from = to;
    }
    const StreamingStatistics counts = texture.statistics();
    return static_cast<double>(counts.misses) / static_cast<double>(counts.hits + counts.misses);
}

using Rates = std::array<std::array<double, kBudgets.size()>, kPrefetch.size()>;

std::string plot_of(const Rates& rates) {
    constexpr double kWidth = 560, kHeight = 320, kLeft = 60, kTop = 20, kRight = 540, kBottom = 270;
    const double most = std::ceil(std::ranges::max(rates[0]) * 20) / 20;
    std::string out;
    const auto add = [&](const char* format, auto... values) {
        std::array<char, 512> text{};
        std::snprintf(text.data(), text.size(), format, values...);
        out += text.data();
    };
    const auto x_of = [&](double budget) {
        const double first = std::log2(static_cast<double>(kBudgets.front()));
        const double last = std::log2(static_cast<double>(kBudgets.back()));
        return kLeft + (std::log2(budget) - first) / (last - first) * (kRight - kLeft);
    };
    const auto y_of = [&](double rate) { return kBottom - rate / most * (kBottom - kTop); };
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n",
        kWidth, kHeight);
    add("<rect width=\"%g\" height=\"%g\" fill=\"#fff\"/>\n", kWidth, kHeight);
    for (int i = 0; i <= 4; ++i) {
        const double rate = most * i / 4;
        add("<path d=\"M%g %.1fH%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%.1f %%</text>\n",
            kLeft, y_of(rate), kRight, kLeft - 8, y_of(rate) + 4, 100 * rate);
    }
    for (const std::size_t budget : kBudgets)
        add("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%zu</text>\n", x_of(static_cast<double>(budget)),
            kBottom + 18, budget);
    add("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">budget in MiB</text>\n", (kLeft + kRight) / 2, kBottom + 40);
    const std::array<const char*, 2> colors{"#c0392b", "#2c6fbb"};
    for (std::size_t i = 0; i < rates.size(); ++i) {
        out += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"";
        add("%s\" points=\"", colors[i]);
        for (std::size_t j = 0; j < kBudgets.size(); ++j)
            add("%.1f,%.1f ", x_of(static_cast<double>(kBudgets[j])), y_of(rates[i][j]));
        add("\"/>\n<text x=\"%g\" y=\"%g\" text-anchor=\"end\" fill=\"%s\">misses, %s prefetch</text>\n", kRight - 6,
            kTop + 16 + 18 * static_cast<double>(i), colors[i], kPrefetch[i] == 0 ? "without" : "with");
    }
    return out + "</svg>\n";
}

}  // namespace

int main(int count, char** arguments) try {
    const bool on_cuda = count > 1 && std::string(arguments[1]) == "cuda";
    const int index = count > 2 ? std::atoi(arguments[2]) : 0;
    const Device device = on_cuda ? Device::cuda(index) : Device::cpu(index);
    Rates rates{};
    bool grows = false;
    std::printf("budget  misses  misses with prefetch\n");
    for (std::size_t j = 0; j < kBudgets.size(); ++j) {
        for (std::size_t i = 0; i < kPrefetch.size(); ++i)
            rates[i][j] = miss_rate(device, kBudgets[j] << 20, kPrefetch[i]);
        std::printf("%3zu MiB %6.2f %%  %6.2f %%\n", kBudgets[j], 100 * rates[0][j], 100 * rates[1][j]);
        grows = grows || (j > 0 && rates[0][j] > rates[0][j - 1]);
    }
    if (count > 3) std::ofstream(arguments[3]) << plot_of(rates);
    return grows ? 1 : 0;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
