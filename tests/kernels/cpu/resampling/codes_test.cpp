// Compares resampling of codes on the CPU device with a functor that implements the same in a plain form.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/pixel_encode.h>
#include <texton/resample.h>

#include "tests/kernels/cpu/resampling/plain_resampling.h"

namespace texton {
namespace {

using test::any_bits;
using test::Area;
using test::Bytes;
using test::CatmullRom;
using test::expect_resample;
using test::expect_resamples_of_rows;
using test::expect_same;
using test::LinearFetch;
using test::made;
using test::NearestTexel;
using test::Position2;
using test::Random;
using test::same_bytes;
using test::Scene;
using test::Size;
using test::upload;

constexpr std::array kByteFormats{Format::rgba8_unorm, Format::rg8_unorm, Format::r8_unorm};

TEST(CpuResampleTest, ByteResamplingWithAllStepsMatchesTheFunctor) {
    expect_resamples_of_rows<NearestTexel>(ResampleFilter::nearest, Filter::point, kByteFormats);
    expect_resamples_of_rows<NearestTexel>(ResampleFilter::nearest, Filter::linear, kByteFormats);
    expect_resamples_of_rows<LinearFetch>(ResampleFilter::linear, Filter::linear, kByteFormats);
    expect_resamples_of_rows<CatmullRom>(ResampleFilter::catmull_rom, Filter::linear, kByteFormats);
    expect_resamples_of_rows<Area>(ResampleFilter::area, Filter::point, kByteFormats);
}

/// Every 16th row begins at a cache line.
TEST(CpuResampleTest, ByteImagesLargerThanTheCacheMatchTheFunctor) {
    constexpr Extent kFrom{4160, 4096};  // more than 64 MiB
    Random random(26);
    const Array array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba8_unorm, kFrom)));
    const Texture texture(array, {.filter = Filter::linear});
    const auto check = [&](ResampleFilter filter, Extent to, const auto& functor_of) {
        const Extent around{to.width + 1, to.height + 1};
        const Linear memory(Device::cpu(), Format::rgba8_unorm, around);
        const Position2 position{static_cast<float>(kFrom.width) / static_cast<float>(to.width),
                                 static_cast<float>(kFrom.height) / static_cast<float>(to.height),
                                 {},
                                 false};
        expect_same(
            memory.view(Format::rgba8_unorm, around), to,
            [&](const Stream& stream, const View& image) { resample(stream, image, texture, {.filter = filter}); },
            [&](const Stream& stream, const View& image) { launch(stream, image, functor_of(position), texture); });
    };
    const auto nearest = [](const Position2& position) { return NearestTexel{position}; };
    const auto linear = [](const Position2& position) { return LinearFetch{position}; };
    const auto area = [](const Position2& position) { return Area{position}; };
    check(ResampleFilter::nearest, {2080, 1024}, nearest);
    check(ResampleFilter::nearest, {321, 8192}, nearest);
    check(ResampleFilter::linear, {2080, 2048}, linear);
    check(ResampleFilter::linear, {700, 1500}, linear);
    check(ResampleFilter::area, {2080, 1024}, area);
    check(ResampleFilter::area, {3000, 600}, area);
}

/// Returns codes with few or many sums halfway between two codes: noise, ramps, black and white texels, and rows of
/// each code.
Bytes codes_of(Random& random, int kind, std::size_t row_bytes, std::size_t rows) {
    Bytes bytes(row_bytes * rows);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::size_t x = i % row_bytes, y = i / row_bytes, noise = random.below(256);
        const std::size_t codes[] = {noise, x / 4 + y + noise % 16, noise % 2 * 255, y};
        bytes[i] = static_cast<std::byte>(codes[kind]);
    }
    return bytes;
}

TEST(CpuResampleTest, ReducedCodesMatchTheFunctor) {
    constexpr Extent kFrom{403, 264};
    // Whole factors of 3 to 16, others, and parts of the texture whose pixels reach beyond its edges.
    const Size sizes[] = {{{100, 66}, {0, 0, 400, 264}},
                          {{50, 33}, {1, 0, 400, 264}},
                          {{133, 88}, {2, 0, 399, 264}},
                          {{25, 16}, {0, 3, 400, 256}},
                          {{101, 66}, {}},
                          {{120, 79}, {}},
                          {{113, 40}, {-1.5f, -2, 405, 268}},
                          {{7, 5}, {}},
                          {{80, 44}, {0, 0, 400, 264}},
                          {{31, 60}, {300.25f, 0, 110, 264.5f}}};
    Random random(29);
    for (const Format format : {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        for (int kind = 0; kind < 4; ++kind) {
            const std::size_t row_bytes = kFrom.width * static_cast<std::size_t>(info(format).bytes);
            upload(array.view(), codes_of(random, kind, row_bytes, kFrom.height));
            for (const Size& size : sizes) {
                SCOPED_TRACE("content " + std::to_string(kind) + " to " + to_string(size.extent));
                const Scene scene{Texture(array, {.filter = Filter::linear}), kFrom, 1, format};
                expect_resample<Area>(scene, ResampleFilter::area, size.extent, size.crop);
            }
        }
    }
}

/// Tiles after the first read other texels of a row.
TEST(CpuResampleTest, ByteResamplingOfSeveralTilesMatchesTheFunctor) {
    constexpr Extent kFrom{3000, 3};
    constexpr Extent kTo{4500, 4};
    Random random(14);
    for (const Format format : {Format::r8_unorm, Format::rg8_unorm}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        upload(array.view(), any_bits(random, test::box_bytes(format, kFrom)));
        const Scene scene{Texture(array, {.filter = Filter::linear}), kFrom, 1, format};
        expect_resample<LinearFetch>(scene, ResampleFilter::linear, kTo, {});
        expect_resample<CatmullRom>(scene, ResampleFilter::catmull_rom, kTo, {});
    }
}

TEST(CpuResampleTest, MeansOfFourBytesMatchTheFunctor) {
    constexpr Extent kFrom{512, 512};
    Random random(6);
    const Array array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba8_unorm, kFrom)));
    const Scene scene{Texture(array), kFrom, 1, Format::rgba8_unorm};
    expect_resample<Area>(scene, ResampleFilter::area, {256, 256}, {});
}

/// With nearly equal weights the last bits of sums and quotients decide which code the result rounds to.
TEST(CpuResampleTest, WeightedAveragesOfBytesMatchTheFunctor) {
    constexpr Extent kFrom{2048, 20};
    Random random(23);
    const Array array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = kFrom});
    upload(array.view(), any_bits(random, test::box_bytes(Format::rgba8_unorm, kFrom)));
    const Scene scene{Texture(array), kFrom, 1, Format::rgba8_unorm};
    for (const Extent to : {Extent{3072, 30}, Extent{2731, 33}, Extent{1365, 13}, Extent{900, 7}}) {
        SCOPED_TRACE(to_string(to));
        expect_resample<Area>(scene, ResampleFilter::area, to, {});
    }
}

TEST(CpuResampleTest, All16BitCodesAreFetchedAsTheirFractions) {
    constexpr Extent kExtent{256, 256};
    Bytes codes(2 * 65536);
    std::vector<float> fractions(65536);
    for (std::size_t i = 0; i < fractions.size(); ++i) {
        const auto code = static_cast<std::uint16_t>(i);
        std::memcpy(&codes[2 * i], &code, 2);
        fractions[i] = static_cast<float>(i) / 65535;
    }
    Bytes expected(4 * fractions.size());
    std::memcpy(expected.data(), fractions.data(), expected.size());
    const Array array(Device::cpu(), {.format = Format::r16_unorm, .extent = kExtent});
    upload(array.view(), codes);
    const Texture texture(array, {.filter = Filter::linear});
    const Linear memory(Device::cpu(), Format::r32_float, kExtent);
    const View image = memory.view(Format::r32_float, kExtent);
    const Bytes fetched = made(image, image, [&](const Stream& stream, const View& view) {
        resample(stream, view, texture, {.filter = ResampleFilter::linear});
    });
    EXPECT_TRUE(same_bytes(fetched, expected));
}

/// All values of float sums of codes, indexed by the integer sum of the codes.
using CodeSums = std::vector<std::set<float>>;

template <class Sum>
CodeSums added(const CodeSums& a, const CodeSums& b, const Sum& sum) {
    CodeSums sums(a.size() + b.size() - 1);
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j) {
            for (const float x : a[i]) {
                for (const float y : b[j]) sums[i + j].insert(sum(x, y));
            }
        }
    }
    return sums;
}

TEST(CpuResampleTest, MeansOfFourCodesRoundLikeTheirIntegerSum) {
    CodeSums codes(256);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = {static_cast<float>(i) / 255.0f};
    const auto check = [&](const auto& sum, float divisor) {
        const CodeSums pairs = added(codes, codes, sum);
        const CodeSums all = added(pairs, pairs, sum);
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (const float value : all[i]) ASSERT_EQ(detail::unorm_code_of(value / divisor, 255), (i + 2) / 4) << i;
        }
    };
    check([](float a, float b) { return a + b; }, 4);                                       // mips
    check([](float a, float b) { return std::fma(b, 0.5f, std::fma(a, 0.5f, 0.0f)); }, 1);  // resample() by area
}

}  // namespace
}  // namespace texton
