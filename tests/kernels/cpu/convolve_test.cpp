// Compares the CPU device's specialized separable filters with a functor that implements the same in a plain form.
// Results must be bit-identical.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/filter.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/pitched.h>

#include "tests/support/scenes.h"

namespace texton {
namespace {

using test::any_bits;
using test::Bytes;
using test::center_at;
using test::download;
using test::expect_same;
using test::on_every_scene;
using test::Random;
using test::same_bytes;
using test::samplers;
using test::Scene;
using test::upload;

struct Convolved {
    std::vector<float> across;
    std::vector<float> down;
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const int left = at.x - static_cast<int>(across.size() / 2);
        const int top = at.y - static_cast<int>(down.size() / 2);
        Float4 sum{};
        for (std::size_t j = 0; j < down.size(); ++j) {
            Float4 row{};
            for (std::size_t i = 0; i < across.size(); ++i) {
                if (across[i] == 0) continue;
                const Float4 texel =
                    center_at(source, layered, at, left + static_cast<int>(i), top + static_cast<int>(j));
                row = fma(texel, across[i], row);
            }
            if (down[j] != 0) sum = fma(row, down[j], sum);
        }
        return sum;
    }
};

TEST(CpuConvolveTest, ConvolutionsMatchTheFunctor) {
    Random random(5);
    for (const Filter filter : {Filter::point, Filter::linear}) {
        on_every_scene(filter, [&](const Scene& scene) {
            const auto weights = [&] {
                std::vector<float> all(2 * random.below(3) + 1);
                for (float& weight : all) weight = random.unit() - 0.3f;
                return all;
            };
            const Convolved functor{weights(), weights(), scene.layered()};
            expect_same(
                scene, scene.extent,
                [&](const Stream& stream, const View& image) {
                    convolve(stream, image, scene.texture, functor.across, functor.down);
                },
                [&](const Stream& stream, const View& image) { launch(stream, image, functor, scene.texels()); });
        });
    }
}

/// Widths of less than a block, one block, one block and a part, and several tiles.
TEST(CpuConvolveTest, ConvolutionsOfAnyWidthMatchTheFunctor) {
    Random random(15);
    std::vector<float> across(17);
    for (float& weight : across) weight = random.unit() / 8;
    const Convolved functor{across, {-0.2f, 0.5f, 1.1f}, false};
    for (const Format format : {Format::rgba8_unorm, Format::r8_unorm, Format::rgba32_float, Format::rg32_float,
                                Format::r32_float, Format::rg16_float}) {
        for (const std::size_t width : std::array<std::size_t, 9>{1, 15, 16, 17, 31, 33, 64, 300, 5003}) {
            const Extent extent{width, 5};
            SCOPED_TRACE(std::string(name(format)) + ", width " + std::to_string(width));
            for (const Sampler& sampler : samplers(Filter::point)) {
                const Array array(Device::cpu(), {.format = format, .extent = extent});
                upload(array.view(), any_bits(random, test::box_bytes(format, extent)));
                const Texture texture(array, sampler);
                const Linear memory(Device::cpu(), format, {width + 3, 7});
                expect_same(
                    memory.view(format, {width + 3, 7}), extent,
                    [&](const Stream& stream, const View& image) {
                        convolve(stream, image, texture, functor.across, functor.down);
                    },
                    [&](const Stream& stream, const View& image) { launch(stream, image, functor, texture); });
            }
        }
    }
}

/// Some of these weights give sums halfway between two codes.
TEST(CpuConvolveTest, ByteConvolutionsWithPositiveWeightsMatchTheFunctor) {
    Random random(16);
    const auto shares = [&](std::size_t taps) {
        std::vector<float> weights(taps);
        float total = 0;
        for (float& weight : weights) total += weight = random.unit();
        for (float& weight : weights) weight /= total;
        return weights;
    };
    const std::vector<Convolved> functors{{{0.25f, 0.5f, 0.25f}, {0.5f, 0, 0.5f}, false},
                                          {{1}, {1}, false},
                                          {{0.1f}, shares(5), false},
                                          {shares(5), shares(5), false},
                                          {shares(11), shares(3), false}};
    for (const std::size_t width : std::array<std::size_t, 5>{15, 16, 19, 300, 1003}) {
        const Extent extent{width, 70};
        const Extent around{width + 3, 72};
        for (const Sampler& sampler : samplers(width == 16 ? Filter::linear : Filter::point)) {
            const Array array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = extent});
            upload(array.view(), any_bits(random, test::box_bytes(Format::rgba8_unorm, extent)));
            const Texture texture(array, sampler);
            const Linear memory(Device::cpu(), Format::rgba8_unorm, around);
            for (const Convolved& functor : functors) {
                SCOPED_TRACE(std::to_string(width) + " by " + std::to_string(functor.across.size()));
                expect_same(
                    memory.view(Format::rgba8_unorm, around), extent,
                    [&](const Stream& stream, const View& image) {
                        convolve(stream, image, texture, functor.across, functor.down);
                    },
                    [&](const Stream& stream, const View& image) { launch(stream, image, functor, texture); });
            }
        }
    }
}

TEST(CpuConvolveTest, InPlaceConvolutionsMatchASeparateDestination) {
    constexpr Extent kExtent{700, 150};
    Random random(1);
    const Bytes texels =
        test::random_texels(random, Format::rgba8_unorm, test::box_bytes(Format::rgba8_unorm, kExtent));
    const Pitched2D source(Device::cpu(), Format::rgba8_unorm, kExtent);
    const Pitched2D other(Device::cpu(), Format::rgba8_unorm, kExtent);
    upload(source.view(), texels);
    const Texture texture(source.view());
    const Stream stream(Device::cpu());
    gaussian(stream, other.view(), texture, {.sigma = 2});
    gaussian(stream, source.view(), texture, {.sigma = 2});
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(source.view()), download(other.view())));
    EXPECT_FALSE(same_bytes(download(source.view()), texels));
}

}  // namespace
}  // namespace texton
