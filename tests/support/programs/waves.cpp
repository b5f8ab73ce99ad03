// Waves from three sources, shown in texton-view while they are computed: heights, normals and an image that light makes of
// them. It runs until it is killed, or for a number of frames. assets/live.png shows the window.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <thread>
#include <vector>

#include <texton/show.h>

using namespace texton;

namespace {

constexpr Extent kExtent{480, 320};

struct Pixel {
    float r, g, b, a;
};

float height_at(float x, float y, float time) {
    constexpr float kSources[3][3] = {{120, 90, 23}, {370, 120, 31}, {250, 260, 17}};  // x, y, wavelength
    float height = 0;
    for (const auto& source : kSources) {
        const float distance = std::hypot(x - source[0], y - source[1]);
        height += std::sin(2 * std::numbers::pi_v<float> * (distance / source[2] - time)) / (1 + distance / 60);
    }
    return height;
}

}  // namespace

int main(int count, char** arguments) {
    const long frames = count > 1 ? std::atol(arguments[1]) : -1;
    std::vector<float> heights(kExtent.width * kExtent.height);
    std::vector<Pixel> normals(heights.size());
    std::vector<Pixel> lit(heights.size());
    for (long frame = 0; frame != frames; ++frame) {
        const float time = static_cast<float>(frame) / 60;
        for (std::size_t i = 0; i < heights.size(); ++i) {
            const auto x = static_cast<float>(i % kExtent.width);
            const auto y = static_cast<float>(i / kExtent.width);
            heights[i] = height_at(x, y, time);
            const float across = 3 * (heights[i] - height_at(x + 1, y, time));
            const float down = 3 * (heights[i] - height_at(x, y + 1, time));
            const float length = std::sqrt(across * across + down * down + 1);
            normals[i] = {across / length, down / length, 1 / length, 1};
            const float light = std::max(0.0f, (0.5f * across - 0.6f * down + 0.62f) / length);
            const float mirror = std::pow(light, 24.0f);
            lit[i] = {0.02f + 0.12f * light + mirror, 0.08f + 0.35f * light + mirror, 0.15f + 0.5f * light + mirror, 1};
        }
        (void)show(host_view(heights.data(), Format::r32_float, kExtent), "heights");
        (void)show(host_view(normals.data(), Format::rgba32_float, kExtent), "normals");
        (void)show(host_view(lit.data(), Format::rgba32_float, kExtent), "lit");
        std::this_thread::sleep_for(std::chrono::milliseconds(16));
    }
}
