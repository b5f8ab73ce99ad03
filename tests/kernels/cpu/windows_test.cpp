// Compares the CPU device's specialized window filters and sharpening kernels with the functors. Results must be
// bit-identical.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/filter.h>
#include <texton/launch.h>
#include <texton/linear.h>

#include "kernels/functors/filter_functors.h"
#include "kernels/functors/median_functors.h"
#include "tests/support/scenes.h"

namespace texton {
namespace {

using test::expect_same;
using test::Make;
using test::on_every_scene;
using test::Scene;

template <class Functor>
Make plainly(const Scene& scene, const Functor& functor) {
    return
        [&scene, functor](const Stream& stream, const View& image) { launch(stream, image, functor, scene.texels()); };
}

template <int side>
void expect_medians(MedianSize size) {
    on_every_scene(Filter::point, [&](const Scene& scene) {
        const filters::Median<side> functor{{scene.layered()}};
        expect_same(
            scene, scene.extent,
            [&](const Stream& stream, const View& image) { median(stream, image, scene.texture, size); },
            plainly(scene, functor));
    });
}

TEST(CpuWindowsTest, MediansOfNineTexelsMatchTheFunctor) { expect_medians<3>(MedianSize::three); }

TEST(CpuWindowsTest, MediansOfTwentyFiveTexelsMatchTheFunctor) { expect_medians<5>(MedianSize::five); }

/// Every fourth row begins at a cache line.
TEST(CpuWindowsTest, MediansOfImagesLargerThanTheCacheMatchTheFunctor) {
    constexpr Format kFormat = Format::rgba32_float;
    constexpr Extent kExtent{1501, 1450};  // more than 64 MiB with the texture
    constexpr Extent kAround{1503, 1452};
    test::Random random(29);
    const Array array(Device::cpu(), {.format = kFormat, .extent = kExtent});
    test::upload(array.view(), test::any_bits(random, test::box_bytes(kFormat, kExtent)));
    const Texture texture(array);
    const Linear memory(Device::cpu(), kFormat, kAround);
    expect_same(
        memory.view(kFormat, kAround), kExtent,
        [&](const Stream& stream, const View& image) { median(stream, image, texture); },
        [&](const Stream& stream, const View& image) {
            launch(stream, image, filters::Median<3>{{false}}, detail::by_points(texture));
        });
}

TEST(CpuWindowsTest, MediansOfSeveralTilesMatchTheFunctor) {
    constexpr Extent kExtent{2101, 5};  // a tile has at most 2048 columns
    constexpr Extent kAround{2103, 7};
    test::Random random(31);
    for (const Format format : {Format::r8_unorm, Format::rgba16_unorm, Format::rg32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kExtent});
        test::upload(array.view(), test::any_bits(random, test::box_bytes(format, kExtent)));
        const Texture texture(array);
        const Linear memory(Device::cpu(), format, kAround);
        expect_same(
            memory.view(format, kAround), kExtent,
            [&](const Stream& stream, const View& image) { median(stream, image, texture); },
            [&](const Stream& stream, const View& image) {
                launch(stream, image, filters::Median<3>{{false}}, detail::by_points(texture));
            });
    }
}

/// Orders 64 zeros and ones at a time.
struct ByBits {
    std::uint64_t lower(std::uint64_t first, std::uint64_t second) const { return first & second; }
    std::uint64_t higher(std::uint64_t first, std::uint64_t second) const { return first | second; }
};

/// By the 0-1 principle, a comparison network that is correct for zeros and ones is correct for all values.
template <int side>
void expect_medians_of_zeros_and_ones() {
    constexpr unsigned kValues = side * side;
    constexpr unsigned kAtOnce = 6;  // values that differ between the bits of a word
    for (std::uint32_t rest = 0; rest < 1U << (kValues - kAtOnce); ++rest) {
        std::uint64_t columns[side][side];
        for (unsigned i = 0; i < kValues; ++i) {
            std::uint64_t word = 0;
            if (i >= kAtOnce) {
                word = (rest >> (i - kAtOnce) & 1U) != 0 ? ~std::uint64_t{0} : 0;
            } else {
                for (unsigned bit = 0; bit < 64; ++bit) word |= std::uint64_t{bit >> i & 1U} << bit;
            }
            columns[i / side][i % side] = word;
        }
        for (auto& column : columns) filters::sort(column, ByBits{});
        const std::uint64_t median = filters::median_of_columns(columns, ByBits{});
        std::uint64_t expected = 0;
        for (unsigned bit = 0; bit < 64; ++bit) {
            const auto ones = static_cast<unsigned>(std::popcount(rest) + std::popcount(bit));
            expected |= std::uint64_t{ones > kValues / 2} << bit;
        }
        ASSERT_EQ(median, expected) << rest;
    }
}

TEST(CpuWindowsTest, MediansOfNineZerosAndOnesAreCorrect) { expect_medians_of_zeros_and_ones<3>(); }

TEST(CpuWindowsTest, MediansOfTwentyFiveZerosAndOnesAreCorrect) { expect_medians_of_zeros_and_ones<5>(); }

filters::Bilateral bilateral_functor(bool layered, const BilateralOptions& options) {
    const auto exponent = [](float sigma) {
        return static_cast<float>(-0.5 * std::numbers::log2e / (double{sigma} * sigma));
    };
    return {{layered}, options.radius, exponent(options.sigma_space), exponent(options.sigma_range)};
}

TEST(CpuWindowsTest, BilateralFiltersMatchTheFunctor) {
    for (const auto& [sigma_range, radius] : {std::pair{0.1F, 1}, std::pair{30.0F, 3}}) {
        on_every_scene(Filter::point, [&](const Scene& scene) {
            const BilateralOptions options{.sigma_space = 1.5F, .sigma_range = sigma_range, .radius = radius};
            expect_same(
                scene, scene.extent,
                [&](const Stream& stream, const View& image) { bilateral(stream, image, scene.texture, options); },
                plainly(scene, bilateral_functor(scene.layered(), options)));
        });
    }
}

/// Weights are shared by pairs of texels up to a radius of 6.
TEST(CpuWindowsTest, BilateralFiltersOfSeveralTilesMatchTheFunctor) {
    constexpr Extent kExtent{523, 45};  // a tile has at most 512 columns
    constexpr Extent kAround{525, 47};
    test::Random random(37);
    for (const Format format : {Format::r8_unorm, Format::rg16_float, Format::rgba8_snorm, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kExtent});
        test::upload(array.view(), test::any_bits(random, test::box_bytes(format, kExtent)));
        const Texture texture(array);
        const Linear memory(Device::cpu(), format, kAround);
        for (const int radius : {2, 6, 7}) {
            SCOPED_TRACE(radius);
            const BilateralOptions options{.sigma_space = 2, .sigma_range = 0.3F, .radius = radius};
            expect_same(
                memory.view(format, kAround), kExtent,
                [&](const Stream& stream, const View& image) { bilateral(stream, image, texture, options); },
                [&](const Stream& stream, const View& image) {
                    launch(stream, image, bilateral_functor(false, options), detail::by_points(texture));
                });
        }
    }
}

struct Sharpened {
    std::vector<float> weights;
    filters::Sharpen sharpen;
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const int reach = static_cast<int>(weights.size() / 2);
        Float4 blurred{};
        for (int j = -reach; j <= reach; ++j) {
            Float4 row{};
            for (int i = -reach; i <= reach; ++i)
                row = fma(test::center_at(source, layered, at, at.x + i, at.y + j), weights[i + reach], row);
            blurred = fma(row, weights[j + reach], blurred);
        }
        return sharpen(test::center_at(source, layered, at, at.x, at.y), blurred);
    }
};

TEST(CpuWindowsTest, SharpenedImagesMatchTheFunctor) {
    for (const auto& [sigma, threshold] : {std::pair{0.4F, 0.0F}, std::pair{0.8F, 0.2F}}) {
        on_every_scene(Filter::linear, [&](const Scene& scene) {
            const UnsharpOptions options{.amount = 1.5F, .sigma = sigma, .threshold = threshold};
            const Sharpened functor{gaussian_weights(sigma), {1.5F, threshold}, scene.layered()};
            expect_same(
                scene, scene.extent,
                [&](const Stream& stream, const View& image) { unsharp(stream, image, scene.texture, options); },
                plainly(scene, functor));
        });
    }
}

}  // namespace
}  // namespace texton
