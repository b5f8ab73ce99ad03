#include "kernels/cpu/bilateral_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/bilateral_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::CappedTag<float, kLineBlock>;
using FloatVector = hn::Vec<Float>;
constexpr Float kFloat;
constexpr std::size_t kLanes = hn::MaxLanes(kFloat);

// Same as filters::weight_of().
HWY_INLINE FloatVector weight_of(FloatVector exponent) {
    const hn::RebindToUnsigned<Float> bits;
    const FloatVector whole = hn::Set(kFloat, 0x1.8p23f);
    const FloatVector moved = hn::Add(exponent, whole);
    const FloatVector f = hn::Sub(exponent, hn::Sub(moved, whole));
    FloatVector value = hn::Set(kFloat, 0.00132647273f);
    for (const float factor : {0.00967151299f, 0.0555073358f, 0.240222424f, 0.693147004f, 1.0f})
        value = hn::MulAdd(f, value, hn::Set(kFloat, factor));
    return hn::BitCast(kFloat, hn::Add(hn::BitCast(bits, value), hn::ShiftLeft<23>(hn::BitCast(bits, moved))));
}

// Returns the weights of texels, or 0 where they do not count.
template <std::size_t channels>
HWY_INLINE FloatVector weights_between(const FloatVector (&center)[channels], const PlaneRow& row, std::size_t at,
                                       FloatVector of_distance, FloatVector range, FloatVector lowest) {
    const FloatVector first = hn::Sub(hn::LoadU(kFloat, row.channel[0] + at), center[0]);
    FloatVector squares = hn::Mul(first, first);
    for (std::size_t c = 1; c < channels; ++c) {
        const FloatVector apart = hn::Sub(hn::LoadU(kFloat, row.channel[c] + at), center[c]);
        squares = hn::MulAdd(apart, apart, squares);
    }
    const FloatVector exponent = hn::MulAdd(squares, range, of_distance);
    return hn::IfThenElseZero(hn::Ge(exponent, lowest), weight_of(exponent));
}

// The sums of a vector of pixels.
template <std::size_t channels>
struct Sums {
    FloatVector of[channels];
    FloatVector total = hn::Zero(kFloat);

    HWY_INLINE Sums() {
        for (FloatVector& sum : of) sum = hn::Zero(kFloat);
    }
    HWY_INLINE void add(const PlaneRow& row, std::size_t at, FloatVector weight) {
        // Texels that do not count can be infinite or NaN.
        const auto counts = hn::Ne(weight, hn::Zero(kFloat));
        for (std::size_t c = 0; c < channels; ++c) {
            const FloatVector texel = hn::LoadU(kFloat, row.channel[c] + at);
            of[c] = hn::IfThenElse(counts, hn::MulAdd(texel, weight, of[c]), of[c]);
        }
        total = hn::Add(total, weight);
    }
    HWY_INLINE void store(float* const* pixels, std::size_t at) const {
        for (std::size_t c = 0; c < channels; ++c) hn::StoreU(hn::Div(of[c], total), kFloat, pixels[c] + at);
        for (std::size_t c = channels; c < 4; ++c) hn::StoreU(hn::Div(hn::Zero(kFloat), total), kFloat, pixels[c] + at);
    }
};

template <std::size_t channels>
HWY_INLINE void weigh_channels(const PlaneRow* rows, const BilateralExponents& exponents, std::size_t count,
                               std::size_t row, std::size_t first, PairWeights& pairs) {
    constexpr std::size_t kVectors = 2;  // that are computed at once, since each waits for its results
    const auto radius = static_cast<std::int32_t>(exponents.radius);
    const FloatVector range = hn::Set(kFloat, exponents.range), lowest = hn::Set(kFloat, exponents.lowest);
    for (std::size_t j = first; j <= exponents.radius; ++j) {
        for (std::int32_t i = j == 0 ? 0 : -radius; i <= radius; ++i) {
            const FloatVector of_distance = hn::Set(kFloat, exponents.of_distance(i, static_cast<std::int32_t>(j)));
            float* const weights = pairs.of(i, j, row);
            // The texels of the pixels, and those whose pixels are at the other texels.
            const auto begin = static_cast<std::size_t>(radius + std::min(0, -i));
            const std::size_t end = static_cast<std::size_t>(radius + std::max(0, -i)) + count;
            for (std::size_t at = begin; at < end; at += kVectors * kLanes) {
                FloatVector weight[kVectors];
                for (std::size_t v = 0; v < kVectors; ++v) {
                    const std::size_t own = at + v * kLanes;
                    FloatVector center[channels];
                    for (std::size_t c = 0; c < channels; ++c) center[c] = hn::LoadU(kFloat, rows[0].channel[c] + own);
                    const std::size_t other = own + static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i));
                    weight[v] = weights_between(center, rows[j], other, of_distance, range, lowest);
                }
                for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(weight[v], kFloat, weights + at + v * kLanes);
            }
        }
    }
}

// The weights of a tap of all pixels of a row, and its texels.
struct Tap {
    const float* weights;
    const PlaneRow* row;
    std::size_t at;  // texel of the first pixel
};

template <std::size_t channels>
HWY_INLINE void sum_channels(const PlaneRow* rows, std::size_t radius, std::size_t count, std::size_t row,
                             PairWeights& pairs, float* const* pixels) {
    constexpr std::size_t kAtOnce = channels == 1 ? 4 : 2;  // vectors, so that sums do not wait for each other
    constexpr std::size_t kSide = 2 * PairWeights::kMaxRadius + 1;
    Tap taps[kSide * kSide];
    std::size_t used = 0;
    const auto reach = static_cast<std::int32_t>(radius);
    for (std::int32_t j = -reach; j <= reach; ++j) {
        for (std::int32_t i = -reach; i <= reach; ++i) {
            const bool is_before = j < 0 || (j == 0 && i < 0);
            const auto at = static_cast<std::size_t>(reach + i);
            const float* const weights =
                is_before ? pairs.of(-i, static_cast<std::size_t>(-j), row - static_cast<std::size_t>(-j)) + at
                          : pairs.of(i, static_cast<std::size_t>(j), row) + radius;
            taps[used++] = {weights, &rows[reach + j], at};
        }
    }
    for (std::size_t i = 0; i < count; i += kAtOnce * kLanes) {
        Sums<channels> sums[kAtOnce];
        for (std::size_t tap = 0; tap < used; ++tap) {
            for (std::size_t v = 0; v < kAtOnce; ++v) {
                const std::size_t pixel = i + v * kLanes;
                sums[v].add(*taps[tap].row, taps[tap].at + pixel, hn::LoadU(kFloat, taps[tap].weights + pixel));
            }
        }
        for (std::size_t v = 0; v < kAtOnce; ++v) sums[v].store(pixels, i + v * kLanes);
    }
}

template <std::size_t channels>
HWY_INLINE void filter_channels(const PlaneRow* rows, const BilateralExponents& exponents, std::size_t count,
                                float* const* pixels) {
    const std::size_t radius = exponents.radius;
    const FloatVector range = hn::Set(kFloat, exponents.range), lowest = hn::Set(kFloat, exponents.lowest);
    for (std::size_t at = 0; at < count; at += kLanes) {
        FloatVector center[channels];
        for (std::size_t c = 0; c < channels; ++c) center[c] = hn::LoadU(kFloat, rows[radius].channel[c] + at + radius);
        Sums<channels> sums;
        const float* of_distance = exponents.distances.data();
        for (std::size_t j = 0; j <= 2 * radius; ++j) {
            for (std::size_t i = 0; i <= 2 * radius; ++i, ++of_distance) {
                sums.add(rows[j], at + i,
                         weights_between(center, rows[j], at + i, hn::Set(kFloat, *of_distance), range, lowest));
            }
        }
        sums.store(pixels, at);
    }
}

}  // namespace

void weigh_pairs_of_target(const PlaneRow* rows, std::size_t channels, const BilateralExponents& exponents,
                           std::size_t count, std::size_t row, std::size_t first, PairWeights& pairs) {
    if (channels == 1) return weigh_channels<1>(rows, exponents, count, row, first, pairs);
    if (channels == 2) return weigh_channels<2>(rows, exponents, count, row, first, pairs);
    weigh_channels<4>(rows, exponents, count, row, first, pairs);
}

void sum_pairs_of_target(const PlaneRow* rows, std::size_t channels, std::size_t radius, std::size_t count,
                         std::size_t row, PairWeights& pairs, float* const* pixels) {
    if (channels == 1) return sum_channels<1>(rows, radius, count, row, pairs, pixels);
    if (channels == 2) return sum_channels<2>(rows, radius, count, row, pairs, pixels);
    sum_channels<4>(rows, radius, count, row, pairs, pixels);
}

void filter_rows_of_target(const PlaneRow* rows, std::size_t channels, const BilateralExponents& exponents,
                           std::size_t count, float* const* pixels) {
    if (channels == 1) return filter_channels<1>(rows, exponents, count, pixels);
    if (channels == 2) return filter_channels<2>(rows, exponents, count, pixels);
    filter_channels<4>(rows, exponents, count, pixels);
}

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(weigh_pairs_of_target);
HWY_EXPORT(sum_pairs_of_target);
HWY_EXPORT(filter_rows_of_target);

PairWeights::PairWeights(std::size_t radius, std::size_t width)
    : radius_(static_cast<std::int32_t>(radius)), apart_(whole_line_blocks(width + 2 * radius) + kLineRest) {
    std::size_t rows = 0;
    for (std::size_t j = 0; j <= radius; ++j) {
        first_.push_back(rows);
        rows += (2 * radius + 1) * (j + 1);
    }
    weights_.resize(rows * apart_);
}

void weigh_pairs(const PlaneRow* rows, std::size_t channels, const BilateralExponents& exponents, std::size_t count,
                 std::size_t row, std::size_t first, PairWeights& pairs) {
    HWY_DYNAMIC_DISPATCH(weigh_pairs_of_target)(rows, channels, exponents, count, row, first, pairs);
}

void bilateral_of_pairs(const PlaneRow* rows, std::size_t channels, std::size_t radius, std::size_t count,
                        std::size_t row, PairWeights& pairs, float* const* pixels) {
    HWY_DYNAMIC_DISPATCH(sum_pairs_of_target)(rows, channels, radius, count, row, pairs, pixels);
}

void bilateral_of_rows(const PlaneRow* rows, std::size_t channels, const BilateralExponents& exponents,
                       std::size_t count, float* const* pixels) {
    HWY_DYNAMIC_DISPATCH(filter_rows_of_target)(rows, channels, exponents, count, pixels);
}

}  // namespace texton::detail
#endif
