#include "kernels/cpu/halves.h"

#include <cstdint>

#include <texton/channel_codes.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/halves.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "arrays/cpu/pixel_vectors.h"

// A pixel is one vector, or four vectors on targets whose vectors have one lane.
constexpr hn::CappedTag<float, 4> kPixel;
constexpr std::size_t kLanes = hn::MaxLanes(kPixel);

// Some targets have no vectors (see arrays/cpu/rows_simd.cpp).
#if HWY_TARGET == HWY_SCALAR
template <class Pixel>
HWY_INLINE std::size_t halve_vectors(const unsigned char*, const unsigned char*, std::size_t, unsigned char*) {
    return 0;
}
#else
// Returns a quarter of the sum of four codes in each 16-bit lane, rounded.
template <class D, class V>
HWY_INLINE V quarter(D d, V left_top, V right_top, V left_bottom, V right_bottom) {
    const V sum = hn::Add(hn::Add(left_top, right_top), hn::Add(left_bottom, right_bottom));
    return hn::ShiftRight<2>(hn::Add(sum, hn::Set(d, 2)));
}

// Computes as many pixels as a vector has lanes. A lane is one pixel.
template <class D>
HWY_INLINE void halve_vector(D d, const unsigned char* top, const unsigned char* bottom, unsigned char* halves) {
    using Pixel = hn::TFromD<D>;
    const hn::Repartition<std::uint16_t, D> codes;
    const auto column = [&](const unsigned char* row, bool right) HWY_ATTR {
        const auto* pixels = reinterpret_cast<const Pixel*>(row);
        const auto first = hn::LoadU(d, pixels);
        const auto second = hn::LoadU(d, pixels + hn::Lanes(d));
        return hn::BitCast(codes, right ? hn::ConcatOdd(d, second, first) : hn::ConcatEven(d, second, first));
    };
    const auto even = [&](auto two) HWY_ATTR { return hn::And(two, hn::Set(codes, 0xff)); };
    const auto odd = [&](auto two) HWY_ATTR { return hn::ShiftRight<8>(two); };
    const auto a = column(top, false), b = column(top, true), c = column(bottom, false), e = column(bottom, true);
    const auto evens = quarter(codes, even(a), even(b), even(c), even(e));
    const auto odds = quarter(codes, odd(a), odd(b), odd(c), odd(e));
    hn::StoreU(hn::BitCast(d, hn::Or(evens, hn::ShiftLeft<8>(odds))), d, reinterpret_cast<Pixel*>(halves));
}

// Computes the whole vectors of a row and returns their number of pixels.
template <class Pixel>
HWY_INLINE std::size_t halve_vectors(const unsigned char* top, const unsigned char* bottom, std::size_t pixels,
                                     unsigned char* halves) {
    constexpr std::size_t kChannels = sizeof(Pixel);
    const hn::ScalableTag<Pixel> d;
    std::size_t i = 0;
    for (; i + hn::Lanes(d) <= pixels; i += hn::Lanes(d))
        halve_vector(d, top + 2 * kChannels * i, bottom + 2 * kChannels * i, halves + kChannels * i);
    return i;
}
#endif

template <class Pixel>
HWY_INLINE void halve_row(const unsigned char* top, const unsigned char* bottom, std::size_t pixels,
                          unsigned char* halves) {
    constexpr std::size_t kChannels = sizeof(Pixel);
    const std::size_t done = halve_vectors<Pixel>(top, bottom, pixels, halves);
    for (std::size_t k = kChannels * done; k < kChannels * pixels; ++k) {
        const std::size_t left = k / kChannels * 2 * kChannels + k % kChannels;
        const std::size_t right = left + kChannels;
        halves[k] = static_cast<unsigned char>((top[left] + top[right] + bottom[left] + bottom[right] + 2) >> 2);
    }
}

template <HalfMean kind, class D>
HWY_INLINE hn::Vec<D> mean(D d, hn::Vec<D> top_left, hn::Vec<D> top_right, hn::Vec<D> bottom_left,
                           hn::Vec<D> bottom_right) {
    if constexpr (kind == HalfMean::of_sums) {
        const auto sum = hn::Add(hn::Add(top_left, top_right), hn::Add(bottom_left, bottom_right));
        // Adding zero makes a sum of negative zeros positive, like a sum that starts with zero.
        return hn::Mul(hn::Add(sum, hn::Zero(d)), hn::Set(d, 0.25f));
    } else {
        const auto half = hn::Set(d, 0.5f);
        const auto top = hn::MulAdd(top_right, half, hn::MulAdd(top_left, half, hn::Zero(d)));
        const auto bottom = hn::MulAdd(bottom_right, half, hn::MulAdd(bottom_left, half, hn::Zero(d)));
        return hn::MulAdd(bottom, half, hn::MulAdd(top, half, hn::Zero(d)));
    }
}

// Computes two pixels at a time if vectors are long enough. Returns the number of computed pixels.
#if HWY_TARGET == HWY_SCALAR
template <HalfMean kind, bool streams>
HWY_INLINE std::size_t halve_float_pairs(const float*, const float*, std::size_t, float*) {
    return 0;
}
#else
template <HalfMean kind, bool streams>
HWY_INLINE std::size_t halve_float_pairs(const float* top, const float* bottom, std::size_t pixels, float* halves) {
    constexpr hn::CappedTag<float, 8> kTwo;
    constexpr std::size_t kAhead = 512;  // floats to prefetch ahead: memory is the only bottleneck
    std::size_t i = 0;
    for (; hn::MaxLanes(kTwo) == 8 && i + 2 <= pixels; i += 2) {
        hwy::Prefetch(top + 8 * i + kAhead);
        hwy::Prefetch(bottom + 8 * i + kAhead);
        const auto a = hn::LoadU(kTwo, top + 8 * i), b = hn::LoadU(kTwo, top + 8 * i + 8);
        const auto c = hn::LoadU(kTwo, bottom + 8 * i), e = hn::LoadU(kTwo, bottom + 8 * i + 8);
        const auto means = mean<kind>(kTwo, hn::ConcatLowerLower(kTwo, b, a), hn::ConcatUpperUpper(kTwo, b, a),
                                      hn::ConcatLowerLower(kTwo, e, c), hn::ConcatUpperUpper(kTwo, e, c));
        store_vector_to<streams>(with_one_nan(kTwo, means), kTwo, halves + 4 * i);
    }
    return i;
}
#endif

template <HalfMean kind, bool streams>
HWY_INLINE void halve_float_row(const float* top, const float* bottom, std::size_t pixels, float* halves) {
    for (std::size_t i = halve_float_pairs<kind, streams>(top, bottom, pixels, halves); i < pixels; ++i) {
        for (std::size_t c = 0; c < 4; c += kLanes) {
            const std::size_t left = 8 * i + c;
            const auto means = mean<kind>(kPixel, hn::LoadU(kPixel, top + left), hn::LoadU(kPixel, top + left + 4),
                                          hn::LoadU(kPixel, bottom + left), hn::LoadU(kPixel, bottom + left + 4));
            hn::StoreU(with_one_nan(kPixel, means), kPixel, halves + 4 * i + c);
        }
    }
}

}  // namespace

void halve_floats_on_vectors(const float* top, const float* bottom, std::size_t pixels, HalfMean kind, float* halves,
                             bool past_caches) {
    if (kind == HalfMean::of_sums) return halve_float_row<HalfMean::of_sums, false>(top, bottom, pixels, halves);
    if (past_caches && begins_vector(hn::CappedTag<float, 8>(), halves))
        return halve_float_row<HalfMean::of_halves, true>(top, bottom, pixels, halves);
    halve_float_row<HalfMean::of_halves, false>(top, bottom, pixels, halves);
}

void halve_codes_on_vectors(const unsigned char* top, const unsigned char* bottom, std::size_t channels,
                            std::size_t pixels, unsigned char* halves) {
    if (channels == 1) return halve_row<std::uint8_t>(top, bottom, pixels, halves);
    if (channels == 2) return halve_row<std::uint16_t>(top, bottom, pixels, halves);
    halve_row<std::uint32_t>(top, bottom, pixels, halves);
}

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(halve_floats_on_vectors);
HWY_EXPORT(halve_codes_on_vectors);

void halve_floats(const float* top, const float* bottom, std::size_t pixels, HalfMean kind, float* halves,
                  bool past_caches) {
    HWY_DYNAMIC_DISPATCH(halve_floats_on_vectors)(top, bottom, pixels, kind, halves, past_caches);
}

void halve_codes(const unsigned char* top, const unsigned char* bottom, std::size_t channels, std::size_t pixels,
                 unsigned char* halves) {
    HWY_DYNAMIC_DISPATCH(halve_codes_on_vectors)(top, bottom, channels, pixels, halves);
}

}  // namespace texton::detail
#endif
