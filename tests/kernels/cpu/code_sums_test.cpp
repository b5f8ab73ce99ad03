// Compares sums of 8-bit codes on vectors with plain loops, for every instruction set of this CPU.
#include "kernels/cpu/code_sums.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/channel_codes.h>
#include <texton/resample.h>

#undef HWY_TARGET_INCLUDE
#include <hwy/targets.h>

#include "tests/support/scenes.h"

namespace texton::detail {
namespace {

using test::Random;

class CodeSumsTest : public testing::TestWithParam<std::int64_t> {
protected:
    void SetUp() override {
        use(GetParam());
        EXPECT_EQ(code_sums() == nullptr, line_sums() == nullptr);
        if (code_sums() == nullptr) GTEST_SKIP() << "there are no fused multiply-adds";
    }
    void TearDown() override { use(0); }

    static void use(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};
INSTANTIATE_TEST_SUITE_P(Targets, CodeSumsTest, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

/// Rows of random codes, each in memory of its own that ends with the last code.
std::vector<std::vector<unsigned char>> random_rows(Random& random, std::size_t rows, std::size_t codes) {
    std::vector<std::vector<unsigned char>> all(rows);
    for (auto& row : all) {
        for (std::size_t i = 0; i < codes; ++i) row.push_back(static_cast<unsigned char>(random.below(256)));
    }
    return all;
}

std::vector<const unsigned char*> addresses(const std::vector<std::vector<unsigned char>>& rows) {
    std::vector<const unsigned char*> all;
    for (const auto& row : rows) all.push_back(row.data());
    return all;
}

/// Weights of which many follow others that are equal.
std::vector<float> random_weights(Random& random, std::size_t count) {
    std::vector<float> weights;
    for (std::size_t i = 0; i < count; ++i)
        weights.push_back(i > 0 && random.below(4) != 0 ? weights.back() : random.unit() - 0.25f);
    return weights;
}

TEST_P(CodeSumsTest, SumsOfRowsMatchPlainLoops) {
    Random random(1);
    for (const std::size_t channels : {1u, 2u, 4u}) {
        for (const std::size_t row_count : {1u, 2u, 3u, 16u, 600u}) {
            for (const std::size_t texels : {1u, 7u, 15u, 16u, 17u, 31u, 32u, 33u, 63u, 64u, 65u, 100u, 300u}) {
                SCOPED_TRACE(std::to_string(row_count) + " rows of " + std::to_string(texels) + " texels of " +
                             std::to_string(channels));
                auto rows = random_rows(random, row_count, texels * channels);
                if (random.coin()) std::ranges::fill(rows.front(), static_cast<unsigned char>(255));
                const std::vector<float> weights = random_weights(random, row_count);
                const std::size_t apart = texels + 3;
                std::vector<float> sums(channels * apart, -1.0f);
                const auto texel = addresses(rows);
                code_sums()->down({texel, weights}, channels, texels, sums.data(), apart);
                for (std::size_t k = 0; k < texels * channels; ++k) {
                    double sum = 0;
                    for (std::size_t i = 0; i < row_count; ++i) sum += double{weights[i]} * rows[i][k];
                    ASSERT_NEAR(sums[k % channels * apart + k / channels], sum,
                                255 * static_cast<double>(row_count * row_count) * 0x1p-24)
                        << "code " << k;
                }
                for (std::size_t c = 0; c < channels; ++c) ASSERT_EQ(sums[c * apart + texels], -1.0f);
            }
        }
    }
}

TEST_P(CodeSumsTest, SumsOfRowsWithTheSameWeightDoNotOverflow) {
    for (const std::size_t channels : {1u, 2u, 4u}) {
        const std::vector<std::vector<unsigned char>> rows(300, std::vector<unsigned char>(64 * channels, 255));
        const auto texel = addresses(rows);
        const std::vector<float> weights(300, 1.0f);
        std::vector<float> sums(64 * channels);
        code_sums()->down({texel, weights}, channels, 64, sums.data(), 64);
        for (const float sum : sums) ASSERT_EQ(sum, 300.0f * 255.0f);
    }
}

TEST_P(CodeSumsTest, ValuesNearTheMiddleBetweenTwoCodesAreDoubtful) {
    constexpr float kMargin = 0x1p-10f;
    Random random(2);
    for (const std::size_t count : {1u, 15u, 16u, 64u, 65u, 513u}) {
        std::vector<float> values(count + kLineBlock, 0.5f / 255);  // those after the last one are not to be found
        std::vector<std::int32_t> expected;
        for (std::size_t i = 0; i < count; ++i) {
            const bool near = random.below(5) == 0;
            const float distance = near ? kMargin * 0.9f * random.unit() : kMargin * 1.1f + random.unit() * 0.4f;
            const float middle = static_cast<float>(random.below(260)) - 2.5f;
            values[i] = (middle + (random.coin() ? distance : -distance)) / 255;
            if (near) expected.push_back(static_cast<std::int32_t>(i));
        }
        std::vector<std::int32_t> found(count + kLineBlock);
        found.resize(code_sums()->find_doubtful(values.data(), count, kMargin, found.data()));
        ASSERT_EQ(found, expected);
    }
}

/// An axis of random taps. Some pixels read texels beyond the edges.
SumAxis random_axis(Random& random, std::size_t pixels, std::size_t most, std::int32_t texels) {
    SumAxis axis;
    for (std::size_t begin = 0; begin < pixels; begin += kLineBlock) {
        float* const weights = axis.add_group(most);
        for (std::size_t i = 0; i < kLineBlock; ++i) {
            const std::size_t taps = random.between(1, most);
            const std::vector<float> of_pixel = random_weights(random, taps);
            for (std::size_t tap = 0; tap < taps; ++tap)
                weights[tap * kLineBlock + i] = random.below(6) == 0 ? 0 : of_pixel[tap] / static_cast<float>(taps);
            axis.first.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(texels))) - 3);
            axis.count.push_back(static_cast<std::int32_t>(taps));
        }
    }
    return axis;
}

/// The sum of a pixel as the definition of separable sums has it.
float defined_sum(const CodesOfPixel& pixel) {
    float sum = 0;
    for (std::size_t j = 0; j < pixel.y.count; ++j) {
        if (pixel.y[j] == 0) continue;
        float row = 0;
        for (std::size_t i = 0; i < pixel.x.count; ++i) {
            const std::int32_t texel = std::clamp(pixel.x.first + static_cast<std::int32_t>(i), 0, pixel.width - 1);
            const std::size_t at = static_cast<std::size_t>(texel) * pixel.step + pixel.channel;
            if (pixel.x[i] != 0) row = std::fma(static_cast<float>(pixel.rows[j][at]) / 255.0f, pixel.x[i], row);
        }
        sum = std::fma(row, pixel.y[j], sum);
    }
    return sum / pixel.divisor;
}

TEST_P(CodeSumsTest, CodesOfPixelsMatchTheDefinition) {
    Random random(3);
    constexpr std::int32_t kWidth = 40;
    for (const std::size_t step : {1u, 2u, 4u}) {
        for (const float divisor : {1.0f, 3.0f}) {
            const SumAxis x = random_axis(random, 64, 9, kWidth), y = random_axis(random, 64, 7, kWidth);
            const auto rows = random_rows(random, 7, kWidth * step);
            for (std::size_t i = 0; i < 64; ++i) {
                const auto texels = addresses(rows);
                const CodesOfPixel pixel{texels.data(), i % step, step, kWidth, x.taps(i), y.taps(63 - i), divisor};
                ASSERT_EQ(code_sums()->code_of(pixel), unorm_code_of(defined_sum(pixel), 255.0f)) << "pixel " << i;
            }
        }
    }
}

/// Compares sums down and then along with the definition.
TEST_P(CodeSumsTest, SumsAreWithinTheirMarginOfTheDefinition) {
    Random random(4);
    constexpr std::int32_t kWidth = 200;
    for (const std::size_t most : {1u, 3u, 9u, 40u}) {
        for (int turn = 0; turn < 8; ++turn) {
            const SumAxis x = random_axis(random, 64, most, kWidth), y = random_axis(random, 1, most, kWidth);
            const auto rows = random_rows(random, most, kWidth);
            const auto texels = addresses(rows);
            const SumAxis::Taps column = y.taps(0);
            std::vector<float> weights;
            float total_x = 0, total_y = 0;
            for (std::size_t j = 0; j < column.count; ++j) {
                weights.push_back(column[j] / 255);
                total_y += std::abs(column[j]);
            }
            std::vector<float> sums(kWidth);
            code_sums()->down({std::span(texels).first(column.count), weights}, 1, kWidth, sums.data(), kWidth);
            float farthest = 0;
            for (std::size_t i = 0; i < 64; ++i) {
                const SumAxis::Taps row = x.taps(i);
                float along = 0, total = 0;
                for (std::size_t tap = 0; tap < row.count; ++tap) {
                    const std::int32_t texel = std::clamp(row.first + static_cast<std::int32_t>(tap), 0, kWidth - 1);
                    along = std::fma(sums[static_cast<std::size_t>(texel)], row[tap], along);
                    total += std::abs(row[tap]);
                }
                total_x = std::max(total_x, total);
                const float defined = defined_sum({texels.data(), 0, 1, kWidth, row, column, 1});
                farthest = std::max(farthest, std::abs(255.0f * along - 255.0f * defined));
            }
            EXPECT_LE(farthest, margin_of_sums(total_x, total_y, 1, most, most));
        }
    }
}

/// Whole images: widths that leave blocks after the last pixel, and parts of a single block.
TEST_P(CodeSumsTest, ReducedImagesAreThoseOfTheBestInstructionSet) {
    constexpr Extent kFrom{403, 132};
    Random random(5);
    const Stream stream(Device::cpu());
    for (const Format format : {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm}) {
        const Array array(Device::cpu(), {.format = format, .extent = kFrom});
        test::upload(array.view(), test::any_bits(random, test::box_bytes(format, kFrom)));
        const Texture texture(array, {.filter = Filter::linear});
        for (const Extent extent : {Extent{7, 5}, Extent{1, 1}, Extent{50, 33}, Extent{101, 33}}) {
            const Extent around{extent.width + 3, extent.height};
            const Linear memory(Device::cpu(), format, around);
            const auto made = [&](std::int64_t target) {
                use(target);
                test::upload(memory.view(format, around), test::Bytes(test::box_bytes(format, around)));
                resample(stream, memory.view(format, around).region({{}, extent}), texture,
                         {.filter = ResampleFilter::area});
                stream.synchronize();
                return test::download(memory.view(format, around));
            };
            EXPECT_TRUE(test::same_bytes(made(GetParam()), made(0))) << name(format) << " " << to_string(extent);
        }
    }
}

}  // namespace
}  // namespace texton::detail
