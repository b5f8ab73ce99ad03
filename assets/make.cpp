// Makes the pictures of this folder: texton-make-assets FOLDER
//
// card.png: a test card. Six pure bars, a grey ramp, a coloured zone plate whose rings are a texel wide at its rim, corners
// of single-texel checks. sky.exr: half floats far beyond 1, as a sky with a sun.
#include <OpenImageIO/imageio.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Rgb = std::array<float, 3>;

template <class T>
void write(const std::string& path, int width, int height, int channels, OIIO::TypeDesc type,
           const std::vector<T>& data) {
    const auto out = OIIO::ImageOutput::create(path);
    OIIO::ImageSpec spec(width, height, channels, type);
    spec.attribute("png:compressionLevel", 9);
    if (!out || !out->open(path, spec) || !out->write_image(OIIO::BaseTypeFromC<T>::value, data.data()) ||
        !out->close()) {
        throw std::runtime_error(path + ": " + (out ? out->geterror() : OIIO::geterror()));
    }
    std::cout << path << '\n';
}

// A colour of full saturation for an angle, in turns.
Rgb hue(float turns) {
    Rgb out{};
    for (std::size_t i = 0; i < 3; ++i) {
        out[i] = 0.5f + 0.5f * std::cos(2 * std::numbers::pi_v<float> * (turns - static_cast<float>(i) / 3));
    }
    return out;
}

constexpr int kWidth = 481, kHeight = 321;
constexpr int kBars = 40, kRamp = 32;  // rows at the top and at the bottom

Rgb card(int x, int y) {
    static constexpr std::array<Rgb, 6> kColours{{{1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {1, 0, 1}}};
    if (y < kBars) return kColours[static_cast<std::size_t>(x * 6 / kWidth)];
    if (y >= kHeight - kRamp) {
        const float grey = std::floor(static_cast<float>(x) * 17 / kWidth) / 16;
        return {grey, grey, grey};
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
    // The phase of cos(pi r^2 / (2 R)) turns by half a cycle a texel at r = R: the finest ring a texel grid can hold.
    const float ring = 0.5f + 0.5f * std::cos(std::numbers::pi_v<float> * r * r / (2 * kRim));
    Rgb out = hue(std::atan2(dy, dx) / (2 * std::numbers::pi_v<float>));
    for (float& channel : out) channel = ring * (0.35f + 0.65f * channel);
    return out;
}

void make_card(const std::string& path) {
    std::vector<std::uint8_t> texels;
    for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
            for (float channel : card(x, y)) texels.push_back(static_cast<std::uint8_t>(std::lround(channel * 255)));
        }
    }
    write(path, kWidth, kHeight, 3, OIIO::TypeDesc::UINT8, texels);
}

void make_sky(const std::string& path) {
    constexpr int kSkyWidth = 203, kSkyHeight = 131;
    std::vector<float> texels;
    for (int y = 0; y < kSkyHeight; ++y) {
        for (int x = 0; x < kSkyWidth; ++x) {
            const float up = 1 - static_cast<float>(y) / (kSkyHeight - 1);
            const float dx = static_cast<float>(x) - 140;
            const float dy = static_cast<float>(y) - 38;
            const float glow = 40 * std::exp(-(dx * dx + dy * dy) / 90) + 0.5f * std::exp(-std::hypot(dx, dy) / 30);
            texels.push_back(0.55f - 0.45f * up + glow);
            texels.push_back(0.42f - 0.22f * up + 0.85f * glow);
            texels.push_back(0.30f + 0.35f * up + 0.55f * glow);
        }
    }
    write(path, kSkyWidth, kSkyHeight, 3, OIIO::TypeDesc::HALF, texels);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: texton-make-assets FOLDER\n";
        return 2;
    }
    try {
        const std::filesystem::path folder = argv[1];
        make_card((folder / "card.png").string());
        make_sky((folder / "sky.exr").string());
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
