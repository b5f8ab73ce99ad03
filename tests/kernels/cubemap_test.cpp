// Cubemap kernels: faces whose texels encode their position, directions encoded as colors, and lighting compared with
// integrals in double precision.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/cubemap.h>
#include <texton/fill.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/mips.h>
#include <texton/pitched.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::expect_error;
using test::same_bytes;
using test::upload;

struct Vector {
    double x, y, z;
};

double dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vector unit(const Vector& a) {
    const double length = std::sqrt(dot(a, a));
    return {a.x / length, a.y / length, a.z / length};
}

/// Returns the direction of a texel center of a face, following the face table in the CUDA programming guide.
Vector direction(std::size_t face, std::size_t i, std::size_t j, std::size_t side) {
    const double s = 2 * (static_cast<double>(i) + 0.5) / static_cast<double>(side) - 1;
    const double t = 2 * (static_cast<double>(j) + 0.5) / static_cast<double>(side) - 1;
    switch (face) {
        case 0: return unit({1, -t, -s});
        case 1: return unit({-1, -t, s});
        case 2: return unit({s, 1, t});
        case 3: return unit({s, -1, -t});
        case 4: return unit({s, -t, 1});
        default: return unit({-s, -t, -1});
    }
}

/// Returns the face that a direction meets, or no value if two faces are equally near.
int face_of(const Vector& to) {
    const double sizes[] = {std::abs(to.x), std::abs(to.y), std::abs(to.z)};
    const double signs[] = {to.x, to.y, to.z};
    const auto axis = static_cast<std::size_t>(std::max_element(sizes, sizes + 3) - sizes);
    for (std::size_t other = 0; other < 3; ++other) {
        if (other != axis && sizes[axis] - sizes[other] < 1e-4) return -1;
    }
    return static_cast<int>(2 * axis) + (signs[axis] < 0 ? 1 : 0);
}

Vector direction_at(std::size_t i, std::size_t j, const Extent& equirect) {
    const double around =
        2 * std::numbers::pi * ((static_cast<double>(i) + 0.5) / static_cast<double>(equirect.width) - 0.5);
    const double down = std::numbers::pi * (static_cast<double>(j) + 0.5) / static_cast<double>(equirect.height);
    return {std::sin(around) * std::sin(down), std::cos(down), std::cos(around) * std::sin(down)};
}

using Color = std::array<float, 4>;
using Colors = std::vector<Color>;

/// Encodes a direction as a color.
Color color_of(const Vector& to) {
    return {static_cast<float>(to.x), static_cast<float>(to.y), static_cast<float>(to.z), 1};
}

Colors cube_of_directions(std::size_t side) {
    Colors colors;
    for (std::size_t face = 0; face < 6; ++face) {
        for (std::size_t j = 0; j < side; ++j) {
            for (std::size_t i = 0; i < side; ++i) colors.push_back(color_of(direction(face, i, j, side)));
        }
    }
    return colors;
}

/// The value of each texel encodes its face, row and column.
Colors labeled_cube(std::size_t side) {
    Colors colors;
    for (std::size_t face = 0; face < 6; ++face) {
        for (std::size_t j = 0; j < side; ++j) {
            for (std::size_t i = 0; i < side; ++i)
                colors.push_back({static_cast<float>(face), static_cast<float>(j), static_cast<float>(i), 1});
        }
    }
    return colors;
}

Bytes bytes_of(const Colors& colors) {
    Bytes bytes(colors.size() * sizeof(Color));
    std::memcpy(bytes.data(), colors.data(), bytes.size());
    return bytes;
}

Colors colors_of(const Bytes& bytes) {
    Colors colors(bytes.size() / sizeof(Color));
    std::memcpy(colors.data(), bytes.data(), bytes.size());
    return colors;
}

void expect_near(const Color& actual, const Vector& expected, double bound) {
    EXPECT_NEAR(static_cast<double>(actual[0]), expected.x, bound);
    EXPECT_NEAR(static_cast<double>(actual[1]), expected.y, bound);
    EXPECT_NEAR(static_cast<double>(actual[2]), expected.z, bound);
}

constexpr Sampler kPoint{.normalized_coordinates = true};
constexpr Sampler kSeamless{
    .filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true, .seamless_cubemap = true};
constexpr Sampler kAround{.address = {AddressMode::wrap, AddressMode::clamp, AddressMode::clamp},
                          .filter = Filter::linear,
                          .normalized_coordinates = true};

class CubemapTest : public test::OnEveryDevice {
protected:
    Array cube(std::size_t side, const Colors& colors, int levels = 1) const {
        Array array(device(), {.format = Format::rgba32_float,
                               .extent = {side, side},
                               .kind = ArrayKind::cubemap,
                               .levels = levels,
                               .usage = {.surface = true}});
        upload(array.view(), bytes_of(colors));
        return array;
    }
    Array image(const Extent& extent, const Colors& colors) const {
        Array array(device(), {.format = Format::rgba32_float, .extent = extent});
        upload(array.view(), bytes_of(colors));
        return array;
    }
    /// Returns the pixels that a call writes to an image of this extent.
    template <class Enqueue>
    Colors made(const Extent& extent, Enqueue enqueue) const {
        const Linear memory(device(), Format::rgba32_float, extent);
        const View view = memory.view(Format::rgba32_float, extent);
        const Stream stream(device());
        enqueue(stream, view);
        stream.synchronize();
        return colors_of(download(view));
    }
    Colors prefiltered(const Texture& environment, std::size_t side, float roughness, int samples) const {
        return made({side, side, 6}, [&](const Stream& stream, const View& view) {
            prefilter_ggx(stream, {&view, 1}, environment, {&roughness, 1}, {samples});
        });
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, CubemapTest, test::every_device(), test::device_label);

// --- nets ------------------------------------------------------------------------------------------------------------

struct DrawnNet {
    CubeNet layout;
    std::vector<const char*> rows;  ///< one letter per face, in face order; f is the last face, upside down
};

const DrawnNet kNets[] = {{CubeNet::horizontal_cross, {".C..", "BEAF", ".D.."}},
                          {CubeNet::vertical_cross, {".C.", "BEA", ".D.", ".f."}},
                          {CubeNet::horizontal_strip, {"ABCDEF"}},
                          {CubeNet::vertical_strip, {"A", "B", "C", "D", "E", "F"}}};

Extent sides_of(const DrawnNet& net, std::size_t side) {
    return {std::strlen(net.rows[0]) * side, net.rows.size() * side};
}

Colors drawn(const DrawnNet& net, std::size_t side) {
    const auto last = static_cast<float>(side - 1);
    Colors colors;
    for (const char* row : net.rows) {
        for (std::size_t j = 0; j < side; ++j) {
            for (const char* cell = row; *cell != 0; ++cell) {
                for (std::size_t i = 0; i < side; ++i) {
                    const auto x = static_cast<float>(i);
                    const auto y = static_cast<float>(j);
                    if (*cell == '.')
                        colors.push_back({});
                    else if (*cell == 'f')
                        colors.push_back({5, last - y, last - x, 1});
                    else
                        colors.push_back({static_cast<float>(*cell - 'A'), y, x, 1});
                }
            }
        }
    }
    return colors;
}

TEST_P(CubemapTest, CubeNetsRoundTripTexelForTexel) {
    for (const std::size_t side : {1U, 3U, 8U}) {
        for (const DrawnNet& net : kNets) {
            const Array source = cube(side, labeled_cube(side));
            const Colors flat = made(sides_of(net, side), [&](const Stream& stream, const View& view) {
                cube_to_net(stream, view, Texture(source, kPoint), net.layout);
            });
            EXPECT_EQ(flat, drawn(net, side));
            const Array back = image(sides_of(net, side), flat);
            EXPECT_EQ(
                made({side, side, 6}, [&](const Stream& stream,
                                          const View& view) { net_to_cube(stream, view, Texture(back), net.layout); }),
                labeled_cube(side));
        }
    }
}

TEST_P(CubemapTest, ANetCanFillALevelOfACubemapArray) {
    const Array target = cube(8, labeled_cube(8), 2);
    const DrawnNet& net = kNets[1];
    const Array flat = image(sides_of(net, 4), drawn(net, 4));
    const Stream stream(device());
    net_to_cube(stream, target.view({.level = 1}), Texture(flat), net.layout);
    stream.synchronize();
    EXPECT_EQ(colors_of(download(target.view({.level = 1}))), labeled_cube(4));
    EXPECT_EQ(colors_of(download(target.view())), labeled_cube(8));
}

// --- equirectangular images ------------------------------------------------------------------------------------------

TEST_P(CubemapTest, EquirectangularPixelsReadTheFacesInTheirDirections) {
    const Array source = cube(8, labeled_cube(8));
    const Extent extent{37, 20};
    const Colors around = made(extent, [&](const Stream& stream, const View& view) {
        cube_to_equirect(stream, view, Texture(source, kPoint));
    });
    for (std::size_t j = 0; j < extent.height; ++j) {
        for (std::size_t i = 0; i < extent.width; ++i) {
            const int face = face_of(direction_at(i, j, extent));
            if (face < 0) continue;
            EXPECT_EQ(around[j * extent.width + i][0], static_cast<float>(face)) << i << ", " << j;
        }
    }
}

TEST_P(CubemapTest, CubeTexelsReadTheEquirectangularImageInTheirDirection) {
    const Extent extent{128, 64};
    Colors colors;
    for (std::size_t j = 0; j < extent.height; ++j) {
        for (std::size_t i = 0; i < extent.width; ++i) colors.push_back(color_of(direction_at(i, j, extent)));
    }
    const Array source = image(extent, colors);
    constexpr std::size_t kSide = 11;
    const Colors made_cube = made({kSide, kSide, 6}, [&](const Stream& stream, const View& view) {
        equirect_to_cube(stream, view, Texture(source, kAround));
    });
    // Error of linear interpolation between texels that are pi / 64 apart: an eighth of the square of that in each of
    // two axes, plus 1 / 512 of a texel for the weights. At the poles the last half texel is clamped, which adds an
    // error of the same size.
    for (std::size_t face = 0; face < 6; ++face) {
        for (std::size_t j = 0; j < kSide; ++j) {
            for (std::size_t i = 0; i < kSide; ++i) {
                const Vector to = direction(face, i, j, kSide);
                expect_near(made_cube[(face * kSide + j) * kSide + i], to, std::abs(to.y) > 0.999 ? 0.025 : 0.001);
            }
        }
    }
}

/// Writes a noise cubemap to a region of memory that starts at column `left`, and returns all bytes, including those
/// around the region.
Bytes cube_in_memory(const Device& device, Format format, std::size_t side, std::size_t left) {
    const Array source(device, {.format = Format::rgba8_unorm, .extent = {64, 32}});
    upload(source.view(), test::pattern(4 * 64 * 32, 9));
    const Pitched3D memory(device, format, {side + 4, side + 1, 6});
    fill(memory.view(), std::uint8_t{0xA5});
    const Stream stream(device);
    equirect_to_cube(stream, memory.view().region({{left, 1, 0}, {side, side, 6}}), Texture(source, kAround));
    stream.synchronize();
    return download(memory.view());
}

TEST_P(CubemapTest, CubesOfAnySizeAreEqualOnEveryDevice) {
    for (const std::size_t side : {1, 2, 5, 31, 64, 67}) {
        for (const Format format : {Format::rgba8_unorm, Format::rgba16_float, Format::rgba32_float}) {
            for (const std::size_t left : {0, 1, 4})
                EXPECT_TRUE(same_bytes(cube_in_memory(device(), format, side, left),
                                       cube_in_memory(Device::cpu(), format, side, left)))
                    << name(format) << ", side " << side << " from column " << left;
        }
    }
}

TEST_P(CubemapTest, ASmoothEnvironmentRoundTripsThroughACube) {
    constexpr std::size_t kSide = 32;
    const Array source = cube(kSide, cube_of_directions(kSide));
    const Extent extent{128, 64};
    const Colors around = made(extent, [&](const Stream& stream, const View& view) {
        cube_to_equirect(stream, view, Texture(source, kSeamless));
    });
    for (std::size_t j = 0; j < extent.height; ++j) {
        // Error of linear interpolation: (1 / 32)^2 / 2 inside a face. Near the edges it is several times larger,
        // because the texels of the other face are treated as if they lay in the plane of this face.
        for (std::size_t i = 0; i < extent.width; ++i)
            expect_near(around[j * extent.width + i], direction_at(i, j, extent), 0.006);
    }
    const Array unrolled = image(extent, around);
    const Colors back = made({kSide, kSide, 6}, [&](const Stream& stream, const View& view) {
        equirect_to_cube(stream, view, Texture(unrolled, kAround));
    });
    const Colors expected = cube_of_directions(kSide);
    for (std::size_t t = 0; t < expected.size(); ++t) {
        for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(back[t][c], expected[t][c], 0.01);
    }
}

// --- rotation --------------------------------------------------------------------------------------------------------

TEST_P(CubemapTest, QuarterTurnRotationsMapFacesToFaces) {
    constexpr std::size_t kSide = 5;
    const Array source = cube(kSide, cube_of_directions(kSide));
    const std::array<std::array<float, 9>, 3> turns{
        {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 1, 0, 1, 0, -1, 0, 0}, {0, -1, 0, 1, 0, 0, 0, 0, 1}}};
    for (const std::array<float, 9>& turn : turns) {
        const Colors turned = made({kSide, kSide, 6}, [&](const Stream& stream, const View& view) {
            rotate_cube(stream, view, Texture(source, kPoint), turn);
        });
        const Colors straight = cube_of_directions(kSide);
        for (std::size_t t = 0; t < straight.size(); ++t) {
            const auto row = [&](std::size_t r) {
                return turn[3 * r] * straight[t][0] + turn[3 * r + 1] * straight[t][1] +
                       turn[3 * r + 2] * straight[t][2];
            };
            const Color expected{row(0), row(1), row(2), 1};
            EXPECT_EQ(turned[t], expected);
        }
    }
}

// --- light -----------------------------------------------------------------------------------------------------------

TEST_P(CubemapTest, AUniformCubeGivesUniformLight) {
    const Color color{0.1F, 12345.678F, 3e-5F, 1};
    const Array source = cube(4, Colors(96, color), 3);
    const Stream stream(device());
    make_mips(stream, source, {.filter = MipFilter::max});  // max keeps the color bit by bit
    stream.synchronize();
    const Colors expected(std::size_t{6} * 9, color);
    for (const Sampler& sampler : {kPoint, kSeamless}) {
        const Texture environment(source, sampler);
        EXPECT_EQ(
            made({3, 3, 6}, [&](const Stream& on, const View& view) { irradiance(on, view, environment, {100}); }),
            expected);
        for (const float roughness : {0.0F, 0.01F, 0.3F, 1.0F})
            EXPECT_EQ(prefiltered(environment, 3, roughness, 100), expected);
    }
}

TEST_P(CubemapTest, IrradianceOfALinearEnvironmentHasTwoThirdsOfItsSlope) {
    constexpr std::size_t kSide = 16;
    const Array source = cube(kSide, cube_of_directions(kSide));
    const Colors light = made({4, 4, 6}, [&](const Stream& stream, const View& view) {
        irradiance(stream, view, Texture(source, kSeamless), {1024});
    });
    for (std::size_t face = 0; face < 6; ++face) {
        for (std::size_t t = 0; t < 16; ++t) {
            const Vector to = direction(face, t % 4, t / 4, 4);
            expect_near(light[face * 16 + t], {to.x * 2 / 3, to.y * 2 / 3, to.z * 2 / 3}, 0.002);
        }
    }
}

/// Returns the factor by which a GGX lobe along its normal attenuates the gradient of a linear sky.
double slope_kept(double roughness) {
    const double alpha = roughness * roughness;
    double light = 0;
    double total = 0;
    constexpr int kSteps = 200000;
    for (int i = 0; i < kSteps; ++i) {  // over the angle between normal and half vector
        const double half = (i + 0.5) / kSteps * std::numbers::pi / 2;
        const double cosine = std::cos(half);
        const double up = 2 * cosine * cosine - 1;
        if (up <= 0) continue;
        const double q = cosine * cosine * (alpha * alpha - 1) + 1;
        const double density = alpha * alpha / (q * q) * cosine * std::sin(half);
        light += up * up * density;
        total += up * density;
    }
    return light / total;
}

TEST_P(CubemapTest, PrefilteredSlopesOfALinearEnvironmentMatchTheLobeIntegral) {
    constexpr std::size_t kSide = 32;
    const Array source = cube(kSide, cube_of_directions(kSide));
    for (const float roughness : {0.2F, 0.5F, 1.0F}) {
        const double kept = slope_kept(static_cast<double>(roughness));
        const Colors light = prefiltered(Texture(source, kSeamless), 3, roughness, 1024);
        for (std::size_t face = 0; face < 6; ++face) {
            for (std::size_t t = 0; t < 9; ++t) {
                const Vector to = direction(face, t % 3, t / 3, 3);
                expect_near(light[face * 9 + t], {to.x * kept, to.y * kept, to.z * kept}, 0.002);
            }
        }
    }
}

TEST_P(CubemapTest, MipLevelsReduceTheIrradianceErrorOfFewSamples) {
    // A small light above, in a black sky.
    constexpr std::size_t kSide = 32;
    Colors colors(std::size_t{6} * kSide * kSide, Color{0, 0, 0, 1});
    constexpr std::size_t kCenter = (2 * kSide + kSide / 2) * kSide + kSide / 2;
    for (const std::size_t texel : {kCenter, kCenter - 1, kCenter - kSide, kCenter - kSide - 1})
        colors[texel] = {100, 0, 0, 1};
    const Array source = cube(kSide, colors, 6);
    const Stream stream(device());
    make_mips(stream, source);
    stream.synchronize();
    const auto lit = [&](const TextureRange& range, int samples) {
        const Texture environment(source, kSeamless, range);
        return made({2, 2, 6},
                    [&](const Stream& on, const View& view) { irradiance(on, view, environment, {samples}); });
    };
    const Colors truth = lit({.levels = 1}, 16384);
    const auto worst = [&](const Colors& light) {
        float maximum = 0;
        for (std::size_t t = 0; t < truth.size(); ++t) maximum = std::max(maximum, std::abs(light[t][0] - truth[t][0]));
        return maximum;
    };
    EXPECT_LT(worst(lit({}, 64)), 0.5F * worst(lit({.levels = 1}, 64)));
}

TEST_P(CubemapTest, PrefilteringWithoutRoughnessKeepsTheEnvironment) {
    constexpr std::size_t kSide = 7;
    const Array source = cube(kSide, cube_of_directions(kSide));
    EXPECT_EQ(prefiltered(Texture(source, kPoint), kSide, 0, 1), cube_of_directions(kSide));
    for (const float roughness : {0.002F, 0.02F}) {  // a lobe this narrow stays inside one texel
        EXPECT_EQ(prefiltered(Texture(source, kPoint), kSide, roughness, 16), cube_of_directions(kSide));
    }
}

TEST_P(CubemapTest, PrefilteringALevelThatCannotBeWrittenIsRefusedAsAWhole) {
    const Array source = cube(4, labeled_cube(4));
    const Linear memory(device(), Format::rgba8_unorm, {4, 4, 6});
    const View first = memory.view(Format::rgba8_unorm, {4, 4, 6});
    fill(first, std::uint8_t{9});
    Bytes host(2 * 2 * 6 * 4);
    const std::array levels{first, host_view(host.data(), Format::rgba8_unorm, {2, 2, 6})};
    const Stream stream(device());
    expect_error(
        [&] {
            prefilter_ggx(stream, levels, Texture(source, kPoint), std::array{0.0F, 0.5F});
        },
        ErrorCode::bad_argument, "texton::prefilter_ggx", {"pageable"});
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(first), 9));
}

TEST_P(CubemapTest, PrefilteredLevelsThatShareFacesAreRefusedAndNamed) {
    constexpr std::size_t kSide = 4;
    const Texture environment(cube(kSide, labeled_cube(kSide)), kPoint);
    const Array cubes(device(), {.format = Format::rgba32_float,
                                 .extent = {kSide, kSide},
                                 .kind = ArrayKind::cubemap_layered,
                                 .layers = 3,
                                 .usage = {.surface = true}});
    const auto faces = [&](std::size_t first) {
        return cubes.view({.region = Region{{0, 0, first}, {kSide, kSide, 6}}});
    };
    const Linear memory(device(), Format::rgba32_float, {kSide, kSide, 12});
    const View slices = memory.view(Format::rgba32_float, {kSide, kSide, 12});
    const View first = slices.region({{}, {kSide, kSide, 6}});
    const Stream stream(device());
    const auto refuse = [&](const std::vector<View>& levels, std::string_view shared) {
        const std::vector<float> roughness(levels.size(), 0);
        expect_error([&] { prefilter_ggx(stream, levels, environment, roughness); }, ErrorCode::overlap,
                     "texton::prefilter_ggx", {"levels[0]", "levels[1]", shared});
    };
    refuse({faces(6), faces(6), faces(0)}, "share texels");
    refuse({faces(6), faces(11)}, "share texels");
    refuse({first, first}, "share bytes");
    refuse({first, slices.region({{3, 3, 5}, {1, 1, 6}})}, "share bytes");

    const std::vector<View> levels{faces(12), faces(0), first, slices.region({{0, 0, 6}, {kSide, kSide, 6}})};
    prefilter_ggx(stream, levels, environment, std::vector<float>(levels.size(), 0));
    stream.synchronize();
    for (const View& level : levels) EXPECT_EQ(colors_of(download(level)), labeled_cube(kSide));
}

// --- by name ---------------------------------------------------------------------------------------------------------

TEST_P(CubemapTest, EveryKernelProducesImagesOfTheProposedShapes) {
    constexpr std::size_t kSide = 4;
    const Array source = cube(kSide, labeled_cube(kSide));
    const std::map<std::string, Extent> expected{
        {"cube_to_equirect", {16, 8}},   {"cube_to_cross", {16, 12}},  {"cube_to_strip", {24, 4}},
        {"rotate_cube", {4, 4, 6}},      {"irradiance", {2, 2, 6}},    {"prefilter_ggx", {2, 2, 6}},
        {"equirect_to_cube", {4, 4, 6}}, {"cross_to_cube", {4, 4, 6}}, {"strip_to_cube", {4, 4, 6}}};
    const std::map<std::string, Extent> flat{
        {"equirect_to_cube", {16, 8}}, {"cross_to_cube", {16, 12}}, {"strip_to_cube", {24, 4}}};
    for (const auto& [name, extent] : expected) {
        SCOPED_TRACE(name);
        const Kernel& kernel = kernel_named(name);
        std::vector<Texture> inputs;
        if (flat.contains(name)) {
            const Extent sides = flat.at(name);
            inputs.emplace_back(image(sides, Colors(sides.width * sides.height, Color{1, 1, 1, 1})));
        } else {
            inputs.emplace_back(source, kPoint);
        }
        std::map<std::string, ParameterValue> values;
        if (name == "irradiance" || name == "prefilter_ggx") values = {{"side", 2.0}, {"samples", 4.0}};
        const Arguments arguments(kernel.info, values);
        std::vector<Linear> memory;
        std::vector<View> images;
        for (const ImageShape& shape : shapes(kernel, arguments, inputs)) {
            EXPECT_EQ(shape.format, Format::rgba32_float);
            memory.emplace_back(device(), shape.format, shape.extent);
            images.push_back(memory.back().view(shape.format, shape.extent));
        }
        ASSERT_EQ(images.size(), name == "prefilter_ggx" ? 5U : 1U);
        EXPECT_EQ(images[0].extent(), extent);
        const Stream stream(device());
        enqueue(kernel, stream, images, arguments, inputs);
        stream.synchronize();
        const Colors colors = colors_of(download(images[0]));
        EXPECT_TRUE(std::ranges::any_of(colors, [](const Color& color) { return color[3] == 1; }));
    }
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(CubemapTest, BadArgumentsAreRefusedAndNamed) {
    const Array source = cube(4, labeled_cube(4));
    const Texture faces(source, kPoint);
    const Array plane = image({8, 6}, Colors(48));
    const Texture flat(plane);
    const Linear memory(device(), 65536);
    const auto view = [&](Extent extent) { return memory.view(Format::rgba32_float, extent); };
    const Stream stream(device());
    const auto refuse = [&](const char* object, const std::function<void()>& call,
                            std::initializer_list<std::string_view> fragments,
                            test::Caller where = test::Caller::here()) {
        expect_error(call, ErrorCode::bad_argument, object, fragments, where);
    };
    const auto cross = CubeNet::horizontal_cross;
    refuse("texton::net_to_cube", [&] { net_to_cube(stream, view({2, 2, 6}), faces, cross); }, {"net", "cubemap"});
    refuse("texton::net_to_cube", [&] { net_to_cube(stream, view({2, 2, 5}), flat, cross); }, {"2 x 2 x 5"});
    refuse("texton::net_to_cube", [&] { net_to_cube(stream, view({3, 3, 6}), flat, cross); }, {"8 x 6", "12 x 9"});
    refuse("texton::cube_to_net", [&] { cube_to_net(stream, view({16, 11}), faces, cross); }, {"16 x 11", "16 x 12"});
    refuse("texton::cube_to_net", [&] { cube_to_net(stream, view({16, 12}), flat, cross); }, {"cube", "array_2d"});
    refuse("texton::equirect_to_cube", [&] { equirect_to_cube(stream, view({4, 4, 6}), faces); }, {"equirect"});
    refuse("texton::equirect_to_cube", [&] { equirect_to_cube(stream, view({4, 3, 6}), flat); }, {"4 x 3 x 6"});
    refuse("texton::cube_to_equirect", [&] { cube_to_equirect(stream, view({8, 4, 2}), faces); }, {"8 x 4 x 2"});
    std::array<float, 9> rotation{1, 0, 0, 0, 1, 0, 0, 0, INFINITY};
    refuse("texton::rotate_cube", [&] { rotate_cube(stream, view({4, 4, 6}), faces, rotation); }, {"rotation is inf"});
    refuse("texton::irradiance", [&] { irradiance(stream, view({4, 4, 6}), faces, {0}); }, {"samples is 0"});
    refuse("texton::irradiance", [&] { irradiance(stream, view({4, 4, 6}), flat); }, {"environment"});
    const std::vector levels{view({4, 4, 6})};
    const auto prefilter = [&](std::vector<float> roughness) {
        return [&, roughness] { prefilter_ggx(stream, levels, faces, roughness); };
    };
    refuse("texton::prefilter_ggx", prefilter({0.1F, 0.2F}), {"1 levels", "2 numbers"});
    refuse("texton::prefilter_ggx", prefilter({1.5F}), {"roughness is 1.5", "0 to 1"});
    refuse("texton::prefilter_ggx", prefilter({NAN}), {"roughness is nan"});
    const Array integers(device(), {.format = Format::rgba8_uint, .extent = {4, 4}, .kind = ArrayKind::cubemap});
    refuse("texton::irradiance",
           [&] {
               irradiance(stream, view({4, 4, 6}), Texture(integers, kPoint));
           },
           {"rgba8_uint"});
    expect_error(
        [&] {
            rotate_cube(stream, source.view(), faces, {1, 0, 0, 0, 1, 0, 0, 0, 1});
        },
        ErrorCode::overlap, "texton::rotate_cube", {"shares a level"});
}

}  // namespace
}  // namespace texton
