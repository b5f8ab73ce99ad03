// Compares images of half the size on the CPU device, which are also levels, with a functor that implements the same in
// a plain form.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/launch.h>
#include <texton/mips.h>
#include <texton/resample.h>

#include "tests/kernels/cpu/resampling/plain_resampling.h"

namespace texton {
namespace {

using test::any_bits;
using test::Area;
using test::Bytes;
using test::center_at;
using test::download;
using test::expect_resample;
using test::kFormats;
using test::Random;
using test::same_bytes;
using test::upload;

TEST(CpuResampleTest, MeansOfFourColorsMatchTheFunctor) {
    Random random(31);
    for (const Format format : {Format::r8_srgb, Format::rg8_srgb, Format::rgba8_srgb}) {
        for (const std::size_t width : {1, 15, 16, 17, 256, 300}) {
            const Extent from{2 * width, 6};
            const Array array(Device::cpu(), {.format = format, .extent = from});
            upload(array.view(), any_bits(random, test::box_bytes(format, from)));
            SCOPED_TRACE(std::string(name(format)) + ", " + std::to_string(width));
            expect_resample<Area>({Texture(array), from, 1, format}, ResampleFilter::area, {width, 3}, {});
        }
    }
}

/// The box filter of levels with dimensions that are even, 1 or 3.
struct Halved {
    int across;  // texels that a pixel covers
    int down;
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        Float4 sum{};
        for (int j = 0; j < down; ++j) {
            Float4 row{};
            for (int i = 0; i < across; ++i)
                row += center_at(source, layered, at, at.x * across + i, at.y * down + j) * 1;
            sum += row * 1;
        }
        const auto total = static_cast<float>(across * down);
        return {sum.x / total, sum.y / total, sum.z / total, sum.w / total};
    }
};

TEST(CpuResampleTest, BoxFilteredLevelsMatchTheFunctor) {
    Random random(9);
    std::vector<Format> formats(kFormats.begin(), kFormats.end());
    formats.insert(formats.end(), {Format::r8_srgb, Format::rg8_srgb});
    for (const Format format : formats) {
        for (const Extent extent : {Extent{64, 48}, Extent{1030, 6}, Extent{3, 3}, Extent{1, 300}}) {
            const ArrayInfo info{
                .format = format, .extent = extent, .kind = ArrayKind::layered_2d, .layers = 2, .levels = 2};
            SCOPED_TRACE(test::describe(info));
            const Array array(Device::cpu(), info);
            upload(array.view(), any_bits(random, test::box_bytes(format, test::level_box(info, 0))));
            const auto covered = [](std::size_t side) { return side == 1 ? 1 : side == 3 ? 3 : 2; };
            const Halved functor{covered(extent.width), covered(extent.height), true};
            const Stream stream(Device::cpu());
            make_mips(stream, array);
            stream.synchronize();
            const Bytes fast = download(array.view({.level = 1}));
            const Texture above(array, {.normalized_coordinates = true}, {.first_level = 0, .levels = 1});
            launch(stream, array.view({.level = 1}), functor, above);
            stream.synchronize();
            EXPECT_TRUE(same_bytes(fast, download(array.view({.level = 1}))));
        }
    }
}

}  // namespace
}  // namespace texton
