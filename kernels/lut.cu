// Colors through lookup tables. The domain is mapped to the range between the centers of the table's first and last
// texel.
#include <texton/lut.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include <texton/copy.h>
#include <texton/float_math.h>
#include <texton/launch.h>

#include "arrays/texture_state.h"
#include "core/request.h"
#include "kernels/functors/lut_functors.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

using lut::Cell;
using lut::Lut1d;
using lut::LutAxis;
using lut::OctaveAxis;

constexpr const char* kLut1d = "texton::lut_1d";
constexpr const char* kLut3d = "texton::lut_3d";
constexpr const char* kCurve = "texton::curve_array";

// --- 3D --------------------------------------------------------------------------------------------------------------

template <class Axis>
struct Trilinear {
    static constexpr bool kMayBeCalledWithZeros = false;  // the fetches of volumes would only be repeated
    static constexpr bool kPointwiseWithTables = true;
    detail::PointwiseTexel texel;
    Axis axis[3];

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Source& table) const {
        const Float4 color = texel(at, source);
        const Float4 entry =
            table.at_texel(axis[0].entry(color.x) + 0.5f, axis[1].entry(color.y) + 0.5f, axis[2].entry(color.z) + 0.5f);
        return {entry.x, entry.y, entry.z, color.w};
    }
};

/// Tetrahedral interpolation. A cell is divided into six tetrahedra around its gray diagonal. A path from the first
/// corner of the cell to the last that follows the axes in descending order of their weights passes the four corners
/// of the tetrahedron that contains the color.
template <class Axis>
struct Tetrahedral {
    static constexpr bool kMayBeCalledWithZeros = false;  // the fetches of volumes would only be repeated
    static constexpr unsigned kPixels = 1;
    static constexpr bool kPointwiseWithTables = true;
    detail::PointwiseTexel texel;
    Axis axis[3];

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Source& table) const {
        const Float4 color = texel(at, source);
        const Cell x(axis[0], color.x);
        const Cell y(axis[1], color.y);
        const Cell z(axis[2], color.z);
        const bool x_before_y = x.share >= y.share;
        const bool y_before_z = y.share >= z.share;
        const bool x_before_z = x.share >= z.share;
        const bool x_first = x_before_y && x_before_z;
        const bool y_first = !x_before_y && y_before_z;
        const bool z_first = !x_first && !y_first;
        const bool x_last = !x_before_y && !x_before_z;
        const bool y_last = x_before_y && !y_before_z;
        const bool z_last = !x_last && !y_last;
        const float maximum = x_first ? x.share : y_first ? y.share : z.share;
        const float minimum = x_last ? x.share : y_last ? y.share : z.share;
        const float center = x_first || x_last ? (y_first || y_last ? z.share : y.share) : x.share;
        const auto corner = [&](bool along_x, bool along_y, bool along_z) {
            return table.at_texel((along_x ? x.second : x.first) + 0.5f, (along_y ? y.second : y.first) + 0.5f,
                                  (along_z ? z.second : z.first) + 0.5f);
        };
        const Float4 entry =
            corner(false, false, false) * (1.0f - maximum) + corner(x_first, y_first, z_first) * (maximum - center) +
            corner(!x_last, !y_last, !z_last) * (center - minimum) + corner(true, true, true) * minimum;
        return {entry.x, entry.y, entry.z, color.w};
    }
};

// --- checks ----------------------------------------------------------------------------------------------------------

/// Computes the axes of a table with these numbers of entries along red, green and blue. Throws Error{bad_argument} if
/// the domain is invalid.
void set_axes(LutAxis (&axes)[3], const char* object, const LutDomain& domain, const std::size_t (&entries)[3]) {
    for (int i = 0; i < 3; ++i) {
        const float low = domain.low[i];
        const float high = domain.high[i];
        detail::check_finite(object, "domain.low", low);
        detail::check_finite(object, "domain.high", high);
        detail::check_positive(object, "domain.high - domain.low", high - low);
        const auto last = static_cast<float>(entries[i] - 1);
        axes[i] = {low, high, last / (high - low), last};
        detail::check_finite(object, "the number of entries per unit of the domain", axes[i].scale);
    }
}

/// Converts the axes of a domain to those of entries in octaves.
void set_octaves(OctaveAxis (&octaves)[3], const LutAxis (&axes)[3], float offset) {
    detail::check_finite(kLut3d, "octave_offset", offset);
    for (int i = 0; i < 3; ++i) {
        const float low = axes[i].low + offset;
        const float high = axes[i].high + offset;
        detail::check_range(kLut3d, "domain.low + octave_offset", low, std::numeric_limits<float>::min(),
                            std::numeric_limits<float>::max());
        detail::check_finite(kLut3d, "domain.high + octave_offset", high);
        const std::uint32_t first = detail::bits_of(low);
        const std::uint32_t steps = detail::bits_of(high) - first;
        detail::check_positive(kLut3d, "the steps of float32 in the domain, shifted by octave_offset", steps);
        octaves[i] = {axes[i], offset, first};
        octaves[i].axis.scale = axes[i].last / static_cast<float>(steps);
    }
}

void check_table(const char* object, const Texture& table, ArrayKind kind, LutFilter filter, LutChannels channels) {
    detail::check_kind(object, "table", table, {kind});
    if (table.source() == TextureSource::linear)
        detail::refuse_argument(object, "table is a texture of a row of memory, which cannot be filtered",
                                "Create the table from a 1D array.");
    detail::check_floats(object, "table", table);
    if (channels == LutChannels::each && info(table.format()).channels < 3)
        detail::refuse_argument(
            object, "table is a texture of " + std::string(name(table.format())) + ", which has no green and blue",
            "Use a table with four channels, or a 1D table with LutChannels::shared.");
    if (filter == LutFilter::hardware) detail::check_filter(object, "table", table, Filter::linear);
}

/// Checks the points of a curve.
void check_curve(std::span<const CurvePoint> points, std::size_t size) {
    detail::check_range(kCurve, "points", static_cast<double>(points.size()), 2, 1e9);
    detail::check_range(kCurve, "size", static_cast<double>(size), 2, 1e9);
    for (std::size_t i = 0; i < points.size(); ++i) {
        detail::check_finite(kCurve, "a point's x", points[i].x);
        detail::check_finite(kCurve, "a point's y", points[i].y);
        if (i != 0)
            detail::check_positive(kCurve, "the step from a point's x to the next", points[i].x - points[i - 1].x);
    }
}

}  // namespace

// --- functions -------------------------------------------------------------------------------------------------------

void lut_1d(const Stream& stream, const View& image, const Texture& texture, const Texture& table,
            const Lut1dOptions& options) try {
    Lut1d lut{detail::pointwise_texel(kLut1d, image, "texture", texture),
              {},
              options.filter,
              options.channels == LutChannels::shared};
    check_table(kLut1d, table, ArrayKind::array_1d, options.filter, options.channels);
    const std::size_t entries = table.extent().width;
    set_axes(lut.axis, kLut1d, options.domain, {entries, entries, entries});
    const Texture textures[] = {detail::by_points(texture), table};
    detail::Launch launch(kLut1d, stream, image, textures, detail::overlap_of<Lut1d>());
    if (!detail::device_kernels(launch).look_up(launch, lut)) detail::run<2>(launch, lut);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::lut_1d");
}

void lut_3d(const Stream& stream, const View& image, const Texture& texture, const Texture& table,
            const Lut3dOptions& options) try {
    const detail::PointwiseTexel texel = detail::pointwise_texel(kLut3d, image, "texture", texture);
    check_table(kLut3d, table, ArrayKind::array_3d, options.filter, LutChannels::each);
    const Extent entries = table.extent();
    LutAxis axes[3];
    set_axes(axes, kLut3d, options.domain, {entries.width, entries.height, entries.depth});
    const Texture texels = detail::by_points(texture);
    const auto enqueue = [&](const auto& axis) {
        using Axis = std::remove_cvref_t<decltype(axis[0])>;
        if (options.filter == LutFilter::hardware)
            return detail::launch_as(kLut3d, stream, image, Trilinear<Axis>{texel, {axis[0], axis[1], axis[2]}}, texels,
                                     table);
        detail::launch_as(kLut3d, stream, image, Tetrahedral<Axis>{texel, {axis[0], axis[1], axis[2]}}, texels, table);
    };
    if (options.octave_offset == 0) return enqueue(axes);
    OctaveAxis octaves[3];
    set_octaves(octaves, axes, options.octave_offset);
    enqueue(octaves);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::lut_3d");
}

Array curve_array(const Device& device, std::span<const CurvePoint> points, std::size_t size) try {
    check_curve(points, size);
    const double first = points.front().x;
    const double last = points.back().x;
    std::vector<float> entries(size);
    std::size_t piece = 1;  // index of the point at which the current segment ends
    for (std::size_t i = 0; i < size; ++i) {
        const double x = first + (last - first) * static_cast<double>(i) / static_cast<double>(size - 1);
        while (piece + 1 < points.size() && x > points[piece].x) ++piece;
        const CurvePoint& from = points[piece - 1];
        const CurvePoint& to = points[piece];
        const double share = (x - from.x) / (static_cast<double>(to.x) - from.x);
        entries[i] = static_cast<float>(from.y + (static_cast<double>(to.y) - from.y) * share);
    }
    Array table(device, {.format = Format::r32_float, .extent = {size}, .kind = ArrayKind::array_1d});
    copy(table.view(), host_view(entries.data(), Format::r32_float, {size}));
    return table;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kCurve);
}

// --- named kernels ---------------------------------------------------------------------------------------------------

namespace {

std::vector<InputInfo> lut_inputs(ArrayKind table, const char* summary) {
    return {{"image", "image whose colors are changed", {ArrayKind::array_2d, ArrayKind::layered_2d}},
            {"table", summary, {table}}};
}

std::vector<ParameterInfo> lut_parameters(const char* exact) {
    return {{.name = "filter",
             .kind = ParameterKind::choice,
             .summary = exact,
             .standard = "hardware",
             .choices = {"hardware", "exact"}},
            {.name = "domain_min",
             .kind = ParameterKind::numbers,
             .summary = "red, green and blue of the table's first entry",
             .standard = std::vector<double>{0, 0, 0},
             .count = 3},
            {.name = "domain_max",
             .kind = ParameterKind::numbers,
             .summary = "red, green and blue of the table's last entry",
             .standard = std::vector<double>{1, 1, 1},
             .count = 3}};
}

LutDomain domain_of(const Arguments& arguments) {
    LutDomain domain;
    for (std::size_t i = 0; i < 3; ++i) {
        domain.low[i] = static_cast<float>(arguments.numbers("domain_min")[i]);
        domain.high[i] = static_cast<float>(arguments.numbers("domain_max")[i]);
    }
    return domain;
}

std::vector<ImageShape> like_image(const Arguments&, std::span<const Texture> inputs) {
    return {detail::shape_like(inputs[0])};
}

}  // namespace

Kernel detail::lut_1d_kernel() {
    KernelInfo info{"lut_1d", "color", "maps colors through a 1D lookup table",
                    lut_inputs(ArrayKind::array_1d, "1D lookup table"),
                    lut_parameters("interpolation between entries: hardware has 8-bit weights, exact is float32")};
    info.parameters.push_back({.name = "curves",
                               .kind = ParameterKind::choice,
                               .summary = "each channel reads its own channel of the table, or all read its red",
                               .standard = "each",
                               .choices = {"each", "shared"}});
    return {std::move(info), like_image,
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                lut_1d(stream, images[0], inputs[0], inputs[1],
                       {domain_of(arguments), arguments.choice<LutFilter>("filter"),
                        arguments.choice<LutChannels>("curves")});
            }};
}

Kernel detail::lut_3d_kernel() {
    return {
        {"lut_3d", "color", "maps colors through a 3D lookup table",
         lut_inputs(ArrayKind::array_3d, "3D lookup table: x is red, y is green, z is blue"),
         lut_parameters("interpolation between entries: hardware has 8-bit weights, exact is tetrahedral in float32")},
        like_image,
        [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
           std::span<const Texture> inputs) {
            lut_3d(stream, images[0], inputs[0], inputs[1],
                   {domain_of(arguments), arguments.choice<LutFilter>("filter")});
        }};
}

}  // namespace texton
