// Resampling on tiles of a CUDA device: see random_images.h.
#include <texton/resample.h>

#include <functional>
#include <string>
#include <vector>

#include <texton/linear.h>

#include "tests/kernels/tiles/random_images.h"

namespace texton {
namespace {

using test::Bytes;
using test::ImageFile;
using test::KernelTilesTest;
using test::kStoredFormats;
using test::Make;
using test::Random;
using test::random_stored_image;
using test::texture_of;

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
            expect_same(test::describe(image) + ", filter " + std::to_string(static_cast<int>(filter)),
                        [&](const Device& device) {
                            const Texture texture = texture_of(device, image);
                            const Stream stream(device);
                            std::vector<Bytes> made;
                            for (const Size& size : sizes) {
                                Extent extent = size.extent;
                                extent.depth = texture.layers();
                                const Linear memory(device, format, extent);
                                resample(stream, memory.view(format, extent), texture,
                                         {.filter = filter, .crop = size.crop});
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
            expect_same(test::describe(image) + ", filter " + std::to_string(static_cast<int>(filter)),
                        [&](const Device& device) {
                            const Texture texture = texture_of(device, image);
                            const Stream stream(device);
                            std::vector<Bytes> made;
                            for (const float step : kSteps) {
                                const auto side = [&](std::size_t texels) {
                                    return static_cast<std::size_t>(static_cast<float>(texels) / step);
                                };
                                const Extent to{side(image.info.extent.width), side(image.info.extent.height),
                                                texture.layers()};
                                for (const Format stored : {format, Format::rgba16_float}) {
                                    const Linear memory(device, stored, to);
                                    resample(stream, memory.view(stored, to), texture,
                                             {.filter = filter, .crop = crop});
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
    expect_same(test::describe(image) + ", filter " + std::to_string(static_cast<int>(filter)),
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

}  // namespace
}  // namespace texton
