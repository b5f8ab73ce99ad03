// Resampling: the center of a pixel is mapped to a coordinate in the texture, and the texels around it are weighted.
#include <texton/resample.h>

#include <texton/launch.h>
#include <texton/sample.h>

#include "arrays/texture_state.h"
#include "kernels/functors/resample_functors.h"
#include "kernels/launch/checks.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

using resampling::Axis;
using resampling::Grid;

constexpr const char* kResample = "texton::resample";

struct Nearest {
    static constexpr bool kMayBeCalledWithZeros = true;
    Grid grid;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return grid.fetch(source, at.z, floorf(grid.x.position(at.x)) + 0.5f, floorf(grid.y.position(at.y)) + 0.5f);
    }
};

struct Linear2 {
    static constexpr bool kMayBeCalledWithZeros = true;
    Grid grid;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return grid.fetch(source, at.z, grid.x.position(at.x), grid.y.position(at.y));
    }
};

// --- single fetches --------------------------------------------------------------------------------------------------

/// Returns the coordinates of the fetches along an axis. `position_of` converts the coordinate of a pixel to that of its
/// fetch.
template <class PositionOf>
std::vector<float> positions_along(const Axis& axis, std::size_t pixels, const PositionOf& position_of) {
    std::vector<float> positions(pixels);
    for (std::size_t i = 0; i < pixels; ++i) positions[i] = position_of(axis.position(static_cast<std::int32_t>(i)));
    return positions;
}

// --- checks ----------------------------------------------------------------------------------------------------------

Grid grid_of(const View& image, const Texture& texture, const Crop& crop) {
    const Extent size = texture.extent();
    const float width = crop.width != 0 ? crop.width : static_cast<float>(size.width) - crop.x;
    const float height = crop.height != 0 ? crop.height : static_cast<float>(size.height) - crop.y;
    constexpr double kFarthest = 1 << 23;  // texels; floats distinguish the centers of all texels of the crop
    detail::check_range(kResample, "crop.x", crop.x, -kFarthest, kFarthest);
    detail::check_range(kResample, "crop.y", crop.y, -kFarthest, kFarthest);
    detail::check_positive(kResample, "crop.width", width);
    detail::check_positive(kResample, "crop.height", height);
    detail::check_range(kResample, "crop.width", width, 0, kFarthest);
    detail::check_range(kResample, "crop.height", height, 0, kFarthest);
    return {{width / static_cast<float>(image.extent().width), crop.x},
            {height / static_cast<float>(image.extent().height), crop.y},
            texture.kind() == ArrayKind::layered_2d};
}

}  // namespace

void resample(const Stream& stream, const View& image, const Texture& texture, const ResampleOptions& options) try {
    detail::check_kind(kResample, "texture", texture, {ArrayKind::array_2d, ArrayKind::layered_2d});
    detail::check_slices(kResample, image, texture);
    const Grid grid = grid_of(image, texture, options.crop);
    if (options.filter != ResampleFilter::nearest) detail::check_floats(kResample, "texture", texture);
    if (options.filter == ResampleFilter::linear) detail::check_filter(kResample, "texture", texture, Filter::linear);
    const Texture texels = options.filter == ResampleFilter::linear ? texture : detail::by_points(texture);
    detail::Launch launch(kResample, stream, image, {&texels, 1}, detail::Overlap::refused);
    const detail::DeviceKernels& kernels = detail::device_kernels(launch);
    const Extent extent = image.extent();
    const auto enqueue = [&](const auto& functor) { detail::run<1>(launch, functor); };
    const auto singly = [&](const auto& position_of) {
        return kernels.fetch_lattice(launch, [&] {
            return detail::Lattice{positions_along(grid.x, extent.width, position_of),
                                   positions_along(grid.y, extent.height, position_of)};
        });
    };
    switch (options.filter) {
        case ResampleFilter::nearest:
            if (singly([](float position) { return floorf(position) + 0.5f; })) return;
            return enqueue(Nearest{grid});
        case ResampleFilter::linear:
            if (singly([](float position) { return position; })) return;
            if (!texture.sampler().normalized_coordinates && detail::fits_sample(image, texture)) {
                return launch.sample_grid(
                    {.xx = grid.x.step, .x0 = grid.x.begin, .yy = grid.y.step, .y0 = grid.y.begin});
            }
            return enqueue(Linear2{grid});
        case ResampleFilter::catmull_rom:
        case ResampleFilter::b_spline:
        case ResampleFilter::lanczos3:
        case ResampleFilter::area: break;
    }
    if (kernels.resample(launch, {grid, options.filter})) return;
    resampling::with_weights(options.filter, [&]<class Weights>(std::type_identity<Weights>) {
        enqueue(resampling::SeparableSum<Weights>{grid});
    });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::resample");
}

Kernel detail::resample_kernel() {
    KernelInfo info;
    info.name = "resample";
    info.group = "resample";
    info.summary = "resamples an image, or a region of it, to another size";
    info.inputs = {{"image", "image to resample", {ArrayKind::array_2d, ArrayKind::layered_2d}}};
    info.parameters = {
        {.name = "filter",
         .kind = ParameterKind::choice,
         .summary = "how texels are weighted",
         .standard = "linear",
         .choices = {"nearest", "linear", "catmull_rom", "b_spline", "lanczos3", "area"}},
        {.name = "crop",
         .kind = ParameterKind::numbers,
         .summary = "x, y, width and height of the region, in texels; 0 0 0 0 means the whole image",
         .standard = std::vector<double>{0, 0, 0, 0},
         .count = 4},
    };
    return {std::move(info),
            [](const Arguments&, std::span<const Texture> inputs) {
                Extent extent = inputs[0].extent();
                extent.depth = inputs[0].kind() == ArrayKind::layered_2d ? inputs[0].layers() : 1;
                return std::vector<ImageShape>{{extent, inputs[0].format()}};
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                const std::vector<double>& crop = arguments.numbers("crop");
                const auto number = [&](std::size_t i) { return static_cast<float>(crop[i]); };
                resample(stream, images[0], inputs[0],
                         {arguments.choice<ResampleFilter>("filter"), {number(0), number(1), number(2), number(3)}});
            }};
}

}  // namespace texton
