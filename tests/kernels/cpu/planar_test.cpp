// Compares the CPU device's specialized luma and chroma kernels with functors that implement the same in a plain form.
// Results must be bit-identical.
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <texton/array.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/planar.h>

#include "kernels/functors/planar_functors.h"
#include "tests/support/scenes.h"

namespace texton {
namespace {

using test::any_bits;
using test::Bytes;
using test::download;
using test::expect_same;
using test::Random;
using test::same_bytes;
using test::samplers;
using test::upload;

struct PlanarScene {
    PlanarOptions options;
    Texture luma;
    Texture chroma;
    Extent extent;
};

Texture plane(Format format, const Extent& extent, const Bytes& bytes, const Sampler& sampler) {
    const Array array(Device::cpu(), {.format = format, .extent = extent});
    upload(array.view(), bytes);
    return Texture(array, sampler);
}

void expect_rgb(const PlanarScene& scene, std::initializer_list<Format> formats) {
    for (const Format format : formats) {
        const Extent around{scene.extent.width + 3, scene.extent.height + 2};
        const Linear memory(Device::cpu(), format, around);
        expect_same(
            memory.view(format, around), scene.extent,
            [&](const Stream& stream, const View& image) {
                to_rgb(stream, image, scene.luma, scene.chroma, scene.options);
            },
            [&](const Stream& stream, const View& image) {
                launch(stream, image, detail::to_rgb_functor(scene.options), scene.luma, scene.chroma);
            });
    }
}

TEST(CpuPlanarTest, RgbMatchesTheFunctor) {
    Random random(11);
    for (const Format format : {Format::nv12, Format::p010, Format::p016, Format::nv16}) {
        for (const ChromaSiting siting : {ChromaSiting::left, ChromaSiting::center, ChromaSiting::top_left}) {
            std::vector<Sampler> chromas = samplers(Filter::linear);
            chromas.push_back({.filter = Filter::linear, .normalized_coordinates = true});
            for (const Sampler& of_chroma : chromas) {
                const PlanarOptions options{format, LumaStandard::bt709,
                                            random.coin() ? CodeRange::limited : CodeRange::full, siting,
                                            random.coin()};
                const Extent extent{2 * random.between(1, random.below(4) == 0 ? 400 : 40), 2 * random.between(1, 12)};
                const auto plane_of = [&](int index, const Sampler& sampler) {
                    const PlaneInfo info = plane_info(format, index);
                    const Extent sides{extent.width / info.divide_width, extent.height / info.divide_height};
                    return plane(info.format, sides, any_bits(random, test::box_bytes(info.format, sides)), sampler);
                };
                const PlanarScene scene{options,
                                        plane_of(0, random.coin() ? Sampler{} : Sampler{.filter = Filter::linear}),
                                        plane_of(1, of_chroma), extent};
                SCOPED_TRACE(std::string(name(format)) + ", " + to_string(extent) + ", siting " +
                             std::to_string(static_cast<int>(siting)) + ", address " +
                             std::to_string(static_cast<int>(of_chroma.address[0])));
                expect_rgb(scene, {Format::rgba8_unorm, Format::rgba32_float, Format::rg16_unorm});
            }
        }
    }
}

/// Some instruction sets have no fused multiply-add.
TEST(CpuPlanarTest, RgbIsEqualForEveryInstructionSet) {
    const auto choose = [](std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    };
    Random random(17);
    const Extent extent{46, 6};
    for (const Format format : {Format::nv12, Format::p016}) {
        const auto plane_of = [&](int index, const Sampler& sampler) {
            const PlaneInfo info = plane_info(format, index);
            const Extent sides{extent.width / info.divide_width, extent.height / info.divide_height};
            return plane(info.format, sides, any_bits(random, test::box_bytes(info.format, sides)), sampler);
        };
        const PlanarOptions options{.format = format};
        const PlanarScene scene{options, plane_of(0, {}), plane_of(1, {.filter = Filter::linear}), extent};
        for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
            SCOPED_TRACE(std::string(name(format)) + ", " + hwy::TargetName(target));
            choose(target);
            expect_rgb(scene, {Format::rgba8_unorm, Format::rgba32_float});
        }
        choose(0);
    }
}

TEST(CpuPlanarTest, PlanesMatchTheFunctors) {
    Random random(13);
    for (const Format format : {Format::nv12, Format::p010, Format::p016, Format::nv16}) {
        for (const ChromaSiting siting : {ChromaSiting::left, ChromaSiting::center, ChromaSiting::top_left}) {
            for (const Format of_texture : {Format::rgba8_unorm, Format::rgba32_float, Format::rgba16_unorm}) {
                const PlanarOptions options{format, LumaStandard::bt601,
                                            random.coin() ? CodeRange::limited : CodeRange::full, siting,
                                            random.coin()};
                const Extent extent{2 * random.between(1, random.below(3) == 0 ? 600 : 40), 2 * random.between(1, 12)};
                SCOPED_TRACE(std::string(name(format)) + " of " + std::string(name(of_texture)) + ", " +
                             to_string(extent) + ", siting " + std::to_string(static_cast<int>(siting)));
                const Texture texture = plane(of_texture, extent, any_bits(random, test::box_bytes(of_texture, extent)),
                                              samplers(Filter::point)[random.below(4)]);
                const auto planes_made_by = [&](const auto& make) {
                    Bytes all;
                    Linear memory[2];
                    View planes[2];
                    for (int i = 0; i < 2; ++i) {
                        const PlaneInfo info = plane_info(format, i);
                        const Extent sides{extent.width / info.divide_width, extent.height / info.divide_height};
                        memory[i] = Linear(Device::cpu(), info.format, sides);
                        planes[i] = memory[i].view(info.format, sides);
                        upload(planes[i], Bytes(test::box_bytes(info.format, sides), std::byte{0x5a}));
                    }
                    const Stream stream(Device::cpu());
                    make(stream, Frame{planes[0], planes[1]});
                    stream.synchronize();
                    for (const View& view : planes) {
                        const Bytes bytes = download(view);
                        all.insert(all.end(), bytes.begin(), bytes.end());
                    }
                    return all;
                };
                const Bytes fast = planes_made_by(
                    [&](const Stream& stream, const Frame& planes) { from_rgb(stream, planes, texture, options); });
                const Bytes plain = planes_made_by([&](const Stream& stream, const Frame& planes) {
                    launch(stream, planes.luma, detail::luma_plane(options), texture);
                    launch(stream, planes.chroma, detail::chroma_plane(options), texture);
                });
                EXPECT_TRUE(same_bytes(fast, plain));
            }
        }
    }
}

/// Chroma is sited on the even rows and columns of luma, so each code there is read without interpolation.
TEST(CpuPlanarTest, RgbOfEveryCodeMatchesTheFunctor) {
    constexpr Extent kExtent{512, 512};
    Bytes luma(2 * 512 * 512);
    Bytes chroma(4 * 256 * 256);
    const auto put = [](Bytes& bytes, std::size_t at, std::size_t code) {
        bytes[2 * at] = static_cast<std::byte>(code);
        bytes[2 * at + 1] = static_cast<std::byte>(code >> 8);
    };
    for (std::size_t i = 0; i < 512 * 512; ++i) put(luma, i, i & 0xffff);
    for (std::size_t i = 0; i < 256 * 256; ++i) {
        put(chroma, 2 * i, i);
        put(chroma, 2 * i + 1, i * 40503 & 0xffff);
    }
    const PlanarOptions options{
        .format = Format::p016, .range = CodeRange::full, .siting = ChromaSiting::top_left, .swap_chroma = false};
    expect_rgb({options, plane(Format::r16_unorm, kExtent, luma, {}),
                plane(Format::rg16_unorm, {256, 256}, chroma, {.filter = Filter::linear}), kExtent},
               {Format::rgba32_float});
}

}  // namespace
}  // namespace texton
