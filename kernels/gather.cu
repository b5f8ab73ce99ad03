// Min-max pyramids and percentage-closer filtering. Gather fetches use the corner where four texels meet, so rounding
// of the coordinate cannot select other texels.
#include <texton/gather.h>

#include <cmath>
#include <span>
#include <vector>

#include <texton/launch.h>
#include <texton/linear.h>

#include "kernels/launch/checks.h"
#include "kernels/launch/registry.h"
#include "kernels/launch/scratch.h"

namespace texton {
namespace {

constexpr const char* kPyramid = "texton::min_max_pyramid";
constexpr const char* kCloser = "texton::percentage_closer";

/// The four texels that a gather returns, by column and row.
struct Four {
    float upper_left;
    float upper_right;
    float lower_left;
    float lower_right;
};

/// Gathers one channel of the four texels around a coordinate in texels.
template <class Source>
TEXTON_HD Four gather_four(const Source& source, float x, float y, int channel) {
    const Float4 four = source.gather(x * source.x_unit, y * source.y_unit, channel);
    return {four.w, four.z, four.x, four.y};
}

// --- the pyramid -----------------------------------------------------------------------------------------------------

struct MinMax {
    float lowest = INFINITY;
    float highest = -INFINITY;

    TEXTON_HD void add(const MinMax& other) {
        if (other.lowest < lowest) lowest = other.lowest;
        if (other.highest > highest) highest = other.highest;
    }
    TEXTON_HD void add(float value) { add(MinMax{value, value}); }
    TEXTON_HD Float4 color() const { return {lowest, highest, 0, 0}; }
};

/// The columns or rows, out of `size`, of the level below that a pixel covers.
struct Below {
    std::int32_t first;
    std::int32_t end;

    TEXTON_HD Below(std::int32_t pixel, std::int32_t size) : first(2 * pixel), end(2 * pixel + 2) {
        if (end + 1 >= size) end = size;  // includes the last one of an odd size, and handles a size of 1
    }
};

struct OfTexels {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    int channel;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Below x(at.x, source.width);
        const Below y(at.y, source.height);
        // A texture with a single column or row is gathered at the centers of its texels along that axis. The texels
        // beyond the edge that the gather returns are ignored.
        const bool wide = source.width > 1;
        const bool high = source.height > 1;
        MinMax all;
        std::int32_t row = y.first;
        do {
            std::int32_t column = x.first;
            do {
                const float position_x = static_cast<float>(column) + (wide ? 1.0f : 0.5f);
                const float position_y = static_cast<float>(row) + (high ? 1.0f : 0.5f);
                const Four four = gather_four(source, position_x, position_y, channel);
                all.add(four.upper_left);
                if (wide) all.add(four.upper_right);
                if (high) all.add(four.lower_left);
                if (wide && high) all.add(four.lower_right);
            } while (++column < x.end - 1);
        } while (++row < y.end - 1);
        return all.color();
    }
};

/// A level of the pyramid in scratch memory.
struct Level {
    const MinMax* pixels;
    std::int32_t width;
    std::int32_t height;

    TEXTON_HD const MinMax& operator()(std::int32_t x, std::int32_t y) const {
        return pixels[static_cast<std::int64_t>(y) * width + x];
    }
};

struct OfLevel {
    Level below;

    TEXTON_HD Float4 operator()(PixelPosition at) const {
        const Below x(at.x, below.width);
        const Below y(at.y, below.height);
        MinMax all;
        for (std::int32_t row = y.first; row < y.end; ++row) {
            for (std::int32_t column = x.first; column < x.end; ++column) all.add(below(column, row));
        }
        return all.color();
    }
};

struct Show {
    Level level;

    TEXTON_HD Float4 operator()(PixelPosition at) const { return level(at.x, at.y).color(); }
};

void check_levels(std::span<const View> levels, const std::vector<Extent>& extents) {
    if (levels.empty() || levels.size() > extents.size())
        detail::refuse_argument(kPyramid, std::to_string(levels.size()) + " levels were passed",
                                "Pass 1 to " + std::to_string(extents.size()) + " levels.");
    for (std::size_t i = 0; i < levels.size(); ++i)
        detail::check_extent(kPyramid, detail::level_name(i).c_str(), levels[i], extents[i]);
}

// --- percentage closer -----------------------------------------------------------------------------------------------

/// A coordinate split into an integer part and a fraction.
struct Corner {
    float position;
    float share;

    TEXTON_HD explicit Corner(float texels) : position(floorf(texels)), share(texels - floorf(texels)) {}
};

struct PercentageCloser {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    CloserSize size;
    float bias;

    template <class Depths, class Positions>
    TEXTON_HD Float4 operator()(PixelPosition at, const Depths& depths, const Positions& positions) const {
        const Float4 position = positions.at_texel(at.center_x(), at.center_y());
        const float reference = position.z - bias;
        if (size == CloserSize::two) {
            const Corner x(position.x - 0.5f);
            const Corner y(position.y - 0.5f);
            return {lit(depths, x.position + 1.0f, y.position + 1.0f, x.share, y.share, reference), 0, 0, 0};
        }
        // A square of 2 x 2 texels is the mean of four linear fetches, half a texel away on each side.
        const Corner x(position.x);
        const Corner y(position.y);
        float sum = 0;
        for (int j = 0; j < 2; ++j) {
            for (int i = 0; i < 2; ++i)
                sum += lit(depths, x.position + static_cast<float>(i), y.position + static_cast<float>(j), x.share,
                           y.share, reference);
        }
        return {sum * 0.25f, 0, 0, 0};
    }

private:
    template <class Depths>
    TEXTON_HD static float lit(const Depths& depths, float x, float y, float share_x, float share_y, float reference) {
        const Four depth = gather_four(depths, x, y, 0);
        const float upper = between(depth.upper_left >= reference, depth.upper_right >= reference, share_x);
        const float lower = between(depth.lower_left >= reference, depth.lower_right >= reference, share_x);
        return upper + (lower - upper) * share_y;
    }
    TEXTON_HD static float between(bool left, bool right, float share) {
        if (left == right) return left ? 1.0f : 0.0f;
        return left ? 1.0f - share : share;
    }
};

void check_gathered(const char* object, const char* name, const Texture& texture) {
    detail::check_kind(object, name, texture, {ArrayKind::array_2d});
    detail::check_gathers(object, name, texture);
}

}  // namespace

std::vector<Extent> min_max_extents(const Texture& texture) try {
    const auto half = [](std::size_t side) { return side > 1 ? side / 2 : 1; };
    std::vector<Extent> extents;
    Extent extent = texture.extent();
    do {
        extent = {half(extent.width), half(extent.height)};
        extents.push_back(extent);
    } while (extent.width > 1 || extent.height > 1);
    return extents;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::min_max_extents");
}

void min_max_pyramid(const Stream& stream, std::span<const View> levels, const Texture& texture, int channel,
                     const std::optional<Pool>& scratch) try {
    check_gathered(kPyramid, "texture", texture);
    detail::check_range(kPyramid, "channel", channel, 0, info(texture.format()).channels - 1);
    const std::vector<Extent> extents = min_max_extents(texture);
    check_levels(levels, extents);
    // Everything that can be refused is done before the first level is enqueued.
    std::vector<detail::Launch> launches;  // of the views
    std::vector<Linear> memory;            // every level but the last
    std::vector<detail::Launch> of_memory;
    const auto refused = detail::Overlap::refused;
    const std::span<const Texture> source(&texture, 1);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const bool reads_texture = i == 0 && levels.size() == 1;
        launches.emplace_back(kPyramid, stream, levels[i], reads_texture ? source : std::span<const Texture>(),
                              refused);
    }
    detail::check_distinct(launches, detail::level_name);
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        memory.push_back(detail::scratch_of(scratch, packed_bytes(Format::rg32_float, extents[i]), stream));
        of_memory.emplace_back(kPyramid, stream, memory[i].view(Format::rg32_float, extents[i]),
                               i == 0 ? source : std::span<const Texture>(), refused);
    }
    const auto level = [&](std::size_t i) {
        return Level{reinterpret_cast<const MinMax*>(memory[i].data()), static_cast<std::int32_t>(extents[i].width),
                     static_cast<std::int32_t>(extents[i].height)};
    };
    const auto make = [&](detail::Launch& launch, std::size_t i) {
        if (i == 0) return detail::run<1>(launch, OfTexels{channel});
        detail::run<0>(launch, OfLevel{level(i - 1)});
    };
    for (std::size_t i = 0; i < memory.size(); ++i) {
        make(of_memory[i], i);
        detail::run<0>(launches[i], Show{level(i)});
    }
    make(launches.back(), levels.size() - 1);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::min_max_pyramid");
}

void percentage_closer(const Stream& stream, const View& image, const Texture& depths, const Texture& positions,
                       const PercentageCloserOptions& options) try {
    check_gathered(kCloser, "depths", depths);
    detail::check_floats(kCloser, "depths", depths);
    detail::check_kind(kCloser, "coordinates", positions, {ArrayKind::array_2d});
    detail::check_floats(kCloser, "coordinates", positions);
    detail::check_same_size(kCloser, image, "coordinates", positions);
    detail::check_slices(kCloser, image, positions);
    detail::check_finite(kCloser, "bias", options.bias);
    detail::launch_as(kCloser, stream, image, PercentageCloser{options.size, options.bias}, depths, positions);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::percentage_closer");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

Kernel detail::min_max_pyramid_kernel() {
    KernelInfo info;
    info.name = "min_max_pyramid";
    info.group = "gather";
    info.summary = "computes a pyramid of the lowest and the highest values";
    info.inputs = {{"image", "image whose values are compared; its array needs gather usage"}};
    info.parameters = {{.name = "channel",
                        .kind = ParameterKind::integer,
                        .summary = "channel whose values are compared, counted from 0",
                        .standard = 0.0,
                        .lowest = 0,
                        .highest = 3},
                       {.name = "level_count",
                        .kind = ParameterKind::integer,
                        .summary = "number of levels; 0 means all",
                        .standard = 0.0,
                        .lowest = 0}};
    return {std::move(info),
            [](const Arguments& arguments, std::span<const Texture> inputs) {
                std::vector<ImageShape> shapes;
                const int max_levels = arguments.integer("level_count");
                for (const Extent& extent : min_max_extents(inputs[0])) {
                    if (max_levels == 0 || shapes.size() < static_cast<std::size_t>(max_levels))
                        shapes.push_back({extent, Format::rg32_float});
                }
                return shapes;
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                min_max_pyramid(stream, images, inputs[0], arguments.integer("channel"));
            }};
}

Kernel detail::percentage_closer_kernel() {
    KernelInfo info;
    info.name = "percentage_closer";
    info.group = "gather";
    info.summary = "computes the part of the depths around a coordinate that is not nearer than a reference";
    info.inputs = {{"depths", "depths to compare; their array needs gather usage"},
                   {"coordinates", "for each pixel the coordinate x and y in texels of depths, and the reference"}};
    info.parameters = {{.name = "kernel_size",
                        .kind = ParameterKind::choice,
                        .summary = "width and height of the compared square, in texels",
                        .standard = "2",
                        .choices = {"2", "3"}},
                       {.name = "bias", .summary = "subtracted from every reference", .standard = 0.0}};
    return {std::move(info),
            [](const Arguments&, std::span<const Texture> inputs) {
                return std::vector<ImageShape>{{inputs[1].extent(), Format::r8_unorm}};
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                percentage_closer(
                    stream, images[0], inputs[0], inputs[1],
                    {arguments.choice<CloserSize>("kernel_size"), static_cast<float>(arguments.number("bias"))});
            }};
}

}  // namespace texton
