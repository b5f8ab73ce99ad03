// Mip chains on tiles of a CUDA device, and kernels on tiles in a graph: see random_images.h.
#include <texton/mips.h>

#include <algorithm>
#include <string>
#include <vector>

#include <texton/filter.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pitched.h>

#include "tests/kernels/tiles/random_images.h"

namespace texton {
namespace {

using test::Bytes;
using test::KernelTilesTest;
using test::Random;

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
    test::upload(array.view(), chain.wild ? test::wild_texels(random, chain.info.format, bytes)
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
                test::upload(finest.view(), test::wild_texels(bits, format, packed_bytes(format, extent)));
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
                test::upload(finest.view(),
                             test::wild_texels(bits, format, packed_bytes(format, test::level_box(from, 0))));
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
