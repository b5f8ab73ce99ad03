// What point fetches of the CPU device return.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/cpu_device.h"

namespace texton::detail {
namespace {

class CpuTextureTest : public CpuDeviceTest {
protected:
    /// The texel of a 1 x 1 texture.
    std::array<float, 4> fetched(Format format, std::vector<std::uint8_t> bytes) {
        const ArrayHandle array = device().create_array(format, {1, 1, 1});
        Place to;
        to.array = array;
        to.kind = MemoryKind::array;
        to.format = format;
        const Place from = at(reinterpret_cast<std::byte*>(bytes.data()), bytes.size(), MemoryKind::host);
        device().copy({&to, &from, {bytes.size()}}, nullptr);
        const TextureHandle texture = device().create_texture(array, format);
        std::array<float, 4> result{-9, -9, -9, -9};
        const std::array<float, 2> position{0.5F, 0.5F};
        device().sample(texture, format, position, result);
        device().destroy_texture(texture);
        device().destroy_array(array);
        return result;
    }
    using Texel = std::array<float, 4>;
};

TEST_F(CpuTextureTest, EachKindOfTexelReadsAsItShould) {
    EXPECT_EQ(fetched(Format::r8_uint, {200}), (Texel{200, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rg8_sint, {0x80, 0x7F}), (Texel{-128, 127, 0, 1}));
    EXPECT_EQ(fetched(Format::r16_sint, {0xFF, 0xFF}), (Texel{-1, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::r32_uint, {0, 0, 0, 0x80}), (Texel{2147483648.0F, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rgba8_unorm, {0, 255, 51, 128}), (Texel{0, 1, 51.0F / 255.0F, 128.0F / 255.0F}));
    EXPECT_EQ(fetched(Format::r16_unorm, {0xFF, 0xFF}), (Texel{1, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rg8_snorm, {0x80, 0x81}), (Texel{-1, -1, 0, 1}));
    EXPECT_EQ(fetched(Format::r16_snorm, {0xFF, 0x7F}), (Texel{1, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rg16_float, {0x00, 0xBC, 0x01, 0x00}), (Texel{-1, 0x1p-24F, 0, 1}));
    EXPECT_EQ(fetched(Format::rg16_float, {0x00, 0x7C, 0xFF, 0x7B}), (Texel{INFINITY, 65504, 0, 1}));
    EXPECT_EQ(fetched(Format::r32_float, {0, 0, 0xC0, 0x3F}), (Texel{1.5F, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rgba8_srgb, {0, 255, 0, 51}), (Texel{0, 1, 0, 0.2F}));
    EXPECT_EQ(fetched(Format::r8_srgb, {188})[0], 129.0F / 256.0F);  // the curve gives 0.50289: 8 bits of mantissa
    // 1 in red, 1023 in green, 0 in blue, 2 in alpha.
    EXPECT_EQ(fetched(Format::rgb10a2_unorm, {0x01, 0xFC, 0x0F, 0x80}), (Texel{1.0F / 1023.0F, 1, 0, 2.0F / 3.0F}));
    EXPECT_TRUE(std::isnan(fetched(Format::r16_float, {0x01, 0x7E})[0]));
}

TEST_F(CpuTextureTest, EveryPlainFormatIsRead) {
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::block || row.layout == FormatLayout::planar) {
            refused(ErrorCode::unsupported, [&] { device().create_array(row.format, {4, 4, 1}); });
            continue;
        }
        const Texel texel = fetched(row.format, std::vector<std::uint8_t>(row.bytes, 0));
        EXPECT_EQ(texel, (Texel{0, 0, 0, row.channels == 4 ? 0.0F : 1.0F})) << row.name;
    }
}

TEST_F(CpuTextureTest, FetchesFloorTheirCoordinatesAndClampThemToTheEdge) {
    const ArrayHandle array = device().create_array(Format::r8_uint, {3, 2, 1});
    std::vector<std::byte> texels(12, std::byte{0xEE});  // rows of 6, so that the array's own pitch shows
    for (std::size_t y = 0; y < 2; ++y) {
        for (std::size_t x = 0; x < 3; ++x) texels[y * 6 + x] = static_cast<std::byte>(10 * y + x);
    }
    Place to;
    to.array = array;
    to.kind = MemoryKind::array;
    const Place from = at(texels.data(), 6, MemoryKind::host);
    device().copy({&to, &from, {3, 2}}, nullptr);
    std::byte last{99};
    to.array_offset = {2, 1, 0};
    const Place one = at(&last, 1, MemoryKind::host);
    device().copy({&to, &one, {1}}, nullptr);
    const TextureHandle texture = device().create_texture(array, Format::r8_uint);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> coordinates{0.99F, 0,   1, 1.5F,     -5,        1,      1e30F,
                                         1e30F, nan, 0, INFINITY, -INFINITY, 2.999F, 0.999F};
    std::vector<float> results(coordinates.size() * 2);
    device().sample(texture, Format::r8_uint, coordinates, results);
    std::vector<float> first;
    for (std::size_t i = 0; i < results.size(); i += 4) first.push_back(results[i]);
    EXPECT_EQ(first, (std::vector<float>{0, 11, 10, 99, 0, 2, 2}));
    device().destroy_texture(texture);
    device().destroy_array(array);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

}  // namespace
}  // namespace texton::detail
