// card.png: a test card with six pure color bars, a gray ramp, a colored zone plate with rings of one texel at its rim,
// and single-texel checkerboards in the corners. sky.exr: a sky with a sun, as half floats far above 1.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "assets/make.h"

namespace assets {
namespace {

constexpr int kWidth = 481, kHeight = 321;
constexpr int kBars = 40, kRamp = 32;  // rows at the top and at the bottom

Rgb card(int x, int y) {
    static constexpr std::array<Rgb, 6> kColors{{{1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {1, 0, 1}}};
    if (y < kBars) return kColors[static_cast<std::size_t>(x * 6 / kWidth)];
    if (y >= kHeight - kRamp) {
        const float gray = std::floor(static_cast<float>(x) * 17 / kWidth) / 16;
        return {gray, gray, gray};
    }
    const int from_side = std::min(x, kWidth - 1 - x);
    const int from_bar = std::min(y - kBars, kHeight - kRamp - 1 - y);
    if (from_side < 24 && from_bar < 24) {
        const float check = static_cast<float>((x + y) % 2);
        return {check, check, check};
    }
    const float dx = static_cast<float>(x) - (kWidth - 1) / 2.0f;
    const float dy = static_cast<float>(y) - (kHeight - kRamp + kBars - 1) / 2.0f;
    const float r = std::sqrt(dx * dx + dy * dy);
    constexpr float kRim = 116;
    if (r > kRim) {
        const bool line = (x - kWidth / 2) % 24 == 0 || (y - kBars) % 24 == 0;
        return line ? Rgb{0.36f, 0.37f, 0.40f} : Rgb{0.20f, 0.21f, 0.23f};
    }
    // The phase of cos(pi r^2 / (2 R)) changes by half a cycle per texel at r = R: the finest ring that a texel grid
    // can represent.
    const float ring = 0.5f + 0.5f * std::cos(std::numbers::pi_v<float> * r * r / (2 * kRim));
    Rgb out = hue(std::atan2(dy, dx) / (2 * std::numbers::pi_v<float>));
    for (float& channel : out) channel = ring * (0.35f + 0.65f * channel);
    return out;
}

Canvas sky() {
    constexpr int kSkyWidth = 203, kSkyHeight = 131;
    Canvas out(kSkyWidth, kSkyHeight);
    for (int y = 0; y < kSkyHeight; ++y) {
        for (int x = 0; x < kSkyWidth; ++x) {
            const float up = 1 - static_cast<float>(y) / (kSkyHeight - 1);
            const float dx = static_cast<float>(x) - 140;
            const float dy = static_cast<float>(y) - 38;
            const float glow = 40 * std::exp(-(dx * dx + dy * dy) / 90) + 0.5f * std::exp(-std::hypot(dx, dy) / 30);
            out.at(x, y) = {0.55f - 0.45f * up + glow, 0.42f - 0.22f * up + 0.85f * glow,
                            0.30f + 0.35f * up + 0.55f * glow};
        }
    }
    return out;
}

}  // namespace

void make_card(const std::string& folder) {
    Canvas out(kWidth, kHeight);
    for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) out.at(x, y) = card(x, y);
    }
    write(folder + "/card.png", out);
    write(folder + "/sky.exr", sky());
}

}  // namespace assets
