// The divisions and codes that GPUs compute with fewer instructions than the general functions: the same bits.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/channel_codes.h>
#include <texton/fill.h>
#include <texton/float_math.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/texture.h>

#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

constexpr Extent kMantissas{4096, 2048};

/// Returns the number of a pixel as a float from 1 to 2.
TEXTON_HD float mantissa_of(PixelPosition at) {
    return detail::float_of(0x3f800000u + static_cast<std::uint32_t>(at.y * 4096 + at.x));
}

/// The divisions of log2_of() and of the transfer functions.
struct Quotients {
    TEXTON_HD Float4 operator()(PixelPosition at) const {
        const float mantissa = mantissa_of(at) * (at.x % 2 == 0 ? 1.0f : 0.70710678f);
        return {detail::quotient(mantissa - 1.0f, mantissa + 1.0f), detail::quotient_by(mantissa, 12.92f),
                detail::quotient_by(mantissa, 1.055f), pow_of(mantissa, 2.4f)};
    }
};

/// Floats around the steps of the sRGB curve.
struct NearSteps {
    const float* steps;
    TEXTON_HD Float4 operator()(PixelPosition at) const {
        const float value = detail::float_of(detail::bits_of(steps[at.y]) + static_cast<std::uint32_t>(at.x) - 2048);
        return {value, value, value, value};
    }
};

/// The same for an image of the texture's size, whose texels are finite. GPUs encode the colors of such functors in
/// another way.
struct NearStepsOfTexels : NearSteps {
    static constexpr bool kPointwise = true;
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return NearSteps::operator()(at) + source.at_texel(at.center_x(), at.center_y()) * 0.0f;
    }
};

class FloatDivisionTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, FloatDivisionTest, test::every_device(), test::device_label);

TEST_P(FloatDivisionTest, QuotientsOfAllMantissasAreRoundedOnce) {
    const Linear memory(device(), Format::rgba32_float, kMantissas);
    const View image = memory.view(Format::rgba32_float, kMantissas);
    const Stream stream(device());
    launch(stream, image, Quotients{});
    stream.synchronize();
    const test::Bytes bytes = test::download(image);
    std::vector<Float4> pixels(bytes.size() / sizeof(Float4));
    std::memcpy(pixels.data(), bytes.data(), bytes.size());
    std::size_t wrong = 0;
    PixelPosition at{};
    for (const Float4& pixel : pixels) {
        const float mantissa = mantissa_of(at) * (at.x % 2 == 0 ? 1.0f : 0.70710678f);
        wrong += pixel.x != (mantissa - 1.0f) / (mantissa + 1.0f) || pixel.y != mantissa / 12.92f ||
                         pixel.z != mantissa / 1.055f || pixel.w != exp2_of(2.4f * log2_of(mantissa))
                     ? 1
                     : 0;
        if (++at.x == 4096) at = {0, at.y + 1, 0};
    }
    EXPECT_EQ(wrong, 0U);
}

TEST_P(FloatDivisionTest, SrgbCodesNearAllStepsAreThoseOfTheTable) {
    std::vector<float> steps;  // the lowest floats with the codes 1 to 255
    for (std::uint32_t code = 1; code < 256; ++code) {
        std::uint32_t below = 0, above = detail::bits_of(1.0f);
        while (above - below > 1) {
            const std::uint32_t middle = (below + above) / 2;
            (detail::srgb_code_of(detail::float_of(middle)) < code ? below : above) = middle;
        }
        steps.push_back(detail::float_of(above));
    }
    const Extent extent{4096, steps.size()};
    const Linear table(device(), steps.size() * sizeof(float));
    test::upload(table.view(), test::Bytes(reinterpret_cast<const std::byte*>(steps.data()),
                                           reinterpret_cast<const std::byte*>(steps.data() + steps.size())));
    const NearStepsOfTexels functor{{reinterpret_cast<const float*>(table.data())}};
    const Array array(device(), {.format = Format::rgba8_srgb, .extent = extent});
    fill(array.view(), std::uint8_t{0x80});
    const Texture texture(array, {});
    const Stream stream(device());
    for (const bool of_texels : {false, true}) {
        const Linear memory(device(), Format::rgba8_srgb, extent);
        const View image = memory.view(Format::rgba8_srgb, extent);
        if (of_texels) {
            launch(stream, image, functor, texture);
        } else {
            launch(stream, image, static_cast<const NearSteps&>(functor));
        }
        stream.synchronize();
        const test::Bytes bytes = test::download(image);
        for (std::size_t i = 0; i < bytes.size() / 4; ++i) {
            const std::uint32_t bits = detail::bits_of(steps[i / 4096]) + static_cast<std::uint32_t>(i % 4096) - 2048;
            const float value = detail::float_of(bits);
            for (std::size_t c = 0; c < 3; ++c)
                ASSERT_EQ(std::to_integer<std::uint32_t>(bytes[4 * i + c]), detail::srgb_code_of(value)) << value;
            ASSERT_EQ(std::to_integer<std::uint32_t>(bytes[4 * i + 3]), detail::unorm_code_of(value, 255)) << value;
        }
    }
}

}  // namespace
}  // namespace texton
