// Compares sums of lines on vectors with sums in plain loops, for every instruction set of this CPU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/channel_codes.h>

#undef HWY_TARGET_INCLUDE
#include <hwy/targets.h>

#include "kernels/cpu/line_sums.h"
#include "tests/support/scenes.h"

namespace texton::detail {
namespace {

using test::Random;

class LineSumsTest : public testing::TestWithParam<std::int64_t> {
protected:
    void SetUp() override { use(GetParam()); }
    void TearDown() override { use(0); }

    /// Returns false for an instruction set without fused multiply-adds, where there must be no functions.
    static bool has_sums() {
        constexpr std::int64_t kWithout = HWY_SCALAR | HWY_EMU128 | HWY_SSSE3 | HWY_SSE4;
        EXPECT_EQ(line_sums() == nullptr, (GetParam() & kWithout) != 0);
        return line_sums() != nullptr;
    }

    static void use(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};
INSTANTIATE_TEST_SUITE_P(Targets, LineSumsTest, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

/// Random numbers. Some are infinite or NaN.
float any_number(Random& random) {
    if (random.below(40) != 0) return random.unit() - 0.3f;
    return random.coin() ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
}

float any_weight(Random& random) { return random.below(6) == 0 ? 0.0f : random.unit() - 0.4f; }

bool same(float a, float b) { return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b); }

/// Pixels that are `step` texels apart and read `least` to `most` texels each. If these are equal, no weight is 0. Some
/// groups of pixels have the weights of the group before them.
SumAxis random_axis(Random& random, float step, std::size_t pixels, std::size_t least, std::size_t most) {
    SumAxis axis;
    for (std::size_t begin = 0; begin < pixels; begin += kLineBlock) {
        for (std::size_t i = begin; i < begin + kLineBlock; ++i) {
            const auto pixel = static_cast<float>(std::min(i, pixels - 1));
            axis.first.push_back(static_cast<std::int32_t>(std::floor(step * pixel)) - 5);
        }
        axis.count.resize(begin + kLineBlock);
        if (begin > 0 && random.coin()) {
            axis.repeat_group();
            std::copy_n(&axis.count[begin - kLineBlock], kLineBlock, &axis.count[begin]);
            continue;
        }
        float* const weights = axis.add_group(most);
        for (std::size_t i = 0; i < kLineBlock; ++i) {
            const std::size_t taps = random.between(least, most);
            for (std::size_t tap = 0; tap < taps; ++tap)
                weights[tap * kLineBlock + i] = least == most ? random.unit() + 0.1f : any_weight(random);
            axis.count[begin + i] = static_cast<std::int32_t>(taps);
        }
    }
    return axis;
}

void expect_sums_along(Random& random, const SumAxis& axis, std::size_t begin, std::size_t count) {
    const LineSums& lines = *line_sums();
    const std::size_t step = std::size_t{1} << random.below(3);
    const LineValues values = random.coin() ? LineValues::codes : LineValues::any;
    const LineTaps taps = lines.prepare(axis, begin, count, step, values);
    const std::size_t line_count = std::size_t{1} << random.below(3);
    // Blocks load texels for the largest number of taps of their pixels.
    std::size_t loaded = taps.texels;
    for (const LineTaps::Block& block : taps.blocks)
        loaded = std::max(loaded, static_cast<std::size_t>(block.first) + block.loaded);
    const std::size_t apart = whole_line_blocks(loaded * step) + kLineRest;
    LineVector<float> all_texels(line_count * apart);
    for (float& texel : all_texels) texel = values == LineValues::codes ? random.unit() : any_number(random);
    LineVector<float> all_sums(line_count * taps.values);
    lines.along(taps, taps.blocks, line_count, all_texels.data(), apart, all_sums.data(), taps.values);
    for (std::size_t k = 0; k < line_count * count * step; ++k) {
        const std::size_t line = k / (count * step), i = k / step % count, channel = k % step;
        const SumAxis::Taps pixel = axis.taps(begin + i);
        ASSERT_GE(pixel.first, taps.first_texel);
        const auto first = static_cast<std::size_t>(pixel.first - taps.first_texel);
        ASSERT_LE(first + pixel.count, taps.texels);
        const float* texel = &all_texels[line * apart + first * step + channel];
        float sum = 0;
        for (std::size_t tap = 0; tap < pixel.count; ++tap, texel += step) {
            if (pixel[tap] != 0) sum = std::fma(*texel, pixel[tap], sum);
        }
        const float found = all_sums[line * taps.values + i * step + channel];
        ASSERT_TRUE(same(found, sum)) << "pixel " << i << " of " << step << " channels: " << found << " for " << sum;
    }
}

TEST_P(LineSumsTest, SumsAlongALineMatchPlainLoops) {
    if (!has_sums()) return;
    Random random(1);
    for (const float step : {0.0f, 0.3f, 0.7f, 1.0f, 1.5f, 2.0f, 3.4f, 4.0f, 8.0f, 50.0f}) {
        for (const std::size_t most : {1u, 2u, 4u, 8u, 13u, 70u}) {
            for (const bool equal : {false, true}) {
                SCOPED_TRACE(std::to_string(step) + " texels, " + std::to_string(most) + " taps");
                const SumAxis axis = random_axis(random, step, 70, equal ? most : 1, most);
                expect_sums_along(random, axis, 0, 70);
                expect_sums_along(random, axis, 16, 32);
                expect_sums_along(random, axis, 64, 6);
            }
        }
    }
}

TEST_P(LineSumsTest, SumsThatSlideMatchPlainLoops) {
    if (!has_sums()) return;
    Random random(2);
    for (const std::size_t taps : {1u, 3u, 17u}) {
        for (const std::size_t step : {1u, 2u, 4u}) {
            for (const std::size_t count : {16u, 64u, 128u, 208u}) {
                std::vector<float> weights(taps);
                for (float& weight : weights) weight = any_weight(random);
                std::vector<float> values(count + (taps - 1) * step);
                for (float& value : values) value = any_number(random);
                LineVector<float> sums(count);
                line_sums()->slide(weights, step, values.data(), count, sums.data());
                for (std::size_t i = 0; i < count; ++i) {
                    float sum = 0;
                    for (std::size_t tap = 0; tap < taps; ++tap) {
                        if (weights[tap] != 0) sum = std::fma(values[i + tap * step], weights[tap], sum);
                    }
                    ASSERT_TRUE(same(sums[i], sum)) << "value " << i << ": " << sums[i] << " for " << sum;
                }
            }
        }
    }
}

TEST_P(LineSumsTest, SumsOfRowsMatchPlainLoops) {
    if (!has_sums()) return;
    Random random(3);
    constexpr std::size_t kRows = 5;
    for (const std::size_t count : {16u, 64u, 112u}) {
        LineVector<float> rows[kRows];
        const float* addresses[kRows];
        float weights[kRows];
        for (std::size_t i = 0; i < kRows; ++i) {
            rows[i].resize(count);
            for (float& value : rows[i]) value = any_number(random);
            addresses[i] = rows[i].data();
            weights[i] = random.unit() + 0.1f;
        }
        LineVector<float> sums(count), added(count);
        line_sums()->down(addresses, weights, kRows, 0, count, sums.data(), RowSumsAs::sums);
        for (std::size_t i = 0; i < kRows; ++i) line_sums()->add(addresses[i], weights[i], count, added.data());
        const RowPair pair{{weights, 4}, {weights + 1, 3}, 2};  // rows 0 to 3 and 2 to 4
        LineVector<float> upper(count), lower(count);
        line_sums()->down_two(addresses, pair, 0, count, upper.data(), lower.data(), RowSumsAs::sums);
        std::vector<float> pixels(count), upper_pixels(count), lower_pixels(count);
        line_sums()->down(addresses, weights, kRows, 0, count, pixels.data(), RowSumsAs::pixels);
        line_sums()->down_two(addresses, pair, 0, count, upper_pixels.data(), lower_pixels.data(), RowSumsAs::pixels);
        LineVector<float> quotients = sums;
        line_sums()->divide(quotients.data(), count, 3);
        for (std::size_t k = 0; k < count; ++k) {
            float sum = 0, of_upper = 0, of_lower = 0;
            for (std::size_t i = 0; i < kRows; ++i) sum = std::fma(rows[i][k], weights[i], sum);
            for (std::size_t i = 0; i < 4; ++i) of_upper = std::fma(rows[i][k], pair.upper[i], of_upper);
            for (std::size_t i = 0; i < 3; ++i) of_lower = std::fma(rows[2 + i][k], pair.lower[i], of_lower);
            ASSERT_TRUE(same(upper[k], of_upper));
            ASSERT_TRUE(same(lower[k], of_lower));
            ASSERT_TRUE(same(sums[k], sum));
            ASSERT_EQ(bits_of(pixels[k]), plain_bits_of(sum));
            ASSERT_EQ(bits_of(upper_pixels[k]), plain_bits_of(of_upper));
            ASSERT_EQ(bits_of(lower_pixels[k]), plain_bits_of(of_lower));
            ASSERT_TRUE(same(added[k], sum));
            ASSERT_TRUE(same(quotients[k], sum / 3));
        }
    }
}

}  // namespace
}  // namespace texton::detail
