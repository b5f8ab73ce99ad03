#include <texton/metrics.h>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <gmock/gmock.h>

#include <texton/linear.h>

#include "tests/support/arrays.h"
#include "tests/support/decode.h"
#include "tests/support/expect_error.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::expect_error;
using testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kForever = std::numeric_limits<double>::infinity();

template <class T>
ConstView view(const std::vector<T>& values, Format format, Extent extent) {
    EXPECT_EQ(values.size() * sizeof(T), packed_bytes(format, extent));
    return host_view(static_cast<const void*>(values.data()), format, extent);
}

template <class T>
Comparison compared(const std::vector<T>& a, const std::vector<T>& b, Format format, Extent extent,
                    const ComparisonOptions& options = {}) {
    return compare(view(a, format, extent), view(b, format, extent), options);
}

std::uint32_t ulps(float a, float b) { return compared<float>({a}, {b}, Format::r32_float, {1, 1}).all.max_ulp; }

std::vector<Format> comparable_formats() {
    std::vector<Format> out;
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::plain || row.layout == FormatLayout::packed) out.push_back(row.format);
    }
    return out;
}

constexpr Extent kSizes[] = {{1, 1}, {3, 2}, {1, 40}, {40, 1}, {13, 12}, {7, 5, 3}};

TEST(MetricsTest, EqualImagesOfEveryFormatHaveNoDifference) {
    for (const Format format : comparable_formats()) {
        for (const Extent extent : kSizes) {
            SCOPED_TRACE(std::string(name(format)) + " " + to_string(extent));
            const Bytes texels = test::pattern(packed_bytes(format, extent), 1);
            const Comparison result = compared(texels, Bytes(texels), format, extent, {.flip = true});
            const std::size_t count = extent.width * extent.height * extent.depth;
            ASSERT_EQ(result.channels.size(), info(format).channels);
            for (const Difference* each : {&result.all, &result.channels[0]}) {
                EXPECT_EQ(each->differing, 0U);
                EXPECT_EQ(each->max_ulp, 0U);
                EXPECT_EQ(each->max, 0);
                EXPECT_EQ(each->mean, 0);
                EXPECT_EQ(each->rmse, 0);
                EXPECT_EQ(each->psnr, kForever);
                EXPECT_EQ(each->ssim, 1);
                EXPECT_EQ(each->nans[0], each->nans[1]);
            }
            EXPECT_EQ(result.ulp_histogram[0], count * info(format).channels);
            EXPECT_TRUE(result.worst.empty());
            EXPECT_EQ(result.flip->mean, 0);
            EXPECT_EQ(result.flip->max, 0);
            EXPECT_EQ(result.flip->errors, std::vector<float>(count));
        }
    }
}

TEST(MetricsTest, MetricsOfAFewBytesMatchKnownValues) {
    // Red differs by 0 and 3; alpha differs by 255 once.
    const std::vector<std::uint8_t> a{10, 20, 30, 0, 40, 50, 60, 255}, b{10, 20, 30, 255, 43, 50, 60, 255};
    const Comparison result = compared(a, b, Format::rgba8_unorm, {2, 1});
    const Difference& red = result.channels[0];
    EXPECT_EQ(red.differing, 1U);
    EXPECT_EQ(red.max_ulp, 3U);
    EXPECT_EQ(red.max, 3 / 255.0);
    EXPECT_DOUBLE_EQ(red.mean, 1.5 / 255);
    EXPECT_DOUBLE_EQ(red.mse, 4.5 / (255.0 * 255));
    EXPECT_DOUBLE_EQ(red.rmse, std::sqrt(4.5) / 255);
    EXPECT_DOUBLE_EQ(red.psnr, 10 * std::log10(255.0 * 255 / 4.5));
    EXPECT_EQ(result.channels[1].psnr, kForever);
    EXPECT_EQ(result.channels[3].max, 1);
    EXPECT_EQ(result.channels[3].mse, 0.5);
    EXPECT_EQ(result.all.differing, 2U);
    EXPECT_EQ(result.all.max_ulp, 255U);
    EXPECT_DOUBLE_EQ(result.all.mse, (0.5 + 4.5 / (255.0 * 255)) / 4);
    EXPECT_EQ(result.ulp_histogram[0], 6U);
    EXPECT_EQ(result.ulp_histogram[2], 1U);  // 2 to 3
    EXPECT_EQ(result.ulp_histogram[8], 1U);  // 128 to 255
    EXPECT_EQ(std::accumulate(result.ulp_histogram.begin(), result.ulp_histogram.end(), std::size_t{0}), 8U);
    ASSERT_EQ(result.worst.size(), 2U);
    EXPECT_EQ(result.worst[0].at, (Offset{0, 0, 0}));
    EXPECT_EQ(result.worst[0].ulp, 255U);
    EXPECT_EQ(result.worst[1].at, (Offset{1, 0, 0}));
    EXPECT_EQ(result.worst[1].difference, 3 / 255.0);
    EXPECT_EQ(result.worst[1].a, (std::array<double, 4>{40 / 255.0, 50 / 255.0, 60 / 255.0, 1}));
    EXPECT_EQ(result.worst[1].b[0], 43 / 255.0);
}

TEST(MetricsTest, ThePeakIsTheRangeOfTheFormat) {
    const auto peak = [](Format format) {
        const Bytes texel(info(format).bytes);
        return compared(texel, texel, format, {1, 1}).peak;
    };
    EXPECT_EQ(peak(Format::rgba8_unorm), 1);
    EXPECT_EQ(peak(Format::r8_srgb), 1);
    EXPECT_EQ(peak(Format::rgb10a2_unorm), 1);
    EXPECT_EQ(peak(Format::rg16_snorm), 2);
    EXPECT_EQ(peak(Format::r8_uint), 255);
    EXPECT_EQ(peak(Format::r16_sint), 65535);
    EXPECT_EQ(peak(Format::r32_uint), 4294967295.0);
    EXPECT_EQ(peak(Format::r16_float), 1);
    // A difference of half the range is 6 dB; a peak ten times larger adds 20 dB.
    const std::vector<std::uint8_t> zero{0}, half{128};
    EXPECT_DOUBLE_EQ(compared(zero, half, Format::r8_uint, {1, 1}).all.psnr, 20 * std::log10(255 / 128.0));
    EXPECT_DOUBLE_EQ(compared(zero, half, Format::r8_uint, {1, 1}, {.peak = 2550.0}).all.psnr,
                     20 * std::log10(2550 / 128.0));
}

TEST(MetricsTest, UlpsCountTheFloatsBetweenTwoValues) {
    constexpr float kMin = std::numeric_limits<float>::denorm_min(), kMax = std::numeric_limits<float>::max();
    EXPECT_EQ(ulps(1, std::nextafter(1.0f, 2.0f)), 1U);
    EXPECT_EQ(ulps(1, std::nextafter(1.0f, 0.0f)), 1U);
    EXPECT_EQ(ulps(1, 2), 1U << 23);
    EXPECT_EQ(ulps(0, kMin), 1U);
    EXPECT_EQ(ulps(-kMin, kMin), 2U);
    EXPECT_EQ(ulps(std::numeric_limits<float>::min(), std::nextafter(std::numeric_limits<float>::min(), 0.0f)), 1U);
    EXPECT_EQ(ulps(kMax, kInfinity), 1U);
    EXPECT_EQ(ulps(-kInfinity, kInfinity), 2 * 0x7f800000U);
    EXPECT_EQ(ulps(-1, 1), 2 * 0x3f800000U);
}

TEST(MetricsTest, ZerosOfBothSignsAreEqualAndAllNansAreEqual) {
    EXPECT_EQ(ulps(0.0f, -0.0f), 0U);
    EXPECT_EQ(ulps(kNan, -kNan), 0U);
    EXPECT_EQ(ulps(kNan, std::bit_cast<float>(0x7f800001U)), 0U);
    EXPECT_EQ(ulps(kInfinity, kInfinity), 0U);
    EXPECT_EQ(ulps(kNan, 0), kFarthest);
    EXPECT_EQ(ulps(kInfinity, kNan), kFarthest);
    const std::vector<std::uint8_t> lowest{0x80}, next{0x81};
    EXPECT_EQ(compared(lowest, next, Format::r8_snorm, {1, 1}).all.differing, 0U);
    EXPECT_EQ(compared(lowest, next, Format::r8_sint, {1, 1}).all.max_ulp, 1U);
}

TEST(MetricsTest, NansAndInfinitiesAreCountedAndDifferMaximallyFromOtherValues) {
    const std::vector<float> a{kNan, kInfinity, -kInfinity, 0, 1, 2}, b{kNan, kInfinity, kInfinity, kNan, 1, 2};
    const Comparison result = compared(a, b, Format::r32_float, {3, 2}, {.flip = true});
    EXPECT_THAT(result.all.nans, ElementsAre(1U, 2U));
    EXPECT_THAT(result.all.infinities, ElementsAre(2U, 2U));
    EXPECT_EQ(result.all.differing, 2U);
    EXPECT_EQ(result.all.max, kForever);
    EXPECT_EQ(result.all.mse, kForever);
    EXPECT_EQ(result.all.psnr, -kForever);
    EXPECT_TRUE(std::isfinite(*result.all.ssim));
    EXPECT_EQ(result.ulp_histogram[0], 4U);
    EXPECT_EQ(result.ulp_histogram[32], 2U);
    EXPECT_EQ(result.flip->errors[2], 1);
    EXPECT_EQ(result.flip->errors[3], 1);
    ASSERT_EQ(result.worst.size(), 2U);
    EXPECT_EQ(result.worst[0].at, (Offset{0, 1, 0}));
    EXPECT_TRUE(std::isnan(result.worst[0].b[0]));
    // NaN at the same texel of both images does not affect the result.
    const Comparison same = compared<float>({kNan, 1}, {kNan, 1}, Format::r32_float, {2, 1});
    EXPECT_EQ(same.all.psnr, kForever);
    EXPECT_THAT(same.all.nans, ElementsAre(1U, 1U));
}

// All codes of a channel, ordered by their decoded value.
TEST(MetricsTest, AdjacentValuesOfAFormatAreOneUlpApart) {
    for (const FormatInfo& row : formats()) {
        if (row.layout != FormatLayout::plain || row.channels != 1 || row.bits > 16 || !test::can_decode(row.format))
            continue;
        SCOPED_TRACE(row.name);
        struct Code {
            std::uint16_t bits;
            double value;
        };
        const auto value = [&](std::uint32_t code) -> double {
            if (row.kind == FormatKind::floating && (code & 0x7fffU) >= 0x7c00U)
                return (code & 0x3ffU) != 0 ? double{kNan} : (code >> 15 != 0 ? -kForever : kForever);
            const std::uint32_t channel = test::decode(row.format, std::as_bytes(std::span(&code, 1)))[0];
            if (row.kind == FormatKind::uint) return channel;
            if (row.kind == FormatKind::sint) return static_cast<std::int32_t>(channel);
            return std::bit_cast<float>(channel);
        };
        std::vector<Code> codes;
        for (std::uint32_t code = 0; code < (1U << row.bits); ++code) {
            if (!std::isnan(value(code))) codes.push_back({static_cast<std::uint16_t>(code), value(code)});
        }
        std::stable_sort(codes.begin(), codes.end(), [](const Code& a, const Code& b) { return a.value < b.value; });
        const std::size_t bytes = row.bytes;
        Bytes lower, upper;
        for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
            const auto one = std::as_bytes(std::span(&codes[i].bits, 1));
            const auto next = std::as_bytes(std::span(&codes[i + 1].bits, 1));
            lower.insert(lower.end(), one.begin(), one.begin() + static_cast<std::ptrdiff_t>(bytes));
            upper.insert(upper.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(bytes));
        }
        const Extent extent{codes.size() - 1};
        const std::vector<std::uint32_t> distances =
            ulp_distances(view(lower, row.format, extent), view(upper, row.format, extent));
        for (std::size_t i = 0; i < distances.size(); ++i)
            ASSERT_EQ(distances[i], codes[i].value == codes[i + 1].value ? 0U : 1U) << codes[i].value;
    }
}

TEST(MetricsTest, ChannelsAreDecodedByTheirFormat) {
    constexpr Extent kExtent{61, 5};
    for (const Format format : comparable_formats()) {
        if (!test::can_decode(format)) continue;
        SCOPED_TRACE(name(format));
        const FormatInfo& row = info(format);
        Bytes texels = test::pattern(packed_bytes(format, kExtent), 5);
        if (row.kind == FormatKind::floating && row.bits == 16) {
            for (std::size_t i = 1; i < texels.size(); i += 2)
                texels[i] &= std::byte{0xbf};  // decode() supports finite values only
        }
        const std::vector<float> values = read_channels(view(texels, format, kExtent));
        ASSERT_EQ(values.size(), 4 * kExtent.width * kExtent.height);
        for (std::size_t i = 0; i < values.size() / 4; ++i) {
            const auto expected = test::decode(format, std::span(texels).subspan(i * row.bytes, row.bytes));
            for (std::size_t c = 0; c < 4; ++c) {
                float value = std::bit_cast<float>(expected[c]);
                if (row.kind == FormatKind::uint) value = static_cast<float>(expected[c]);
                if (row.kind == FormatKind::sint) value = static_cast<float>(static_cast<std::int32_t>(expected[c]));
                if (c >= row.channels) value = c == 3 ? 1 : 0;
                ASSERT_TRUE(values[4 * i + c] == value || (std::isnan(values[4 * i + c]) && std::isnan(value)))
                    << values[4 * i + c] << " " << value;
            }
        }
    }
    const std::vector<std::uint8_t> srgb{51, 102};
    EXPECT_THAT(read_channels(view(srgb, Format::rg8_srgb, {1, 1})), ElementsAre(0.2f, 0.4f, 0, 1));
    const std::vector<std::uint16_t> half{0xfc00, 0x7e00};
    EXPECT_THAT(read_channels(view(half, Format::rg16_float, {1, 1})), ElementsAre(-kInfinity, testing::IsNan(), 0, 1));
}

TEST(MetricsTest, AChangedTexelIsFoundAtItsCoordinateInEveryFormat) {
    constexpr Extent kExtent{9, 6, 4};
    constexpr Offset kAt{7, 2, 3};
    constexpr std::size_t kIndex = (kAt.z * kExtent.height + kAt.y) * kExtent.width + kAt.x;
    for (const Format format : comparable_formats()) {
        SCOPED_TRACE(name(format));
        const Bytes a(packed_bytes(format, kExtent), std::byte{0x21});
        Bytes b = a;
        b[kIndex * info(format).bytes] ^= std::byte{1};
        const Comparison result = compared(a, b, format, kExtent, {.flip = true});
        EXPECT_EQ(result.all.differing, 1U);
        EXPECT_EQ(result.all.max_ulp, 1U);
        EXPECT_EQ(result.channels[0].differing, 1U);
        EXPECT_EQ(result.ulp_histogram[1], 1U);
        ASSERT_EQ(result.worst.size(), 1U);
        EXPECT_EQ(result.worst[0].at, kAt);
        EXPECT_LT(*result.all.ssim, 1 + 1e-12);
        const std::vector<std::uint32_t> distances = ulp_distances(view(a, format, kExtent), view(b, format, kExtent));
        for (std::size_t i = 0; i < distances.size(); ++i) ASSERT_EQ(distances[i], i == kIndex ? 1U : 0U);
        // Other slices of a volume are compared as separate images.
        const std::vector<float>& errors = result.flip->errors;
        EXPECT_TRUE(std::all_of(errors.begin(), errors.begin() + 3 * 9 * 6, [](float error) { return error == 0; }));
    }
}

TEST(MetricsTest, AllMetricsExceptFlipAreSymmetric) {
    constexpr Extent kExtent{37, 29};
    for (const Format format : {Format::rgba8_unorm, Format::rg16_sint, Format::r16_float, Format::rgba32_float}) {
        SCOPED_TRACE(name(format));
        const Bytes a = test::pattern(packed_bytes(format, kExtent), 1);
        const Bytes b = test::pattern(packed_bytes(format, kExtent), 2);
        const Comparison one = compared(a, b, format, kExtent), other = compared(b, a, format, kExtent);
        EXPECT_EQ(one.all.differing, other.all.differing);
        EXPECT_EQ(one.all.max_ulp, other.all.max_ulp);
        EXPECT_EQ(one.all.max, other.all.max);
        EXPECT_EQ(one.all.mse, other.all.mse);
        EXPECT_EQ(one.all.ssim, other.all.ssim);
        EXPECT_EQ(one.ulp_histogram, other.ulp_histogram);
        EXPECT_EQ(one.all.nans[0], other.all.nans[1]);
    }
}

TEST(MetricsTest, ResultsDoNotDependOnTheNumberOfThreads) {
    const tbb::global_control more(tbb::global_control::max_allowed_parallelism, 5);
    constexpr Extent kExtent{531, 277, 2};
    for (const Format format : {Format::rgba8_unorm, Format::rgba16_float}) {
        Bytes a = test::pattern(packed_bytes(format, kExtent), 1);
        for (std::byte& each : a) each &= std::byte{0x3f};  // no NaN
        Bytes b = a;
        for (std::size_t i = 0; i < b.size(); i += 3) b[i] ^= std::byte{2};
        const auto with = [&](int threads) {
            tbb::task_arena arena(threads);
            return arena.execute([&] { return compared(a, b, format, kExtent, {.flip = true}); });
        };
        const Comparison one = with(1);
        EXPECT_EQ(one, with(2));
        EXPECT_EQ(one, with(5));
    }
}

TEST(MetricsTest, PaddedViewsAndRegionsCompareLikePackedViews) {
    constexpr Extent kExtent{21, 17};
    const std::vector<std::uint8_t> a(4 * 64 * 20, 7);
    std::vector<std::uint8_t> b = a;
    b[4 * (64 * 5 + 9)] = 9;   // inside the region
    b[4 * (64 * 5 + 40)] = 9;  // to the right of the region
    const auto part = [&](const std::vector<std::uint8_t>& texels) {
        return view(texels, Format::rgba8_unorm, {64, 20}).region({{3, 2}, kExtent});
    };
    const Comparison result = compare(part(a), part(b));
    EXPECT_EQ(result.all.differing, 1U);
    EXPECT_EQ(result.worst.at(0).at, (Offset{6, 3, 0}));
}

TEST(MetricsTest, TheRequestedNumberOfWorstTexelsIsReturnedSorted) {
    constexpr Extent kExtent{100, 70};
    std::vector<float> a(7000, 1.0f), b = a;
    for (const std::size_t i : {5U, 4000U, 6999U}) b[i] = 1 + static_cast<float>(i) / 8192;
    b[300] = b[5];  // the same error at a later texel
    const Comparison three = compared(a, b, Format::r32_float, kExtent, {.worst = 3});
    ASSERT_EQ(three.worst.size(), 3U);
    EXPECT_EQ(three.worst[0].at, (Offset{99, 69, 0}));
    EXPECT_EQ(three.worst[1].at, (Offset{0, 40, 0}));
    EXPECT_EQ(three.worst[2].at, (Offset{5, 0, 0}));
    EXPECT_EQ(compared(a, b, Format::r32_float, kExtent).worst.size(), 4U);
    EXPECT_TRUE(compared(a, b, Format::r32_float, kExtent, {.worst = 0}).worst.empty());
}

TEST(MetricsTest, OnlyRequestedChannelsAreCompared) {
    const std::vector<std::uint8_t> a{1, 2, 3, 4}, b{1, 2, 3, 99};
    const Comparison rgb = compared(a, b, Format::rgba8_uint, {1, 1}, {.channels = 3});
    EXPECT_EQ(rgb.channels.size(), 3U);
    EXPECT_EQ(rgb.all.differing, 0U);
    EXPECT_EQ(rgb.all.psnr, kForever);
    EXPECT_EQ(compared(a, b, Format::rgba8_uint, {1, 1}).all.differing, 1U);
}

// Compares images of random codes with sums that are added code by code.
template <class T>
void expect_sums_of_codes(Format format, Extent extent, std::size_t compared_channels) {
    const std::size_t channels = info(format).channels, texels = extent.width * extent.height;
    std::vector<T> a(texels * channels), b;
    std::uint32_t state = 1;
    const auto random = [&state] { return state = state * 1664525U + 1013904223U; };
    for (T& code : a) code = static_cast<T>(random() >> 16);
    b = a;
    for (T& code : b)
        if (random() >> 30 == 0) code = static_cast<T>(random() >> 12);
    const std::size_t count = std::min(channels, compared_channels);
    const Comparison found = compared(a, b, format, extent, {.ssim = false, .worst = 3, .channels = compared_channels});
    const double largest_code = std::numeric_limits<T>::max();
    std::array<std::size_t, 33> histogram{};
    std::size_t differing = 0;
    std::uint32_t worst = 0;
    Offset worst_at;
    for (std::size_t i = 0; i < texels; ++i) {
        std::uint32_t largest = 0;
        for (std::size_t c = 0; c < count; ++c) {
            const auto apart = static_cast<std::uint32_t>(std::abs(a[i * channels + c] - b[i * channels + c]));
            ++histogram[static_cast<std::size_t>(std::bit_width(apart))];
            largest = std::max(largest, apart);
        }
        differing += largest != 0 ? 1 : 0;
        if (largest > worst) worst_at = {i % extent.width, i / extent.width, 0};
        worst = std::max(worst, largest);
    }
    EXPECT_EQ(found.ulp_histogram, histogram);
    EXPECT_EQ(found.all.differing, differing);
    ASSERT_EQ(found.worst.size(), std::min<std::size_t>(differing, 3));
    if (differing > 0) {
        EXPECT_EQ(found.worst[0].ulp, worst);
        EXPECT_EQ(found.worst[0].at, worst_at);
    }
    for (std::size_t c = 0; c < count; ++c) {
        std::size_t unequal = 0;
        std::int64_t largest = 0;
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < texels; ++i) {
            const std::int64_t apart = std::abs(a[i * channels + c] - b[i * channels + c]);
            unequal += apart != 0 ? 1 : 0;
            largest = std::max(largest, apart);
            sum += static_cast<double>(apart);
            squares += static_cast<double>(apart * apart);
        }
        EXPECT_EQ(found.channels[c].differing, unequal);
        EXPECT_EQ(found.channels[c].max_ulp, largest);
        EXPECT_EQ(found.channels[c].max, static_cast<double>(largest) / largest_code);
        EXPECT_EQ(found.channels[c].mean, sum / largest_code / static_cast<double>(texels));
        EXPECT_EQ(found.channels[c].mse, squares / (largest_code * largest_code) / static_cast<double>(texels));
    }
}

// Returns the position of a float among the floats of its size.
template <class Bits>
std::int64_t rank_of(Bits stored) {
    constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
    const auto magnitude = static_cast<std::int64_t>(stored & (kSign - 1));
    return (stored & kSign) != 0 ? -magnitude : magnitude;
}

/// Sums of doubles in the order that kernels/metrics/difference_sums.h states.
class OrderedSum {
public:
    void add(std::size_t texel, double value) { segments_[texel / 1024][texel % 32] += value; }
    double value() const {
        double sum = 0;
        for (const auto& [segment, sums] : segments_) {
            std::array<double, 32> lanes = sums;
            for (std::size_t n = 16; n != 0; n /= 2) {
                for (std::size_t i = 0; i < n; ++i) lanes[i] += lanes[i + n];
            }
            sum += lanes[0];
        }
        return sum;
    }

private:
    std::map<std::size_t, std::array<double, 32>> segments_;
};

// Compares images of random floats, all of them finite, with differences that are added texel by texel.
template <class Bits>
void expect_sums_of_floats(Format format, Extent extent, std::size_t compared_channels,
                           std::uint32_t differing_in_256) {
    const std::size_t channels = info(format).channels, texels = extent.width * extent.height;
    constexpr auto kExponentBit =
        static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 3));  // without it, no float is infinite
    test::Random random(9);
    const auto any = [&] { return static_cast<Bits>(random.bits() & ~std::uint64_t{kExponentBit}); };
    std::vector<Bits> a(texels * channels), b;
    for (Bits& each : a) each = any();
    b = a;
    for (Bits& each : b) {
        if (random.below(256) >= differing_in_256) continue;
        each = random.below(2) == 0 ? any() : static_cast<Bits>(each ^ random.below(8));
    }
    const std::vector<float> values_a = read_channels(view(a, format, extent)),
                             values_b = read_channels(view(b, format, extent));
    const std::size_t count = std::min(channels, compared_channels);
    std::array<std::size_t, 33> histogram{};
    std::array<std::size_t, 4> differing{};
    std::array<std::uint32_t, 4> largest{};
    std::array<double, 4> max{};
    std::array<OrderedSum, 4> sums, squares;
    std::vector<WorstTexel> worst;
    std::size_t differing_texels = 0;
    for (std::size_t i = 0; i < texels; ++i) {
        WorstTexel texel{.at = {i % extent.width, i / extent.width, 0}};
        for (std::size_t c = 0; c < count; ++c) {
            const std::size_t at = i * channels + c;
            const auto ulp = static_cast<std::uint32_t>(std::abs(rank_of(a[at]) - rank_of(b[at])));
            const double apart = std::abs(double{values_a[4 * i + c]} - double{values_b[4 * i + c]});
            ++histogram[static_cast<std::size_t>(std::bit_width(ulp))];
            differing[c] += ulp != 0 ? 1 : 0;
            largest[c] = std::max(largest[c], ulp);
            max[c] = std::max(max[c], apart);
            sums[c].add(i, apart);
            squares[c].add(i, apart * apart);
            texel.ulp = std::max(texel.ulp, ulp);
            texel.difference = std::max(texel.difference, apart);
        }
        if (texel.ulp == 0) continue;
        ++differing_texels;
        worst.push_back(texel);
    }
    std::ranges::stable_sort(worst, [](const WorstTexel& one, const WorstTexel& other) {
        return std::pair(one.ulp, one.difference) > std::pair(other.ulp, other.difference);
    });
    worst.resize(std::min<std::size_t>(worst.size(), 5));

    const Comparison found = compared(a, b, format, extent, {.ssim = false, .worst = 5, .channels = compared_channels});
    EXPECT_EQ(found.ulp_histogram, histogram);
    EXPECT_EQ(found.all.differing, differing_texels);
    ASSERT_EQ(found.worst.size(), worst.size());
    for (std::size_t i = 0; i < worst.size(); ++i) {
        EXPECT_EQ(found.worst[i].at, worst[i].at);
        EXPECT_EQ(found.worst[i].ulp, worst[i].ulp);
        EXPECT_EQ(found.worst[i].difference, worst[i].difference);
    }
    for (std::size_t c = 0; c < count; ++c) {
        EXPECT_EQ(found.channels[c].differing, differing[c]);
        EXPECT_EQ(found.channels[c].max_ulp, largest[c]);
        EXPECT_EQ(found.channels[c].max, max[c]);
        EXPECT_EQ(found.channels[c].mean, sums[c].value() / static_cast<double>(texels));
        EXPECT_EQ(found.channels[c].mse, squares[c].value() / static_cast<double>(texels));
    }
}

TEST(MetricsTest, SumsOfFloatsHaveOneOrderAtEverySizeAndNumberOfChannels) {
    for (const Extent extent : {Extent{1500, 3}, Extent{1024, 2}, Extent{33, 40}, Extent{1, 1}, Extent{2049, 1}}) {
        for (const std::size_t channels : {1U, 3U, 4U}) {
            for (const std::uint32_t differing : {256U, 30U, 1U}) {
                SCOPED_TRACE(testing::Message() << extent.width << " x " << extent.height << ", " << channels
                                                << " channels, " << differing << " of 256 differ");
                expect_sums_of_floats<std::uint16_t>(Format::r16_float, extent, channels, differing);
                expect_sums_of_floats<std::uint16_t>(Format::rg16_float, extent, channels, differing);
                expect_sums_of_floats<std::uint16_t>(Format::rgba16_float, extent, channels, differing);
                expect_sums_of_floats<std::uint32_t>(Format::r32_float, extent, channels, differing);
                expect_sums_of_floats<std::uint32_t>(Format::rg32_float, extent, channels, differing);
                expect_sums_of_floats<std::uint32_t>(Format::rgba32_float, extent, channels, differing);
            }
        }
    }
}

TEST(MetricsTest, SumsOfCodesAreExactAtEverySizeAndNumberOfChannels) {
    for (const Extent extent : {Extent{1500, 3}, Extent{1024, 2}, Extent{5, 7}, Extent{1, 1}, Extent{2049, 1}}) {
        for (const std::size_t channels : {1U, 3U, 4U}) {
            expect_sums_of_codes<std::uint8_t>(Format::r8_unorm, extent, channels);
            expect_sums_of_codes<std::uint8_t>(Format::rg8_unorm, extent, channels);
            expect_sums_of_codes<std::uint8_t>(Format::rgba8_srgb, extent, channels);
            expect_sums_of_codes<std::uint16_t>(Format::r16_unorm, extent, channels);
            expect_sums_of_codes<std::uint16_t>(Format::rg16_unorm, extent, channels);
            expect_sums_of_codes<std::uint16_t>(Format::rgba16_unorm, extent, channels);
        }
    }
}

TEST(MetricsTest, ProgressRisesToOne) {
    const Bytes a(4 * 300 * 300), b(4 * 300 * 300, std::byte{1});
    std::vector<double> seen;
    const ComparisonOptions options{.flip = true, .progress = [&](double done) { seen.push_back(done); }};
    (void)compared(a, b, Format::rgba8_unorm, {300, 300}, options);
    ASSERT_GT(seen.size(), 3U);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_GT(seen.front(), 0);
    EXPECT_NEAR(seen.back(), 1, 1e-9);
}

TEST(MetricsTest, IncomparableImagesAreRefusedAndNamed) {
    const Bytes texels(4096);
    const auto at = [&](Format format, Extent extent) {
        return host_view(static_cast<const void*>(texels.data()), format, extent);
    };
    const ConstView good = at(Format::rgba8_unorm, {4, 4});
    const auto refused = [&](const ConstView& b, std::initializer_list<std::string_view> fragments) {
        expect_error([&] { (void)compare(good, b); }, ErrorCode::bad_argument, "texton::compare", fragments);
    };
    refused(at(Format::rgba8_srgb, {4, 4}), {"4 x 4 texels of rgba8_unorm", "rgba8_srgb", "read_channels"});
    refused(at(Format::rgba8_unorm, {4, 5}), {"4 x 4 texels", "4 x 5 texels"});
    refused(at(Format::bc1_unorm, {4, 4}), {"bc1_unorm"});
    refused(ConstView(), {});
    const Linear memory(Device::cpu(), 64);
    refused(memory.view(Format::rgba8_unorm, {4, 4}), {"linear", "copy()"});
    const auto with = [&](ComparisonOptions options, std::string_view fragment) {
        expect_error([&] { (void)compare(good, good, options); }, ErrorCode::bad_argument, "texton::compare",
                     {fragment});
    };
    with({.channels = 0}, "channel");
    with({.peak = 0.0}, "peak");
    with({.peak = kForever}, "peak");
    with({.pixels_per_degree = 0}, "pixels per degree");
    expect_error(
        [&] {
            (void)read_channels(at(Format::bc7_unorm, {4, 4}));
        },
        ErrorCode::bad_argument, "texton::read_channels", {"bc7_unorm"});
    expect_error(
        [&] {
            (void)ulp_distances(good, at(Format::r8_unorm, {4, 4}));
        },
        ErrorCode::bad_argument, "texton::ulp_distances", {"r8_unorm"});
}

TEST(MetricsTest, DifferenceMapsAreBrighterForLargerDifferences) {
    const auto lightness = [](const std::vector<std::byte>& texels, std::size_t i) {
        const auto channel = [&](std::size_t c) { return std::to_integer<int>(texels[4 * i + c]); };
        EXPECT_EQ(channel(3), 255);
        return 0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2);
    };
    const std::vector<std::uint32_t> distances{0, 1, 2, 16, 300, 65536, kFarthest};
    const std::vector<std::byte> ulp = ulp_map(distances);
    ASSERT_EQ(ulp.size(), 4 * distances.size());
    EXPECT_EQ(lightness(ulp, 0), 0);
    EXPECT_GT(lightness(ulp, 1), 20);
    for (std::size_t i = 1; i < 6; ++i) EXPECT_GT(lightness(ulp, i), lightness(ulp, i - 1)) << i;
    EXPECT_EQ(lightness(ulp, 6), lightness(ulp, 5));
    std::vector<float> errors;
    for (int i = 0; i <= 100; ++i) errors.push_back(static_cast<float>(i) / 100);
    const std::vector<std::byte> heat = heat_map(errors);
    for (std::size_t i = 1; i <= 100; ++i) EXPECT_GT(lightness(heat, i), lightness(heat, i - 1)) << i;
    const std::vector<float> odd{-1, 2, kNan};
    const std::vector<std::byte> clamped = heat_map(odd);
    EXPECT_EQ(lightness(clamped, 0), lightness(heat, 0));
    EXPECT_EQ(lightness(clamped, 1), lightness(heat, 100));
    EXPECT_EQ(lightness(clamped, 2), lightness(heat, 0));
}

}  // namespace
}  // namespace texton
