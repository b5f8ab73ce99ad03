// Levels of a mip chain, each from the one above it.
//
// A texel of a level covers `from / to` texels along each side of the level above: 2, or a bit more where `from` is
// odd. Every filter is a row of weights along each axis, and sums are taken in this order, which faster ways must keep:
//     row    = ((0 + texel[0] * x[0]) + texel[1] * x[1]) + ...      along x
//     plane  = ((0 + row[0] * y[0]) + row[1] * y[1]) + ...          along y
//     volume = ((0 + plane[0] * z[0]) + plane[1] * z[1]) + ...      along z, with one plane and weight 1 in 2D
//     result = volume / ((total of x * total of y) * total of z)
// The box's weights are whole numbers, 1 and 1 along an even side, so that there all products are exact. Colour that is
// weighted by alpha is summed alike, of texel * alpha; its result is that sum over the sum of alpha.
#include <texton/mips.h>

#include <string>
#include <vector>

#include <texton/float_math.h>
#include <texton/launch.h>

#include "arrays/texture_address.h"
#include "kernels/checks.h"
#include "kernels/cpu_ways.h"
#include "kernels/cube_direction.h"
#include "kernels/registry.h"

namespace texton {
namespace {

constexpr const char* kMakeMips = "texton::make_mips";
constexpr float kWidestKaiser = 4;

// --- weights along an axis -------------------------------------------------------------------------------------------

/// The texels along a side of two levels; as many in both where the axis is one of layers, or a single texel.
struct Halving {
    std::int32_t from;
    std::int32_t to;
};

template <int most>
struct Taps {
    std::int32_t count;
    std::int32_t texel[most];
    float weight[most];
    float total;
};

template <int most>
TEXTON_HD Taps<most> single_tap(std::int32_t texel) {
    Taps<most> taps;
    taps.count = 1;
    taps.texel[0] = texel;
    taps.weight[0] = 1;
    taps.total = 1;
    return taps;
}

struct Box {
    static constexpr int kMost = 3;

    /// A texel covers from / to texels, which in units of 1 / to are `from` long: so long is the part of each as its
    /// weight says (Guthe and Heckbert, Non-Power-of-Two Mipmapping, 2005).
    TEXTON_HD Taps<kMost> taps(const Halving& axis, std::int32_t pixel) const {
        if (axis.from == axis.to) return single_tap<kMost>(pixel);
        const bool odd = axis.from % 2 != 0;
        Taps<kMost> taps;
        taps.count = odd ? 3 : 2;
        for (std::int32_t i = 0; i < taps.count; ++i) taps.texel[i] = 2 * pixel + i;
        taps.weight[0] = odd ? static_cast<float>(axis.to - pixel) : 1;
        taps.weight[1] = odd ? static_cast<float>(axis.to) : 1;
        taps.weight[2] = static_cast<float>(pixel + 1);
        taps.total = odd ? static_cast<float>(axis.from) : 2;
        return taps;
    }
};

/// The modified Bessel function of the first kind and order 0, by its power series; for 0 to 10.
TEXTON_HD inline float bessel_i0(float x) {
    const float quarter = x * x * 0.25f;
    float term = 1;
    float sum = 1;
    for (int k = 1; k < 25; ++k) {
        term = term * quarter / static_cast<float>(k * k);
        sum += term;
    }
    return sum;
}

/// sinc(x) I0(alpha sqrt(1 - (x / width)^2)), x in texels of the smaller level, at the middles of the larger one's
/// texels.
struct Kaiser {
    static constexpr int kMost = static_cast<int>(2 * kWidestKaiser * 3) + 1;  // a side of 3 texels becomes one
    float width;
    float alpha;
    AddressMode address;

    TEXTON_HD float weight(float x) const {
        constexpr float kPi = 3.14159265f;
        const float share = x / width;
        const float inside = 1.0f - share * share;
        const float window = bessel_i0(alpha * sqrtf(inside > 0 ? inside : 0.0f));
        return x == 0 ? window : sine_cosine_of(x).sine / (kPi * x) * window;
    }

    TEXTON_HD Taps<kMost> taps(const Halving& axis, std::int32_t pixel) const {
        if (axis.from == axis.to) return single_tap<kMost>(pixel);
        const float ratio = static_cast<float>(axis.from) / static_cast<float>(axis.to);
        const float middle = (static_cast<float>(pixel) + 0.5f) * ratio;
        const auto first = static_cast<std::int32_t>(ceilf(middle - width * ratio - 0.5f));
        Taps<kMost> taps;
        taps.count = 0;
        taps.total = 0;
        for (std::int32_t i = first; taps.count < kMost; ++i) {
            const float x = (static_cast<float>(i) + 0.5f - middle) / ratio;
            if (x > width) break;
            const float weight_here = weight(x);
            taps.texel[taps.count] = detail::address_texel(i, axis.from, address);
            taps.weight[taps.count] = weight_here;
            taps.total += weight_here;
            ++taps.count;
        }
        return taps;
    }
};

// --- texels of the level above ---------------------------------------------------------------------------------------

/// What a texture of a kind has at a texel; z is the slice, layer or face.
template <ArrayKind kind>
struct TexelsOf {
    template <class Source>
    TEXTON_HD Float4 operator()(const Source& source, std::int32_t x, std::int32_t y, std::int32_t z) const {
        const float at_x = static_cast<float>(x) + 0.5f;
        const float at_y = static_cast<float>(y) + 0.5f;
        if constexpr (kind == ArrayKind::array_1d) return source.at_texel(at_x);
        if constexpr (kind == ArrayKind::array_2d) return source.at_texel(at_x, at_y);
        if constexpr (kind == ArrayKind::array_3d) return source.at_texel(at_x, at_y, static_cast<float>(z) + 0.5f);
        if constexpr (kind == ArrayKind::layered_1d) return source.fetch_layer(z, at_x * source.x_unit);
        if constexpr (kind == ArrayKind::layered_2d) return source.layer_at_texel(z, at_x, at_y);
        if constexpr (is_cube(kind)) {
            // Textures have no way to read a face as a layer. The direction of a texel's middle leads to that texel:
            // the component that points out is 1, whose approximate reciprocal is 1, and the others are less.
            const detail::Direction to = detail::direction_on_face(z % 6, at_x, at_y, source.width);
            return kind == ArrayKind::cubemap ? source.fetch_cube(to.x, to.y, to.z)
                                              : source.fetch_cube_layer(z / 6, to.x, to.y, to.z);
        }
    }
};

/// Memory of any number of slices, which a texture reads as a single row.
struct TexelsOfMemory {
    std::int32_t row;  // texels from one to the next
    std::int32_t slice;

    template <class Source>
    TEXTON_HD Float4 operator()(const Source& source, std::int32_t x, std::int32_t y, std::int32_t z) const {
        return source.template get<ArrayKind::array_1d, FetchOperation::texel>({.layer = z * slice + y * row + x});
    }
};

// --- filters ---------------------------------------------------------------------------------------------------------

struct Sides {
    Halving x;
    Halving y;
    Halving z;
};

TEXTON_HD inline Float4 divided(const Float4& a, float by) { return {a.x / by, a.y / by, a.z / by, a.w / by}; }

/// Sums of texels, and of their colours times alpha.
struct Sums {
    Float4 plain;
    Float4 by_alpha;

    TEXTON_HD void add(const Sums& other, float weight) {
        plain += other.plain * weight;
        by_alpha += other.by_alpha * weight;
    }
};

template <class Texels, class Filter>
struct Mean {
    static constexpr unsigned kPixels = 1;
    Texels texels;
    Filter filter;
    Sides sides;
    bool alpha_weighted;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPlace at, const Source& source) const {
        const auto x = filter.taps(sides.x, at.x);
        const auto y = filter.taps(sides.y, at.y);
        const auto z = filter.taps(sides.z, at.z);
        Sums volume{};
        for (int k = 0; k < z.count; ++k) {
            Sums plane{};
            for (int j = 0; j < y.count; ++j) {
                Sums row{};
                for (int i = 0; i < x.count; ++i) {
                    const Float4 texel = texels(source, x.texel[i], y.texel[j], z.texel[k]);
                    row.add({texel, alpha_weighted ? texel * texel.w : Float4{}}, x.weight[i]);
                }
                plane.add(row, y.weight[j]);
            }
            volume.add(plane, z.weight[k]);
        }
        Float4 mean = divided(volume.plain, x.total * y.total * z.total);
        if (!alpha_weighted || !(volume.plain.w > 0)) return mean;
        const float alpha = mean.w;
        mean = divided(volume.by_alpha, volume.plain.w);
        mean.w = alpha;
        return mean;
    }
};

template <class Texels>
struct Extreme {
    static constexpr unsigned kPixels = 1;
    Texels texels;
    Sides sides;
    bool highest;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPlace at, const Source& source) const {
        const auto x = Box{}.taps(sides.x, at.x);
        const auto y = Box{}.taps(sides.y, at.y);
        const auto z = Box{}.taps(sides.z, at.z);
        Float4 found = texels(source, x.texel[0], y.texel[0], z.texel[0]);
        for (int k = 0; k < z.count; ++k) {
            for (int j = 0; j < y.count; ++j) {
                for (int i = 0; i < x.count; ++i) {
                    const Float4 texel = texels(source, x.texel[i], y.texel[j], z.texel[k]);
                    found = highest ? max(found, texel) : min(found, texel);
                }
            }
        }
        return found;
    }
};

// --- a level ---------------------------------------------------------------------------------------------------------

Sides sides_between(const Extent& from, const Extent& to) {
    const auto halving = [](std::size_t a, std::size_t b) {
        return Halving{static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)};
    };
    return {halving(from.width, to.width), halving(from.height, to.height), halving(from.depth, to.depth)};
}

/// Of the box filter on the CPU device.
detail::BoxAxis boxes_along(const Halving& axis) {
    detail::BoxAxis boxes;
    for (std::int32_t i = 0; i < axis.to; ++i) {
        const auto taps = Box{}.taps(axis, i);
        boxes.add_pixel(taps.texel[0]);
        for (std::int32_t tap = 0; tap < taps.count; ++tap) boxes.add_weight(taps.weight[tap]);
    }
    return boxes;
}

bool box_on_cpu(const Stream& stream, const View& level, const Sides& sides, const Texture& above) {
    if (stream.device().kind() != DeviceKind::cpu ||
        (above.kind() != ArrayKind::array_2d && above.kind() != ArrayKind::layered_2d))
        return false;
    const float total = Box{}.taps(sides.x, 0).total * Box{}.taps(sides.y, 0).total;
    return detail::sum_boxes_on_cpu(kMakeMips, stream, level, above, boxes_along(sides.x), boxes_along(sides.y),
                                    detail::BoxSum::of_rows, total);
}

/// A level, from the one above: `from` are the sides of what `above` reads, with slices, layers or faces.
template <class Texels>
void enqueue_level(const Stream& stream, const View& level, const Extent& from, const Texture& above, Texels texels,
                   const MipOptions& options) {
    const Sides sides = sides_between(from, level.extent());
    const auto enqueue = [&](const auto& functor) { detail::launch_as(kMakeMips, stream, level, functor, above); };
    switch (options.filter) {
        case MipFilter::box:
            if (!options.alpha_weighted && box_on_cpu(stream, level, sides, above)) return;
            return enqueue(Mean<Texels, Box>{texels, {}, sides, options.alpha_weighted});
        case MipFilter::kaiser:
            return enqueue(Mean<Texels, Kaiser>{
                texels, {options.kaiser_width, options.kaiser_alpha, options.address}, sides, options.alpha_weighted});
        case MipFilter::min: return enqueue(Extreme<Texels>{texels, sides, false});
        case MipFilter::max: return enqueue(Extreme<Texels>{texels, sides, true});
    }
}

void enqueue_from_texture(const Stream& stream, const View& level, const Extent& from, const Texture& above,
                          const MipOptions& options) {
    const auto enqueue = [&](auto texels) { enqueue_level(stream, level, from, above, texels, options); };
    switch (above.kind()) {
        case ArrayKind::array_1d:
            if (above.source() == TextureSource::linear) return enqueue(TexelsOfMemory{0, 0});
            return enqueue(TexelsOf<ArrayKind::array_1d>{});
        case ArrayKind::array_2d: return enqueue(TexelsOf<ArrayKind::array_2d>{});
        case ArrayKind::array_3d: return enqueue(TexelsOf<ArrayKind::array_3d>{});
        case ArrayKind::layered_1d: return enqueue(TexelsOf<ArrayKind::layered_1d>{});
        case ArrayKind::layered_2d: return enqueue(TexelsOf<ArrayKind::layered_2d>{});
        case ArrayKind::cubemap: return enqueue(TexelsOf<ArrayKind::cubemap>{});
        case ArrayKind::cubemap_layered: return enqueue(TexelsOf<ArrayKind::cubemap_layered>{});
    }
}

// --- levels in memory ------------------------------------------------------------------------------------------------

/// As Array::view() has them: slices, layers or faces lie behind each other.
Extent sides_of(const Texture& texture) {
    Extent sides = texture.extent();
    if (texture.kind() == ArrayKind::array_3d) return sides;
    sides.depth = (is_layered(texture.kind()) ? texture.layers() : 1) * (is_cube(texture.kind()) ? 6 : 1);
    return sides;
}

Extent half_of(const Extent& sides, ArrayKind kind) {
    const auto half = [](std::size_t side) { return side > 1 ? side / 2 : 1; };
    return {half(sides.width), half(sides.height), kind == ArrayKind::array_3d ? half(sides.depth) : sides.depth};
}

std::string level_name(std::size_t index) { return "levels[" + std::to_string(index) + "]"; }

void check_sides(std::span<const View> levels, const Texture& finest) {
    Extent sides = sides_of(finest);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        sides = half_of(sides, finest.kind());
        if (levels[i].extent() == sides) continue;
        detail::refuse_argument(kMakeMips, level_name(i) + " is " + to_string(levels[i].extent()),
                                "Give one of " + to_string(sides) + ", half of the level above.");
    }
}

/// A level that the next one is made of.
void check_readable(const View& level, std::size_t index) {
    const FormatLayout layout = info(level.format()).layout;
    if (layout != FormatLayout::plain && layout != FormatLayout::packed)
        detail::refuse_argument(kMakeMips, level_name(index) + " is of " + std::string(name(level.format())),
                                "Give memory of a plain or packed format.");
    if (level.kind() == MemoryKind::array)
        detail::refuse_argument(kMakeMips, level_name(index) + " is a part of an array",
                                "Give memory, or call make_mips() with the array.");
    if (level.place().owner == nullptr)  // the texture would go with this call
        detail::refuse_argument(kMakeMips, level_name(index) + " is memory that Texton does not own",
                                "Give memory of Linear or Pitched2D.");
}

/// A level as a texture on memory can read it, which has no slices: as one row, of whole texels from a row to the next.
struct Row {
    Texture texture;
    TexelsOfMemory texels;
};

Row row_of(const View& level) {
    const std::size_t texel = info(level.format()).bytes;
    const Extent sides = level.extent();
    const std::size_t bytes = (sides.depth - 1) * level.slice_pitch() + (sides.height - 1) * level.pitch() +
                              row_bytes(level.format(), sides.width);
    detail::Place row = level.place();
    row.extent = {bytes / texel};
    row.pitch = bytes;
    row.slice_pitch = bytes;
    return {Texture(ConstView(row)),
            {static_cast<std::int32_t>(level.pitch() / texel), static_cast<std::int32_t>(level.slice_pitch() / texel)}};
}

// --- checks ----------------------------------------------------------------------------------------------------------

void check_options(const MipOptions& options, Format format) {
    const bool fractions = info(format).kind != FormatKind::uint && info(format).kind != FormatKind::sint;
    if (options.filter == MipFilter::kaiser) {
        detail::check_range(kMakeMips, "kaiser_width", options.kaiser_width, 1, kWidestKaiser);
        detail::check_range(kMakeMips, "kaiser_alpha", options.kaiser_alpha, 0, 10);
        if (options.address == AddressMode::border)
            detail::refuse_argument(kMakeMips, "address is border", "Use clamp, wrap or mirror.");
        if (!fractions)
            detail::refuse_argument(kMakeMips,
                                    "filter is kaiser, but " + std::string(name(format)) + " reads as integers",
                                    "Use box, min or max.");
    }
    if (!options.alpha_weighted) return;
    if (options.filter == MipFilter::min || options.filter == MipFilter::max)
        detail::refuse_argument(kMakeMips, "alpha_weighted was asked for of a filter that takes no mean",
                                "Use box or kaiser.");
    if (!fractions || info(format).channels < 4)
        detail::refuse_argument(
            kMakeMips, "alpha_weighted was asked for, but " + std::string(name(format)) + " has no alpha that counts",
            "Leave it off, or give four channels that read as floats.");
}

}  // namespace

void make_mips(const Stream& stream, const Array& array, const MipOptions& options) {
    const ArrayInfo& made = array.info();
    check_options(options, made.format);
    for (int level = 1; level < made.levels; ++level) {
        const Texture above(array, {.normalized_coordinates = true}, {.first_level = level - 1, .levels = 1});
        enqueue_from_texture(stream, array.view({.level = level}), array.view({.level = level - 1}).extent(), above,
                             options);
    }
}

void make_mips(const Stream& stream, std::span<const View> levels, const Texture& finest, const MipOptions& options) {
    check_options(options, finest.format());
    check_sides(levels, finest);
    if (levels.empty()) return;
    std::vector<Row> rows;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        check_readable(levels[i], i);
        rows.push_back(row_of(levels[i]));
    }
    enqueue_from_texture(stream, levels[0], sides_of(finest), finest, options);
    for (std::size_t i = 1; i < levels.size(); ++i) {
        const Row& above = rows[i - 1];
        enqueue_level(stream, levels[i], levels[i - 1].extent(), above.texture, above.texels, options);
    }
}

Kernel detail::mips_kernel() {
    KernelInfo info;
    info.name = "mips";
    info.group = "mips";
    info.summary = "the smaller levels of a picture's mip chain";
    info.inputs = {{"picture",
                    "level 0, or the first level that is read",
                    {ArrayKind::array_2d, ArrayKind::layered_2d, ArrayKind::array_3d, ArrayKind::cubemap}}};
    info.parameters = {
        {.name = "filter",
         .kind = ParameterKind::choice,
         .summary = "how the texels of the level above are weighed",
         .standard = "box",
         .choices = {"box", "kaiser", "min", "max"}},
        {.name = "levels",
         .kind = ParameterKind::integer,
         .summary = "how many are made, at most; 0 is all, down to one texel",
         .standard = 0.0,
         .lowest = 0,
         .highest = 32},
        {.name = "alpha_weighted",
         .kind = ParameterKind::flag,
         .summary = "colour counts as much as its alpha",
         .standard = false},
        {.name = "kaiser_width",
         .kind = ParameterKind::number,
         .summary = "half the window, in texels of the smaller level",
         .standard = 3.0,
         .lowest = 1,
         .highest = kWidestKaiser},
        {.name = "kaiser_alpha",
         .kind = ParameterKind::number,
         .summary = "of the window; higher is softer",
         .standard = 4.0,
         .lowest = 0,
         .highest = 10},
        {.name = "address",
         .kind = ParameterKind::choice,
         .summary = "what kaiser reads beyond the edges",
         .standard = "clamp",
         .choices = {"wrap", "clamp", "mirror"}},
    };
    return {std::move(info),
            [](const Arguments& arguments, std::span<const Texture> inputs) {
                const Texture& finest = inputs[0];
                const int wanted = arguments.integer("levels");
                std::vector<PictureShape> shapes;
                for (Extent sides = sides_of(finest);;) {
                    const Extent half = half_of(sides, finest.kind());
                    if (half == sides || (wanted != 0 && shapes.size() == static_cast<std::size_t>(wanted))) break;
                    shapes.push_back({half, detail::shape_like(finest).format});
                    sides = half;
                }
                return shapes;
            },
            [](const Stream& stream, std::span<const View> pictures, const Arguments& arguments,
               std::span<const Texture> inputs) {
                MipOptions options;
                options.filter = arguments.choice<MipFilter>("filter");
                options.alpha_weighted = arguments.flag("alpha_weighted");
                options.kaiser_width = static_cast<float>(arguments.number("kaiser_width"));
                options.kaiser_alpha = static_cast<float>(arguments.number("kaiser_alpha"));
                options.address = arguments.choice<AddressMode>("address");
                make_mips(stream, pictures, inputs[0], options);
            }};
}

}  // namespace texton
