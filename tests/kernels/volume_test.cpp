// Compares volume rendering with loops in double precision.
#include <texton/volume.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/kernel.h>
#include <texton/linear.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::expect_error;
using test::Random;
using test::same_bytes;
using test::upload;

using Color = std::array<float, 4>;

template <class Value>
Bytes bytes_of(const std::vector<Value>& values) {
    Bytes bytes(values.size() * sizeof(Value));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

struct Point {
    double x;
    double y;
    double z;
};

Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Point operator*(const Point& a, double scale) { return {a.x * scale, a.y * scale, a.z * scale}; }
Point as_point(const Vector3& vector) { return {vector.x, vector.y, vector.z}; }

constexpr Extent kSize{13, 11, 9};
constexpr Extent kImage{7, 6};
/// Rays enter and leave the volume at its faces, and miss it in corners of the image.
constexpr VolumeView kView{{{-2.3F, 1.7F, -1.1F}, {14.1F, 2.2F, 1.3F}, {-1.7F, 11.9F, 2.4F}}, {3.1F, -2.7F, 12.3F}, 23};

/// Values of a single-channel volume and the expected views of it.
struct Volume {
    std::vector<float> values;

    double at(int i, int j, int k) const {
        const int x = std::clamp(i, 0, 12);
        const int y = std::clamp(j, 0, 10);
        const int z = std::clamp(k, 0, 8);
        return values.at(static_cast<std::size_t>((z * 11 + y) * 13 + x));
    }
    double nearest(const Point& position) const {
        return at(static_cast<int>(std::floor(position.x)), static_cast<int>(std::floor(position.y)),
                  static_cast<int>(std::floor(position.z)));
    }
    /// Calls visit(position) for every step inside the volume, from front to back.
    static void each_step(const VolumeView& view, std::size_t pixel, const std::function<void(const Point&)>& visit) {
        const double x = (static_cast<double>(pixel % kImage.width) + 0.5) / static_cast<double>(kImage.width);
        const double y = (static_cast<double>(pixel / kImage.width) + 0.5) / static_cast<double>(kImage.height);
        const Point start =
            as_point(view.plane.origin) + as_point(view.plane.across) * x + as_point(view.plane.down) * y;
        for (int i = 0; i < view.steps; ++i) {
            const Point position = start + as_point(view.along) * ((i + 0.5) / view.steps);
            if (position.x >= 0 && position.x < 13 && position.y >= 0 && position.y < 11 && position.z >= 0 &&
                position.z < 9)
                visit(position);
        }
    }
};

class VolumeTest : public test::OnEveryDevice {
protected:
    Texture texture(Format format, Extent extent, const Bytes& texels, const Sampler& sampler = {},
                    ArrayKind kind = ArrayKind::array_3d) const {
        const Array array(device(), {.format = format, .extent = extent, .kind = kind});
        upload(array.view(), texels);
        return Texture(array, sampler);
    }
    static Volume noise() {
        Volume volume;
        Random random(1);
        for (std::size_t i = 0; i < kSize.width * kSize.height * kSize.depth; ++i)
            volume.values.push_back(random.unit());
        return volume;
    }
    Texture texture_of(const Volume& volume, const Sampler& sampler = {}) const {
        return texture(Format::r32_float, kSize, bytes_of(volume.values), sampler);
    }
    Texture everywhere(float value) const {
        return texture(Format::r32_float, {8, 8, 8}, bytes_of(std::vector<float>(512, value)));
    }
    Texture transfer(const std::vector<Color>& colors, Filter filter = Filter::linear) const {
        return texture(Format::rgba32_float, {colors.size()}, bytes_of(colors), {.filter = filter},
                       ArrayKind::array_1d);
    }

    std::vector<Color> made(const std::function<void(const Stream&, const View&)>& enqueue,
                            Extent extent = kImage) const {
        const Linear memory(device(), Format::rgba32_float, extent);
        const View image = memory.view(Format::rgba32_float, extent);
        const Stream stream(device());
        enqueue(stream, image);
        stream.synchronize();
        const Bytes bytes = download(image);
        std::vector<Color> colors(bytes.size() / sizeof(Color));
        std::memcpy(colors.data(), bytes.data(), bytes.size());
        return colors;
    }
    std::vector<Color> slice(const Texture& volume, const VolumePlane& plane, Extent extent = kImage) const {
        return made([&](const Stream& stream, const View& image) { volume_slice(stream, image, volume, plane); },
                    extent);
    }
    std::vector<Color> projected(const Texture& volume, Projection projection, const VolumeView& view = kView,
                                 Extent extent = kImage) const {
        return made(
            [&](const Stream& stream, const View& image) {
                volume_projection(stream, image, volume, view, projection, {-1, 2, 3, 4});
            },
            extent);
    }
    std::vector<Color> marched(const Texture& volume, const Texture& colors, const MarchOptions& options = {},
                               const VolumeView& view = kView, Extent extent = kImage) const {
        return made([&](const Stream& stream,
                        const View& image) { volume_march(stream, image, volume, colors, view, options); },
                    extent);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, VolumeTest, test::every_device(), test::device_label);

/// One ray through eight texels, from the center of a face.
constexpr VolumeView kThrough{{{4, 4, 0}, {}, {}}, {0, 0, 8}, 8};

// --- slices ----------------------------------------------------------------------------------------------------------

TEST_P(VolumeTest, ASliceThroughTexelCentersHasTheTexelValues) {
    const Volume volume = noise();
    for (const bool normalized : {false, true}) {
        const Texture values = texture_of(volume, {.filter = Filter::point, .normalized_coordinates = normalized});
        // Rows of the image run along the depth and columns along the height, so the image is rotated.
        const std::vector<Color> pixels = slice(values, {{5.5F, 0, 0}, {0, 11, 0}, {0, 0, 9}}, {11, 9});
        for (int k = 0; k < 9; ++k) {
            for (int j = 0; j < 11; ++j)
                ASSERT_EQ(pixels[static_cast<std::size_t>(k * 11 + j)][0], static_cast<float>(volume.at(5, j, k)));
        }
    }
}

TEST_P(VolumeTest, AnObliqueSliceReadsAtItsCoordinates) {
    std::vector<Color> positions;
    for (std::size_t i = 0; i < 13 * 11 * 9; ++i)
        positions.push_back({static_cast<float>(i % 13) + 0.5F, static_cast<float>(i / 13 % 11) + 0.5F,
                             static_cast<float>(i / 143) + 0.5F, 1});
    const VolumePlane plane{{1, 2, 1.5F}, {9, 3, 2}, {1, 5, 4}};
    for (const bool normalized : {false, true}) {
        const Texture volume = texture(Format::rgba32_float, kSize, bytes_of(positions),
                                       {.filter = Filter::linear, .normalized_coordinates = normalized});
        const std::vector<Color> pixels = slice(volume, plane, {31, 17});
        for (std::size_t i = 0; i < pixels.size(); ++i) {
            const double x = (static_cast<double>(i % 31) + 0.5) / 31;
            const double y = (static_cast<double>(i / 31) + 0.5) / 17;
            const Point position = as_point(plane.origin) + as_point(plane.across) * x + as_point(plane.down) * y;
            const double error = 2.0 / 256;  // weights and their products have eight bits
            ASSERT_NEAR(pixels[i][0], position.x, error);
            ASSERT_NEAR(pixels[i][1], position.y, error);
            ASSERT_NEAR(pixels[i][2], position.z, error);
        }
    }
}

TEST_P(VolumeTest, ASliceOutOfBoundsFollowsTheAddressMode) {
    const Volume volume = noise();
    Sampler sampler;
    for (AddressMode& mode : sampler.address) mode = AddressMode::border;
    sampler.border[0] = 5;
    const VolumePlane outside{{-3, -3, -3}, {1, 0, 0}, {0, 1, 0}};
    EXPECT_EQ(slice(texture_of(volume, sampler), outside, {1, 1})[0][0], 5);
    EXPECT_EQ(slice(texture_of(volume), outside, {1, 1})[0][0], volume.values[0]);
}

// --- projections -----------------------------------------------------------------------------------------------------

TEST_P(VolumeTest, ProjectionsUseOnlyTheStepsInsideTheVolume) {
    const Volume volume = noise();
    const Texture values = texture_of(volume);
    const std::vector<Color> highest = projected(values, Projection::maximum);
    const std::vector<Color> lowest = projected(values, Projection::minimum);
    const std::vector<Color> mean = projected(values, Projection::mean);
    std::size_t missed = 0;
    for (std::size_t i = 0; i < highest.size(); ++i) {
        SCOPED_TRACE(i);
        std::vector<double> steps;
        Volume::each_step(kView, i, [&](const Point& position) { steps.push_back(volume.nearest(position)); });
        if (steps.empty()) {
            ++missed;
            for (const auto* pixels : {&highest, &lowest, &mean}) EXPECT_EQ((*pixels)[i], (Color{-1, 2, 3, 4}));
            continue;
        }
        double sum = 0;
        for (const double value : steps) sum += value;
        EXPECT_EQ(highest[i][0], static_cast<float>(*std::ranges::max_element(steps)));
        EXPECT_EQ(lowest[i][0], static_cast<float>(*std::ranges::min_element(steps)));
        EXPECT_NEAR(mean[i][0], sum / static_cast<double>(steps.size()), 1e-5);
    }
    EXPECT_GT(missed, 0U);
    EXPECT_LT(missed, 20U);
}

TEST_P(VolumeTest, ProjectionsWorkPerChannelAndForNegativeValues) {
    const std::vector<Color> texels{{-4, 1, 6, -1}, {-3, 9, 2, -8}};
    const Texture volume = texture(Format::rgba32_float, {1, 1, 2}, bytes_of(texels));
    const VolumeView view{{{}, {1, 0, 0}, {0, 1, 0}}, {0, 0, 2}, 2};
    EXPECT_EQ(projected(volume, Projection::maximum, view, {1, 1})[0], (Color{-3, 9, 6, -1}));
    EXPECT_EQ(projected(volume, Projection::minimum, view, {1, 1})[0], (Color{-4, 1, 2, -8}));
    EXPECT_EQ(projected(volume, Projection::mean, view, {1, 1})[0], (Color{-3.5F, 5, 4, -4.5F}));
}

TEST_P(VolumeTest, VolumesOfEveryChannelTypeAreProjected) {
    const Bytes codes{std::byte{10}, std::byte{200}, std::byte{100}, std::byte{50}};
    const VolumeView view{{{}, {1, 0, 0}, {0, 1, 0}}, {0, 0, 4}, 4};
    const auto highest = [&](Format format) {
        return projected(texture(format, {1, 1, 4}, codes), Projection::maximum, view, {1, 1})[0][0];
    };
    EXPECT_EQ(highest(Format::r8_uint), 200);
    EXPECT_EQ(highest(Format::r8_sint), 100);
    EXPECT_NEAR(highest(Format::r8_unorm), 200.0 / 255, 1e-6);
}

// --- ray marching ----------------------------------------------------------------------------------------------------

const std::vector<Color> kColors{{1, 0, 0, 0.1F}, {0, 1, 0, 0}, {0.5F, 0.2F, 1, 0.6F}, {1, 1, 0.5F, 0.02F}};

TEST_P(VolumeTest, RayMarchingCompositesFromFrontToBack) {
    const Volume volume = noise();
    const Vector3 light{1, 2, -2};
    const MarchOptions plain{.low = 0.1F, .high = 0.9F, .opaque_length = 2, .background = {0.5F, 0.25F, 0, 0.75F}};
    for (const bool shading : {false, true}) {
        MarchOptions options = plain;
        options.shading = shading;
        options.light = light;
        options.ambient = 0.25F;
        const std::vector<Color> pixels = marched(texture_of(volume), transfer(kColors, Filter::point), options);
        const double length = std::hypot(double{kView.along.x}, double{kView.along.y}, double{kView.along.z}) / 23;
        for (std::size_t i = 0; i < pixels.size(); ++i) {
            SCOPED_TRACE(i);
            double sum[3] = {0, 0, 0};
            double through = 1;
            Volume::each_step(kView, i, [&](const Point& at) {
                const double texel = (volume.nearest(at) - 0.1) / 0.8 * 3 + 0.5;
                const Color& color = kColors.at(static_cast<std::size_t>(std::clamp(std::floor(texel), 0.0, 3.0)));
                const double alpha = 1 - std::pow(1 - double{color[3]}, length / 2);
                double lit = 1;
                const double x = volume.nearest({at.x + 1, at.y, at.z}) - volume.nearest({at.x - 1, at.y, at.z});
                const double y = volume.nearest({at.x, at.y + 1, at.z}) - volume.nearest({at.x, at.y - 1, at.z});
                const double z = volume.nearest({at.x, at.y, at.z + 1}) - volume.nearest({at.x, at.y, at.z - 1});
                const double slope = std::hypot(x, y, z);
                if (shading && slope > 0) lit = 0.25 + 0.75 * std::abs((x + 2 * y - 2 * z) / 3) / slope;
                for (std::size_t c = 0; c < 3; ++c) sum[c] += through * alpha * lit * double{color[c]};
                through *= 1 - alpha;
            });
            const double error = 0.001 + 1e-5;  // opacity above 0.999 ends the ray
            for (std::size_t c = 0; c < 3; ++c)
                EXPECT_NEAR(pixels[i][c], sum[c] + through * double{plain.background[c]}, error);
            EXPECT_NEAR(pixels[i][3], 1 - through + through * 0.75, error);
        }
    }
}

TEST_P(VolumeTest, OpacityDoesNotDependOnTheNumberOfSteps) {
    const Texture fog = transfer({{1, 1, 1, 0.3F}});
    for (const int steps : {1, 2, 7, 64, 500}) {
        VolumeView view = kThrough;
        view.steps = steps;
        const double expected = 1 - std::pow(1 - 0.3, 8 / 4.0);
        EXPECT_NEAR(marched(everywhere(0.5F), fog, {.opaque_length = 4}, view, {1, 1})[0][3], expected, 1e-4) << steps;
    }
}

TEST_P(VolumeTest, TheValueRangeMapsToTheTransferFunction) {
    const Texture ramp = transfer({{0, 8, 0, 1}, {4, 8, 0, 1}, {8, 0, 0, 1}});
    const auto color = [&](float value) {
        return marched(everywhere(value), ramp, {.low = -10, .high = 10}, kThrough, {1, 1})[0];
    };
    EXPECT_EQ(color(-10), (Color{0, 8, 0, 1}));
    EXPECT_EQ(color(-1000), (Color{0, 8, 0, 1}));
    EXPECT_EQ(color(0), (Color{4, 8, 0, 1}));
    EXPECT_EQ(color(5), (Color{6, 4, 0, 1}));
    EXPECT_EQ(color(10), (Color{8, 0, 0, 1}));
    EXPECT_EQ(color(std::numeric_limits<float>::infinity()), (Color{8, 0, 0, 1}));
    EXPECT_EQ(color(std::numeric_limits<float>::quiet_NaN()), (Color{0, 8, 0, 1}));
}

TEST_P(VolumeTest, ARayEndsAtFullOpacity) {
    std::vector<float> depths;  // values 0 to 7 along z
    for (std::size_t i = 0; i < 512; ++i) depths.push_back(static_cast<float>(i / 64));
    const Texture volume = texture(Format::r32_float, {8, 8, 8}, bytes_of(depths));
    const auto color = [&](float first) {
        std::vector<Color> colors(8, Color{1, 0, 0, first});
        for (std::size_t i = 1; i < 8; ++i) colors[i] = {0, 1, 0, 1};
        return marched(volume, transfer(colors), {.high = 7}, kThrough, {1, 1})[0];
    };
    EXPECT_EQ(color(0.9995F)[1], 0);
    EXPECT_GT(color(0.9985F)[1], 0.001F);
}

TEST_P(VolumeTest, ShadingFollowsTheGradientTowardTheLight) {
    std::vector<float> ramp;  // values increase along x
    for (std::size_t i = 0; i < 512; ++i) ramp.push_back(static_cast<float>(i % 8) / 8);
    const Texture volume = texture(Format::r32_float, {8, 8, 8}, bytes_of(ramp));
    const Texture white = transfer({{1, 1, 1, 1}});
    const auto lit = [&](const Texture& values, Vector3 light) {
        const MarchOptions options{.shading = true, .light = light, .ambient = 0.25F};
        return marched(values, white, options, kThrough, {1, 1})[0][0];
    };
    EXPECT_EQ(lit(volume, {3, 0, 0}), 1);
    EXPECT_EQ(lit(volume, {-2, 0, 0}), 1);
    EXPECT_EQ(lit(volume, {0, 1, 0}), 0.25F);
    EXPECT_NEAR(lit(volume, {1, 0, 1}), 0.25 + 0.75 / std::sqrt(2), 1e-6);
    EXPECT_EQ(lit(everywhere(0.5F), {0, 1, 0}), 1);  // no surface
}

TEST_P(VolumeTest, AVolumeOfOneTexelRendersToOnePixel) {
    const Texture volume = texture(Format::r32_float, {1, 1, 1}, bytes_of(std::vector<float>{0.5F}));
    const VolumeView view{{{}, {1, 0, 0}, {0, 1, 0}}, {0, 0, 1}, 1};
    EXPECT_EQ(slice(volume, {{0, 0, 0.5F}, {1, 0, 0}, {0, 1, 0}}, {1, 1})[0][0], 0.5F);
    EXPECT_EQ(projected(volume, Projection::mean, view, {1, 1})[0][0], 0.5F);
    EXPECT_EQ(marched(volume, transfer({{0.5F, 0.25F, 0, 1}}), {}, view, {1, 1})[0], (Color{0.5F, 0.25F, 0, 1}));
}

// --- by name ---------------------------------------------------------------------------------------------------------

TEST_P(VolumeTest, NamedKernelsMatchTheFunctions) {
    using Row = std::vector<double>;
    using Values = std::map<std::string, ParameterValue>;
    const std::vector<Texture> inputs{texture_of(noise()), transfer(kColors)};
    const auto by_name = [&](const char* name, std::size_t count, const Values& values) {
        const Kernel& kernel = kernel_named(name);
        const std::span<const Texture> textures = std::span(inputs).first(count);
        const Arguments arguments(kernel.info, values);
        EXPECT_EQ(shapes(kernel, arguments, textures).at(0).extent, (Extent{13, 11}));
        return made([&](const Stream& stream, const View& image) {
            enqueue(kernel, stream, {&image, 1}, arguments, textures);
        });
    };
    const VolumePlane plane{{1, 2, 1.5F}, {9, 3, 2}, {1, 5, 4}};
    EXPECT_EQ(by_name("volume_slice", 1, {{"plane", Row{1, 2, 1.5, 9, 3, 2, 1, 5, 4}}}), slice(inputs[0], plane));
    EXPECT_EQ(by_name("volume_slice", 1, {}), slice(inputs[0], {{0, 0, 4.5F}, {13, 0, 0}, {0, 11, 0}}));
    const VolumeView whole{{{}, {13, 0, 0}, {0, 11, 0}}, {0, 0, 9}, 9};
    EXPECT_EQ(by_name("volume_projection", 1, {}), projected(inputs[0], Projection::maximum, whole));
    const VolumeView view{plane, {0, 3, 4}, 5};
    const Row numbers{1, 2, 1.5, 9, 3, 2, 1, 5, 4, 0, 3, 4};
    EXPECT_EQ(by_name("volume_projection", 1,
                      {{"view", numbers}, {"projection", std::string("mean")}, {"background", Row{-1, 2, 3, 4}}}),
              projected(inputs[0], Projection::mean, view));
    EXPECT_EQ(
        by_name("volume_march", 2,
                {{"view", numbers},
                 {"steps", 11.0},
                 {"range", Row{0.25, 0.75}},
                 {"opaque_length", 2.0},
                 {"shading", true},
                 {"light", Row{1, 2, 3}},
                 {"ambient", 0.5}}),
        marched(inputs[0], inputs[1],
                {.low = 0.25F, .high = 0.75F, .opaque_length = 2, .shading = true, .light = {1, 2, 3}, .ambient = 0.5F},
                {plane, {0, 3, 4}, 11}));
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(VolumeTest, InvalidViewsAreRefusedAndNamed) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const View image = memory.view(Format::rgba8_unorm, {4, 4});
    const View two = memory.view(Format::rgba8_unorm, {4, 4, 2});
    const Texture volume = everywhere(1);
    const Texture colors = transfer(kColors);
    const Texture flat = texture(Format::r8_unorm, {4, 4}, Bytes(16), {}, ArrayKind::array_2d);
    const Texture no_alpha = texture(Format::rg8_unorm, {4}, Bytes(8), {}, ArrayKind::array_1d);
    const Texture integers = texture(Format::rgba8_uint, {4}, Bytes(16), {}, ArrayKind::array_1d);
    const Linear row(device(), 512);
    const Texture in_memory(row.view(Format::rgba8_unorm, {4}));
    const auto refused = [&](const char* object, std::initializer_list<std::string_view> fragments,
                             const std::function<void()>& action, test::Caller where = test::Caller::here()) {
        expect_error(action, ErrorCode::bad_argument, object, fragments, where);
    };
    const auto sliced = [&](const VolumePlane& plane) {
        return [&, plane] { volume_slice(stream, image, volume, plane); };
    };
    refused("texton::volume_slice", {"origin.z", "inf"}, sliced({{0, 0, kInfinity}, {}, {}}));
    refused("texton::volume_slice", {"across.x", "inf"}, sliced({{}, {-kInfinity, 0, 0}, {}}));
    refused("texton::volume_slice", {"down.y", "inf"}, sliced({{}, {}, {0, kInfinity, 0}}));
    refused("texton::volume_slice", {"array_2d"}, [&] { volume_slice(stream, image, flat, {}); });
    refused("texton::volume_slice", {"2 slices"}, [&] { volume_slice(stream, two, volume, {}); });

    const auto projection = [&](const VolumeView& view) {
        return [&, view] { volume_projection(stream, image, volume, view); };
    };
    refused("texton::volume_projection", {"along.y", "inf"}, projection({{}, {0, kInfinity, 0}, 1}));
    refused("texton::volume_projection", {"steps is 0"}, projection({{}, {0, 0, 1}, 0}));
    refused("texton::volume_projection", {"steps is 65537"}, projection({{}, {0, 0, 1}, 65537}));
    refused("texton::volume_projection", {"array_2d"}, [&] { volume_projection(stream, image, flat, kView); });

    const auto march = [&](const MarchOptions& options, const VolumeView& view = kView) {
        return [&, options, view] { volume_march(stream, image, volume, colors, view, options); };
    };
    refused("texton::volume_march", {"high - low is 0"}, march({.low = 1}));
    refused("texton::volume_march", {"low is -inf"}, march({.low = -kInfinity}));
    refused("texton::volume_march", {"opaque_length is 0"}, march({.opaque_length = 0}));
    refused("texton::volume_march", {"ambient is 1.5"}, march({.ambient = 1.5F}));
    refused("texton::volume_march", {"light"}, march({.light = {0, 0, 0}}));
    refused("texton::volume_march", {"step"}, march({}, {{}, {}, 4}));
    const auto with = [&](const Texture& other) {
        return [&, other] { volume_march(stream, image, volume, other, kView); };
    };
    refused("texton::volume_march", {"transfer", "array_2d"}, with(flat));
    refused("texton::volume_march", {"transfer", "alpha"}, with(no_alpha));
    refused("texton::volume_march", {"transfer", "rgba8_uint"}, with(integers));
    refused("texton::volume_march", {"transfer", "row of memory"}, with(in_memory));
}

// --- comparison of devices -------------------------------------------------------------------------------------------

TEST(VolumeParityTest, AllDevicesGiveTheSameImage) {
    const std::vector<Device> devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "there is no GPU";
    constexpr Extent kExtent{45, 33};
    const auto filled = [](const Device& device, const ArrayInfo& info, unsigned seed) {
        const Array array(device, info);
        upload(array.view(), test::pattern(packed_bytes(info), seed));
        return Texture(array, {.filter = Filter::linear, .normalized_coordinates = true});
    };
    using Look = std::function<void(const Stream&, const View&, const Texture&, const Texture&)>;
    std::vector<Look> all{
        [](auto& stream, auto& image, auto& volume, auto&) { volume_slice(stream, image, volume, kView.plane); }};
    for (const Projection projection : {Projection::maximum, Projection::minimum, Projection::mean})
        all.emplace_back([=](auto& stream, auto& image, auto& volume, auto&) {
            volume_projection(stream, image, volume, kView, projection);
        });
    for (const bool shading : {false, true})
        all.emplace_back([=](auto& stream, auto& image, auto& volume, auto& colors) {
            volume_march(stream, image, volume, colors, kView,
                         {.opaque_length = 9, .shading = shading, .light = {1, 2, 3}});
        });
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<Bytes> images;
        for (const Device& device : devices) {
            const Texture volume = filled(device, {Format::rgba8_unorm, kSize, ArrayKind::array_3d}, 1);
            const Texture colors = filled(device, {Format::rgba8_unorm, {16}, ArrayKind::array_1d}, 2);
            const Linear memory(device, Format::rgba32_float, kExtent);
            const View image = memory.view(Format::rgba32_float, kExtent);
            const Stream stream(device);
            all[i](stream, image, volume, colors);
            stream.synchronize();
            images.push_back(download(image));
        }
        EXPECT_TRUE(same_bytes(images[1], images[0])) << i;
    }
}

}  // namespace
}  // namespace texton
