#pragma once
// What the tests of tiled kernels share: random images, and a fixture that compares devices.
//
// On a CUDA device, threads of these kernels share texels of a tile. Random images of many sizes, formats, samplers and
// destinations must be bit-identical to those of the CPU device.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/pitched.h>
#include <texton/texture.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton::test {

/// Computes images with the same calls on each device.
using Make = std::function<std::vector<Bytes>(const Device& device)>;

class KernelTilesTest : public testing::Test {
protected:
    void SetUp() override {
        const std::string reason = Device::why_no_cuda();
        ASSERT_TRUE(reason.empty() || !gpu_required()) << reason;
        if (!reason.empty()) GTEST_SKIP() << reason;
    }
    static void expect_same(const std::string& what, const Make& make) {
        const std::vector<Bytes> expected = make(Device::cpu());
        const std::vector<Bytes> actual = make(Device::cuda());
        ASSERT_EQ(actual.size(), expected.size()) << what;
        for (std::size_t i = 0; i < actual.size(); ++i)
            ASSERT_TRUE(same_bytes(actual[i], expected[i])) << what << ", image " << i;
    }
};

/// Returns random bits. In float formats one value in eight is NaN, infinite, denormal or a zero of either sign.
inline Bytes wild_texels(Random& random, Format format, std::size_t bytes) {
    Bytes texels = random_texels(random, format, bytes);
    if (info(format).kind != FormatKind::floating || info(format).layout != FormatLayout::plain) return texels;
    const std::uint32_t rare[] = {0x7FC00000U, 0xFF812345U, 0x7F800000U, 0xFF800000U, 0x00000001U, 0x80000000U, 0};
    const std::size_t size = info(format).bits / 8;
    for (std::size_t i = 0; i + size <= bytes; i += size) {
        if (random.below(8) != 0) continue;
        const std::uint32_t bits = rare[random.below(std::size(rare))] >> (size == 2 ? 16 : 0);
        std::memcpy(&texels[i], &bits, size);
    }
    return texels;
}

struct ImageFile {
    ArrayInfo info;
    Sampler sampler;
    bool in_memory;  // read from pitched memory
    bool wild;
    std::uint64_t seed;
};

inline Sampler random_sampler(Random& random) {
    const std::vector<AddressMode> modes{AddressMode::wrap, AddressMode::clamp, AddressMode::mirror,
                                         AddressMode::border};
    Sampler sampler{.address = {random.of(modes), random.of(modes)}, .border = {0.5F, -0.25F, 1, 0.75F}};
    if (random.coin()) sampler.filter = Filter::linear;
    sampler.normalized_coordinates = random.coin();
    for (AddressMode& mode : sampler.address) {  // wrap and mirror need normalized coordinates
        if (!sampler.normalized_coordinates && (mode == AddressMode::wrap || mode == AddressMode::mirror))
            mode = AddressMode::border;
    }
    return sampler;
}

inline constexpr Extent kExtents[] = {{1, 1}, {7, 5}, {33, 17}, {64, 64}, {131, 97}, {300, 71}, {16, 200}};

inline ImageFile random_image(Random& random, bool integers) {
    std::vector<Format> formats{Format::r8_unorm,     Format::rg16_float,   Format::rgba8_srgb, Format::rgb10a2_unorm,
                                Format::r32_float,    Format::rgba32_float, Format::rg8_snorm,  Format::rgba8_unorm,
                                Format::rgba16_snorm, Format::rg32_float,   Format::bc4_unorm,  Format::bc1_unorm};
    if (integers) formats = {Format::r8_uint, Format::rg16_sint, Format::rgba32_sint};
    ImageFile image{{.format = random.of(formats), .extent = kExtents[random.below(std::size(kExtents))]},
                    random_sampler(random),
                    random.below(4) == 0,
                    random.coin(),
                    random.bits()};
    if (integers) image.sampler.filter = Filter::point;
    const FormatLayout layout = info(image.info.format).layout;
    image.in_memory &= image.info.extent.height > 1;  // one row makes a texture that is read by texel index
    image.in_memory &= layout == FormatLayout::plain && info(image.info.format).kind != FormatKind::srgb;
    if (!image.in_memory && layout == FormatLayout::plain && random.coin()) {
        image.info.kind = ArrayKind::layered_2d;
        image.info.layers = 3;
    }
    return image;
}

inline std::string describe(const ImageFile& image) {
    return describe(image.info) + (image.in_memory ? " in memory" : "") + ", address " +
           std::to_string(static_cast<int>(image.sampler.address[0])) + " " +
           std::to_string(static_cast<int>(image.sampler.address[1]));
}

inline Texture texture_of(const Device& device, const ImageFile& image) {
    Random random(image.seed);
    const std::size_t bytes = box_bytes(image.info.format, level_box(image.info, 0));
    const Bytes texels =
        image.wild ? wild_texels(random, image.info.format, bytes) : random_texels(random, image.info.format, bytes);
    if (image.in_memory) {
        const Pitched2D memory(device, image.info.format, image.info.extent);
        upload(memory.view(), texels);
        return Texture(memory.view(), image.sampler);
    }
    const Array array(device, image.info);
    upload(array.view(), texels);
    return Texture(array, image.sampler);
}

inline constexpr Format kStoredFormats[] = {
    Format::r8_unorm,     Format::rg8_unorm,    Format::rgba8_unorm, Format::r16_unorm,    Format::rg16_unorm,
    Format::rgba16_unorm, Format::r32_float,    Format::rg32_float,  Format::rgba32_float, Format::r16_float,
    Format::rg16_float,   Format::rgba16_float, Format::r8_srgb,     Format::rgba8_srgb};

/// Returns an image whose texels can be read as they are stored, if its format permits that.
inline ImageFile random_stored_image(Random& random, Format format) {
    ImageFile image{{.format = format, .extent = kExtents[1 + random.below(std::size(kExtents) - 1)]},
                    {.address = {AddressMode::clamp, AddressMode::clamp}},
                    random.coin() && info(format).kind != FormatKind::srgb,
                    random.coin(),
                    random.bits()};
    if (!image.in_memory && random.coin()) {
        image.info.kind = ArrayKind::layered_2d;
        image.info.layers = 3;
    }
    return image;
}

}  // namespace texton::test
