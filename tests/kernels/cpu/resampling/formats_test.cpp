// Compares resampling of every format on the CPU device with a functor that implements the same in a plain form.
#include <array>
#include <string>

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
using test::expect_resample;
using test::expect_resamples;
using test::expect_resamples_of_rows;
using test::expect_same;
using test::floats_alike_in_groups;
using test::kFormats;
using test::Lanczos;
using test::LinearFetch;
using test::NearestTexel;
using test::Random;
using test::samplers;
using test::Scene;
using test::Size;
using test::upload;

TEST(CpuResampleTest, NearestResamplingMatchesTheFunctor) {
    expect_resamples<NearestTexel>(ResampleFilter::nearest, Filter::point);
    expect_resamples<NearestTexel>(ResampleFilter::nearest, Filter::linear);
}

TEST(CpuResampleTest, LinearResamplingMatchesTheFunctor) {
    expect_resamples<LinearFetch>(ResampleFilter::linear, Filter::linear);
}

TEST(CpuResampleTest, CatmullRomResamplingMatchesTheFunctor) {
    expect_resamples<CatmullRom>(ResampleFilter::catmull_rom, Filter::linear);
}

/// Steps that cover every method of staging pairs of texels: pairs that follow each other, pairs further apart, and
/// texels beyond the edges, in rows of several blocks.
TEST(CpuResampleTest, LinearResamplingOfEveryFormatWithAllStepsMatchesTheFunctor) {
    constexpr Extent kFrom{150, 40};
    Random random(31);
    for (const Format format :
         {Format::r32_float, Format::rg32_float, Format::r16_float, Format::rg16_float, Format::rgba16_float,
          Format::r16_unorm, Format::rg16_unorm, Format::rgba16_unorm, Format::rgba8_srgb}) {
        for (const Sampler& sampler : samplers(Filter::linear)) {
            const Array array(Device::cpu(), {.format = format, .extent = kFrom});
            const std::size_t bytes = test::box_bytes(format, kFrom);
            const bool alike = info(format).bits == 32 && random.coin();
            Bytes texels = alike ? floats_alike_in_groups(random, kFrom) : any_bits(random, bytes);
            texels.resize(bytes);
            upload(array.view(), texels);
            const Scene scene{Texture(array, sampler), kFrom, 1, format};
            for (const Crop& crop : {Crop{}, Crop{0.25f, 0.75f, 150, 40}, Crop{-20.5f, -3, 190, 46}}) {
                for (const Extent to : {Extent{75, 20}, Extent{225, 60}, Extent{150, 43}, Extent{40, 9}}) {
                    SCOPED_TRACE(std::string(name(format)) + " to " + to_string(to) + ", address " +
                                 std::to_string(static_cast<int>(sampler.address[0])));
                    expect_resample<LinearFetch>(scene, ResampleFilter::linear, to, crop);
                }
            }
        }
    }
}

TEST(CpuResampleTest, AreaResamplingMatchesTheFunctor) {
    expect_resamples<Area>(ResampleFilter::area, Filter::point);
    expect_resamples<Area>(ResampleFilter::area, Filter::linear);
}

// Where each pixel reads a single texel, it is copied.
TEST(CpuResampleTest, LinearResamplingOfOtherFormatsWithAllStepsMatchesTheFunctor) {
    constexpr std::array kOthers{Format::r16_unorm, Format::rg16_unorm, Format::rgba16_unorm, Format::rgba8_srgb,
                                 Format::r8_srgb,   Format::r16_float,  Format::rg16_float,   Format::rgba16_float,
                                 Format::r32_float, Format::rg32_float, Format::rgba32_float, Format::rgba8_snorm};
    expect_resamples_of_rows<LinearFetch>(ResampleFilter::linear, Filter::linear, kOthers);
}

/// Replaces each fifth channel of a floating format by a negative zero.
test::Bytes with_negative_zeros(test::Bytes texels, Format format) {
    if (info(format).kind != FormatKind::floating) return texels;
    const std::size_t size = static_cast<std::size_t>(info(format).bits) / 8;
    for (std::size_t i = 0; i + size <= texels.size(); i += 5 * size) {
        std::fill_n(&texels[i], size, test::Bytes::value_type{});
        texels[i + size - 1] = test::Bytes::value_type{0x80};
    }
    return texels;
}

/// Pixels that are single texels in both directions, in one, or in none, also beyond the edges.
TEST(CpuResampleTest, PixelsOfSingleTexelsMatchTheFunctor) {
    constexpr Extent kFrom{37, 21};
    const Size sizes[] = {{{74, 42}, {}},
                          {{148, 21}, {}},
                          {{37, 21}, {}},
                          {{74, 31}, {}},
                          {{40, 30}, {-2, -3, 20, 15}},
                          {{30, 24}, {25, 12, 15, 12}},
                          {{37, 21}, {0.5f, 0, 37, 21}}};
    Random random(30);
    for (const Format format : kFormats) {
        for (const Sampler& sampler : samplers(Filter::point)) {
            const Array array(Device::cpu(), {.format = format, .extent = kFrom});
            upload(array.view(), with_negative_zeros(any_bits(random, test::box_bytes(format, kFrom)), format));
            const Scene scene{Texture(array, sampler), kFrom, 1, format};
            for (const Size& size : sizes) {
                SCOPED_TRACE(std::string(name(format)) + " to " + to_string(size.extent) + ", address " +
                             std::to_string(static_cast<int>(sampler.address[0])));
                expect_resample<Area>(scene, ResampleFilter::area, size.extent, size.crop);
                expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, size.extent, size.crop);
            }
        }
    }
}

// If positions are so close that floats cannot distinguish them, some pixels have a total weight of zero or nearly
// zero.
TEST(CpuResampleTest, AreasWithoutSizeReadTheFirstTexel) {
    constexpr Extent kFrom{31, 12};
    constexpr Extent kTo{40, 3};
    Random random(2);
    for (const Format from : {Format::rgba32_float, Format::rgba8_unorm}) {
        const Array array(Device::cpu(), {.format = from, .extent = kFrom});
        upload(array.view(), test::random_texels(random, from, test::box_bytes(from, kFrom)));
        const Texture texture(array);
        for (const Crop& crop : {Crop{30, 7.5f, 1e-5f, 2}, Crop{0, 7.5f, 1e-14f, 2}, Crop{0, 0, 1e-20f, 1e-20f}}) {
            const Area functor{{crop.width / 40, crop.height / 3, crop, false}};
            for (const Format format : {Format::rgba32_float, Format::rgba8_unorm}) {
                SCOPED_TRACE("width " + std::to_string(crop.width));
                const Extent around{kTo.width + 3, kTo.height + 2};
                const Linear memory(Device::cpu(), format, around);
                expect_same(
                    memory.view(format, around), kTo,
                    [&](const Stream& stream, const View& image) {
                        resample(stream, image, texture, {.filter = ResampleFilter::area, .crop = crop});
                    },
                    [&](const Stream& stream, const View& image) { launch(stream, image, functor, texture); });
            }
        }
    }
}

/// Far more rows of texels per pixel than are kept, and pixels that share them.
TEST(CpuResampleTest, StrongReductionsMatchTheFunctor) {
    constexpr Extent kFrom{300, 700};
    Random random(32);
    for (const Format format : {Format::r8_unorm, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        const Scene scene{Texture(array), kFrom, 1, format};
        for (const Extent to : {Extent{37, 20}, Extent{3, 7}, Extent{1, 1}}) {
            SCOPED_TRACE(to_string(to));
            expect_resample<Lanczos>(scene, ResampleFilter::lanczos3, to, {});
            expect_resample<Area>(scene, ResampleFilter::area, to, {});
        }
    }
}

/// Rows of texels that several rows of pixels need, or of which some are skipped.
TEST(CpuResampleTest, RowsThatAreSummedTogetherMatchTheFunctor) {
    constexpr Extent kFrom{70, 97};
    Random random(33);
    for (const Format format : {Format::r8_unorm, Format::r16_float, Format::rg16_unorm, Format::r32_float,
                                Format::rg32_float, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        for (const Sampler& sampler : samplers(Filter::point)) {
            const Scene scene{Texture(array, sampler), kFrom, 1, format};
            for (const std::size_t rows : {5u, 12u, 13u, 31u, 68u, 96u, 145u, 194u}) {
                SCOPED_TRACE(std::string(name(format)) + " to " + std::to_string(rows) + " rows, address " +
                             std::to_string(static_cast<int>(sampler.address[0])));
                const Crop crop = random.coin() ? Crop{} : Crop{-5.5f, -9.3f, 75, 113};
                expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, {53, rows}, crop);
                expect_resample<Lanczos>(scene, ResampleFilter::lanczos3, {53, rows}, crop);
                expect_resample<Area>(scene, ResampleFilter::area, {53, rows}, crop);
            }
        }
    }
}

TEST(CpuResampleTest, LongRowsThatAreSummedTogetherMatchTheFunctor) {
    constexpr Extent kFrom{1100, 13};
    Random random(34);
    for (const Format format : {Format::r16_unorm, Format::r32_float, Format::rgba32_float}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        const Scene scene{Texture(array), kFrom, 1, format};
        for (const Extent to : {Extent{1040, 9}, Extent{1203, 20}}) {
            SCOPED_TRACE(std::string(name(format)) + " to " + to_string(to));
            expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, to, {});
            expect_resample<Area>(scene, ResampleFilter::area, to, {});
        }
    }
}

TEST(CpuResampleTest, LanczosResamplingMatchesTheFunctor) {
    expect_resamples<Lanczos>(ResampleFilter::lanczos3, Filter::point);
}

}  // namespace
}  // namespace texton
