// Compares resampling of floats on the CPU device with a functor that implements the same in a plain form.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/resample.h>

#include "tests/kernels/cpu/resampling/plain_resampling.h"

namespace texton {
namespace {

using test::any_bits;
using test::Area;
using test::Bytes;
using test::CatmullRom;
using test::compare_resample;
using test::expect_resample;
using test::expect_same;
using test::floats_alike_in_groups;
using test::LinearFetch;
using test::Make;
using test::NearestTexel;
using test::Position2;
using test::Random;
using test::samplers;
using test::Scene;
using test::upload;

/// Returns floats of similar magnitude, whose sums over a footprint are nearly exact, and some that are not: zeros,
/// denormals, infinities and NaN.
Bytes alike_floats(Random& random, std::size_t count, bool signs) {
    std::vector<std::uint32_t> floats(count);
    for (std::uint32_t& bits : floats) {
        const auto exponent = static_cast<std::uint32_t>(125 + random.below(random.below(8) == 0 ? 7 : 3));
        bits = exponent << 23 | (static_cast<std::uint32_t>(random.bits()) & 0x7fffff);
        if (random.below(8) == 0) bits &= 0xfff00000;
        if (signs && random.coin()) bits |= 0x80000000;
        constexpr std::array<std::uint32_t, 8> kOdd{0,          0x80000000, 1,          0x807fffff,
                                                    0x7f800000, 0xff800000, 0x7fc01234, 0x7f7fffff};
        if (random.below(100) == 0) bits = kOdd[random.below(kOdd.size())];
    }
    Bytes bytes(count * sizeof(std::uint32_t));
    std::memcpy(bytes.data(), floats.data(), bytes.size());
    return bytes;
}

TEST(CpuResampleTest, LinearResamplingOfSimilarFloatsMatchesTheFunctor) {
    Random random(11);
    for (const Sampler& sampler : samplers(Filter::linear)) {
        for (const Extent to : {Extent{90, 70}, Extent{30, 24}, Extent{61, 47}, Extent{7, 200}}) {
            constexpr Extent kFrom{61, 47};
            const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
            upload(array.view(), alike_floats(random, 4 * kFrom.width * kFrom.height, random.coin()));
            const Texture texture(array, sampler);
            const Crop crop = random.coin() ? Crop{} : Crop{-2.3f, 1.5f, 50, 48.25f};
            const Position2 position{(crop.width != 0 ? crop.width : 61) / static_cast<float>(to.width),
                                     (crop.height != 0 ? crop.height : 47) / static_cast<float>(to.height), crop,
                                     false};
            SCOPED_TRACE(to_string(to) + ", address " + std::to_string(static_cast<int>(sampler.address[0])));
            const auto check = [&](ResampleFilter filter, const auto& functor) {
                for (const Format format : {Format::rgba32_float, Format::rgba16_float, Format::rgba8_unorm}) {
                    const Extent around{to.width + 3, to.height + 2};
                    const Linear memory(Device::cpu(), format, around);
                    expect_same(
                        memory.view(format, around), to,
                        [&](const Stream& stream, const View& image) {
                            resample(stream, image, texture, {.filter = filter, .crop = crop});
                        },
                        [&](const Stream& stream, const View& image) {
                            launch(stream, image, functor,
                                   filter == ResampleFilter::linear ? texture : detail::by_points(texture));
                        });
                }
            };
            check(ResampleFilter::linear, LinearFetch{position});
            check(ResampleFilter::catmull_rom, CatmullRom{position});
        }
    }
}

/// Steps that cover every method of loading texels: consecutive texels, texels within one or two vectors, and texels
/// further apart, also beyond the edges.
TEST(CpuResampleTest, FloatResamplingWithAllStepsMatchesTheFunctor) {
    constexpr Extent kFrom{150, 40};
    constexpr std::array<Crop, 3> kCrops{Crop{}, Crop{0.25f, 0.75f, 150, 40}, Crop{-20.5f, -3, 190, 46}};
    Random random(19);
    for (const Sampler& sampler : samplers(Filter::linear)) {
        const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
        upload(array.view(), floats_alike_in_groups(random, kFrom));
        const Scene scene{Texture(array, sampler), kFrom, 1, Format::rgba32_float};
        for (const Crop& crop : kCrops) {
            for (const Extent to : {Extent{150, 40}, Extent{75, 20}, Extent{225, 60}, Extent{40, 9}, Extent{700, 55}}) {
                SCOPED_TRACE(to_string(to) + ", address " + std::to_string(static_cast<int>(sampler.address[0])));
                expect_resample<LinearFetch>(scene, ResampleFilter::linear, to, crop);
                expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, to, crop);
            }
        }
    }
}

/// Every fourth row begins at a cache line.
TEST(CpuResampleTest, FloatImagesLargerThanTheCacheMatchTheFunctor) {
    constexpr Extent kFrom{150, 40};
    constexpr Extent kTo{2050, 2060};  // more than 64 MiB
    constexpr Extent kAround{2053, 2062};
    Random random(20);
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
    upload(array.view(), floats_alike_in_groups(random, kFrom));
    const Texture texture(array, {.filter = Filter::linear});
    const Position2 position{150 / 2050.0f, 40 / 2060.0f, {}, false};
    const Linear memory(Device::cpu(), Format::rgba32_float, kAround);
    const auto check = [&](ResampleFilter filter, const auto& functor) {
        expect_same(
            memory.view(Format::rgba32_float, kAround), kTo,
            [&](const Stream& stream, const View& image) { resample(stream, image, texture, {.filter = filter}); },
            [&](const Stream& stream, const View& image) {
                launch(stream, image, functor, filter == ResampleFilter::linear ? texture : detail::by_points(texture));
            });
    };
    check(ResampleFilter::linear, LinearFetch{position});
    check(ResampleFilter::catmull_rom, CatmullRom{position});
    check(ResampleFilter::area, Area{position});
}

TEST(CpuResampleTest, AreaResamplingToHalfTheWidthMatchesTheFunctor) {
    constexpr Extent kFrom{66, 30};
    Random random(24);
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba32_float, kFrom)));
    const Scene scene{Texture(array), kFrom, 1, Format::rgba32_float};
    for (const std::size_t rows : {15, 30, 20, 7, 1})
        expect_resample<Area>(scene, ResampleFilter::area, {33, rows}, {});
}

TEST(CpuResampleTest, NearestResamplingOfLongFloatRowsMatchesTheFunctor) {
    constexpr Extent kFrom{1700, 3};
    Random random(27);
    for (const Format format : {Format::r32_float, Format::rg32_float, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        const Scene scene{Texture(array), kFrom, 1, format};
        for (const Extent to : {Extent{2550, 4}, Extent{1700, 3}, Extent{850, 2}})
            expect_resample<NearestTexel>(scene, ResampleFilter::nearest, to, {});
    }
}

TEST(CpuResampleTest, MeansOfFourFloatsBeyondTheCacheSizeMatchTheFunctor) {
    constexpr Extent kFrom{2600, 1400};  // more than 64 MiB together with the destination
    Random random(22);
    const Array array(Device::cpu(), {.format = Format::rgba32_float, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba32_float, kFrom)));
    expect_resample<Area>({Texture(array), kFrom, 1, Format::rgba32_float}, ResampleFilter::area, {1300, 700}, {});
}

TEST(CpuResampleTest, EveryHalfIsReadAndStoredAsTheFunctorDoes) {
    constexpr Extent kExtent{256, 256};
    constexpr Extent kAround{259, 258};
    Bytes codes(2 * 65536);
    for (std::size_t i = 0; i < 65536; ++i) {
        const auto code = static_cast<std::uint16_t>(i);
        std::memcpy(&codes[2 * i], &code, 2);
    }
    const Array halves(Device::cpu(), {.format = Format::r16_float, .extent = kExtent});
    upload(halves.view(), codes);
    Random random(31);
    const Array floats(Device::cpu(), {.format = Format::r32_float, .extent = kExtent});
    upload(floats.view(), any_bits(random, 4 * 65536));
    for (const Array& array : {halves, floats}) {
        const Scene scene{Texture(array), kExtent, 1, array.info().format};
        for (const Format format : {Format::r16_float, Format::r32_float, Format::rgba16_float}) {
            const Linear memory(Device::cpu(), format, kAround);
            compare_resample<Area>(scene, ResampleFilter::area, kExtent, {}, [&](const Make& fast, const Make& plain) {
                expect_same(memory.view(format, kAround), kExtent, fast, plain);
            });
        }
    }
}

}  // namespace
}  // namespace texton
