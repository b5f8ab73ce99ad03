// Compares weights of resampling filters that are computed on vectors with their definitions, for every instruction set
// of this CPU.
#include "kernels/cpu/resample_weights.h"

#include <bit>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#include <hwy/targets.h>

namespace texton::detail {
namespace {

class ResampleWeightsTest : public testing::TestWithParam<std::int64_t> {
protected:
    void SetUp() override {
        use(GetParam());
        if (line_sums() == nullptr) GTEST_SKIP() << "the functors run";
    }
    void TearDown() override { use(0); }

    static void use(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};
INSTANTIATE_TEST_SUITE_P(Targets, ResampleWeightsTest, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

template <class Weights>
void expect_weights_of(ResampleFilter filter, const resampling::Axis& axis, std::size_t pixels) {
    const SumAxis sums = resampling_sums(filter, axis, pixels);
    ASSERT_EQ(sums.first.size(), whole_line_blocks(pixels));
    for (std::size_t i = 0; i < pixels; ++i) {
        const Weights expected(axis, static_cast<std::int32_t>(i));
        const SumAxis::Taps taps = sums.taps(i);
        const std::int32_t before = taps.first - expected.first();  // taps that were left out
        const auto count = static_cast<std::int32_t>(taps.count);
        ASSERT_GE(before, 0) << "pixel " << i;
        ASSERT_LE(before + count, expected.count()) << "pixel " << i;
        for (std::int32_t tap = 0; tap < expected.count(); ++tap) {
            const bool exists = tap >= before && tap < before + count;
            const float weight = exists ? taps[static_cast<std::size_t>(tap - before)] : 0;
            ASSERT_EQ(std::bit_cast<std::uint32_t>(weight + 0.0f), std::bit_cast<std::uint32_t>(expected(tap) + 0.0f))
                << "pixel " << i << ", tap " << tap;
        }
    }
}

TEST_P(ResampleWeightsTest, WeightsHaveTheBitsOfTheirDefinitions) {
    for (const ResampleFilter filter :
         {ResampleFilter::catmull_rom, ResampleFilter::b_spline, ResampleFilter::lanczos3, ResampleFilter::area}) {
        for (const float step :
             {1e-4f, 0.1f, 0.5f, 2 / 3.0f, 0.999f, 1.0f, 1.0001f, 10 / 7.0f, 2.0f, 3.0f, 8.0f, 77.7f}) {
            for (const float begin : {0.0f, 0.25f, -0.5f, 7.9f, -300.1f, 123456.7f}) {
                for (const std::size_t pixels : {1u, 15u, 16u, 100u}) {
                    SCOPED_TRACE(std::to_string(static_cast<int>(filter)) + " of step " + std::to_string(step) +
                                 " from " + std::to_string(begin));
                    resampling::with_weights(filter, [&]<class Weights>(std::type_identity<Weights>) {
                        expect_weights_of<Weights>(filter, {step, begin}, pixels);
                    });
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST_P(ResampleWeightsTest, PixelsAtTheSameOffsetsShareTheirWeights) {
    for (const ResampleFilter filter : {ResampleFilter::catmull_rom, ResampleFilter::lanczos3, ResampleFilter::area}) {
        for (const float step : {0.25f, 0.5f, 1.0f, 2.0f, 2.5f, 8.0f}) {
            const SumAxis sums = resampling_sums(filter, {step, 32.0f}, 160);
            EXPECT_EQ(sums.groups.front(), sums.groups.back()) << static_cast<int>(filter) << " of step " << step;
        }
        const SumAxis others = resampling_sums(filter, {0.7f, 32.0f}, 160);
        EXPECT_NE(others.groups.front(), others.groups.back());
    }
}

TEST_P(ResampleWeightsTest, TexelsOutsideTheWindowAreNotRead) {
    for (const float step : {0.3f, 0.7f, 10 / 7.0f, 3.3f}) {
        const SumAxis sums = resampling_sums(ResampleFilter::lanczos3, {step, 5.0f}, 100);
        for (std::size_t i = 0; i < 100; ++i) {
            const SumAxis::Taps taps = sums.taps(i);
            EXPECT_NE(taps[0], 0) << "step " << step << ", pixel " << i;
            EXPECT_NE(taps[taps.count - 1], 0) << "step " << step << ", pixel " << i;
        }
    }
}

// At large coordinates, floats have no fractions, and a pixel covers no part of a texel.
TEST_P(ResampleWeightsTest, PixelsThatCoverNothingReadOneTexel) {
    const resampling::Axis axis{1e-4f, 8388000.5f};
    ASSERT_EQ(resampling::Normalized<resampling::CoveredLength>(axis, 3).count(), 1);
    expect_weights_of<resampling::Normalized<resampling::CoveredLength>>(ResampleFilter::area, axis, 40);
}

}  // namespace
}  // namespace texton::detail
