// Mip levels with the box filter on the CPU device. A level of exactly half the width and height is computed as whole
// rows of means of 2 x 2 texels, others with sum_separably().
#include <algorithm>
#include <type_traits>
#include <vector>

#include <texton/launch.h>

#include "arrays/unit/texel_format.h"
#include "core/line_vector.h"
#include "kernels/cpu/halves.h"
#include "kernels/cpu/job.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/separable.h"
#include "kernels/cpu/texel_rows.h"
#include "kernels/functors/mip_chain.h"

namespace texton::detail {
namespace {

void halve_tile(const CpuJob& job, const PixelPosition& corner, std::size_t width, std::size_t height) {
    const TexelRows texels(job.textures[0], job.shapes[0], corner.z);
    const TexelFormat& format = job.textures[0].format;
    const HalveRow halve_stored =
        texels.are_stored() && format == job.image.format().stored ? halve_row(format, HalfMean::of_sums) : nullptr;
    const HalveRow halve_floats = halve_row(texel_format(Format::rgba32_float), HalfMean::of_sums);
    LineVector<Float4> room[2]{LineVector<Float4>(2 * width), LineVector<Float4>(2 * width)};
    LineVector<Float4> pixels(width);
    const std::int32_t x = 2 * corner.x;
    for (PixelPosition at = corner; at.y < corner.y + static_cast<std::int32_t>(height); ++at.y) {
        const std::int32_t y = 2 * at.y;
        if (halve_stored != nullptr) {
            halve_stored(texels.stored(x, y), texels.stored(x, y + 1), width,
                         reinterpret_cast<unsigned char*>(job.image.address(at)), false);
            continue;
        }
        const float* top = texels.centers_in_place(x, y, 2 * width, room[0].data());
        const float* bottom = texels.centers_in_place(x, y + 1, 2 * width, room[1].data());
        job.image.make_row(at, pixels, [&](float* means) {
            halve_floats(reinterpret_cast<const unsigned char*>(top), reinterpret_cast<const unsigned char*>(bottom),
                         width, reinterpret_cast<unsigned char*>(means), false);
        });
    }
}

void halve(const CpuJob& job) {
    constexpr std::size_t kColumns = 1024;
    constexpr std::size_t kRows = 32;
    for_each_tile(job, kColumns, kRows, [&](const PixelPosition& corner, std::size_t width, std::size_t height) {
        halve_tile(job, corner, width, height);
    });
}

// A level in memory, which a texture reads as a single row of texels.
struct LevelInRow {
    Extent extent;
    mip::TexelsOfMemory texels;
    ArrayKind kind;
};

// Returns a job that reads the level by rows.
CpuJob by_rows(CpuJob job, const LevelInRow& level) {
    CpuTexture& texture = job.textures[0];
    const std::size_t bytes = texture.format.bytes;
    texture.memory = level_view(texture.memory.data, level.extent, static_cast<std::size_t>(level.texels.row) * bytes,
                                static_cast<std::size_t>(level.texels.slice) * bytes);
    texture.kind = level.kind;
    texture.sampler = {};
    SourceShape& shape = job.shapes[0];
    shape.width = texture.memory.width;
    shape.height = texture.memory.height;
    shape.layers = texture.memory.depth;
    return job;
}

template <class Make>
void run_level(Launch& launch, const mip::Step& step, const Make& make) {
    if (!step.memory) return launch.run_job(make);
    launch.run_job([make, level = LevelInRow{step.from, *step.memory, step.kind}](const CpuJob& job) {
        make(by_rows(job, level));
    });
}

SumAxis sums_along(const mip::Halving& axis) {
    const auto taps_of = [&](std::size_t pixel) {
        return mip::Box{}.taps(axis, std::min(static_cast<std::int32_t>(pixel), axis.to - 1));
    };
    const auto count = static_cast<std::size_t>(taps_of(0).count);
    const std::size_t pixels = whole_line_blocks(static_cast<std::size_t>(axis.to));
    SumAxis sums;
    sums.first.resize(pixels);
    for (std::size_t i = 0; i < pixels; ++i) sums.first[i] = taps_of(i).texel[0];
    sums.count.assign(pixels, taps_of(0).count);
    for (std::size_t begin = 0; begin < pixels; begin += kLineBlock) {
        float* const weights = sums.add_group(count);
        // A constant for each tap, so that the compiler computes several pixels at once.
        const auto weigh = [&]<std::size_t tap>(std::integral_constant<std::size_t, tap>) {
            if (tap >= count) return;
            for (std::size_t i = 0; i < kLineBlock; ++i) weights[tap * kLineBlock + i] = taps_of(begin + i).weight[tap];
        };
        static_assert(mip::Box::kMax == 3);
        weigh(std::integral_constant<std::size_t, 0>());
        weigh(std::integral_constant<std::size_t, 1>());
        weigh(std::integral_constant<std::size_t, 2>());
    }
    return sums;
}

}  // namespace

// Enqueues one level per call, with the box filter without alpha weighting, for 2D and layered 2D textures.
std::size_t CpuKernels::make_mips(std::span<Launch> launches, const mip::Chain& chain) const {
    const mip::Step& step = chain.steps[0];
    const ArrayKind kind = step.memory ? step.kind : step.above.kind();
    if (chain.options.filter != MipFilter::box || chain.options.alpha_weighted ||
        (kind != ArrayKind::array_2d && kind != ArrayKind::layered_2d))
        return 0;
    const mip::Sides sides = mip::sides_between(step.from, step.level.extent());
    if (sides.x.from == 2 * sides.x.to && sides.y.from == 2 * sides.y.to) {
        if (halve_row(texel_format(Format::rgba32_float), HalfMean::of_sums) == nullptr) return 0;
        run_level(launches[0], step, halve);
        return 1;
    }
    if (line_sums() == nullptr) return 0;
    const float total = mip::Box{}.taps(sides.x, 0).total * mip::Box{}.taps(sides.y, 0).total;
    run_level(launches[0], step,
              [sums = SeparableSums{sums_along(sides.x), sums_along(sides.y), total}](const CpuJob& job) {
                  sum_separably(job, sums);
              });
    return 1;
}

}  // namespace texton::detail
