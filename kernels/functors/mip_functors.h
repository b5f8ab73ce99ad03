#pragma once
// The definitions of the mip filters: how a texel of a level is computed from texels of the level above.
//
// A texel of a level covers from / to texels of the level above along each axis: 2, or slightly more if `from` is odd.
// Every filter has a list of weights along each axis. Sums are added in this order, which faster implementations must
// keep:
//     row    = ((0 + texel[0] * x[0]) + texel[1] * x[1]) + ...      along x
//     plane  = ((0 + row[0] * y[0]) + row[1] * y[1]) + ...          along y
//     volume = ((0 + plane[0] * z[0]) + plane[1] * z[1]) + ...      along z, with one plane and weight 1 in 2D
//     result = volume / ((total of x * total of y) * total of z)
// Each product is added with a fused multiply-add. The weights of the box are integers, and 1 and 1 along an even side, so that there all products are exact. With alpha
// weighting, texel * alpha is summed in the same order, and the result is that sum divided by the sum of alpha.
#include <cstdint>

#include <texton/float_math.h>
#include <texton/pixel.h>
#include <texton/source.h>

#include "arrays/unit/texture_address.h"
#include "kernels/functors/cube_direction.h"

namespace texton::mip {

inline constexpr float kWidestKaiser = 4;

// --- weights along an axis -------------------------------------------------------------------------------------------

/// The numbers of texels along an axis in two consecutive levels. Both are equal along an axis of layers and along an
/// axis of a single texel.
struct Halving {
    std::int32_t from;
    std::int32_t to;
};

template <int maximum>
struct Taps {
    std::int32_t count;
    std::int32_t texel[maximum];
    float weight[maximum];
    float total;
};

template <int maximum>
TEXTON_HD Taps<maximum> single_tap(std::int32_t texel) {
    Taps<maximum> taps;
    taps.count = 1;
    taps.texel[0] = texel;
    taps.weight[0] = 1;
    taps.total = 1;
    return taps;
}

struct Box {
    static constexpr int kMax = 3;

    /// A texel covers from / to texels of the level above. In units of 1 / to texel, this length is `from`, and the
    /// weight of a covered texel is the length of its covered part (Guthe and Heckbert, Non-Power-of-Two Mipmapping,
    /// 2005).
    TEXTON_HD Taps<kMax> taps(const Halving& axis, std::int32_t pixel) const {
        if (axis.from == axis.to) return single_tap<kMax>(pixel);
        const bool odd = axis.from % 2 != 0;
        Taps<kMax> taps;
        taps.count = odd ? 3 : 2;
        for (std::int32_t i = 0; i < taps.count; ++i) taps.texel[i] = 2 * pixel + i;
        taps.weight[0] = odd ? static_cast<float>(axis.to - pixel) : 1;
        taps.weight[1] = odd ? static_cast<float>(axis.to) : 1;
        taps.weight[2] = static_cast<float>(pixel + 1);
        taps.total = odd ? static_cast<float>(axis.from) : 2;
        return taps;
    }
};

/// Returns the modified Bessel function of the first kind and order 0, computed by its power series, for x from 0 to
/// 10.
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

/// The weights are sinc(x) I0(alpha sqrt(1 - (x / width)^2)) at the centers of the larger level's texels, with x in
/// texels of the smaller level.
struct Kaiser {
    static constexpr int kMax = static_cast<int>(2 * kWidestKaiser * 3) + 1;  // at most 3 texels per pixel
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

    TEXTON_HD Taps<kMax> taps(const Halving& axis, std::int32_t pixel) const {
        if (axis.from == axis.to) return single_tap<kMax>(pixel);
        const float ratio = static_cast<float>(axis.from) / static_cast<float>(axis.to);
        const float center = (static_cast<float>(pixel) + 0.5f) * ratio;
        const auto first = static_cast<std::int32_t>(ceilf(center - width * ratio - 0.5f));
        Taps<kMax> taps;
        taps.count = 0;
        taps.total = 0;
        for (std::int32_t i = first; taps.count < kMax; ++i) {
            const float x = (static_cast<float>(i) + 0.5f - center) / ratio;
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

/// Returns the texel of a texture of this kind; z is the slice, layer or face.
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
            // Textures cannot read a face as a layer. The direction of a texel's center selects that texel: the
            // component along the face's axis has magnitude 1, whose approximate reciprocal is exactly 1, and the
            // others are smaller.
            const detail::CubeDirection to = detail::direction_on_face(z % 6, at_x, at_y, source.width);
            return kind == ArrayKind::cubemap ? source.fetch_cube(to.x, to.y, to.z)
                                              : source.fetch_cube_layer(z / 6, to.x, to.y, to.z);
        }
    }
};

/// Texels in memory with any number of slices, which a texture reads as a single row.
struct TexelsOfMemory {
    std::int32_t row;    // texels from one row to the next
    std::int32_t slice;  // texels from one slice to the next

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

/// Sums of texels, and of texels multiplied by their alpha.
struct Sums {
    Float4 plain;
    Float4 by_alpha;

    TEXTON_HD void add(const Sums& other, float weight) {
        plain = fma(other.plain, weight, plain);
        by_alpha = fma(other.by_alpha, weight, by_alpha);
    }
};

/// Returns the mean of the texels with these sums; `total` is the sum of their weights.
TEXTON_HD inline Float4 mean_of_sums(const Sums& sums, float total, bool alpha_weighted) {
    Float4 mean = divided(sums.plain, total);
    if (!alpha_weighted || !(sums.plain.w > 0)) return mean;
    const float alpha = mean.w;
    mean = divided(sums.by_alpha, sums.plain.w);
    mean.w = alpha;
    return mean;
}

/// Returns the weighted mean of the texels that the taps along each axis select.
template <class Texels, class Source, class Across, class Down, class Through>
TEXTON_HD Float4 mean_of(const Texels& texels, const Source& source, const Across& x, const Down& y, const Through& z,
                         bool alpha_weighted) {
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
    return mean_of_sums(volume, x.total * y.total * z.total, alpha_weighted);
}

/// Returns the lowest or the highest value of these texels in each channel.
template <class Texels, class Source, class Across, class Down, class Through>
TEXTON_HD Float4 extreme_of(const Texels& texels, const Source& source, const Across& x, const Down& y,
                            const Through& z, bool highest) {
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

template <class Texels, class Filter>
struct Mean {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    Texels texels;
    Filter filter;
    Sides sides;
    bool alpha_weighted;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return mean_of(texels, source, filter.taps(sides.x, at.x), filter.taps(sides.y, at.y),
                       filter.taps(sides.z, at.z), alpha_weighted);
    }
};

template <class Texels>
struct Extreme {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    Texels texels;
    Sides sides;
    bool highest;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return extreme_of(texels, source, Box{}.taps(sides.x, at.x), Box{}.taps(sides.y, at.y),
                          Box{}.taps(sides.z, at.z), highest);
    }
};

}  // namespace texton::mip
