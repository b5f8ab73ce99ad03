// Weights of the separable filters on vectors, a pixel in each lane. The operations are those of the definitions in
// resample_functors.h, in the same order, so the weights have the same bits.
#include "kernels/cpu/resample_weights.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/resample_weights.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// As in line_sums.cpp.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4
SumAxis sums_of_axis(ResampleFilter, const resampling::Axis&, std::size_t) { return {}; }
#else
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::CappedTag<float, kLineBlock>;
using Int = hn::Rebind<std::int32_t, Float>;
using FloatVector = hn::Vec<Float>;
using IntVector = hn::Vec<Int>;
constexpr Float kFloat;
constexpr Int kInt;
constexpr std::size_t kLanes = hn::MaxLanes(kFloat);

HWY_INLINE FloatVector number(float value) { return hn::Set(kFloat, value); }
HWY_INLINE FloatVector product(float factor, FloatVector value) { return hn::Mul(number(factor), value); }
HWY_INLINE FloatVector plus(FloatVector value, float more) { return hn::Add(value, number(more)); }
HWY_INLINE FloatVector minus(FloatVector value, float less) { return hn::Sub(value, number(less)); }
HWY_INLINE FloatVector minus(float value, FloatVector less) { return hn::Sub(number(value), less); }

// The parameters of an axis.
struct Axis {
    FloatVector step;
    FloatVector begin;
    float texels_of_pixel;

    HWY_INLINE explicit Axis(const resampling::Axis& axis)
        : step(number(axis.step)), begin(number(axis.begin)), texels_of_pixel(axis.step) {}
    HWY_INLINE FloatVector edge(IntVector pixel) const {
        return hn::Add(hn::Mul(hn::ConvertTo(kFloat, pixel), step), begin);
    }
    HWY_INLINE FloatVector position(IntVector pixel) const {
        return hn::Add(hn::Mul(plus(hn::ConvertTo(kFloat, pixel), 0.5f), step), begin);
    }
};

// --- the filters -----------------------------------------------------------------------------------------------------
//
// A filter has the first texels and their number for each pixel, and the weight of each tap, which means nothing for
// pixels of fewer taps. The weights depend on the number of taps and on two offsets from the first texel only. So does
// their rounding if no first texel is negative, since the distances between coordinates are then exact.

class Cubic {
public:
    static constexpr bool kNormalized = false;

    HWY_INLINE IntVector first() const { return hn::Sub(hn::ConvertTo(kInt, left_), hn::Set(kInt, 1)); }
    HWY_INLINE IntVector count() const { return hn::Set(kInt, 4); }
    HWY_INLINE FloatVector offset(int) const { return t_; }
    HWY_INLINE FloatVector weight(std::int32_t tap) const { return weights_[tap]; }

protected:
    HWY_INLINE Cubic(const Axis& axis, IntVector pixel) {
        const FloatVector position = axis.position(pixel);
        left_ = hn::Floor(minus(position, 0.5f));
        t_ = hn::Sub(position, plus(left_, 0.5f));
    }

    FloatVector left_;
    FloatVector t_;
    FloatVector weights_[4];
};

struct CatmullRom : Cubic {
    HWY_INLINE CatmullRom(const Axis& axis, IntVector pixel) : Cubic(axis, pixel) {
        const FloatVector t = t_, square = hn::Mul(t, t);
        weights_[0] = hn::Mul(t, minus(hn::Mul(t, minus(1.0f, product(0.5f, t))), 0.5f));
        weights_[1] = plus(hn::Mul(square, minus(product(1.5f, t), 2.5f)), 1.0f);
        weights_[2] = hn::Mul(t, plus(hn::Mul(t, minus(2.0f, product(1.5f, t))), 0.5f));
        weights_[3] = hn::Mul(square, minus(product(0.5f, t), 0.5f));
    }
};

struct BSpline : Cubic {
    HWY_INLINE BSpline(const Axis& axis, IntVector pixel) : Cubic(axis, pixel) {
        constexpr float kSixth = 1.0f / 6.0f;
        const FloatVector t = t_, back = minus(1.0f, t);
        const auto outer = [](FloatVector x) HWY_ATTR { return hn::Mul(hn::Mul(hn::Mul(x, x), x), number(kSixth)); };
        const auto inner = [](FloatVector x) HWY_ATTR {
            return hn::Mul(hn::Add(number(4.0f), hn::Mul(hn::Mul(x, x), minus(product(3.0f, x), 6.0f))),
                           number(kSixth));
        };
        weights_[0] = outer(back);
        weights_[1] = inner(t);
        weights_[2] = inner(back);
        weights_[3] = outer(t);
    }
};

class CoveredLength {
public:
    static constexpr bool kNormalized = true;

    HWY_INLINE CoveredLength(const Axis& axis, IntVector pixel)
        : low_(axis.edge(pixel)), high_(axis.edge(hn::Add(pixel, hn::Set(kInt, 1)))) {}
    HWY_INLINE IntVector first() const { return hn::ConvertTo(kInt, hn::Floor(low_)); }
    HWY_INLINE IntVector count() const { return hn::Sub(hn::ConvertTo(kInt, hn::Ceil(high_)), first()); }
    HWY_INLINE FloatVector offset(int end) const {
        return hn::Sub(end == 0 ? low_ : high_, hn::ConvertTo(kFloat, first()));
    }
    HWY_INLINE FloatVector weight(std::int32_t tap) const {
        const FloatVector left = hn::ConvertTo(kFloat, hn::Add(first(), hn::Set(kInt, tap)));
        const FloatVector right = plus(left, 1.0f);
        const FloatVector from = hn::IfThenElse(hn::Gt(low_, left), low_, left);
        const FloatVector to = hn::IfThenElse(hn::Lt(high_, right), high_, right);
        return hn::IfThenElseZero(hn::Gt(to, from), hn::Sub(to, from));
    }

private:
    FloatVector low_;
    FloatVector high_;
};

// Returns the sine of sine_cosine_of().
HWY_INLINE FloatVector sine_of(FloatVector half_turns) {
    const FloatVector whole = hn::Floor(plus(hn::Mul(half_turns, number(2.0f)), 0.5f));
    const FloatVector x = hn::Sub(half_turns, hn::Mul(whole, number(0.5f)));
    const FloatVector t = hn::Mul(x, x);
    const auto series = [&](float constant, FloatVector rest)
                            HWY_ATTR { return hn::Add(number(constant), hn::Mul(t, rest)); };
    const FloatVector sine =
        hn::Mul(x, series(3.14159265f, series(-5.16770782f, series(2.54976696f, number(-0.589075099f)))));
    const FloatVector cosine =
        series(1.0f, series(-4.93480216f, series(4.05870726f, series(-1.33504445f, number(0.231328785f)))));
    const FloatVector turns = hn::Sub(whole, product(4.0f, hn::Floor(hn::Mul(whole, number(0.25f)))));
    const auto is_odd = hn::Or(hn::Eq(turns, number(1.0f)), hn::Eq(turns, number(3.0f)));
    const FloatVector value = hn::IfThenElse(is_odd, cosine, sine);
    return hn::IfThenElse(hn::Ge(turns, number(2.0f)), hn::Neg(value), value);
}

// Reads only the texels inside the window: at either end, the definition may have one more, whose weight is 0.
class LanczosWindow {
public:
    static constexpr bool kNormalized = true;

    HWY_INLINE LanczosWindow(const Axis& axis, IntVector pixel)
        : position_(axis.position(pixel)), scale_(axis.texels_of_pixel > 1.0f ? 1.0f / axis.texels_of_pixel : 1.0f) {
        first_ = hn::ConvertTo(kInt, hn::Floor(minus(position_, kEnd / scale_)));
        end_ = hn::ConvertTo(kInt, hn::Ceil(plus(position_, kEnd / scale_)));
        first_ = hn::Add(first_, one_if_outside(first_));
        end_ = hn::Sub(end_, one_if_outside(hn::Sub(end_, hn::Set(kInt, 1))));
    }
    HWY_INLINE IntVector first() const { return first_; }
    HWY_INLINE IntVector count() const { return hn::Sub(end_, first_); }
    HWY_INLINE FloatVector offset(int) const { return hn::Sub(position_, hn::ConvertTo(kFloat, first_)); }
    HWY_INLINE FloatVector weight(std::int32_t tap) const {
        constexpr float kPi = 3.14159265f;
        const FloatVector x = distance(hn::Add(first_, hn::Set(kInt, tap)));
        const FloatVector angle = product(kPi, x);
        const FloatVector sines = hn::Mul(product(kEnd, sine_of(x)), sine_of(hn::Div(x, number(kEnd))));
        const FloatVector inside =
            hn::IfThenElse(hn::Eq(x, number(0.0f)), number(1.0f), hn::Div(sines, hn::Mul(angle, angle)));
        return hn::IfThenElseZero(hn::Lt(hn::Abs(x), number(kEnd)), inside);
    }

private:
    static constexpr float kEnd = 3.0f;  // in lobes

    // Returns the distance of a texel's center, in lobes.
    HWY_INLINE FloatVector distance(IntVector texel) const {
        return hn::Mul(hn::Sub(plus(hn::ConvertTo(kFloat, texel), 0.5f), position_), number(scale_));
    }
    HWY_INLINE IntVector one_if_outside(IntVector texel) const {
        const auto outside = hn::RebindMask(kInt, hn::Ge(hn::Abs(distance(texel)), number(kEnd)));
        return hn::IfThenElseZero(outside, hn::Set(kInt, 1));
    }

    FloatVector position_;
    float scale_;  // pixels per texel when minifying, otherwise 1
    IntVector first_;
    IntVector end_;
};

// --- pixels ----------------------------------------------------------------------------------------------------------

// Writes the weights of a vector of pixels, and zeros after the last tap of each pixel. Corrects the number of taps of
// pixels whose first texel has all the weight.
template <class Filter>
HWY_INLINE void weigh(const Filter& filter, std::size_t taps, std::int32_t* count, float* weights) {
    FloatVector total = number(0.0f);
    const auto exists = [&](std::size_t tap) HWY_ATTR {
        return hn::RebindMask(kFloat, hn::Gt(filter.count(), hn::Set(kInt, static_cast<std::int32_t>(tap))));
    };
    for (std::size_t tap = 0; tap < taps; ++tap) {
        const FloatVector weight = hn::IfThenElseZero(exists(tap), filter.weight(static_cast<std::int32_t>(tap)));
        total = hn::IfThenElse(exists(tap), hn::Add(total, weight), total);
        hn::Store(weight, kFloat, weights + tap * kLineBlock);
    }
    if constexpr (Filter::kNormalized) {
        const auto zero = hn::Eq(total, number(0.0f));
        for (std::size_t tap = 0; tap < taps; ++tap) {
            float* const of_tap = weights + tap * kLineBlock;
            const FloatVector share = hn::Div(hn::Load(kFloat, of_tap), total);
            hn::Store(hn::IfThenElse(zero, number(tap == 0 ? 1.0f : 0.0f), share), kFloat, of_tap);
        }
        hn::StoreU(hn::IfThenElse(hn::RebindMask(kInt, zero), hn::Set(kInt, 1), filter.count()), kInt, count);
    }
}

// What the weights of a vector of pixels depend on.
struct Offsets {
    FloatVector of[2];
    IntVector count;
    bool exact = false;
};

template <class Filter>
HWY_INLINE Offsets offsets_of(const Filter& filter) {
    return {{filter.offset(0), filter.offset(1)},
            filter.count(),
            hn::AllTrue(kInt, hn::Gt(filter.first(), hn::Set(kInt, -1)))};
}

HWY_INLINE bool same_weights(const Offsets& a, const Offsets& b) {
    const auto is_equal = hn::And(hn::Eq(a.of[0], b.of[0]), hn::Eq(a.of[1], b.of[1]));
    return a.exact && b.exact && hn::AllTrue(kFloat, is_equal) && hn::AllTrue(kInt, hn::Eq(a.count, b.count));
}

template <class Filter>
SumAxis sums_of(const resampling::Axis& axis, std::size_t pixels) {
    constexpr std::size_t kVectors = kLineBlock / kLanes;
    Offsets offsets[kVectors];
    SumAxis sums;
    sums.first.resize(whole_line_blocks(pixels));
    sums.count.resize(sums.first.size());
    const Axis on_vectors(axis);
    const IntVector lanes = hn::Iota(kInt, 0), last = hn::Set(kInt, static_cast<std::int32_t>(pixels) - 1);
    const auto filter_of = [&](std::size_t pixel) HWY_ATTR {
        return Filter(on_vectors, hn::Min(hn::Add(hn::Set(kInt, static_cast<std::int32_t>(pixel)), lanes), last));
    };
    for (std::size_t begin = 0; begin < sums.first.size(); begin += kLineBlock) {
        std::int32_t taps = 1;
        bool repeats = begin != 0;
        for (std::size_t v = 0; v < kVectors; ++v) {
            const std::size_t i = begin + v * kLanes;
            const Filter filter = filter_of(i);
            hn::StoreU(filter.first(), kInt, &sums.first[i]);
            hn::StoreU(filter.count(), kInt, &sums.count[i]);
            taps = std::max(taps, hn::GetLane(hn::MaxOfLanes(kInt, filter.count())));
            const Offsets found = offsets_of(filter);
            repeats = repeats && same_weights(found, offsets[v]);
            offsets[v] = found;
        }
        if (repeats) {
            sums.repeat_group();
            std::copy_n(&sums.count[begin - kLineBlock], kLineBlock, &sums.count[begin]);
            continue;
        }
        const auto of_group = static_cast<std::size_t>(taps);
        if (begin == 0) sums.weights.reserve(sums.first.size() * of_group);
        float* const weights = sums.add_group(of_group);
        for (std::size_t i = begin; i < begin + kLineBlock; i += kLanes)
            weigh(filter_of(i), of_group, &sums.count[i], weights + i - begin);
    }
    return sums;
}

}  // namespace

SumAxis sums_of_axis(ResampleFilter filter, const resampling::Axis& axis, std::size_t pixels) {
    switch (filter) {
        case ResampleFilter::catmull_rom: return sums_of<CatmullRom>(axis, pixels);
        case ResampleFilter::b_spline: return sums_of<BSpline>(axis, pixels);
        case ResampleFilter::lanczos3: return sums_of<LanczosWindow>(axis, pixels);
        case ResampleFilter::area: return sums_of<CoveredLength>(axis, pixels);
        case ResampleFilter::nearest:
        case ResampleFilter::linear: break;
    }
    return {};
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(sums_of_axis);

SumAxis resampling_sums(ResampleFilter filter, const resampling::Axis& axis, std::size_t pixels) {
    return HWY_DYNAMIC_DISPATCH(sums_of_axis)(filter, axis, pixels);
}

}  // namespace texton::detail
#endif
