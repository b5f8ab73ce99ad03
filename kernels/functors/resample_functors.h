#pragma once
// The definitions of the separable resampling filters: a pixel is a weighted sum of rows and columns of texels.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <texton/float4.h>
#include <texton/float_math.h>
#include <texton/pixel.h>
#include <texton/resample.h>

namespace texton::resampling {

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

// --- separable filters -----------------------------------------------------------------------------------------------
//
// A pixel reads count() texels along an axis, from first() on, and at most max_count(). The weights add up to 1, except
// for rounding.

/// Texels that a pixel may read in addition to the size of the filter: parts of texels at both ends, and the rounding of
/// coordinates up to 2^24. It is enough for filters of up to 2^16 texels.
inline constexpr std::int32_t kMoreTexels = 6;

/// The distance of a coordinate from the center of the texel to its left, and that texel.
struct Between {
    std::int32_t texel;
    float share;
};

TEXTON_HD inline Between between_texels(float position) {
    const float left = floorf(position - 0.5f);
    return {static_cast<std::int32_t>(left), position - (left + 0.5f)};
}

/// The cubic filters read four texels.
class CubicWeights {
public:
    TEXTON_HD std::int32_t first() const { return first_; }
    TEXTON_HD static constexpr std::int32_t count() { return 4; }
    static std::int32_t max_count(const Axis&) { return 4; }
    TEXTON_HD float operator()(std::int32_t tap) const { return weights_[tap]; }

protected:
    std::int32_t first_;
    float weights_[4];
};

struct CatmullRomWeights : CubicWeights {
    TEXTON_HD CatmullRomWeights(const Axis& axis, std::int32_t pixel) {
        const auto [texel, t] = between_texels(axis.position(pixel));
        first_ = texel - 1;
        weights_[0] = t * (t * (1.0f - 0.5f * t) - 0.5f);
        weights_[1] = t * t * (1.5f * t - 2.5f) + 1.0f;
        weights_[2] = t * (t * (2.0f - 1.5f * t) + 0.5f);
        weights_[3] = t * t * (0.5f * t - 0.5f);
    }
};

struct BSplineWeights : CubicWeights {
    TEXTON_HD BSplineWeights(const Axis& axis, std::int32_t pixel) {
        constexpr float kSixth = 1.0f / 6.0f;
        const auto [texel, t] = between_texels(axis.position(pixel));
        const float back = 1.0f - t;
        first_ = texel - 1;
        weights_[0] = back * back * back * kSixth;
        weights_[1] = (4.0f + t * t * (3.0f * t - 6.0f)) * kSixth;
        weights_[2] = (4.0f + back * back * (3.0f * back - 6.0f)) * kSixth;
        weights_[3] = t * t * t * kSixth;
    }
};

/// Divides the weights of a filter by their sum. If the sum is 0, the first texel has all the weight.
template <class Filter>
class Normalized {
public:
    TEXTON_HD Normalized(const Axis& axis, std::int32_t pixel) : filter_(axis, pixel) {
        for (std::int32_t tap = 0; tap < filter_.count(); ++tap) total_ += filter_(tap);
    }
    TEXTON_HD std::int32_t first() const { return filter_.first(); }
    TEXTON_HD std::int32_t count() const { return total_ == 0 ? 1 : filter_.count(); }
    static std::int32_t max_count(const Axis& axis) { return Filter::max_count(axis); }
    TEXTON_HD float operator()(std::int32_t tap) const { return total_ == 0 ? 1 : filter_(tap) / total_; }

private:
    Filter filter_;
    float total_ = 0;
};

/// The weight of a texel is the length of its part that the pixel covers.
class CoveredLength {
public:
    TEXTON_HD CoveredLength(const Axis& axis, std::int32_t pixel)
        : low_(static_cast<float>(pixel) * axis.step + axis.begin),
          high_(static_cast<float>(pixel + 1) * axis.step + axis.begin) {}
    TEXTON_HD std::int32_t first() const { return static_cast<std::int32_t>(floorf(low_)); }
    TEXTON_HD std::int32_t count() const { return static_cast<std::int32_t>(ceilf(high_)) - first(); }
    static std::int32_t max_count(const Axis& axis) {
        const bool is_exact = axis.step == std::floor(axis.step) && axis.begin == std::floor(axis.begin);
        return static_cast<std::int32_t>(axis.step) + (is_exact ? 0 : kMoreTexels);
    }
    TEXTON_HD float operator()(std::int32_t tap) const {
        const auto left = static_cast<float>(first() + tap);
        const float from = low_ > left ? low_ : left;
        const float to = high_ < left + 1.0f ? high_ : left + 1.0f;
        return to > from ? to - from : 0.0f;
    }

private:
    float low_;
    float high_;
};

/// The weight of a texel is the Lanczos window with three lobes. When the image is minified, the window is widened.
class LanczosWindow {
public:
    TEXTON_HD LanczosWindow(const Axis& axis, std::int32_t pixel)
        : position_(axis.position(pixel)), scale_(axis.step > 1.0f ? 1.0f / axis.step : 1.0f) {}
    TEXTON_HD std::int32_t first() const { return static_cast<std::int32_t>(floorf(position_ - 3.0f / scale_)); }
    TEXTON_HD std::int32_t count() const {
        return static_cast<std::int32_t>(ceilf(position_ + 3.0f / scale_)) - first();
    }
    static std::int32_t max_count(const Axis& axis) {
        return axis.step > 1.0f ? static_cast<std::int32_t>(6.0f * axis.step) + kMoreTexels : 7;
    }
    TEXTON_HD float operator()(std::int32_t tap) const {
        constexpr float kPi = 3.14159265f;
        const float x = (static_cast<float>(first() + tap) + 0.5f - position_) * scale_;
        if (x == 0) return 1;
        if (x <= -3.0f || x >= 3.0f) return 0;
        const float angle = kPi * x;
        return 3.0f * sine_cosine_of(x).sine * sine_cosine_of(x / 3.0f).sine / (angle * angle);
    }

private:
    float position_;
    float scale_;  // pixels per texel when minifying, otherwise 1
};

/// Weighted sums of rows of texels, and the weighted sum of these. Sums start at 0, and each term is added with a fused
/// multiply-add. Texels whose weight is 0 do not count, even if they are infinite or NaN.
template <class Weights>
struct SeparableSum {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    Grid grid;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Weights across(grid.x, at.x);
        const Weights down(grid.y, at.y);
        Float4 sum{};
        for (std::int32_t j = 0; j < down.count(); ++j) {
            const float of_row = down(j);
            if (of_row == 0) continue;
            const float y = static_cast<float>(down.first() + j) + 0.5f;
            Float4 row{};
            for (std::int32_t i = 0; i < across.count(); ++i) {
                const float weight = across(i);
                if (weight == 0) continue;
                row = fma(grid.fetch(source, at.z, static_cast<float>(across.first() + i) + 0.5f, y), weight, row);
            }
            sum = fma(row, of_row, sum);
        }
        return sum;
    }
};

/// A separable filter, and where it is applied.
struct Separable {
    Grid grid;
    ResampleFilter filter;  ///< neither nearest nor linear
};

/// Calls call(std::type_identity<Weights>) with the weights of the filter.
#ifdef __CUDACC__
#pragma nv_exec_check_disable  // the call can be for one side only
#endif
template <class Call>
TEXTON_HD auto with_weights(ResampleFilter filter, const Call& call) {
    switch (filter) {
        case ResampleFilter::b_spline: return call(std::type_identity<BSplineWeights>{});
        case ResampleFilter::lanczos3: return call(std::type_identity<Normalized<LanczosWindow>>{});
        case ResampleFilter::area: return call(std::type_identity<Normalized<CoveredLength>>{});
        case ResampleFilter::nearest:
        case ResampleFilter::linear:
        case ResampleFilter::catmull_rom: break;
    }
    return call(std::type_identity<CatmullRomWeights>{});
}

}  // namespace texton::resampling
