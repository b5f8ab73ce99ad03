#include <texton/resample.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/linear.h>
#include <texton/sample.h>

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

// --- definitions in double precision ---------------------------------------------------------------------------------

/// Returns the weight of a texel by the distance of its center in texels.
using Weight = std::function<double(double distance)>;

double catmull_rom(double x) {
    x = std::abs(x);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

double b_spline(double x) {
    x = std::abs(x);
    if (x < 1) return (4 - 6 * x * x + 3 * x * x * x) / 6;
    return x < 2 ? (2 - x) * (2 - x) * (2 - x) / 6 : 0;
}

Weight lanczos(double step) {
    return [scale = step > 1 ? 1 / step : 1](double distance) {
        const double x = distance * scale;
        if (x == 0) return 1.0;
        if (std::abs(x) >= 3) return 0.0;
        const double angle = std::numbers::pi * x;
        return 3 * std::sin(angle) * std::sin(angle / 3) / (angle * angle);
    };
}

/// Returns the fraction of a texel that a pixel of `step` texels covers.
Weight area(double step) {
    return [step](double distance) {
        return std::max(0.0, std::min(distance + 0.5, step / 2) - std::max(distance - 0.5, -step / 2));
    };
}

struct ImageFile {
    int width;
    int height;
    std::vector<float> texels;

    double at(int x, int y) const {
        return texels[static_cast<std::size_t>(std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1))];
    }
};

double weighted(const ImageFile& image, double x, double y, const Weight& across, const Weight& down, double reach) {
    double sum = 0, total = 0;
    for (int j = static_cast<int>(std::floor(y - reach)) - 1; j <= y + reach + 1; ++j) {
        for (int i = static_cast<int>(std::floor(x - reach)) - 1; i <= x + reach + 1; ++i) {
            const double weight = across(i + 0.5 - x) * down(j + 0.5 - y);
            sum += weight * image.at(i, j);
            total += weight;
        }
    }
    return sum / total;
}

/// The rounding error of float32 for positions up to 32 texels is 2^-19; it changes weights by about the same amount.
constexpr double kOfPositions = 4e-6;

class ResampleTest : public test::OnEveryDevice {
protected:
    ImageFile random_image(int width, int height) const {
        Random random(static_cast<std::uint64_t>(width * 100 + height));
        ImageFile image{width, height, std::vector<float>(static_cast<std::size_t>(width * height))};
        for (float& texel : image.texels) texel = random.unit();
        return image;
    }
    Texture texture_of(const ImageFile& image, Filter filter) const {
        const Array array(device(), {Format::r32_float,
                                     {static_cast<std::size_t>(image.width), static_cast<std::size_t>(image.height)}});
        upload(array.view(), std::as_bytes(std::span(image.texels)));
        return Texture(array, {.filter = filter});
    }
    Texture random_texture(const ArrayInfo& info, const Sampler& sampler = {}) const {
        Random random(5);
        const Array array(device(), info);
        upload(array.view(),
               test::random_texels(random, info.format, test::box_bytes(info.format, test::level_box(info, 0))));
        return Texture(array, sampler);
    }
    Bytes resampled(const Texture& texture, Format format, Extent extent, const ResampleOptions& options) const {
        const Linear memory(device(), format, extent);
        const View image = memory.view(format, extent);
        const Stream stream(device());
        resample(stream, image, texture, options);
        stream.synchronize();
        return download(image);
    }
    std::vector<float> floats(const Texture& texture, Extent extent, const ResampleOptions& options) const {
        const Bytes bytes = resampled(texture, Format::r32_float, extent, options);
        std::vector<float> values(bytes.size() / 4);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    /// Returns the maximum difference from the definition for an image in several sizes and crops.
    double farthest(ResampleFilter filter, Filter sampler, const std::function<Weight(double step)>& weight,
                    double reach) const {
        const ImageFile image = random_image(23, 17);
        const Texture texture = texture_of(image, sampler);
        double farthest = 0;
        for (const Extent extent : {Extent{23, 17}, Extent{61, 40}, Extent{9, 5}, Extent{1, 1}}) {
            for (const Crop& crop : {Crop{0, 0, 23, 17}, Crop{-2.25F, 3.5F, 20, 9.75F}}) {
                const std::vector<float> made = floats(texture, extent, {filter, crop});
                const double step_x = double{crop.width} / static_cast<double>(extent.width);
                const double step_y = double{crop.height} / static_cast<double>(extent.height);
                for (std::size_t i = 0; i < made.size(); ++i) {
                    const double x = (static_cast<double>(i % extent.width) + 0.5) * step_x + crop.x;
                    const double y = (static_cast<double>(i / extent.width) + 0.5) * step_y + crop.y;
                    const double wide = reach * std::max({1.0, step_x, step_y});
                    farthest = std::max(
                        farthest, std::abs(made[i] - weighted(image, x, y, weight(step_x), weight(step_y), wide)));
                }
            }
        }
        return farthest;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, ResampleTest, test::every_device(), test::device_label);

TEST_P(ResampleTest, ResamplingToTheSameSizeKeepsTheImage) {
    for (const Format format :
         {Format::rgba8_unorm, Format::rgba8_srgb, Format::rg16_unorm, Format::rgba16_float, Format::r32_float}) {
        for (const ResampleFilter filter :
             {ResampleFilter::nearest, ResampleFilter::linear, ResampleFilter::area, ResampleFilter::catmull_rom}) {
            const Texture texture = random_texture({format, {19, 11}}, {.filter = Filter::linear});
            EXPECT_TRUE(
                same_bytes(resampled(texture, format, {19, 11}, {filter}), resampled(texture, format, {19, 11}, {})));
            const Linear memory(device(), format, {19, 11});
            sample(texture, {}, memory.view(format, {19, 11}));
            EXPECT_TRUE(
                same_bytes(resampled(texture, format, {19, 11}, {filter}), download(memory.view(format, {19, 11}))))
                << name(format) << " " << static_cast<int>(filter);
        }
    }
}

TEST_P(ResampleTest, LinearMatchesFetchesOfTheTextureUnit) {
    const Texture texture = random_texture({Format::rgba8_unorm, {40, 30}}, {.filter = Filter::linear});
    const Extent extent{97, 13};
    const Linear memory(device(), Format::rgba8_unorm, extent);
    sample(texture, {.xx = 30.0F / 97, .x0 = 2.5F, .yy = 20.0F / 13, .y0 = -1},
           memory.view(Format::rgba8_unorm, extent));
    EXPECT_TRUE(
        same_bytes(resampled(texture, Format::rgba8_unorm, extent, {ResampleFilter::linear, {2.5F, -1, 30, 20}}),
                   download(memory.view(Format::rgba8_unorm, extent))));
}

TEST_P(ResampleTest, CatmullRomMatchesItsDefinition) {
    for (const Filter sampler : {Filter::point, Filter::linear}) {
        EXPECT_LE(farthest(
                      ResampleFilter::catmull_rom, sampler, [](double) { return catmull_rom; }, 2),
                  kOfPositions);
    }
}

TEST_P(ResampleTest, BSplineMatchesItsDefinition) {
    for (const Filter sampler : {Filter::point, Filter::linear}) {
        EXPECT_LE(farthest(
                      ResampleFilter::b_spline, sampler, [](double) { return b_spline; }, 2),
                  kOfPositions);
    }
}

/// With these sizes every second pixel is at the center of a texel, where the other weights are 0.
TEST_P(ResampleTest, TexelsWithoutWeightDoNotCountEvenIfTheyAreInfinite) {
    ImageFile image{5, 1, {INFINITY, 2, INFINITY, 3, NAN}};
    const Texture texture = texture_of(image, Filter::point);
    for (const ResampleFilter filter : {ResampleFilter::catmull_rom, ResampleFilter::lanczos3, ResampleFilter::area}) {
        const std::vector<float> made = floats(texture, {5, 1}, {filter});
        EXPECT_EQ(made[1], 2);
        EXPECT_EQ(made[3], 3);
    }
}

TEST_P(ResampleTest, LanczosMatchesItsDefinition) {
    EXPECT_LE(farthest(ResampleFilter::lanczos3, Filter::point, lanczos, 3), kOfPositions);
}

TEST_P(ResampleTest, AreaMatchesItsDefinition) {
    EXPECT_LE(farthest(ResampleFilter::area, Filter::point, area, 1), kOfPositions);
}

TEST_P(ResampleTest, HalvingByAreaGivesTheMeanOfFourTexels) {
    ImageFile image{16, 8, std::vector<float>(128)};
    for (std::size_t i = 0; i < 128; ++i) image.texels[i] = static_cast<float>(i * i % 97);
    const std::vector<float> made = floats(texture_of(image, Filter::point), {8, 4}, {ResampleFilter::area});
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 8; ++x) {
            const double sum = image.at(2 * x, 2 * y) + image.at(2 * x + 1, 2 * y) + image.at(2 * x, 2 * y + 1) +
                               image.at(2 * x + 1, 2 * y + 1);
            EXPECT_EQ(made[static_cast<std::size_t>(y * 8 + x)], sum / 4);
        }
    }
}

TEST_P(ResampleTest, NormalizedCoordinatesGiveTheSameImage) {
    for (const ResampleFilter filter : {ResampleFilter::nearest, ResampleFilter::area, ResampleFilter::lanczos3}) {
        const ArrayInfo info{Format::rgba8_unorm, {24, 15}};
        const Bytes in_texels = resampled(random_texture(info), Format::rgba8_unorm, {11, 31}, {filter});
        const Bytes normalized =
            resampled(random_texture(info, {.normalized_coordinates = true}), Format::rgba8_unorm, {11, 31}, {filter});
        EXPECT_TRUE(same_bytes(normalized, in_texels));
    }
}

TEST_P(ResampleTest, AllLayersAreResampled) {
    const ArrayInfo layered{
        .format = Format::rgba8_unorm, .extent = {12, 9}, .kind = ArrayKind::layered_2d, .layers = 3};
    const Texture texture = random_texture(layered, {.filter = Filter::linear});
    for (const ResampleFilter filter : {ResampleFilter::linear, ResampleFilter::b_spline, ResampleFilter::area}) {
        const Bytes all = resampled(texture, Format::rgba8_unorm, {7, 20, 3}, {filter});
        for (std::size_t layer = 0; layer < 3; ++layer) {
            Array array(device(), {Format::rgba8_unorm, {12, 9}});
            Random random(5);
            const Bytes texels = test::random_texels(random, Format::rgba8_unorm, 12 * 9 * 4 * 3);
            upload(array.view(), std::span(texels).subspan(layer * 432, 432));
            const Bytes one =
                resampled(Texture(array, {.filter = Filter::linear}), Format::rgba8_unorm, {7, 20}, {filter});
            EXPECT_TRUE(same_bytes(std::span(all).subspan(layer * 560, 560), one));
        }
    }
}

TEST_P(ResampleTest, InvalidArgumentsAreRefusedAndNamed) {
    const Texture texture = random_texture({Format::rgba8_unorm, {8, 8}});
    const Linear memory(device(), Format::rgba8_unorm, {8, 8});
    const View image = memory.view(Format::rgba8_unorm, {8, 8});
    const Stream stream(device());
    const auto refused = [&](const Texture& of, const ResampleOptions& options,
                             std::initializer_list<std::string_view> fragments) {
        expect_error([&] { resample(stream, image, of, options); }, ErrorCode::bad_argument, "texton::resample",
                     fragments);
    };
    refused(texture, {ResampleFilter::linear}, {"Filter::point", "Filter::linear"});
    refused(texture, {ResampleFilter::area, {0, 0, -3, 4}}, {"crop.width is -3"});
    refused(texture, {ResampleFilter::area, {NAN, 0, 3, 4}}, {"crop.x is nan"});
    refused(texture, {ResampleFilter::area, {1e9F, 0, 3, 4}}, {"crop.x is 1000000000"});
    refused(texture, {ResampleFilter::lanczos3, {0, 0, 3, 1e9F}}, {"crop.height is 1000000000"});
    refused(texture, {ResampleFilter::area, {9, 0}}, {"crop.width is -1"});
    refused(random_texture({Format::r8_uint, {8, 8}}), {ResampleFilter::area}, {"r8_uint", "integers"});
    refused(random_texture({.format = Format::r8_unorm, .extent = {8, 8, 8}, .kind = ArrayKind::array_3d}),
            {ResampleFilter::nearest}, {"array_3d"});
    refused(random_texture({.format = Format::r8_unorm, .extent = {8, 8}, .kind = ArrayKind::layered_2d, .layers = 2}),
            {ResampleFilter::nearest}, {"1 slices", "2 layers"});
}

}  // namespace
}  // namespace texton
