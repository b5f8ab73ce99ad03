// Compares the float functions of the kernels with exact values on the host. The tests of the kernels show that the
// device returns the same bits.
#include <texton/float_math.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

namespace texton {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

/// Returns the difference in units in the last place of the exact value.
double units_between(float value, double truth) {
    const double unit = std::ldexp(1.0, std::max(std::ilogb(truth), -126) - 23);
    return std::abs(static_cast<double>(value) - truth) / unit;
}

TEST(FloatMathTest, Exp2IsWithinFourUlps) {
    for (float x = -125.9F; x < 127.9F; x += 0.0137F)
        EXPECT_LE(units_between(exp2_of(x), std::exp2(double{x})), 4) << x;
    for (int x = -126; x < 128; ++x) EXPECT_EQ(exp2_of(static_cast<float>(x)), std::ldexp(1.0F, x)) << x;
    EXPECT_EQ(exp2_of(128), kInfinity);
    EXPECT_EQ(exp2_of(-200), 0);
    EXPECT_TRUE(std::isnan(exp2_of(kNoNumber)));
}

TEST(FloatMathTest, Log2IsWithinFourUlpsAndHasASmallAbsoluteErrorNearOne) {
    for (float x = 1.2e-38F; x < 3e38F; x *= 1.00731F) {
        const double truth = std::log2(double{x});
        const bool near_one = std::abs(truth) < 0.5;
        const float value = log2_of(x);
        if (near_one)
            EXPECT_LE(std::abs(value - truth), 0x1p-24) << x;
        else
            EXPECT_LE(units_between(value, truth), 4) << x;
    }
    for (int x = -126; x < 128; ++x) EXPECT_EQ(log2_of(std::ldexp(1.0F, x)), static_cast<float>(x));
    EXPECT_EQ(log2_of(0), -kInfinity);
    EXPECT_EQ(log2_of(kInfinity), kInfinity);
    EXPECT_TRUE(std::isnan(log2_of(-1)));
}

TEST(FloatMathTest, PowersOfAnyBaseAreAccurate) {
    for (float base = 0.003F; base < 40; base *= 1.07F) {
        for (const float exponent : {1 / 2.4F, 2.4F, 0.5F, -1.0F, 3.0F}) {
            const double truth = std::pow(double{base}, double{exponent});
            EXPECT_LE(std::abs(pow_of(base, exponent) - truth), 2e-6 * truth) << base << " " << exponent;
        }
    }
    EXPECT_EQ(pow_of(0, 2), 0);
    EXPECT_EQ(pow_of(-1, 2), 0);
    EXPECT_TRUE(std::isnan(pow_of(kNoNumber, 2)));
}

TEST(FloatMathTest, SinesAndCosinesAreAccurateAndExactAtQuarterTurns) {
    for (float x = -9; x < 9; x += 0.00373F) {
        const auto [sine, cosine] = sine_cosine_of(x);
        EXPECT_NEAR(sine, std::sin(std::numbers::pi * double{x}), 2.5e-7) << x;
        EXPECT_NEAR(cosine, std::cos(std::numbers::pi * double{x}), 2.5e-7) << x;
    }
    for (int quarter = -8; quarter <= 8; ++quarter) {
        const auto [sine, cosine] = sine_cosine_of(static_cast<float>(quarter) / 2);
        const int turn = ((quarter % 4) + 4) % 4;
        EXPECT_EQ(sine, turn == 1 ? 1.0F : turn == 3 ? -1.0F : 0.0F);
        EXPECT_EQ(cosine, turn == 0 ? 1.0F : turn == 2 ? -1.0F : 0.0F);
    }
}

TEST(FloatMathTest, AnglesAreAccurate) {
    for (float turn = -1; turn <= 1; turn += 0.00171F) {
        for (const float length : {1e-20F, 0.3F, 1e20F}) {
            const float x = length * static_cast<float>(std::cos(std::numbers::pi * double{turn}));
            const float y = length * static_cast<float>(std::sin(std::numbers::pi * double{turn}));
            EXPECT_NEAR(half_turns_of(y, x), std::atan2(double{y}, double{x}) / std::numbers::pi, 1e-7);
        }
    }
    EXPECT_EQ(half_turns_of(0, 0), 0);
    EXPECT_EQ(half_turns_of(1, 0), 0.5F);
    EXPECT_EQ(half_turns_of(0, -1), 1);
}

}  // namespace
}  // namespace texton
