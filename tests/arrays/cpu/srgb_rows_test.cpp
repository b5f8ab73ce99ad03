// Compares vectorized conversions of sRGB texels with the model, for each instruction set that this CPU supports.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include "arrays/cpu/pixel_rows.h"

#include "arrays/cpu/srgb_rows.h"
#include "arrays/cpu/texel_decoder.h"

namespace texton::detail {
namespace {

constexpr std::uint8_t kChannels[] = {1, 2, 4};

TexelFormat srgb(std::uint8_t channels) { return {Encoding::srgb, Packing::plain, channels, 8, channels}; }

class SrgbRowsTest : public testing::TestWithParam<std::int64_t> {
protected:
    void SetUp() override {
        choose(GetParam());
        if (row_decoder(srgb(4)) == nullptr) GTEST_SKIP() << "texels are decoded one by one";
    }
    void TearDown() override { choose(0); }

    static void choose(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};

INSTANTIATE_TEST_SUITE_P(Targets, SrgbRowsTest, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

TEST_P(SrgbRowsTest, EveryCodeIsDecodedAsByTheModel) {
    for (const std::uint8_t channels : kChannels) {
        std::vector<unsigned char> stored;
        for (int code = 0; code < 256; ++code)
            for (int c = 0; c < channels; ++c) stored.push_back(static_cast<unsigned char>(code + 51 * c));
        std::vector<float> texels(256 * 4, -1.0F);
        row_decoder(srgb(channels))(stored.data(), 256, texels.data());
        for (std::size_t i = 0; i < 256; ++i) {
            const Texel expected = texel_decoder(srgb(channels))(&stored[i * channels]);
            for (std::size_t c = 0; c < 4; ++c)
                ASSERT_EQ(bits_of(texels[i * 4 + c]), expected.channel[c]) << int{channels} << ' ' << i << ' ' << c;
        }
    }
}

TEST_P(SrgbRowsTest, SeparateChannelsAreConvertedAsPixels) {
    for (const std::uint8_t channels : kChannels) {
        std::vector<unsigned char> stored;
        for (int code = 0; code < 256; ++code)
            for (int c = 0; c < channels; ++c) stored.push_back(static_cast<unsigned char>(code + 51 * c));
        std::vector<float> texels(256 * 4);
        std::vector<float> planes(300 * 4);
        row_decoder(srgb(channels))(stored.data(), 256, texels.data());
        plane_decoder(srgb(channels))(stored.data(), 256, planes.data(), 300);
        for (std::size_t i = 0; i < 256; ++i) {
            for (std::size_t c = 0; c < channels; ++c) ASSERT_EQ(planes[c * 300 + i], texels[i * 4 + c]);
        }
        std::vector<unsigned char> encoded(stored.size());
        plane_encoder(srgb(channels))(planes.data(), 300, 256, encoded.data());
        EXPECT_EQ(encoded, stored) << int{channels};
    }
}

TEST_P(SrgbRowsTest, EveryFloatOfTheRangeIsEncodedAsByTheModel) {
    constexpr std::size_t kPixels = 4096;
    std::vector<float> pixels(kPixels * 4, 0.25F);
    std::vector<unsigned char> stored(kPixels);
    // From below the first code's step to above 1. Every seventh float, since a step is found by its neighbors.
    std::uint32_t code = 0;
    for (std::uint32_t bits = bits_of(0x1p-14F); bits < bits_of(1.01F);) {
        for (std::size_t i = 0; i < kPixels; ++i, bits += 7) pixels[4 * i] = float_of(bits);
        row_encoder(srgb(1))(pixels.data(), kPixels, stored.data());
        for (std::size_t i = 0; i < kPixels; ++i) {
            const float value = pixels[4 * i];
            if (stored[i] == code) continue;
            // The code changed after the previous float: only at its step.
            ASSERT_EQ(stored[i], code + 1) << value;
            ASSERT_EQ(srgb_code_of(value), code + 1) << value;
            ASSERT_EQ(srgb_code_of(float_of(bits_of(value) - 7)), code) << value;
            ++code;
        }
    }
    EXPECT_EQ(code, 255U);
}

TEST_P(SrgbRowsTest, EveryStepIsExact) {
    std::uint32_t bits = bits_of(0x1p-14F);
    for (std::uint32_t code = 1; code < 256; ++code) {
        std::uint32_t above = bits_of(1.0F);
        while (above - bits > 1) {  // the first float with this code
            const std::uint32_t middle = bits + (above - bits) / 2;
            (srgb_code_of(float_of(middle)) < code ? bits : above) = middle;
        }
        const float pixels[8] = {float_of(bits), 0, 0, 0, float_of(above), 0, 0, 0};
        unsigned char stored[2];
        row_encoder(srgb(1))(pixels, 2, stored);
        EXPECT_EQ(stored[0], code - 1);
        EXPECT_EQ(stored[1], code);
    }
}

TEST_P(SrgbRowsTest, ValuesBeyondTheRangeAndAlphaAreEncodedAsByTheModel) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float values[] = {-kInfinity, -1, -0.0F, 0, 1e-40F, 0x1p-13F, 0.5F, 1, 2, kInfinity, std::nanf("")};
    for (const std::uint8_t channels : kChannels) {
        for (const float value : values) {
            const float pixel[4] = {value, value, value, value};
            unsigned char stored[4];
            row_encoder(srgb(channels))(pixel, 1, stored);
            const std::uint32_t bits = bits_of(value);
            const Pixel expected = encode_pixel({{bits, bits, bits, bits}}, {srgb(channels), false});
            for (int c = 0; c < channels; ++c)
                EXPECT_EQ(stored[c], expected.word[0] >> 8 * c & 0xff) << value << ' ' << int{channels} << ' ' << c;
        }
    }
}

TEST(SrgbRowTablesTest, EveryUnitHasTheCodeOnItsLineOrTheNextOne) {
    const SrgbRowTables& tables = srgb_row_tables();
    for (std::int32_t unit = 0; unit <= SrgbRowTables::kUnits; ++unit) {
        const std::int32_t line = unit >> 8, on_line = unit & 0xff;
        std::uint32_t code = (tables.first_codes[line] + (on_line * tables.more_codes[line] >> 8)) >> 8;
        if (unit >= tables.next_units[code]) ++code;
        const auto bits = static_cast<std::uint32_t>(SrgbRowTables::kFirstBits + (unit << SrgbRowTables::kUnitBits));
        ASSERT_EQ(code, srgb_code_of(float_of(bits))) << unit;
    }
}

TEST(SrgbRowTablesTest, EveryUnitHasTheCodeOnItsParabola) {
    const SrgbRowTables& tables = srgb_row_tables();
    for (std::uint32_t unit = 0; unit <= SrgbRowTables::kUnits; ++unit) {
        const std::uint32_t parabola = unit >> 8, along = unit << 8 & 0xffff;
        const std::uint32_t slope = tables.parabola_slopes[parabola] - (along * tables.parabola_curves[parabola] >> 16);
        const std::uint32_t code = (tables.parabola_codes[parabola] + (along * slope >> 16)) >> 8;
        const auto bits = SrgbRowTables::kFirstBits + (unit << SrgbRowTables::kUnitBits);
        ASSERT_EQ(code, srgb_code_of(float_of(bits))) << unit;
    }
}

TEST(SrgbRowTablesTest, ColorsHaveNoBitsInTheLowerHalf) {
    for (std::uint32_t code = 0; code < 256; ++code)
        EXPECT_EQ(srgb_row_tables().colors[code], std::uint32_t{srgb_row_tables().upper_halves[code]} << 16);
}

}  // namespace
}  // namespace texton::detail
