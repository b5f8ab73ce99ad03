// Metrics on every instruction set of this CPU.
#include <array>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#include <hwy/targets.h>

#include <texton/metrics.h>

#include "kernels/metrics/texels.h"
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
    for (const Format format :
         {Format::r8_unorm, Format::rg8_snorm, Format::rgba8_unorm, Format::rgba16_unorm, Format::rgb10a2_unorm,
          Format::rg16_float, Format::rgba16_float, Format::rgba32_float, Format::r32_uint}) {
        const Comparison expected = compared(format);
        EXPECT_GT(expected.all.differing, 100U);
        for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
            use(target);
            EXPECT_EQ(compared(format), expected) << name(format) << " on " << hwy::TargetName(target);
        }
        use(0);
    }
}

TEST(MetricsTargetsTest, ValuesOfRowsAreThoseOfTheirCodesInEveryFormat) {
    constexpr std::size_t kCount = 67;
    constexpr std::array kScales{1.0, 1 / 255.0, 1e30};
    test::Random random(3);
    for (const FormatInfo& row : formats()) {
        if (row.layout != FormatLayout::plain && row.layout != FormatLayout::packed) continue;
        const test::Bytes texels = test::any_bits(random, kCount * row.bytes);
        const detail::TexelReader reader(host_view(static_cast<const void*>(texels.data()), row.format, {kCount, 1}));
        for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
            use(target);
            for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{16}, std::size_t{21}, kCount}) {
                SCOPED_TRACE(testing::Message() << row.name << " on " << hwy::TargetName(target) << ", " << count);
                for (const double scale : kScales) {
                    std::array<std::array<float, kCount>, 4> values{};
                    std::array<float*, 4> rows;
                    for (std::size_t c = 0; c < 4; ++c) rows[c] = values[c].data();
                    reader.read_finite({}, count, scale, std::span(rows).first(reader.channels()));
                    for (std::size_t c = 0; c < reader.channels(); ++c) {
                        for (std::size_t i = 0; i < kCount; ++i) {
                            const std::uint32_t code = reader.code(texels.data() + i * row.bytes, c);
                            const float expected =
                                i < count ? reader.finite_value(code, c, scale, reader.factor(c, scale)) : 0;
                            ASSERT_EQ(values[c][i], expected) << "channel " << c << " of texel " << i;
                        }
                    }
                }
            }
        }
        use(0);
    }
}

}  // namespace
}  // namespace texton
