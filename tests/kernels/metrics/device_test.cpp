// Compares images on each device with the comparison in host memory.
#include <texton/metrics.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pitched.h>

#include "tests/support/expect_error.h"
#include "tests/support/memories.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::expect_error;

/// Texels of two images, with their comparison in host memory.
struct Pair {
    Format format;
    Extent extent;
    Bytes a;
    Bytes b;

    ConstView view(const Bytes& texels) const {
        return host_view(static_cast<const void*>(texels.data()), format, extent);
    }
    Comparison in_host_memory(const ComparisonOptions& options) const { return compare(view(a), view(b), options); }
};

/// Returns random texels, and the same texels with small changes in some places and large changes in few.
Pair random_pair(Format format, Extent extent, unsigned seed) {
    Pair pair{format, extent, test::pattern(packed_bytes(format, extent), seed), {}};
    pair.b = pair.a;
    for (std::size_t i = seed % 7; i < pair.b.size(); i += 7) pair.b[i] ^= std::byte{1};
    for (std::size_t i = seed % 101; i < pair.b.size(); i += 101) pair.b[i] ^= std::byte{0x7e};
    return pair;
}

/// Expects that the results are equal in every bit, NaN included, except that the errors of FLIP may differ by rounding.
void expect_same(const Comparison& actual, const Comparison& expected) {
    const auto same = [](double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; };
    ASSERT_EQ(actual.channels.size(), expected.channels.size());
    std::vector<std::pair<Difference, Difference>> pairs{{actual.all, expected.all}};
    for (std::size_t c = 0; c < actual.channels.size(); ++c)
        pairs.emplace_back(actual.channels[c], expected.channels[c]);
    for (const auto& [a, b] : pairs) {
        EXPECT_EQ(a.differing, b.differing);
        EXPECT_EQ(a.max_ulp, b.max_ulp);
        EXPECT_TRUE(same(a.max, b.max)) << a.max << " " << b.max;
        EXPECT_TRUE(same(a.mean, b.mean)) << a.mean << " " << b.mean;
        EXPECT_TRUE(same(a.mse, b.mse)) << a.mse << " " << b.mse;
        EXPECT_TRUE(same(a.psnr, b.psnr)) << a.psnr << " " << b.psnr;
        EXPECT_EQ(a.ssim, b.ssim);
        EXPECT_EQ(a.nans, b.nans);
        EXPECT_EQ(a.infinities, b.infinities);
    }
    EXPECT_EQ(actual.ulp_histogram, expected.ulp_histogram);
    ASSERT_EQ(actual.worst.size(), expected.worst.size());
    for (std::size_t i = 0; i < actual.worst.size(); ++i) {
        const WorstTexel &a = actual.worst[i], &b = expected.worst[i];
        EXPECT_EQ(a.at, b.at);
        EXPECT_EQ(a.ulp, b.ulp);
        EXPECT_TRUE(same(a.difference, b.difference));
        for (std::size_t c = 0; c < 4; ++c) {
            EXPECT_TRUE(same(a.a[c], b.a[c]));
            EXPECT_TRUE(same(a.b[c], b.b[c]));
        }
    }
    ASSERT_EQ(actual.flip.has_value(), expected.flip.has_value());
    if (!actual.flip) return;
    const Flip &a = *actual.flip, &b = *expected.flip;
    EXPECT_EQ(a.exposures, b.exposures);
    EXPECT_TRUE(same(a.first_exposure, b.first_exposure));
    EXPECT_TRUE(same(a.last_exposure, b.last_exposure));
    EXPECT_NEAR(a.mean, b.mean, 1e-6);
    EXPECT_NEAR(a.max, b.max, 1e-6);
    ASSERT_EQ(a.errors.size(), b.errors.size());
    float most = 0;
    for (std::size_t i = 0; i < a.errors.size(); ++i) most = std::max(most, std::abs(a.errors[i] - b.errors[i]));
    EXPECT_LE(most, 1e-6F);
}

class DeviceComparisonTest : public test::OnEveryDevice {
protected:
    /// Compares the images in memory of the device.
    Comparison on_device(const Pair& pair, const ComparisonOptions& options) const {
        const Stream stream(device());
        const Linear a = uploaded(pair.a), b = uploaded(pair.b);
        return compare(stream, a.view(pair.format, pair.extent), b.view(pair.format, pair.extent), options);
    }
    Linear uploaded(const Bytes& texels) const {
        Linear memory(device(), texels.size());
        test::upload(memory.view(), texels);
        return memory;
    }
    void expect_like_host(const Pair& pair, const ComparisonOptions& options = {.flip = true}) const {
        SCOPED_TRACE(std::string(name(pair.format)) + " " + to_string(pair.extent));
        expect_same(on_device(pair, options), pair.in_host_memory(options));
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceComparisonTest, test::every_device(), test::device_label);

TEST_P(DeviceComparisonTest, EveryFormatHasTheResultOfHostMemory) {
    for (const FormatInfo& row : formats()) {
        if (row.layout != FormatLayout::plain && row.layout != FormatLayout::packed) continue;
        for (const Extent extent : {Extent{61, 47}, Extent{2, 700}, Extent{150, 80}})
            expect_like_host(random_pair(row.format, extent, 3));
    }
}

TEST_P(DeviceComparisonTest, EverySizeHasTheResultOfHostMemory) {
    for (const Extent extent :
         {Extent{1, 1}, Extent{1, 3000}, Extent{3000, 1}, Extent{10, 40}, Extent{11, 11}, Extent{138, 74},
          Extent{139, 75}, Extent{7, 9, 5}, Extent{1025, 3}, Extent{300, 200, 2}}) {
        expect_like_host(random_pair(Format::rgba8_unorm, extent, 5));
        expect_like_host(random_pair(Format::r32_float, extent, 6));
    }
}

TEST_P(DeviceComparisonTest, EqualImagesHaveNoDifference) {
    Pair pair = random_pair(Format::rgba8_srgb, {200, 100}, 1);
    pair.b = pair.a;
    expect_like_host(pair);
    const Comparison result = on_device(pair, {.flip = true});
    EXPECT_EQ(result.all.ssim, 1);
    EXPECT_EQ(result.flip->max, 0);
    EXPECT_TRUE(result.worst.empty());
}

TEST_P(DeviceComparisonTest, ChannelsThatDoNotDifferHaveTheResultOfHostMemory) {
    for (std::size_t channel = 0; channel < 4; ++channel) {
        Pair pair = random_pair(Format::rgba8_snorm, {160, 90}, 7);
        pair.b = pair.a;
        for (std::size_t i = channel; i < pair.b.size(); i += 12) pair.b[i] ^= std::byte{3};
        expect_like_host(pair);
    }
}

TEST_P(DeviceComparisonTest, OptionsHaveTheEffectThatTheyHaveInHostMemory) {
    const Pair pair = random_pair(Format::rgba16_unorm, {400, 90}, 2);
    expect_like_host(pair, {.ssim = false});
    expect_like_host(pair, {.worst = 0});
    expect_like_host(pair, {.worst = 1});
    for (const std::size_t worst : {20, 21, 100000}) expect_like_host(pair, {.worst = worst});
    expect_like_host(pair, {.channels = 1});
    expect_like_host(pair, {.channels = 3});
    expect_like_host(pair, {.peak = 0.25});
    expect_like_host(pair, {.flip = true, .pixels_per_degree = 300});
    expect_like_host(pair, {.flip = true, .flip_errors = false});
    EXPECT_TRUE(on_device(pair, {.flip = true, .flip_errors = false}).flip->errors.empty());
}

TEST_P(DeviceComparisonTest, ValuesFarFromZeroHaveTheResultOfHostMemory) {
    Pair pair{Format::r32_float, {64, 64}, Bytes(64 * 64 * 4), Bytes(64 * 64 * 4)};
    for (std::size_t i = 0; i < 64 * 64; ++i) {
        const float a = 1000 + 0.25F * static_cast<float>(i % 13), b = a + 0.125F * static_cast<float>(i % 5);
        std::memcpy(pair.a.data() + 4 * i, &a, 4);
        std::memcpy(pair.b.data() + 4 * i, &b, 4);
    }
    expect_like_host(pair);
}

TEST_P(DeviceComparisonTest, ImagesInEveryKindOfMemoryAreCompared) {
    const Pair pair = random_pair(Format::rgba8_unorm, {37, 21}, 4);
    const Comparison expected = pair.in_host_memory({.flip = true});
    const Stream stream(device());
    for (const test::MemoryMaker& maker : test::memories(device(), peer(), pair.format, pair.extent)) {
        SCOPED_TRACE(maker.name);
        const test::Memory a = maker.make(0), b = maker.make(1);
        test::upload(a.texels, pair.a);
        test::upload(b.texels, pair.b);
        expect_same(compare(stream, a.texels, b.texels, {.flip = true}), expected);
    }
    const Array a(device(), {pair.format, pair.extent}), b(device(), {pair.format, pair.extent});
    test::upload(a.view(), pair.a);
    test::upload(b.view(), pair.b);
    expect_same(compare(stream, a.view(), b.view(), {.flip = true}), expected);
    expect_same(compare(stream, a.view(), pair.view(pair.b), {.flip = true}), expected);
}

TEST_P(DeviceComparisonTest, RegionsAreComparedWhereTheyAre) {
    const Pair whole = random_pair(Format::rgba16_float, {90, 70}, 8);
    const Stream stream(device());
    const Pitched2D a(device(), whole.format, whole.extent), b(device(), whole.format, whole.extent);
    test::upload(a.view(), whole.a);
    test::upload(b.view(), whole.b);
    const Region region{{13, 5}, {50, 40}};
    const ComparisonOptions options{.flip = true};
    expect_same(compare(stream, a.view().region(region), b.view().region(region), options),
                compare(whole.view(whole.a).region(region), whole.view(whole.b).region(region), options));
}

TEST_P(DeviceComparisonTest, WorkOnTheStreamIsDoneFirst) {
    const Pair pair = random_pair(Format::rgba8_unorm, {512, 512}, 9);
    const Stream stream(device());
    const Linear a = uploaded(pair.a), b(device(), pair.b.size());
    copy(b.view(pair.format, pair.extent), pair.view(pair.b), stream);
    expect_same(compare(stream, a.view(pair.format, pair.extent), b.view(pair.format, pair.extent)),
                pair.in_host_memory({}));
}

TEST_P(DeviceComparisonTest, AnExceptionOfTheProgressFunctionEndsTheComparison) {
    const Pair pair = random_pair(Format::r8_unorm, {64, 64}, 1);
    struct Stop {};
    EXPECT_THROW((void)on_device(pair, {.flip = true, .progress = [](double) { throw Stop(); }}), Stop);
}

TEST_P(DeviceComparisonTest, WrongImagesAndOptionsAreRefused) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const auto refuse = [&](const ConstView& a, const ConstView& b, const ComparisonOptions& options = {}) {
        expect_error([&] { (void)compare(stream, a, b, options); }, ErrorCode::bad_argument, "texton::compare");
    };
    const View image = memory.view(Format::rgba8_unorm, {16, 16});
    refuse(image, memory.view(Format::rgba8_unorm, {16, 15}));
    refuse(image, memory.view(Format::rgba8_snorm, {16, 16}));
    refuse(image, image, {.channels = 0});
    refuse(image, image, {.peak = -1.0});
    refuse(image, image, {.pixels_per_degree = 0});
    refuse(ConstView(), ConstView());
    refuse(memory.view(Format::bc1_unorm, {16, 16}), memory.view(Format::bc1_unorm, {16, 16}));
    expect_error([&] { (void)Graph::capture(stream, [&] { (void)compare(stream, image, image); }); },
                 ErrorCode::capturing, "texton::compare");
}

}  // namespace
}  // namespace texton
