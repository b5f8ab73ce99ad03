// Images for arrays of other kinds: cube faces, layers, mip levels, volumes and planar frames.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "assets/make.h"

namespace assets {
namespace {

constexpr Rgb kWhite{1, 1, 1}, kBlack{0, 0, 0};

// A cube face: its name, red increasing to the right, green increasing downwards, and white texels in the corner of the
// first texel.
Canvas face(std::size_t index, int side) {
    constexpr const char* kNames[] = {"+X", "-X", "+Y", "-Y", "+Z", "-Z"};
    Canvas out(side, side);
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            const float across = (static_cast<float>(x) + 0.5f) / static_cast<float>(side);
            const float down = (static_cast<float>(y) + 0.5f) / static_cast<float>(side);
            out.at(x, y) = {0.75f * across, 0.75f * down, static_cast<float>(index) / 5};
        }
    }
    label(out, kNames[index], kWhite);
    for (int i = 0; i < side * side / 64; ++i) out.at(i % (side / 8), i / (side / 8)) = kWhite;
    return out;
}

// Returns a canvas of half the size; each texel is the mean of four.
Canvas halved(const Canvas& canvas) {
    Canvas out(std::max(canvas.width / 2, 1), std::max(canvas.height / 2, 1));
    for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < out.width; ++x) {
            for (int i = 0; i < 4; ++i) {
                const Rgb& from =
                    canvas.at(std::min(2 * x + i % 2, canvas.width - 1), std::min(2 * y + i / 2, canvas.height - 1));
                for (std::size_t c = 0; c < 3; ++c) out.at(x, y)[c] += from[c] / 4;
            }
        }
    }
    return out;
}

std::vector<Bytes> chain_of(Canvas canvas) {
    std::vector<Bytes> out{rgba8(canvas)};
    while (canvas.width > 1 || canvas.height > 1) {
        canvas = halved(canvas);
        out.push_back(rgba8(canvas));
    }
    return out;
}

// Returns a canvas with a color for the number, and the number itself if it fits.
Canvas numbered(int number, int width, int height) {
    Canvas out(width, height, hue(static_cast<float>(number) / 8));
    if (width >= 7 && height >= 9) label(out, std::to_string(number), kBlack);
    return out;
}

// --- volumes --------------------------------------------------------------------------------------------------------

// Ellipsoids as in a scan of a head. Each adds its density to the points inside. Coordinates range from -1 to 1.
struct Ellipsoid {
    float x, y, z, a, b, c;
    float density;  // Hounsfield units
};
constexpr Ellipsoid kPhantom[] = {{0, 0, 0, 0.72f, 0.92f, 0.9f, 2000},      // skull, from air at -1000
                                  {0, 0, 0, 0.64f, 0.84f, 0.82f, -970},     // brain
                                  {0.22f, 0, 0, 0.12f, 0.32f, 0.25f, -25},  // ventricles
                                  {-0.22f, 0, 0, 0.16f, 0.4f, 0.3f, -25},
                                  {0, 0.35f, -0.15f, 0.22f, 0.24f, 0.4f, 30},  // a mass
                                  {0, -0.1f, 0.3f, 0.05f, 0.05f, 0.05f, 900},  // calcified
                                  {0.1f, -0.6f, -0.1f, 0.08f, 0.05f, 0.3f, 45}};

float density(float x, float y, float z) {
    float sum = -1000;
    for (const Ellipsoid& e : kPhantom) {
        const float u = (x - e.x) / e.a, v = (y - e.y) / e.b, w = (z - e.z) / e.c;
        if (u * u + v * v + w * w < 1) sum += e.density;
    }
    // A cube and a bar beside the head, with sharp edges along the axes.
    if (x > 0.75f && x < 0.9f && y > -0.1f && y < 0.2f && std::abs(z) < 0.15f) sum = 1500;
    if (x < -0.8f && x > -0.87f && std::abs(y) < 0.7f && std::abs(z) < 0.06f) sum = 3000;
    return sum;
}

template <class T>
std::vector<T> volume(int width, int height, int depth, T (*stored)(float density)) {
    std::vector<T> out;
    const auto center = [](int at, int side) {
        return (2 * static_cast<float>(at) + 1) / static_cast<float>(side) - 1;
    };
    for (int z = 0; z < depth; ++z) {
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x)
                out.push_back(stored(density(center(x, width), center(y, height), center(z, depth))));
        }
    }
    return out;
}

// --- frames ---------------------------------------------------------------------------------------------------------

constexpr int kFrameWidth = 128, kFrameHeight = 72;

// Color bars above; a hue sweep and a gray ramp below.
Canvas frame() {
    static constexpr std::array<Rgb, 8> kBars{
        {{1, 1, 1}, {1, 1, 0}, {0, 1, 1}, {0, 1, 0}, {1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 0, 0}}};
    Canvas out(kFrameWidth, kFrameHeight);
    for (int y = 0; y < kFrameHeight; ++y) {
        for (int x = 0; x < kFrameWidth; ++x) {
            const float across = static_cast<float>(x) / (kFrameWidth - 1);
            if (y < kFrameHeight / 2) {
                for (std::size_t c = 0; c < 3; ++c)
                    out.at(x, y)[c] = 0.75f * kBars[static_cast<std::size_t>(x * 8 / kFrameWidth)][c];
            } else {
                out.at(x, y) = y < kFrameHeight * 3 / 4 ? hue(across) : Rgb{across, across, across};
            }
        }
    }
    return out;
}

// BT.709 with video range: converts to 8-bit code values of luma and both chroma channels, with fractions for higher
// bit depths.
std::array<float, 3> video(const Rgb& rgb) {
    const float luma = 0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2];
    return {16 + 219 * luma, 128 + 224 * (rgb[2] - luma) / 1.8556f, 128 + 224 * (rgb[0] - luma) / 1.5748f};
}

// Returns the luma plane, then chroma as the mean of four texels.
template <class T>
std::vector<T> planar(const Canvas& canvas, T (*stored)(float code)) {
    std::vector<T> out;
    for (const Rgb& texel : canvas.texels) out.push_back(stored(video(texel)[0]));
    const Canvas half = halved(canvas);
    for (const Rgb& texel : half.texels) {
        const auto codes = video(texel);
        out.push_back(stored(codes[1]));
        out.push_back(stored(codes[2]));
    }
    return out;
}

}  // namespace

void make_cubes_and_layers(const std::string& folder) {
    constexpr const char* kFiles[] = {"px", "nx", "py", "ny", "pz", "nz"};
    constexpr int kSide = 64;
    Dds cube{.format = Dxgi::rgba8_unorm, .width = kSide, .height = kSide, .cube = true, .parts = {}};
    for (std::size_t i = 0; i < 6; ++i) {
        const Canvas canvas = face(i, kSide);
        write(folder + "/cube_" + kFiles[i] + ".png", canvas);
        cube.parts.push_back(chain_of(canvas));
    }
    write_dds(folder + "/cube.dds", cube);

    Dds layers{.format = Dxgi::rgba8_unorm, .width = 48, .height = 32, .layers = 5, .parts = {}};
    for (int i = 0; i < layers.layers; ++i) layers.parts.push_back({rgba8(numbered(i, layers.width, layers.height))});
    write_dds(folder + "/layers.dds", layers);
}

void make_levels(const std::string& folder) {
    constexpr int kWidth = 128, kHeight = 64, kTile = 32;
    Dds dds{.format = Dxgi::rgba8_unorm, .width = kWidth, .height = kHeight, .parts = {{}}};
    const std::string path = folder + "/levels.exr";
    const auto out = OIIO::ImageOutput::create(path);
    auto mode = OIIO::ImageOutput::Create;
    for (int level = 0; kWidth >> level > 0; ++level) {
        const Canvas canvas = numbered(level, kWidth >> level, std::max(kHeight >> level, 1));
        dds.parts.front().push_back(rgba8(canvas));
        OIIO::ImageSpec spec(canvas.width, canvas.height, 3, OIIO::TypeDesc::HALF);
        spec.tile_width = spec.tile_height = kTile;
        spec.attribute("textureformat", "Plain Texture");  // OpenImageIO stores mip levels
        spec.attribute("DateTime", kDateTime);
        if (!out || !out->open(path, spec, mode) || !out->write_image(OIIO::TypeDesc::FLOAT, canvas.texels.data()))
            throw std::runtime_error(path + ": " + (out ? out->geterror() : OIIO::geterror()));
        mode = OIIO::ImageOutput::AppendMIPLevel;
    }
    if (!out->close()) throw std::runtime_error(path + ": " + out->geterror());
    write_dds(folder + "/levels.dds", dds);
}

void make_volumes(const std::string& folder) {
    constexpr int kWidth = 48, kHeight = 60, kDepth = 36, kStackSide = 40, kStackDepth = 8;
    const auto stored = [](float hounsfield) { return static_cast<std::uint16_t>(std::lround(hounsfield + 1024)); };
    const auto scan = bytes_of(volume<std::uint16_t>(kWidth, kHeight, kDepth, stored));
    write_dds(folder + "/phantom.dds",
              {.format = Dxgi::r16_unorm, .width = kWidth, .height = kHeight, .depth = kDepth, .parts = {{scan}}});
    const auto slices = volume<std::uint16_t>(kStackSide, kStackSide, kStackDepth, stored);
    const OIIO::ImageSpec spec(kStackSide, kStackSide, 1, OIIO::TypeDesc::UINT16);
    for (int z = 0; z < kStackDepth; ++z) {
        write(folder + "/phantom_" + std::to_string(z) + ".png", spec, OIIO::TypeDesc::UINT16,
              slices.data() + z * kStackSide * kStackSide);
    }
}

void make_frames(const std::string& folder) {
    const Canvas canvas = frame();
    const std::string size = "_" + std::to_string(kFrameWidth) + "x" + std::to_string(kFrameHeight) + ".yuv";
    write_bytes(folder + "/nv12" + size,
                planar<std::uint8_t>(canvas, [](float code) { return static_cast<std::uint8_t>(std::lround(code)); }));
    // Ten bits, stored in the upper bits of sixteen.
    write_bytes(folder + "/p010" + size, bytes_of(planar<std::uint16_t>(canvas, [](float code) {
                    return static_cast<std::uint16_t>(std::lround(4 * code) << 6);
                })));
}

}  // namespace assets
