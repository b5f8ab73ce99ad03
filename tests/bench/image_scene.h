#pragma once
// An image of noise for kernels of the CPU device. Another library processes the same bytes for comparison.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/global_control.h>

#include <texton/pitched.h>
#include <texton/stream.h>
#include <texton/texture.h>

#include "tests/bench/comparison.h"

namespace texton::bench {

/// Width and height of the image in texels: the environment variable TEXTON_BENCH_SIDE, or 2048.
inline const std::size_t kImageSide = [] {
    const char* asked = std::getenv("TEXTON_BENCH_SIDE");
    if (asked == nullptr) return std::size_t{2048};
    const std::string_view text(asked);
    std::size_t side = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), side);
    if (error != std::errc() || end != text.end() || side < 256 || side > 16384) {
        fmt::print(stderr, "TEXTON_BENCH_SIDE is {:?}, but must be an integer from 256 to 16384.\n", text);
        std::exit(2);
    }
    return side;
}();

enum class Threads { one, all };
inline const char* suffix(Threads threads) { return threads == Threads::one ? ", one thread" : ", all threads"; }

/// Returns the action limited to one thread or to all threads of TBB. Both Texton and OpenCV use TBB.
inline std::function<void()> with_threads(Threads threads, std::function<void()> action) {
    if (threads == Threads::all) return action;
    return [action = std::move(action)] {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
        action();
    };
}

/// Fills the image with smooth waves and a little noise, so that filters that differ in details give similar results.
/// The values cover nearly the whole range.
inline void fill_with_noise(const Pitched2D& image) {
    std::mt19937 random(1);
    const Extent extent = image.extent();
    const std::size_t values = extent.width * info(image.format()).channels;
    const bool floats = info(image.format()).bytes / info(image.format()).channels == 4;
    std::vector<double> waves;
    for (std::size_t i = 0; i < values; ++i) waves.push_back(0.4 * std::sin(static_cast<double>(i) * 0.003));
    for (std::size_t y = 0; y < extent.height; ++y) {
        std::byte* row = image.data() + y * image.pitch();
        const double height = std::cos(static_cast<double>(y) * 0.007);
        for (std::size_t i = 0; i < values; ++i) {
            const double noise = 0.1 * (static_cast<double>(random() & 0xffff) / 65536 - 0.5);
            const double value = 0.5 + waves[i] * height + noise;
            if (floats) {
                const auto channel = static_cast<float>(value);
                std::memcpy(row + 4 * i, &channel, 4);
            } else {
                row[i] = static_cast<std::byte>(value * 255);
            }
        }
    }
}

struct ImageScene {
    ImageScene(Format format, Extent from, Extent to, const Sampler& sampler)
        : source(Device::cpu(), format, from),
          result(Device::cpu(), format, to),
          texture(source.view(), sampler),
          stream(Device::cpu()) {
        fill_with_noise(source);
    }

    Pitched2D source;
    Pitched2D result;
    Texture texture;
    Stream stream;
};

/// Throws if the channels of two images differ by more than `maximum` of the value range on average: then the two
/// libraries do not compute the same. `row(y)` returns the address of row y of the other image.
template <class Row>
void check_alike(const Pitched2D& ours, const Row& row, double maximum) {
    const Extent extent = ours.extent();
    const std::size_t channels = info(ours.format()).channels;
    const bool floats = info(ours.format()).bytes / channels == 4;
    double sum = 0;
    for (std::size_t y = 0; y < extent.height; ++y) {
        const std::byte* a = ours.data() + y * ours.pitch();
        const auto* b = reinterpret_cast<const std::byte*>(row(y));
        for (std::size_t i = 0; i < extent.width * channels; ++i) {
            if (floats) {
                float values[2];
                std::memcpy(&values[0], a + 4 * i, 4);
                std::memcpy(&values[1], b + 4 * i, 4);
                sum += std::fabs(values[0] - values[1]);
            } else {
                sum += std::fabs(static_cast<int>(a[i]) - static_cast<int>(b[i])) / 255.0;
            }
        }
    }
    const double mean = sum / static_cast<double>(extent.width * extent.height * channels);
    if (!(mean <= maximum)) throw std::runtime_error(fmt::format("the images differ by {} on average", mean));
}

}  // namespace texton::bench
