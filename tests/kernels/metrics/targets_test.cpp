// Metrics on every instruction set of this CPU.
#include <vector>

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#include <hwy/targets.h>

#include <texton/metrics.h>

#include "tests/support/scenes.h"

namespace texton {
namespace {

void use(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Compares two images of random bytes, of which a quarter differ. Omits the worst texels, whose values can be NaN.
Comparison compared(Format format) {
    constexpr Extent kExtent{67, 29};
    test::Random random(7);
    std::vector<std::uint8_t> a(kExtent.width * kExtent.height * info(format).bytes);
    for (std::uint8_t& byte : a) byte = static_cast<std::uint8_t>(random.below(256));
    std::vector<std::uint8_t> b = a;
    for (std::uint8_t& byte : b)
        if (random.below(4) == 0) byte = static_cast<std::uint8_t>(random.below(256));
    const auto view = [&](const std::vector<std::uint8_t>& bytes) {
        return host_view(static_cast<const void*>(bytes.data()), format, kExtent);
    };
    return compare(view(a), view(b), {.ssim = true, .flip = true, .worst = 0});
}

TEST(MetricsTargetsTest, ResultsAreEqualOnEveryInstructionSet) {
    for (const Format format : {Format::r8_unorm, Format::rg8_snorm, Format::rgba8_unorm, Format::rgba16_unorm,
                                Format::rgb10a2_unorm, Format::rg16_float, Format::r32_uint}) {
        const Comparison expected = compared(format);
        EXPECT_GT(expected.all.differing, 100U);
        for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
            use(target);
            EXPECT_EQ(compared(format), expected) << name(format) << " on " << hwy::TargetName(target);
        }
        use(0);
    }
}

}  // namespace
}  // namespace texton
