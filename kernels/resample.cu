// Resampling: the center of a pixel is mapped to a coordinate in the texture, and the texels around it are weighted.
#include <texton/resample.h>

#include <texton/float_math.h>
#include <texton/launch.h>
#include <texton/sample.h>

#include "arrays/texture_state.h"
#include "kernels/launch/checks.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

constexpr const char* kResample = "texton::resample";

// --- coordinates -----------------------------------------------------------------------------------------------------

/// The distance between pixels along an axis, in texels, and the coordinate of the image's upper left corner.
struct Axis {
    float step;
    float begin;

    TEXTON_HD float position(std::int32_t pixel) const { return (static_cast<float>(pixel) + 0.5f) * step + begin; }
};

struct Grid {
    Axis x;
    Axis y;
    bool layered;

    template <class Source>
    TEXTON_HD Float4 fetch(const Source& source, std::int32_t layer, float at_x, float at_y) const {
        return layered ? source.layer_at_texel(layer, at_x, at_y) : source.at_texel(at_x, at_y);
    }
};

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

// --- cubic filters, computed from linear fetches ---------------------------------------------------------------------

/// The coordinates and the weights of the fetches along an axis. A fetch between two texels replaces both of them.
struct CubicTaps {
    float position[3];
    float weight[3];
};

/// The center of the texel to the left of a coordinate, and the distance of the coordinate from it.
struct Between {
    float center;
    float share;
};

TEXTON_HD inline Between between_texels(float position) {
    const float center = floorf(position - 0.5f) + 0.5f;
    return {center, position - center};
}

/// Three fetches: one for each of the outer texels, whose weights are negative, and one for the two inner texels.
TEXTON_HD inline CubicTaps catmull_rom_taps(float position) {
    const auto [center, t] = between_texels(position);
    const float before = t * (t * (1.0f - 0.5f * t) - 0.5f);
    const float left = t * t * (1.5f * t - 2.5f) + 1.0f;
    const float right = t * (t * (2.0f - 1.5f * t) + 0.5f);
    const float after = t * t * (0.5f * t - 0.5f);
    const float inner = left + right;
    return {{center - 1.0f, center + right / inner, center + 2.0f}, {before, inner, after}};
}

/// Two fetches, each of which replaces two texels. The third has the weight 0.
TEXTON_HD inline CubicTaps b_spline_taps(float position) {
    constexpr float kSixth = 1.0f / 6.0f;
    const auto [center, t] = between_texels(position);
    const float back = 1.0f - t;
    const float before = back * back * back * kSixth;
    const float left = (4.0f + t * t * (3.0f * t - 6.0f)) * kSixth;
    const float right = (4.0f + back * back * (3.0f * back - 6.0f)) * kSixth;
    const float after = t * t * t * kSixth;
    const float first = before + left;
    const float second = right + after;
    return {{center - 1.0f + left / first, center + 1.0f + after / second, 0}, {first, second, 0}};
}

template <int count>
struct Cubic {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    Grid grid;

    TEXTON_HD static CubicTaps taps(float position) {
        return count == 3 ? catmull_rom_taps(position) : b_spline_taps(position);
    }

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const CubicTaps x = taps(grid.x.position(at.x));
        const CubicTaps y = taps(grid.y.position(at.y));
        Float4 sum{};
        for (int j = 0; j < count; ++j) {
            Float4 row{};
            for (int i = 0; i < count; ++i) row += grid.fetch(source, at.z, x.position[i], y.position[j]) * x.weight[i];
            sum += row * y.weight[j];
        }
        return sum;
    }
};

// --- taps for DeviceKernels::fetch_lattice() -------------------------------------------------------------------------

/// Returns one tap per pixel. `position_of` converts the coordinate of the pixel to the coordinate of its fetch.
template <class PositionOf>
detail::LatticeAxis single_taps(const Axis& axis, std::size_t pixels, const PositionOf& position_of) {
    detail::LatticeAxis taps{1, std::vector<float>(pixels), {}};
    for (std::size_t i = 0; i < pixels; ++i)
        taps.positions[i] = position_of(axis.position(static_cast<std::int32_t>(i)));
    return taps;
}

template <int count>
detail::LatticeAxis cubic_taps(const Axis& axis, std::size_t pixels) {
    detail::LatticeAxis taps{count, std::vector<float>(count * pixels), std::vector<float>(count * pixels)};
    for (std::size_t i = 0; i < pixels; ++i) {
        const CubicTaps of_pixel = Cubic<count>::taps(axis.position(static_cast<std::int32_t>(i)));
        for (std::size_t tap = 0; tap < count; ++tap) {
            taps.positions[tap * pixels + i] = of_pixel.position[tap];
            taps.weights[tap * pixels + i] = of_pixel.weight[tap];
        }
    }
    return taps;
}

// --- filters of any width --------------------------------------------------------------------------------------------

/// The weight of a texel is the length of its part that the pixel covers.
struct AreaWeight {
    float low;
    float high;

    TEXTON_HD AreaWeight(const Axis& axis, std::int32_t pixel)
        : low(static_cast<float>(pixel) * axis.step + axis.begin),
          high(static_cast<float>(pixel + 1) * axis.step + axis.begin) {}
    TEXTON_HD std::int32_t first() const { return static_cast<std::int32_t>(floorf(low)); }
    TEXTON_HD std::int32_t end() const { return static_cast<std::int32_t>(ceilf(high)); }
    TEXTON_HD float operator()(std::int32_t index) const {
        const float left = static_cast<float>(index);
        const float from = low > left ? low : left;
        const float to = high < left + 1.0f ? high : left + 1.0f;
        return to > from ? to - from : 0.0f;
    }
};

/// The weight of a texel is the Lanczos window with three lobes. When the image is minified, the window is widened.
class LanczosWeight {
public:
    TEXTON_HD LanczosWeight(const Axis& axis, std::int32_t pixel)
        : position_(axis.position(pixel)), scale_(axis.step > 1.0f ? 1.0f / axis.step : 1.0f) {}
    TEXTON_HD std::int32_t first() const { return static_cast<std::int32_t>(floorf(position_ - 3.0f / scale_)); }
    TEXTON_HD std::int32_t end() const { return static_cast<std::int32_t>(ceilf(position_ + 3.0f / scale_)); }
    TEXTON_HD float operator()(std::int32_t index) const {
        constexpr float kPi = 3.14159265f;
        const float x = (static_cast<float>(index) + 0.5f - position_) * scale_;
        if (x == 0) return 1;
        if (x <= -3.0f || x >= 3.0f) return 0;
        const float angle = kPi * x;
        return 3.0f * sine_cosine_of(x).sine * sine_cosine_of(x / 3.0f).sine / (angle * angle);
    }

private:
    float position_;
    float scale_;  // pixels per texel when minifying, otherwise 1
};

/// The mean of the texels, weighted by the product of their weights along both axes.
template <class Weight>
struct Weighted {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    Grid grid;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Weight x(grid.x, at.x);
        const Weight y(grid.y, at.y);
        Float4 sum{};
        float total = 0;
        for (std::int32_t j = y.first(); j < y.end(); ++j) {
            const float of_row = y(j);
            if (of_row == 0) continue;
            for (std::int32_t i = x.first(); i < x.end(); ++i) {
                const float weight = x(i) * of_row;
                if (weight == 0) continue;
                sum += grid.fetch(source, at.z, static_cast<float>(i) + 0.5f, static_cast<float>(j) + 0.5f) * weight;
                total += weight;
            }
        }
        return {sum.x / total, sum.y / total, sum.z / total, sum.w / total};
    }
};

template <class Weight>
detail::BoxAxis boxes_along(const Axis& axis, std::size_t pixels) {
    detail::BoxAxis boxes;
    boxes.reserve(pixels);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(pixels); ++i) {
        const Weight weight(axis, i);
        const std::int32_t first = weight.first();
        const std::int32_t end = weight.end();
        for (std::int32_t texel = first; texel < end; ++texel) boxes.add_weight(weight(texel));
        boxes.add_pixel(first);
    }
    return boxes;
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
    const bool through_linear = options.filter == ResampleFilter::linear ||
                                options.filter == ResampleFilter::catmull_rom ||
                                options.filter == ResampleFilter::b_spline;
    if (through_linear) detail::check_filter(kResample, "texture", texture, Filter::linear);
    const Texture texels = through_linear ? texture : detail::by_points(texture);
    detail::Launch launch(kResample, stream, image, {&texels, 1}, detail::Overlap::refused);
    const detail::DeviceKernels& kernels = detail::device_kernels(launch);
    const Extent extent = image.extent();
    const auto enqueue = [&](const auto& functor) { detail::run<1>(launch, functor); };
    const auto in_lattice = [&](const auto& taps_along) {
        return kernels.fetch_lattice(launch, [&] {
            return detail::Lattice{taps_along(grid.x, extent.width), taps_along(grid.y, extent.height)};
        });
    };
    const auto in_boxes = [&](const auto& boxes_of) {
        return kernels.sum_boxes(launch, [&] {
            return detail::Boxes{boxes_of(grid.x, extent.width), boxes_of(grid.y, extent.height)};
        });
    };
    const auto singly = [&](const auto& position_of) {
        return in_lattice([&](const Axis& axis, std::size_t pixels) { return single_taps(axis, pixels, position_of); });
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
            if (in_lattice(cubic_taps<3>)) return;
            return enqueue(Cubic<3>{grid});
        case ResampleFilter::b_spline:
            if (in_lattice(cubic_taps<2>)) return;
            return enqueue(Cubic<2>{grid});
        case ResampleFilter::lanczos3:
            if (in_boxes(boxes_along<LanczosWeight>)) return;
            return enqueue(Weighted<LanczosWeight>{grid});
        case ResampleFilter::area:
            if (in_boxes(boxes_along<AreaWeight>)) return;
            return enqueue(Weighted<AreaWeight>{grid});
    }
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
