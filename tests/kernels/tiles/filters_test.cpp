// Filters on tiles of a CUDA device: see random_images.h.
#include <texton/filter.h>

#include <functional>
#include <future>
#include <string>
#include <vector>

#include <texton/linear.h>
#include <texton/pitched.h>

#include "tests/kernels/tiles/random_images.h"

namespace texton {
namespace {

using test::Bytes;
using test::ImageFile;
using test::KernelTilesTest;
using test::kStoredFormats;
using test::Random;
using test::random_image;
using test::random_sampler;
using test::random_stored_image;
using test::texture_of;

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
        expect_same(test::describe(image) + ", " + std::to_string(across.size()) + " x " + std::to_string(down.size()) +
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
                test::describe(image) + ", radius " + std::to_string(radius),
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
            expect_same(test::describe(image) + ", sigma " + std::to_string(sigma),
                        [&](const Device& device) -> std::vector<Bytes> {
                            const Texture texture = texture_of(device, image);
                            return {filtered(device, texture, Destination::pitched, format,
                                             [&](const Stream& stream, const View& view) {
                                                 unsharp(stream, view, texture, options);
                                             })};
                        });
            if (HasFatalFailure()) return;
        }
    }
}

TEST_F(KernelTilesTest, TheWidestFiltersAreBitIdenticalOnAllDevices) {
    Random random(2);
    for (const Format format : {Format::rgba32_float, Format::rg16_float, Format::r8_unorm}) {
        const ImageFile image{{.format = format, .extent = {70, 50}}, random_sampler(random), false, false, 5};
        expect_same(test::describe(image), [&](const Device& device) -> std::vector<Bytes> {
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
        expect_same(test::describe(image), [&](const Device& device) -> std::vector<Bytes> {
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
        expect_same(test::describe(image), [&](const Device& device) -> std::vector<Bytes> {
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
    expect_same(test::describe(image), [&](const Device& device) -> std::vector<Bytes> {
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
        expect_same(test::describe(image), [&](const Device& device) -> std::vector<Bytes> {
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
            expect_same(test::describe(image) + ", size " + std::to_string(static_cast<int>(size)),
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

}  // namespace
}  // namespace texton
