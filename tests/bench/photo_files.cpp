// Writes image files with the statistics of photographs, to measure what reads many of them.
//
// A photograph is a sum of smooth noise whose amplitude falls with its frequency, a few objects with sharp edges, and the
// noise of a sensor. JPEG files of 4000 x 3000 have about 2.5 MB, as those of a camera or a phone. Files depend only on
// their number, size and kind.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <OpenImageIO/imageio.h>
#include <fmt/format.h>

namespace {

namespace fs = std::filesystem;
constexpr std::size_t kChannels = 3;

// Smooth noise between -1 and 1 with one random value for each cell of a grid.
class Noise {
public:
    Noise(int width, int height, int cell, std::mt19937& random)
        : cell_(cell),
          columns_(static_cast<std::size_t>(width / cell + 2)),
          values_(columns_ * static_cast<std::size_t>(height / cell + 2)) {
        std::uniform_real_distribution<float> value(-1, 1);
        for (float& each : values_) each = value(random);
    }
    // Adds a row to `row`, multiplied by `amplitude`.
    void add(int y, float amplitude, std::vector<float>& row) const {
        const float* const above = &values_[static_cast<std::size_t>(y / cell_) * columns_];
        const float* const below = above + columns_;
        const float down = smooth(y % cell_);
        for (std::size_t x = 0; x < row.size(); ++x) {
            const std::size_t i = x / static_cast<std::size_t>(cell_);
            const float left = above[i] + down * (below[i] - above[i]);
            const float right = above[i + 1] + down * (below[i + 1] - above[i + 1]);
            row[x] += amplitude * (left + smooth(static_cast<int>(x) % cell_) * (right - left));
        }
    }

private:
    float smooth(int at) const {
        const float t = static_cast<float>(at) / static_cast<float>(cell_);
        return t * t * (3 - 2 * t);
    }
    int cell_;
    std::size_t columns_;
    std::vector<float> values_;
};

struct Disc {
    float x, y, radius, light;
};

std::vector<std::uint8_t> photograph(unsigned number, int width, int height) {
    std::mt19937 random(number);
    std::vector<Noise> octaves;
    for (int cell = 1024; cell >= 4; cell /= 2) octaves.emplace_back(width, height, cell, random);
    const Noise hue(width, height, 512, random);
    const auto in = [&random](float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random);
    };
    std::vector<Disc> discs(20);
    for (Disc& disc : discs)
        disc = {in(0, static_cast<float>(width)), in(0, static_cast<float>(height)),
                in(0.01F, 0.1F) * static_cast<float>(width), in(-60, 60)};
    const std::size_t row = static_cast<std::size_t>(width) * kChannels;
    std::vector<std::uint8_t> texels(row * static_cast<std::size_t>(height));
    std::vector<float> light(static_cast<std::size_t>(width));
    std::vector<float> tint(light.size());
    std::uint32_t grain = number * 2654435761U + 1;
    for (int y = 0; y < height; ++y) {
        std::ranges::fill(light, 118.0F);
        std::ranges::fill(tint, 0.0F);
        float amplitude = 55;
        for (const Noise& octave : octaves) {
            octave.add(y, amplitude, light);
            amplitude *= 0.6F;
        }
        hue.add(y, 30, tint);
        for (const Disc& disc : discs) {
            const float down = static_cast<float>(y) - disc.y;
            const float half = std::sqrt(std::max(0.0F, disc.radius * disc.radius - down * down));
            const auto begin = static_cast<int>(std::clamp(disc.x - half, 0.0F, static_cast<float>(width)));
            const auto end = static_cast<int>(std::clamp(disc.x + half, 0.0F, static_cast<float>(width)));
            for (int x = begin; x < end; ++x) light[static_cast<std::size_t>(x)] += disc.light;
        }
        std::uint8_t* texel = &texels[row * static_cast<std::size_t>(y)];
        for (std::size_t x = 0; x < light.size(); ++x) {
            grain = grain * 1664525U + 1013904223U;
            const float noise = static_cast<float>(grain >> 24) / 255 * 17 - 8.5F;
            for (const float channel : {light[x] + tint[x] + noise, light[x] + noise, light[x] - tint[x] + noise})
                *texel++ = static_cast<std::uint8_t>(std::clamp(channel, 0.0F, 255.0F));
        }
    }
    return texels;
}

bool write(const fs::path& path, int width, int height, const std::vector<std::uint8_t>& texels) {
    const auto file = OIIO::ImageOutput::create(path.string());
    OIIO::ImageSpec spec(width, height, static_cast<int>(kChannels), OIIO::TypeDesc::UINT8);
    spec.attribute("CompressionQuality", 88);
    return file != nullptr && file->open(path.string(), spec) &&
           file->write_image(OIIO::TypeDesc::UINT8, texels.data()) && file->close();
}

}  // namespace

int main(int argc, char** argv) {
    const int count = argc > 2 ? std::atoi(argv[2]) : 0;
    const int width = argc > 4 ? std::atoi(argv[3]) : 4000;
    const int height = argc > 4 ? std::atoi(argv[4]) : 3000;
    const char* kind = argc > 5 ? argv[5] : "jpg";
    if (count < 1 || width < 1 || height < 1) {
        fmt::print(stderr,
                   "usage: texton-photo-files FOLDER COUNT [WIDTH HEIGHT [KIND]]\n"
                   "Writes COUNT photographs as FOLDER/photo_0000.KIND and so on. Default: 4000 x 3000, jpg.\n");
        return 2;
    }
    fs::create_directories(argv[1]);
    for (int i = 0; i < count; ++i) {
        const fs::path path = fs::path(argv[1]) / fmt::format("photo_{:04}.{}", i, kind);
        if (!write(path, width, height, photograph(static_cast<unsigned>(i), width, height))) {
            fmt::print(stderr, "{} cannot be written\n", path.string());
            return 1;
        }
    }
}
