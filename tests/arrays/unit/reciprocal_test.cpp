// Compares the approximate reciprocal of the shader core with the results of an H200 for every fraction.
#include "arrays/unit/reciprocal.h"

#include <bit>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace texton {
namespace {

std::uint32_t reciprocal_bits(std::uint32_t bits) {
    return std::bit_cast<std::uint32_t>(detail::approximate_reciprocal(std::bit_cast<float>(bits)));
}

constexpr std::uint32_t kOne = 0x3f800000U;
constexpr std::uint32_t kFractions = 1U << 23;

// FNV-1a hash over the recorded results for the inputs from 1 to 2, in order.
TEST(ReciprocalTest, ReciprocalsOfEveryFractionMatchTheHardware) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (std::uint32_t fraction = 0; fraction < kFractions; ++fraction)
        hash = (hash ^ reciprocal_bits(kOne | fraction)) * 0x100000001b3U;
    EXPECT_EQ(hash, 0xfa72a6c698274964U);
}

TEST(ReciprocalTest, PowersOfTwoScaleTheReciprocalExactly) {
    for (std::uint32_t fraction = 0; fraction < kFractions; fraction += 4099) {
        const std::uint32_t of_one = reciprocal_bits(kOne | fraction);
        for (std::uint32_t exponent = 1; exponent < 253; ++exponent) {
            const std::uint32_t scaled = of_one + (127U << 23) - (exponent << 23);
            ASSERT_EQ(reciprocal_bits(exponent << 23 | fraction), scaled) << exponent << ' ' << fraction;
            ASSERT_EQ(reciprocal_bits(0x80000000U | exponent << 23 | fraction), 0x80000000U | scaled);
        }
    }
}

TEST(ReciprocalTest, DenormalInputsAndResultsAreFlushedToZero) {
    constexpr std::uint32_t kInfinity = 0x7f800000U;
    EXPECT_EQ(reciprocal_bits(0), kInfinity);
    EXPECT_EQ(reciprocal_bits(0x807fffffU), 0x80000000U | kInfinity);
    EXPECT_EQ(reciprocal_bits(0x7e800000U), 0x00800000U) << "2^126: the smallest result that is not denormal";
    EXPECT_EQ(reciprocal_bits(0x7e800001U), 0U);
    EXPECT_EQ(reciprocal_bits(0x7f7fffffU), 0U);
    EXPECT_EQ(reciprocal_bits(0xff7fffffU), 0x80000000U);
}

TEST(ReciprocalTest, TheReciprocalOfInfinityIsZeroAndOfNanIsNan) {
    EXPECT_EQ(reciprocal_bits(0x7f800000U), 0U);
    EXPECT_EQ(reciprocal_bits(0xff800000U), 0x80000000U);
    EXPECT_EQ(reciprocal_bits(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN())), 0x7fffffffU);
}

}  // namespace
}  // namespace texton
