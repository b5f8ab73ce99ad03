// Filters and mip chains on a CUDA device, where threads share texels of a tile. Random images of many sizes, formats,
// samplers and destinations must be bit-identical to those of the CPU device.
#include <cstring>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/filter.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/mips.h>
#include <texton/pitched.h>
#include <texton/resample.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::Random;

/// Computes images with the same calls on each device.
using Make = std::function<std::vector<Bytes>(const Device& device)>;

class KernelTilesTest : public testing::Test {
protected:
    void SetUp() override {
        const std::string reason = Device::why_no_cuda();
        ASSERT_TRUE(reason.empty() || !test::gpu_required()) << reason;
        if (!reason.empty()) GTEST_SKIP() << reason;
    }
    static void expect_same(const std::string& what, const Make& make) {
        const std::vector<Bytes> expected = make(Device::cpu());
        const std::vector<Bytes> actual = make(Device::cuda());
        ASSERT_EQ(actual.size(), expected.size()) << what;
        for (std::size_t i = 0; i < actual.size(); ++i)
            ASSERT_TRUE(test::same_bytes(actual[i], expected[i])) << what << ", image " << i;
    }
};

/// Returns random bits. In float formats one value in eight is NaN, infinite, denormal or a zero of either sign.
Bytes wild_texels(Random& random, Format format, std::size_t bytes) {
    Bytes texels = test::random_texels(random, format, bytes);
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

// --- filters ---------------------------------------------------------------------------------------------------------

struct ImageFile {
    ArrayInfo info;
    Sampler sampler;
    bool in_memory;  // read from pitched memory
    bool wild;
    std::uint64_t seed;
};

Sampler random_sampler(Random& random) {
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

constexpr Extent kExtents[] = {{1, 1}, {7, 5}, {33, 17}, {64, 64}, {131, 97}, {300, 71}, {16, 200}};

ImageFile random_image(Random& random, bool integers) {
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

std::string describe(const ImageFile& image) {
    return test::describe(image.info) + (image.in_memory ? " in memory" : "") + ", address " +
           std::to_string(static_cast<int>(image.sampler.address[0])) + " " +
           std::to_string(static_cast<int>(image.sampler.address[1]));
}

Texture texture_of(const Device& device, const ImageFile& image) {
    Random random(image.seed);
    const std::size_t bytes = test::box_bytes(image.info.format, test::level_box(image.info, 0));
    const Bytes texels = image.wild ? wild_texels(random, image.info.format, bytes)
                                    : test::random_texels(random, image.info.format, bytes);
    if (image.in_memory) {
        const Pitched2D memory(device, image.info.format, image.info.extent);
        test::upload(memory.view(), texels);
        return Texture(memory.view(), image.sampler);
    }
    const Array array(device, image.info);
    test::upload(array.view(), texels);
    return Texture(array, image.sampler);
}

enum class Destination { packed, pitched, odd_address, array, part_of_level };

/// Returns all bytes of the destination after `enqueue`, including those around the written region.
Bytes filtered(const Device& device, const Texture& texture, Destination destination, Format format,
               const std::function<void(const Stream&, const View&)>& enqueue) {
    const Stream stream(device);
    const Extent extent{texture.extent().width, texture.extent().height, texture.layers()};
    const auto made = [&](const View& all, const View& image) {
        test::upload(all, test::pattern(packed_bytes(format, all.extent()), 7));
        enqueue(stream, image);
        stream.synchronize();
        return test::download(all);
    };
    switch (destination) {
        case Destination::packed: {
            const Linear memory(device, format, extent);
            return made(memory.view(format, extent), memory.view(format, extent));
        }
        case Destination::pitched: {
            const Pitched3D memory(device, format, extent);
            return made(memory.view(), memory.view());
        }
        case Destination::odd_address: {
            const std::size_t bytes = packed_bytes(format, extent);
            const Linear memory(device, bytes + 1);
            const View all = borrowed_view(device, memory.data() + 1, format, extent);
            return made(all, all);
        }
        case Destination::array: {
            const Array array(device, {.format = format,
                                       .extent = {extent.width, extent.height},
                                       .kind = ArrayKind::layered_2d,
                                       .layers = extent.depth,
                                       .usage = {.surface = true}});
            return made(array.view(), array.view());
        }
        case Destination::part_of_level: {
            const Array array(device, {.format = format,
                                       .extent = {2 * extent.width + 9, 2 * extent.height + 6},
                                       .kind = ArrayKind::layered_2d,
                                       .layers = extent.depth + 1,
                                       .levels = 2,
                                       .usage = {.surface = true}});
            const View level = array.view({.level = 1});
            return made(level, level.region({{3, 2, 1}, extent}));
        }
    }
    return {};
}

struct Target {
    Destination destination;
    Format format;
};

Target random_target(Random& random) {
    const std::vector<Destination> destinations{Destination::packed, Destination::pitched, Destination::odd_address,
                                                Destination::array, Destination::part_of_level};
    const std::vector<Format> formats{Format::rgba32_float, Format::rgba8_unorm, Format::r16_uint,
                                      Format::rg16_float,   Format::r32_float,   Format::rgba8_srgb,
                                      Format::rgba8_sint,   Format::rgba16_snorm};
    return {random.of(destinations), random.of(formats)};
}

std::vector<float> random_weights(Random& random) {
    constexpr std::size_t kRadii[] = {0, 1, 2, 7, 8, 9, 16, 40};
    std::vector<float> weights(2 * kRadii[random.below(std::size(kRadii))] + 1);
    for (float& weight : weights) weight = random.below(6) == 0 ? 0 : 2 * random.unit() - 1;
    return weights;
}

TEST_F(KernelTilesTest, ConvolutionsAreBitIdenticalOnAllDevices) {
    Random random(1);
    for (int i = 0; i < 80; ++i) {
        const ImageFile image = random_image(random, false);
        const Target target = random_target(random);
        const std::vector<float> across = random_weights(random);
        const std::vector<float> down = random_weights(random);
        expect_same(describe(image) + ", " + std::to_string(across.size()) + " x " + std::to_string(down.size()) +
                        " to " + std::string(name(target.format)),
                    [&](const Device& device) -> std::vector<Bytes> {
                        const Texture texture = texture_of(device, image);
                        return {filtered(device, texture, target.destination, target.format,
                                         [&](const Stream& stream, const View& view) {
                                             convolve(stream, view, texture, across, down);
                                         })};
                    });
        if (HasFatalFailure()) return;
    }
}

constexpr Format kStoredFormats[] = {
    Format::r8_unorm,     Format::rg8_unorm,    Format::rgba8_unorm, Format::r16_unorm,    Format::rg16_unorm,
    Format::rgba16_unorm, Format::r32_float,    Format::rg32_float,  Format::rgba32_float, Format::r16_float,
    Format::rg16_float,   Format::rgba16_float, Format::r8_srgb,     Format::rgba8_srgb};

/// Returns an image whose texels can be read as they are stored, if its format permits that.
ImageFile random_stored_image(Random& random, Format format) {
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

/// The texels of an image of the same format are read as they are stored.
TEST_F(KernelTilesTest, FiltersWithoutConversionAreBitIdenticalOnAllDevices) {
    Random random(12);
    for (const Format format : kStoredFormats) {
        for (const std::size_t radius : {1, 1, 1, 2, 2, 2, 3, 3, 4, 7, 8, 9, 15, 30}) {
            const ImageFile image = random_stored_image(random, format);
            const Destination destination =
                random.of(std::vector{Destination::packed, Destination::pitched, Destination::odd_address});
            const bool some_are_zero = random.below(4) == 0;
            const auto weights_of = [&](std::size_t of_radius) {
                std::vector<float> weights(2 * of_radius + 1);
                for (float& weight : weights) weight = some_are_zero && random.coin() ? 0 : 2 * random.unit() - 1;
                return weights;
            };
            const std::vector<float> across = weights_of(radius);
            const std::vector<float> down = weights_of(random.below(4) == 0 ? random.below(radius) : radius);
            expect_same(
                describe(image) + ", radius " + std::to_string(radius),
                [&](const Device& device) -> std::vector<Bytes> {
                    const Texture texture = texture_of(device, image);
                    return {filtered(device, texture, destination, format, [&](const Stream& stream, const View& view) {
                        convolve(stream, view, texture, across, down);
                    })};
                });
            if (HasFatalFailure()) return;
        }
    }
}

TEST_F(KernelTilesTest, SharpeningWithoutConversionIsBitIdenticalOnAllDevices) {
    Random random(14);
    for (const Format format : kStoredFormats) {
        for (const float sigma : {1.3f, 3.1f}) {
            const ImageFile image = random_stored_image(random, format);
            const UnsharpOptions options{.amount = 1.5f, .sigma = sigma, .threshold = random.coin() ? 0.0f : 0.1f};
            expect_same(
                describe(image) + ", sigma " + std::to_string(sigma), [&](const Device& device) -> std::vector<Bytes> {
                    const Texture texture = texture_of(device, image);
                    return {filtered(
                        device, texture, Destination::pitched, format,
                        [&](const Stream& stream, const View& view) { unsharp(stream, view, texture, options); })};
                });
            if (HasFatalFailure()) return;
        }
    }
}

TEST_F(KernelTilesTest, ResampledImagesAreBitIdenticalOnAllDevices) {
    constexpr ResampleFilter kFilters[] = {ResampleFilter::catmull_rom, ResampleFilter::b_spline,
                                           ResampleFilter::lanczos3, ResampleFilter::area};
    struct Size {
        Extent extent;
        Crop crop;
    };
    Random random(13);
    for (const Format format : kStoredFormats) {
        for (const ResampleFilter filter : kFilters) {
            const ImageFile image = random_stored_image(random, format);
            const Extent from = image.info.extent;
            const Size sizes[] = {
                {{from.width / 2, from.height / 2}, {}},
                {{from.width / 2, from.height / 2},
                 {0, 0, static_cast<float>(from.width / 2 * 2), static_cast<float>(from.height / 2 * 2)}},
                {{2 * from.width + 1, 2 * from.height}, {}},
                {{from.width / 3 + 1, from.height / 4 + 1}, {1, 0.5f, 0, 0}},
                {{from.width / 3 + 1, from.height / 3 + 1},
                 {-3, -2, 3.0f * static_cast<float>(from.width / 3 + 1),
                  3.0f * static_cast<float>(from.height / 3 + 1)}},
                {{3 * from.width / 2, 3 * from.height / 5 + 1}, {}},
                {{9, 5}, {}}};
            expect_same(
                describe(image) + ", filter " + std::to_string(static_cast<int>(filter)), [&](const Device& device) {
                    const Texture texture = texture_of(device, image);
                    const Stream stream(device);
                    std::vector<Bytes> made;
                    for (const Size& size : sizes) {
                        Extent extent = size.extent;
                        extent.depth = texture.layers();
                        const Linear memory(device, format, extent);
                        resample(stream, memory.view(format, extent), texture, {.filter = filter, .crop = size.crop});
                        stream.synchronize();
                        made.push_back(test::download(memory.view(format, extent)));
                    }
                    return made;
                });
            if (HasFatalFailure()) return;
        }
    }
}

/// Images with fewer pixels are computed by the functor.
TEST_F(KernelTilesTest, ReducedImagesAreBitIdenticalOnAllDevices) {
    constexpr ResampleFilter kFilters[] = {ResampleFilter::area, ResampleFilter::catmull_rom, ResampleFilter::b_spline};
    constexpr float kSteps[] = {1, 1.01f, 1.43f, 2.3f, 3.34f, 5.2f, 11};  // texels per pixel
    Random random(34);
    for (const Format format : kStoredFormats) {
        for (const ResampleFilter filter : kFilters) {
            ImageFile image = random_stored_image(random, format);
            image.info.extent = {1900 + random.below(40), 900 + random.below(40)};
            const Crop crop{random.coin() ? 0.0f : -7.25f, random.coin() ? 0.0f : 3.5f, 0, 0};
            expect_same(describe(image) + ", filter " + std::to_string(static_cast<int>(filter)), [&](const Device&
                                                                                                          device) {
                const Texture texture = texture_of(device, image);
                const Stream stream(device);
                std::vector<Bytes> made;
                for (const float step : kSteps) {
                    const auto side = [&](std::size_t texels) {
                        return static_cast<std::size_t>(static_cast<float>(texels) / step);
                    };
                    const Extent to{side(image.info.extent.width), side(image.info.extent.height), texture.layers()};
                    for (const Format stored : {format, Format::rgba16_float}) {
                        const Linear memory(device, stored, to);
                        resample(stream, memory.view(stored, to), texture, {.filter = filter, .crop = crop});
                        stream.synchronize();
                        made.push_back(test::download(memory.view(stored, to)));
                    }
                }
                return made;
            });
            if (HasFatalFailure()) return;
        }
    }
}

struct Scaling {
    ResampleFilter filter;
    float across, down;  // texels per pixel
};

using ExpectSame = std::function<void(const std::string& what, const Make& make)>;

/// Expects that a part of an image that is resampled to a size is the same on all devices.
void expect_same_crop(const ImageFile& image, ResampleFilter filter, const Crop& crop, const Extent& to,
                      const ExpectSame& expect_same) {
    const Format format = image.info.format;
    expect_same(describe(image) + ", filter " + std::to_string(static_cast<int>(filter)),
                [&](const Device& device) -> std::vector<Bytes> {
                    const Texture texture = texture_of(device, image);
                    const Stream stream(device);
                    const Linear memory(device, format, to);
                    resample(stream, memory.view(format, to), texture, {.filter = filter, .crop = crop});
                    stream.synchronize();
                    return {test::download(memory.view(format, to))};
                });
}

/// Expects that an image of a format that is resampled to a size is the same on all devices.
void expect_same_resampled(Random& random, Format format, const Scaling& scaling, const Extent& to,
                           const ExpectSame& expect_same) {
    const auto texels = [](std::size_t pixels, float step) {
        return static_cast<std::size_t>(static_cast<float>(pixels) * step);
    };
    ImageFile image = random_stored_image(random, format);
    image.info.kind = ArrayKind::array_2d;
    image.info.layers = 1;
    image.info.extent = {texels(to.width, scaling.across), texels(to.height, scaling.down)};
    const Crop crop{random.coin() ? 0.0f : -7.25f, random.coin() ? 0.0f : 3.5f, 0, 0};
    expect_same_crop(image, scaling.filter, crop, to, expect_same);
}

/// Pixels with an even number have the same weights, and so have those with an odd number.
TEST_F(KernelTilesTest, DoubledImagesAreBitIdenticalOnAllDevices) {
    constexpr ResampleFilter kFilters[] = {ResampleFilter::catmull_rom, ResampleFilter::b_spline,
                                           ResampleFilter::lanczos3, ResampleFilter::area};
    constexpr Crop kCrops[] = {{0, 0, 251.5f, 150.5f}, {-6, 3, 251.5f, 150.5f}};
    constexpr Extent kDoubled{503, 301};
    Random random(35);
    for (const Format format : kStoredFormats) {
        for (const ResampleFilter filter : kFilters) {
            ImageFile image = random_stored_image(random, format);
            image.info.kind = ArrayKind::array_2d;
            image.info.layers = 1;
            image.info.extent = {252, 151};
            expect_same_crop(image, filter, kCrops[random.below(2)], kDoubled, expect_same);
            if (HasFatalFailure()) return;
        }
    }
}

/// In images of this size, threads compute four values of many rows if pixels read few texels.
TEST_F(KernelTilesTest, LargeEnlargedImagesAreBitIdenticalOnAllDevices) {
    constexpr Scaling kScalings[] = {{ResampleFilter::lanczos3, 0.5f, 0.9f},
                                     {ResampleFilter::catmull_rom, 1.3f, 0.4f},
                                     {ResampleFilter::area, 0.8f, 0.3f}};
    Random random(22);
    for (const Format format : kStoredFormats) {
        const std::size_t channels = info(format).channels;
        for (const Scaling& scaling : kScalings) {
            expect_same_resampled(random, format, scaling, {4102 / channels, 2063}, expect_same);
            if (HasFatalFailure()) return;
        }
    }
}

/// In images of this size, Lanczos filters are computed in strips if pixels are close to each other.
TEST_F(KernelTilesTest, LargeImagesReducedByLanczosFiltersAreBitIdenticalOnAllDevices) {
    Random random(36);
    for (const Format format : kStoredFormats) {
        const std::size_t channels = info(format).channels;
        expect_same_resampled(random, format, {ResampleFilter::lanczos3, 1.6f, 1.4f}, {4102 / channels, 2063},
                              expect_same);
        if (HasFatalFailure()) return;
    }
}

TEST_F(KernelTilesTest, TheWidestFiltersAreBitIdenticalOnAllDevices) {
    Random random(2);
    for (const Format format : {Format::rgba32_float, Format::rg16_float, Format::r8_unorm}) {
        const ImageFile image{{.format = format, .extent = {70, 50}}, random_sampler(random), false, false, 5};
        expect_same(describe(image), [&](const Device& device) -> std::vector<Bytes> {
            const Texture texture = texture_of(device, image);
            std::vector<Bytes> made;
            for (const int radius : {60, 75, 100, 127}) {
                made.push_back(filtered(device, texture, Destination::packed, Format::rgba32_float,
                                        [&](const Stream& stream, const View& view) {
                                            gaussian(stream, view, texture, {.sigma = 30, .radius = radius});
                                        }));
            }
            return made;
        });
    }
}

TEST_F(KernelTilesTest, SharpenedImagesAreBitIdenticalOnAllDevices) {
    Random random(3);
    for (int i = 0; i < 60; ++i) {
        const ImageFile image = random_image(random, false);
        const Target target = random_target(random);
        const UnsharpOptions options{
            .amount = 3 * random.unit() - 1, .sigma = 0.3F + 6 * random.unit(), .threshold = random.unit() / 4};
        expect_same(describe(image), [&](const Device& device) -> std::vector<Bytes> {
            const Texture texture = texture_of(device, image);
            return {filtered(device, texture, target.destination, target.format,
                             [&](const Stream& stream, const View& view) { unsharp(stream, view, texture, options); })};
        });
        if (HasFatalFailure()) return;
    }
}

TEST_F(KernelTilesTest, BilateralFiltersAreBitIdenticalOnAllDevices) {
    Random random(4);
    constexpr int kRadii[] = {1, 2, 4, 5, 9};
    for (int i = 0; i < 40; ++i) {
        const ImageFile image = random_image(random, false);
        const Target target = random_target(random);
        const BilateralOptions options{
            .sigma_space = 2, .sigma_range = 0.05F + random.unit(), .radius = kRadii[random.below(std::size(kRadii))]};
        expect_same(describe(image), [&](const Device& device) -> std::vector<Bytes> {
            const Texture texture = texture_of(device, image);
            return {
                filtered(device, texture, target.destination, target.format,
                         [&](const Stream& stream, const View& view) { bilateral(stream, view, texture, options); })};
        });
        if (HasFatalFailure()) return;
    }
}

TEST_F(KernelTilesTest, BilateralFiltersWiderThanATileAreBitIdenticalOnAllDevices) {
    const ImageFile image{{.format = Format::rgba16_snorm, .extent = {33, 17}}, {}, false, false, 6};
    expect_same(describe(image), [&](const Device& device) -> std::vector<Bytes> {
        const Texture texture = texture_of(device, image);
        return {filtered(device, texture, Destination::packed, Format::rgba32_float,
                         [&](const Stream& stream, const View& view) {
                             bilateral(stream, view, texture, {.sigma_space = 20, .sigma_range = 1, .radius = 64});
                         })};
    });
}

TEST_F(KernelTilesTest, MediansAreBitIdenticalOnAllDevices) {
    Random random(5);
    for (int i = 0; i < 80; ++i) {
        const ImageFile image = random_image(random, i % 4 == 0);
        const Target target = random_target(random);
        const MedianSize size = random.coin() ? MedianSize::three : MedianSize::five;
        expect_same(describe(image), [&](const Device& device) -> std::vector<Bytes> {
            const Texture texture = texture_of(device, image);
            return {filtered(device, texture, target.destination, target.format,
                             [&](const Stream& stream, const View& view) { median(stream, view, texture, size); })};
        });
        if (HasFatalFailure()) return;
    }
}

TEST_F(KernelTilesTest, MediansWithoutConversionAreBitIdenticalOnAllDevices) {
    Random random(14);
    for (const Format format : kStoredFormats) {
        for (int i = 0; i < 12; ++i) {
            const ImageFile image = random_stored_image(random, format);
            const Destination destination =
                random.of(std::vector{Destination::packed, Destination::pitched, Destination::odd_address});
            const MedianSize size = i % 2 == 0 ? MedianSize::three : MedianSize::five;
            expect_same(describe(image) + ", size " + std::to_string(static_cast<int>(size)),
                        [&](const Device& device) -> std::vector<Bytes> {
                            const Texture texture = texture_of(device, image);
                            return {filtered(
                                device, texture, destination, format,
                                [&](const Stream& stream, const View& view) { median(stream, view, texture, size); })};
                        });
            if (HasFatalFailure()) return;
        }
    }
}

// --- mip chains ------------------------------------------------------------------------------------------------------

struct Chain {
    ArrayInfo info;
    MipOptions options;
    bool wild;
    std::uint64_t seed;
};

Chain random_chain(Random& random) {
    constexpr Extent kSides[] = {{2, 2},    {64, 64},  {128, 96}, {24, 20},  {192, 320},  {8, 2},     {40, 24},
                                 {130, 66}, {127, 64}, {200, 56}, {1, 64},   {33, 9},     {255, 191}, {401, 130},
                                 {1027, 5}, {66, 301}, {1664, 1}, {1280, 2}, {1021, 607}, {500, 500}, {8191, 1}};
    const std::vector<Format> formats{
        Format::r16_unorm,    Format::rg16_unorm,  Format::r8_srgb,      Format::rg8_srgb,   Format::r32_float,
        Format::rgba32_float, Format::rgba8_unorm, Format::r8_unorm,     Format::rg8_unorm,  Format::rgba16_float,
        Format::r16_float,    Format::rgba8_srgb,  Format::rg16_snorm,   Format::r8_snorm,   Format::r8_uint,
        Format::rgba16_sint,  Format::r32_uint,    Format::rgba16_unorm, Format::rg32_float, Format::rg16_float};
    const std::vector<ArrayKind> kinds{ArrayKind::array_2d, ArrayKind::array_2d, ArrayKind::layered_2d,
                                       ArrayKind::cubemap, ArrayKind::cubemap_layered};
    const std::vector<MipFilter> filters{MipFilter::box, MipFilter::box, MipFilter::min, MipFilter::max};
    Chain chain{{.format = random.of(formats),
                 .extent = kSides[random.below(std::size(kSides))],
                 .kind = random.of(kinds),
                 .usage = {.surface = true}},
                {.filter = random.of(filters)},
                random.coin(),
                random.bits()};
    ArrayInfo& made = chain.info;
    if (is_cube(made.kind))
        made.extent.width = made.extent.height =
            std::max<std::size_t>(std::min(made.extent.width, made.extent.height), 2);
    if (is_layered(made.kind)) made.layers = 3;
    if (made.kind == ArrayKind::array_2d && random.below(8) == 0) made.format = Format::rgb10a2_unorm;
    made.levels = full_levels(made);
    const FormatInfo& row = info(made.format);
    const bool fractions = row.kind != FormatKind::uint && row.kind != FormatKind::sint;
    chain.options.alpha_weighted =
        chain.options.filter == MipFilter::box && fractions && row.channels == 4 && random.coin();
    return chain;
}

Array array_of(const Device& device, const Chain& chain) {
    Random random(chain.seed);
    const std::size_t bytes = packed_bytes(chain.info.format, test::level_box(chain.info, 0));
    Array array(device, chain.info);
    test::upload(array.view(), chain.wild ? wild_texels(random, chain.info.format, bytes)
                                          : test::random_texels(random, chain.info.format, bytes));
    return array;
}

std::vector<Extent> sides_below(const Array& array) {
    std::vector<Extent> sides;
    for (int level = 1; level < array.info().levels; ++level) sides.push_back(array.view({.level = level}).extent());
    return sides;
}

TEST_F(KernelTilesTest, MipChainsOfArraysAreBitIdenticalOnAllDevices) {
    Random random(6);
    for (int i = 0; i < 120; ++i) {
        const Chain chain = random_chain(random);
        expect_same(test::describe(chain.info), [&](const Device& device) {
            const Array array = array_of(device, chain);
            const Stream stream(device);
            make_mips(stream, array, chain.options);
            stream.synchronize();
            std::vector<Bytes> made;
            for (int level = 1; level < chain.info.levels; ++level)
                made.push_back(test::download(array.view({.level = level})));
            return made;
        });
        if (HasFatalFailure()) return;
    }
}

/// Small levels are made in tiles, several at once; large ones have launches of their own.
TEST_F(KernelTilesTest, MipChainsOfOddImagesAreBitIdenticalOnAllDevices) {
    Random random(11);
    const auto expect_same_chain = [&](Format format, const Extent& extent) {
        Chain chain{{.format = format, .extent = extent, .usage = {.surface = true}}, {}, random.coin(), random.bits()};
        chain.info.levels = full_levels(chain.info);
        expect_same(test::describe(chain.info), [&](const Device& device) {
            const Array array = array_of(device, chain);
            const Stream stream(device);
            make_mips(stream, array);
            stream.synchronize();
            std::vector<Bytes> made;
            for (int level = 1; level < chain.info.levels; ++level)
                made.push_back(test::download(array.view({.level = level})));
            return made;
        });
    };
    for (const Format format :
         {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm, Format::rgba8_srgb, Format::r16_unorm,
          Format::rg16_unorm, Format::rgba16_unorm, Format::r16_float, Format::rg16_float, Format::rgba16_float,
          Format::r32_float, Format::rg32_float, Format::rgba32_float}) {
        for (const Extent extent : {Extent{1021, 407}, Extent{500, 500}, Extent{8191, 1}, Extent{1, 1023},
                                    Extent{31, 700}, Extent{64, 64}, Extent{70, 3}}) {
            expect_same_chain(format, extent);
            if (HasFatalFailure()) return;
        }
    }
    for (const Format format : {Format::r8_unorm, Format::rgba8_srgb, Format::rg16_unorm, Format::rgba16_float}) {
        for (const Extent extent : {Extent{2051, 2055}, Extent{2050, 2050}}) {
            expect_same_chain(format, extent);
            if (HasFatalFailure()) return;
        }
    }
}

TEST_F(KernelTilesTest, MipChainsInMemoryAreBitIdenticalOnAllDevices) {
    Random random(7);
    const std::vector<Format> formats{Format::rgba8_unorm,  Format::rgba32_float, Format::r16_sint,
                                      Format::rgba16_float, Format::r32_float,    Format::rgba8_srgb};
    for (int i = 0; i < 100; ++i) {
        const Chain chain = random_chain(random);
        std::vector<Format> level_formats;
        const Format one = random.coin() ? chain.info.format : random.of(formats);
        const bool mixed = random.below(4) == 0;
        for (int level = 1; level < chain.info.levels; ++level)
            level_formats.push_back(mixed ? random.of(formats) : one);
        expect_same(test::describe(chain.info) + " to " + std::string(name(one)), [&](const Device& device) {
            const Array array = array_of(device, chain);
            std::vector<Pitched3D> memory;
            std::vector<View> levels;
            for (const Extent& sides : sides_below(array)) {
                memory.emplace_back(device, level_formats[memory.size()], sides);
                levels.push_back(memory.back().view());
            }
            const Stream stream(device);
            make_mips(stream, levels, Texture(array, {.normalized_coordinates = true}, {.levels = 1}), chain.options);
            stream.synchronize();
            std::vector<Bytes> made;
            for (const View& level : levels) made.push_back(test::download(level));
            return made;
        });
        if (HasFatalFailure()) return;
    }
}

/// Rows with any start address: at whole tiles, inside tiles, and inside words.
TEST_F(KernelTilesTest, MipChainsInPitchedMemoryAreBitIdenticalOnAllDevices) {
    Random random(9);
    for (const Format format :
         {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm, Format::r16_float, Format::rg16_float,
          Format::rgba16_float, Format::r32_float, Format::rg32_float, Format::rgba32_float}) {
        for (const Extent extent : {Extent{512, 256}, Extent{1064, 68}, Extent{36, 144}, Extent{517, 129}}) {
            const std::uint64_t seed = random.bits();
            const std::size_t apart = random.below(4);
            expect_same(std::string(name(format)) + " of " + to_string(extent), [&](const Device& device) {
                Random bits(seed);
                const Pitched2D finest(device, format, extent);
                test::upload(finest.view(), wild_texels(bits, format, packed_bytes(format, extent)));
                std::vector<Linear> memory;
                std::vector<View> levels;
                for (Extent sides{extent.width / 2, extent.height / 2}; levels.size() < 5;
                     sides = {sides.width / 2, sides.height / 2}) {
                    const Extent rows{sides.width + apart, sides.height};
                    memory.emplace_back(device, format, rows);
                    levels.push_back(memory.back().view(format, rows).region({{0, 0}, sides}));
                }
                const Stream stream(device);
                make_mips(stream, levels, Texture(finest.view()));
                stream.synchronize();
                std::vector<Bytes> made;
                for (const View& level : levels) made.push_back(test::download(level));
                return made;
            });
            if (HasFatalFailure()) return;
        }
    }
}

TEST_F(KernelTilesTest, LevelsInArrayRegionsAreBitIdenticalOnAllDevices) {
    Random random(10);
    for (const Format format : {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm, Format::r16_float,
                                Format::rgba16_float, Format::r32_float, Format::rgba32_float}) {
        for (const std::size_t left : {0, 1, 3, 8}) {
            const ArrayKind kind = random.coin() ? ArrayKind::array_2d : ArrayKind::layered_2d;
            const std::size_t layers = kind == ArrayKind::array_2d ? 1 : 2;
            const std::uint64_t seed = random.bits();
            expect_same(std::string(name(format)) + " at " + std::to_string(left), [&](const Device& device) {
                Random bits(seed);
                const ArrayInfo from{.format = format, .extent = {140, 132}, .kind = kind, .layers = layers};
                const ArrayInfo to{.format = format, .extent = {80, 70}, .kind = kind, .layers = layers};
                const Array finest(device, from);
                const Array array(device, to);
                test::upload(finest.view(), wild_texels(bits, format, packed_bytes(format, test::level_box(from, 0))));
                test::upload(array.view(), test::pattern(packed_bytes(format, test::level_box(to, 0)), 5));
                const View level = array.view().region({{left, 2}, {70, 66, layers}});
                const Stream stream(device);
                make_mips(stream, {&level, 1}, Texture(finest));
                stream.synchronize();
                return std::vector<Bytes>{test::download(array.view())};
            });
            if (HasFatalFailure()) return;
        }
    }
}

TEST_F(KernelTilesTest, LevelsCanReuseMemoryOfEarlierLevels) {
    expect_same("two rooms in turn", [](const Device& device) -> std::vector<Bytes> {
        const Linear first(device, Format::rgba8_unorm, {64, 64});
        const Linear second(device, Format::rgba8_unorm, {32, 32});
        test::upload(first.view(Format::rgba8_unorm, {64, 64}), test::pattern(64 * 64 * 4, 3));
        const View levels[] = {second.view(Format::rgba8_unorm, {32, 32}), first.view(Format::rgba8_unorm, {16, 16}),
                               second.view(Format::rgba8_unorm, {8, 8})};
        const Stream stream(device);
        make_mips(stream, levels, Texture(first.view(Format::rgba8_unorm, {64, 64})));
        stream.synchronize();
        return {test::download(levels[1]), test::download(levels[2])};
    });
}

TEST_F(KernelTilesTest, ConcurrentThreadsCanFilterWithDifferentRadii) {
    constexpr Extent kExtent{64, 64};
    const Device device = Device::cuda();
    const Array array(device, {.format = Format::rgba32_float, .extent = kExtent});
    const Texture texture(array);
    std::vector<std::future<void>> threads;
    for (const int radius : {8, 60, 120, 30}) {
        threads.push_back(std::async(std::launch::async, [&, radius] {
            const Linear memory(device, Format::rgba32_float, kExtent);
            const Stream stream(device);
            for (int i = 0; i < 500; ++i)
                gaussian(stream, memory.view(Format::rgba32_float, kExtent), texture, {.sigma = 20, .radius = radius});
            stream.synchronize();
        }));
    }
    for (std::future<void>& thread : threads) EXPECT_NO_THROW(thread.get());
}

TEST_F(KernelTilesTest, TiledKernelsCanBeCaptured) {
    const Chain chain{
        {.format = Format::rgba8_unorm, .extent = {192, 320}, .levels = 7, .usage = {.surface = true}}, {}, false, 8};
    expect_same("recorded", [&](const Device& device) -> std::vector<Bytes> {
        const Array array = array_of(device, chain);
        const Texture texture(array, {}, {.levels = 1});
        const Extent extent{192, 320};
        std::vector<Linear> memory;
        std::vector<View> images;
        for (int i = 0; i < 3; ++i) {
            memory.emplace_back(device, Format::rgba32_float, extent);
            images.push_back(memory.back().view(Format::rgba32_float, extent));
        }
        const Stream stream(device);
        const auto enqueue = [&] {
            make_mips(stream, array);
            gaussian(stream, images[0], texture, {.sigma = 3});
            unsharp(stream, images[1], texture);
            median(stream, images[2], texture);
        };
        enqueue();
        stream.synchronize();
        const Graph graph = Graph::capture(stream, enqueue);
        test::upload(array.view(), test::pattern(192 * 320 * 4, 9));
        graph.launch(stream);
        stream.synchronize();
        std::vector<Bytes> made{test::download(array.view({.level = 1})), test::download(array.view({.level = 6}))};
        for (const View& image : images) made.push_back(test::download(image));
        return made;
    });
}

}  // namespace
}  // namespace texton
