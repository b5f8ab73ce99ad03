// 2D images: a zone plate, a color checker, an environment map, ramps, special float values, and odd sizes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "assets/make.h"

namespace assets {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;

// Gray rings that get finer with the radius; at the rim light and dark texels alternate.
Canvas zone_plate() {
    constexpr int kSide = 255;
    Canvas out(kSide, kSide);
    for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x) {
            const float dx = static_cast<float>(x - kSide / 2), dy = static_cast<float>(y - kSide / 2);
            const float gray = 0.5f + 0.5f * std::cos(kPi * (dx * dx + dy * dy) / (kSide - 1));
            out.at(x, y) = {gray, gray, gray};
        }
    }
    return out;
}

// The 24 patches of the ColorChecker in sRGB, as published by its manufacturer.
constexpr std::uint8_t kPatches[24][3] = {
    {115, 82, 68},   {194, 150, 130}, {98, 122, 157},  {87, 108, 67},   {133, 128, 177}, {103, 189, 170},
    {214, 126, 44},  {80, 91, 166},   {193, 90, 99},   {94, 60, 108},   {157, 188, 64},  {224, 163, 46},
    {56, 61, 150},   {70, 148, 73},   {175, 54, 60},   {231, 199, 31},  {187, 86, 149},  {8, 133, 161},
    {243, 243, 242}, {200, 200, 200}, {160, 160, 160}, {122, 122, 121}, {85, 85, 85},    {52, 52, 52}};

Canvas color_checker() {
    constexpr int kPatch = 24, kGap = 4, kColumns = 6, kRows = 4;
    Canvas out(kColumns * (kPatch + kGap) + kGap, kRows * (kPatch + kGap) + kGap, {0.08f, 0.08f, 0.08f});
    for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < out.width; ++x) {
            if (x % (kPatch + kGap) < kGap || y % (kPatch + kGap) < kGap) continue;
            const auto& patch = kPatches[y / (kPatch + kGap) * kColumns + x / (kPatch + kGap)];
            for (std::size_t c = 0; c < 3; ++c) out.at(x, y)[c] = static_cast<float>(patch[c]) / 255;
        }
    }
    return out;
}

// Longitude increases to the right, latitude decreases downwards. The sun is 3000 times as bright as the sky.
Canvas sky_all_around() {
    constexpr int kWidth = 256, kHeight = 128;
    const float sun_height = 0.6f, sun_longitude = 0.8f;
    const Rgb sun{std::cos(sun_height) * std::cos(sun_longitude), std::sin(sun_height),
                  std::cos(sun_height) * std::sin(sun_longitude)};
    Canvas out(kWidth, kHeight);
    for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
            const float latitude = kPi * (0.5f - (static_cast<float>(y) + 0.5f) / kHeight);
            const float longitude = 2 * kPi * (static_cast<float>(x) + 0.5f) / kWidth;
            const float across = std::cos(latitude), up = std::sin(latitude);
            const float toward =
                across * std::cos(longitude) * sun[0] + up * sun[1] + across * std::sin(longitude) * sun[2];
            const float halo = std::pow(std::max(toward, 0.0f), 64.0f);
            const float disc = toward > 0.9985f ? 1500.0f : 0.0f;
            if (up >= 0) {
                out.at(x, y) = {0.75f - 0.6f * up + 2 * halo + disc, 0.8f - 0.4f * up + 1.6f * halo + 0.9f * disc,
                                0.9f + 0.1f * up + halo + 0.7f * disc};
            } else {
                const float field = (x / 16 + y / 8) % 2 != 0 ? 1.0f : 0.8f;
                out.at(x, y) = {0.18f * field, 0.2f * field, 0.08f * field};
            }
        }
    }
    return out;
}

// 256 columns from 0 to 1: gray, red, green and blue.
Canvas ramp() {
    constexpr int kColumns = 256, kBand = 8;
    Canvas out(kColumns, 4 * kBand);
    for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < kColumns; ++x) {
            const float value = static_cast<float>(x) / (kColumns - 1);
            for (std::size_t c = 0; c < 3; ++c)
                out.at(x, y)[c] = y < kBand || y / kBand == static_cast<int>(c) + 1 ? value : 0;
        }
    }
    return out;
}

void write_floats(const std::string& path, int width, int height, int channels, const std::vector<float>& values) {
    write(path, OIIO::ImageSpec(width, height, channels, OIIO::TypeDesc::FLOAT), OIIO::TypeDesc::FLOAT, values.data());
}

}  // namespace

void make_flat_images(const std::string& folder) {
    write(folder + "/zone_plate.png", zone_plate());
    write(folder + "/color_checker.png", color_checker());
    write(folder + "/sky_equirectangular.exr", sky_all_around());
    write(folder + "/ramp_srgb.png", ramp());
    const Canvas linear = ramp();
    std::vector<float> values;
    for (const Rgb& texel : linear.texels) values.insert(values.end(), texel.begin(), texel.end());
    write_floats(folder + "/ramp_linear.exr", linear.width, linear.height, 3, values);
}

void make_special_images(const std::string& folder) {
    // A ramp with a square of NaN, bars of both infinities, zeros of both signs, denormals and the largest floats.
    using Limits = std::numeric_limits<float>;
    constexpr int kWidth = 16, kHeight = 8;
    std::vector<float> values;
    for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) values.push_back(static_cast<float>(x + y) / (kWidth + kHeight - 2));
    }
    const auto set = [&](int x, int y, float value) { values[static_cast<std::size_t>(y * kWidth + x)] = value; };
    for (int i = 0; i < 4; ++i) {
        set(2 + i % 2, 2 + i / 2, Limits::quiet_NaN());
        set(6, 1 + i, Limits::infinity());
        set(8, 1 + i, -Limits::infinity());
    }
    set(10, 2, 0.0f);
    set(11, 2, -0.0f);
    set(10, 4, Limits::denorm_min());
    set(11, 4, -Limits::denorm_min());
    set(13, 2, Limits::max());
    set(13, 4, Limits::lowest());
    write_floats(folder + "/nan_and_inf.exr", kWidth, kHeight, 1, values);

    for (const auto& [width, height] : {std::pair{1, 1}, {2, 1}, {1, 3}, {3, 2}, {5, 3}, {7, 5}}) {
        Canvas out(width, height);
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                out.at(x, y) = {static_cast<float>(x + 1) / static_cast<float>(width),
                                static_cast<float>(y + 1) / static_cast<float>(height),
                                (x + y) % 2 != 0 ? 1.0f : 0.25f};
            }
        }
        write(folder + "/odd_" + std::to_string(width) + "x" + std::to_string(height) + ".png", out);
    }
}

}  // namespace assets
